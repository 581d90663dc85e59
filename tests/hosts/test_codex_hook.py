"""Codex' hook, as Codex runs it: the configured line through the person's login shell, JSON in, its strict form out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gitmem.hosts import events as core
from gitmem.hosts.codex_events import _typed
from gitmem.recall import log
from gitmem.recall import session as sessions
from tests.conftest import Ran
from tests.hosts.codex_events import SESSION, notification, prompt, start, stop, transcript
from tests.hosts.events import ROUTINE, UV
from tests.hosts.patience import undisturbed

SILENT = Ran(0, "", "")
# Whatever else stands in an answer, Codex throws the whole of it away.
ALLOWED = {
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
}


@pytest.fixture
def hook(demo_memory, home, command, run):  # type: ignore[no-untyped-def]
    """`hook(event, …)`: what the hook that stands in hooks.json for the event answered, within its `timeout`."""
    assert run("connect", "codex").code == 0
    written = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]
    # a login shell reads its profile, and there a person puts what they installed on PATH
    (home / ".profile").write_text(f'PATH="{os.environ["PATH"]}"\n')
    log_file = demo_memory.state / "log.jsonl"
    log_file.unlink(missing_ok=True)

    def once(data: bytes, env: dict[str, str]) -> Ran:
        event = json.loads(data)
        (handler,) = written[event["hook_event_name"]][0]["hooks"]
        folder = event["cwd"] if Path(event["cwd"]).is_dir() else str(home)
        began = time.monotonic()
        done = subprocess.run(
            ["sh", "-lc", handler["command"]],
            input=data,
            capture_output=True,
            cwd=folder,
            env={**os.environ, **env},
            timeout=handler["timeout"],
        )
        assert time.monotonic() - began < handler["timeout"]
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def call(data: bytes, **env: str) -> Ran:
        return undisturbed(home, lambda: once(data, env))

    return call


def said(ran: Ran, event: str = "UserPromptSubmit") -> str:
    assert (ran.code, ran.err) == (0, "")
    answer: dict[str, Any] = json.loads(ran.out)
    assert set(answer) <= ALLOWED
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == event
    assert answer["systemMessage"].startswith("git mem: ")
    return answer["hookSpecificOutput"]["additionalContext"]


def queued(state: Path) -> list[dict[str, Any]]:
    folder = core.queue(state)
    return [json.loads(file.read_text()) for file in sorted(folder.iterdir())] if folder.exists() else []


def test_a_first_prompt_is_answered_in_codex_strict_form(demo_memory, home, hook) -> None:
    block = said(hook(prompt(UV, home / "work")))
    assert block.startswith("<memory-context>\n") and block.endswith("</memory-context>\n") and "uv" in block


def test_a_prompt_in_chinese_is_answered_in_utf8_whatever_the_locale_says(demo_memory, home, hook) -> None:
    ran = hook(
        prompt("帮我配一下这个项目的 Python 环境", home / "work"), LC_ALL="C", PYTHONIOENCODING="ascii"
    )
    assert "uv" in said(ran)


def test_a_later_turn_of_routine_work_prints_nothing(demo_memory, home, hook) -> None:
    hook(prompt(UV, home / "work"))
    assert hook(prompt(ROUTINE, home / "work")) == SILENT


def test_a_session_begins_with_the_brief_and_a_resumed_one_hears_it_once(demo_memory, home, hook) -> None:
    first = said(hook(start(home / "work")), "SessionStart")
    assert first.startswith("<memory-context>\n")
    assert hook(start(home / "work", "resume")) == SILENT


def test_a_compaction_resets_what_counts_as_shown(demo_memory, home, hook) -> None:
    said(hook(prompt(UV, home / "work")))
    again = prompt("As I usually do: " + UV, home / "work")
    assert hook(again) == SILENT
    assert said(hook(start(home / "work", "compact")), "SessionStart")
    kept = sessions.load(demo_memory.state, SESSION)
    assert kept.turns == 2
    said(hook(start(home / "work", "clear")), "SessionStart")
    assert sessions.load(demo_memory.state, SESSION).turns == 0


def test_what_was_injected_is_known_again_by_its_hash(demo_memory, home, hook) -> None:
    brief = said(hook(start(home / "work")), "SessionStart")
    block = said(hook(prompt("As we agreed: " + UV, home / "work", "a-second-session")))
    for name, text in ((SESSION, brief), ("a-second-session", block)):
        assert sessions.load(demo_memory.state, name).injected == [sessions.fingerprint(text)]


def test_the_end_of_a_turn_notes_the_session_and_says_nothing(demo_memory, home, hook) -> None:
    for text in (None, "2026-11-20"):
        where = None if text is None else home / ".codex/sessions" / f"rollout-{text}.jsonl"
        assert hook(stop(home / "work", transcript=where)) == SILENT
    (note,) = queued(demo_memory.state)
    assert note.pop("at").endswith("Z")
    assert note == {"session": SESSION, "host": "codex", "transcript": str(where), "cwd": str(home / "work")}
    assert [file.name for file in core.queue(demo_memory.state).iterdir()] == [f"codex-{SESSION}.json"]


def test_a_session_off_the_record_is_struck_out_and_never_noted(demo_memory, home, hook) -> None:
    hook(stop(home / "work"))
    assert hook(prompt("off the record: " + UV, home / "work")) == SILENT
    hook(stop(home / "work"))
    assert queued(demo_memory.state) == []


def test_where_memory_is_off_nothing_is_noted(demo_memory, home, hook, run) -> None:
    assert run("off", "--here", cwd=home / "work").code == 0
    assert hook(start(home / "work")) == SILENT
    assert hook(prompt(UV, home / "work")) == SILENT
    assert hook(stop(home / "work")) == SILENT
    assert queued(demo_memory.state) == []


def test_the_queue_holds_the_newest_sessions_and_no_more(demo_memory, home, hook, monkeypatch) -> None:
    folder = core.queue(demo_memory.state)
    folder.mkdir(parents=True)
    for number in range(core.MAX_QUEUED + 5):
        file = folder / f"codex-{number:08}.json"
        file.write_text("{}")
        os.utime(file, (number, number))
    hook(stop(home / "work"))
    names = {file.name for file in folder.iterdir()}
    assert len(names) == core.MAX_QUEUED and f"codex-{SESSION}.json" in names
    assert "codex-00000005.json" not in names and f"codex-{core.MAX_QUEUED + 4:08}.json" in names


def test_a_notification_comes_as_the_last_argument_and_notes_the_session(demo_memory, home, run) -> None:
    began = time.monotonic()
    # standard input stays open and silent, as with a terminal
    child = subprocess.Popen(
        [sys.executable, "-m", "gitmem", "hook", "codex-notify", notification(home / "work")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert (child.wait(10), child.stdout.read(), child.stderr.read()) == (0, b"", b"")  # type: ignore[union-attr]
    assert time.monotonic() - began < 3
    for stream in (child.stdin, child.stdout, child.stderr):
        stream.close()  # type: ignore[union-attr]
    (note,) = queued(demo_memory.state)
    assert (note["session"], note["host"], note["transcript"]) == (SESSION, "codex", None)
    for wrong in ("{", "[]", "", "记忆"):
        assert run("hook", "codex-notify", wrong, process=True) == SILENT


# -- who hears nothing ---------------------------------------------------------------------------------------


def test_a_sub_agent_hears_nothing_and_is_not_noted(demo_memory, home, hook) -> None:
    told = {"agent_id": "a1", "agent_type": "explorer"}
    spawned = transcript(
        home / "s.jsonl", {"subagent": {"thread_spawn": {"parent_thread_id": "x", "depth": 1}}}
    )
    for more in (told, {"transcript": spawned}):
        assert hook(start(home / "work", **more)) == SILENT
        assert hook(prompt(UV, home / "work", **more)) == SILENT
        assert hook(stop(home / "work", **more)) == SILENT
    assert queued(demo_memory.state) == [] and log.entries(demo_memory.state) == []


def test_a_scripted_run_hears_nothing_unless_its_profile_says_so(demo_memory, home, hook, run) -> None:
    by_script = transcript(home / "s.jsonl", "exec", "codex_exec")
    assert hook(prompt(UV, home / "work", transcript=by_script)) == SILENT
    assert "uv" in said(
        hook(prompt(UV, home / "work", "another-session", transcript=transcript(home / "t.jsonl")))
    )
    profiles = demo_memory.root / "registry" / "profiles.yaml"
    profiles.write_text(profiles.read_text().replace("working:\n", "working:\n  also: [scripts]\n"))
    for line in (["add", "-A"], ["commit", "-qm", "Scripts hear it too"]):
        subprocess.run(["git", *line], cwd=demo_memory.root, check=True)
    assert "uv" in said(hook(prompt(UV, home / "work", transcript=by_script)))
    assert hook(prompt(UV, home / "work", "a-third-session", agent_id="a1")) == SILENT


@pytest.mark.parametrize("what", ["absent", "folder", "noise", "fifo"])
def test_a_session_file_that_cannot_be_read_is_a_persons(demo_memory, home, hook, what: str) -> None:
    file = home / "s.jsonl"
    if what == "folder":
        file.mkdir()
    elif what == "noise":
        file.write_bytes(os.urandom(5000))
    elif what == "fifo":
        os.mkfifo(file)
    assert "uv" in said(hook(prompt(UV, home / "work", transcript=file)))


def test_what_codex_wrote_itself_is_no_prompt(demo_memory, home, hook) -> None:
    for text in ("<environment_context>\n", "<turn_aborted>\n", "# AGENTS.md instructions for /x\n"):
        assert hook(prompt(text + UV, home / "work")) == SILENT
    assert sessions.load(demo_memory.state, SESSION).turns == 0


def test_what_an_editor_puts_before_the_prompt_is_left_out() -> None:
    assert (
        _typed("# Context from my IDE:\n## Open tabs\n- a.py\n\n## My request for Codex:\nrename it\n")
        == "rename it"
    )
    assert _typed("why is it `## My request for Codex:`?") == "why is it `## My request for Codex:`?"
    assert _typed("plain") == "plain"


def test_the_brief_leaves_out_what_codex_loads_itself(demo_memory, home, hook, run) -> None:
    project = home / "work"
    (project / "AGENTS.md").write_text("# Rules\n\n- Species ids are lower-case with dashes\n")
    assert run("project", "add", "tide-pool", "--path", str(project)).code == 0
    ran = run("import", "agents-md", str(project / "AGENTS.md"), "--as", "rule", "--scope", "tide-pool")
    assert ran.code == 0, ran.err
    assert "Species ids" not in said(hook(start(project)), "SessionStart")
    ran = run("hook", "claude-code", input=start(project), process=True)
    assert "Species ids" in json.loads(ran.out)["hookSpecificOutput"]["additionalContext"]

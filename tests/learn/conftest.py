"""A memory, a home with hosts in it, and one run of capture at a fixed time."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from gitmem import config, context
from gitmem.learn import capture, digest
from gitmem.learn.capture import Report
from gitmem.learn.digest import Digest
from tests.learn.told import NOW


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

"""A memory made by hand, and one call that imports into it."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitmem import config, resources
from gitmem.git import locate, objects
from gitmem.git.locate import Memory
from gitmem.git.write import Draft, write
from gitmem.imports import land as landing
from gitmem.model import card as cards
from gitmem.model.card import Card
from gitmem.registry import load

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


@pytest.fixture
def store(home: Path) -> Callable[[], Memory]:
    """Opens the memory in `home/store` as it is now."""
    root = home / "store"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    env = config.from_process()

    def opened() -> Memory:
        found = locate.open_at(root, env)
        assert found is not None
        return found

    files: dict[str, bytes | None] = {
        f"registry/{name}.yaml": resources.read_text(f"templates/registry/{name}.yaml").encode()
        for name in load.FILES
    }
    files["registry/projects.yaml"] = (
        b"# comment stays\natlas:\n  name: Atlas notes\n  aliases: [tide pools]\n  status: active\n"
    )
    write(opened(), lambda _: Draft(files, "mem: begin"))
    return opened


@pytest.fixture
def land(store: Callable[[], Memory]) -> Callable[..., landing.Landed]:
    bits = random.Random(7).getrandbits

    def run(entries, kind="decisions", **rest):
        memory = store()
        settings = {"email": "you@example.com", "now": NOW, "random_bits": bits, **rest}
        return landing.land(memory, load.current(memory), entries, kind=kind, **settings)

    return run


def all_cards(memory: Memory) -> dict[str, Card]:
    """Every card of the memory by its conclusion; the newest where two share one."""
    reader = objects.open_light(memory.git)
    try:
        found = [
            cards.parse(reader.blob(entry.oid))
            for entry in objects.entries(memory.git, memory.tip or "", "cards")
        ]
    finally:
        reader.close()
    return {card.conclusion or card.id: card for card in sorted(found, key=lambda one: one.created)}

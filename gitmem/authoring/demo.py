"""The invented memory of the demo: three projects of one person, their cards, and the words they came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from gitmem import config, resources
from gitmem.authoring import registry_edit
from gitmem.authoring.commit import Change, commit
from gitmem.authoring.projects import registry_text
from gitmem.context import Context
from gitmem.git.locate import Memory, refreshed
from gitmem.identity import Caller
from gitmem.model import card as cards
from gitmem.model import ids, when
from gitmem.model import source as sources
from gitmem.model.card import Card, Evidence
from gitmem.model.registry import LEARNER
from gitmem.registry import load

PROJECTS = ("thesis", "dashboard", "atlas")
TURN = 3


def load_demo(memory: Memory, now: datetime) -> dict[str, str]:
    """Write the demo's cards into a memory, as learning would: sources of kind `session`, the hosts as authors.

    Three commits: the projects, the cards as they were first said, then those that replaced one of them.

    Args:
        now: aware; the cards' days count back from here.

    Returns:
        The id of each card by its name in `templates/demo/memory.jsonl`.
    """
    entries = [
        json.loads(line)
        for line in resources.read_text("templates/demo/memory.jsonl").splitlines()
        if line.strip()
    ]
    _register(_context(memory, now, person=True))
    context = _context(refreshed(memory), now, person=False)
    for batch in (
        [one for one in entries if "supersedes" not in one],
        [one for one in entries if "supersedes" in one],
    ):
        _write(context.with_memory(refreshed(memory)), batch, now)
    return {entry["name"]: demo_id(entry["name"]) for entry in entries}


def demo_id(name: str) -> str:
    """The fixed id of a demo card, so that what the demo prints is the same everywhere."""
    value = int.from_bytes(hashlib.sha256(f"git-mem demo {name}".encode()).digest()[:16], "big")
    return ids.new_id(lambda bits: value % (1 << bits))


def _context(memory: Memory, now: datetime, person: bool) -> Context:
    registry = load.current(memory)
    agent = None if person else LEARNER
    caller = Caller(agent, None, registry.profiles["full"], ("all",), ("all",))
    return Context(config.read(memory.git.env, memory.root), memory, registry, caller, now)


def _register(context: Context) -> None:
    def make(here: Context) -> Change | None:
        text = before = registry_text(here.memory, "projects")
        for project in PROJECTS:
            if project not in here.registry.projects:
                text = registry_edit.put(text, project, {"name": project, "status": "active"})
        if text == before:
            return None
        return Change(
            {"registry/projects.yaml": text.encode()}, f"mem: projects {', '.join(PROJECTS)}", "registry"
        )

    commit(context, make)


def _write(context: Context, entries: Sequence[dict[str, Any]], now: datetime) -> None:
    files: dict[str, bytes | None] = {}
    made: list[str] = []
    for entry in entries:
        created = when.stamp(now - timedelta(days=entry["days_ago"]))
        card_id = demo_id(entry["name"])
        source = sources.Source(
            entry["host"], f"demo-{entry['name']}", entry["scope"], created, "session",
            (sources.Turn(TURN, entry["role"], created, entry["turn"]),),
        )  # fmt: skip
        path = sources.source_path(
            source, f"{created[:10].replace('-', '')}-{created[11:19].replace(':', '')}-{card_id}"
        )
        card = Card(
            id=card_id,
            scope=entry["scope"],
            created=created,
            author=entry["host"],
            type=entry["type"],
            conclusion=entry["conclusion"],
            body=entry["body"] + "\n" if entry.get("body") else "",
            also=tuple(entry.get("also", ())),
            evidence=(Evidence(path, TURN, entry["role"], entry["quote"]),),
            supersedes=(demo_id(entry["supersedes"]),) if "supersedes" in entry else (),
            expires=entry.get("expires"),
            session=source.session,
        )
        files[path] = sources.dump(source)
        files[cards.card_path(card, cards.slug(card.conclusion or ""))] = cards.dump(card)
        made.append(card_id)
    correcting = "supersedes" in entries[0]
    subject = f"mem: {len(made)} {'corrections' if correcting else 'cards'} of the demo"
    commit(context, lambda here: Change(files, subject, "supersede" if correcting else "promote", made))

"""Open the index for one question: brought up to date where that is quick, else as it is, saying how much it covers."""

from __future__ import annotations

import sqlite3

from gitmem import detach
from gitmem.git.locate import Memory
from gitmem.index import build, catalogue, place, refresh, words
from gitmem.index.catalogue import Catalogue
from gitmem.model.registry import Registry
from gitmem.recall.answer import Opened

SCAN_CHANGES = 300


def open_index(memory: Memory, registry: Registry, lexical: bool = False, finish: bool = True) -> Opened:
    """The index for the memory's tip.

    A small change is taken in at once. With more to do, the work is left to a detached builder (`finish`), the
    newest cards are read directly, and the answer says what is covered.
    """
    embedder = "none" if lexical else build.embedder_name(memory, registry)
    ready = build.ensure(memory, registry, vectors_too=not lexical)
    found = catalogue.open_for_reading(memory.state)
    degraded: list[str] = []
    if found is None or not ready:
        if finish:
            detach.index(memory.root, memory.git.env)
        if found is None or found.tree != memory.tree:
            found = _overlaid(memory, registry, found)
    state = build.coverage(found, embedder)
    indexed = state.worded if embedder == "none" else min(state.worded, state.embedded)
    if state.cards and indexed < state.cards:
        degraded.append(f"index {100 * indexed // state.cards} %")
    wanted = memory.setting("mem.embedder") or registry.memory.embedder
    if embedder == "none" and wanted != "none":
        degraded.append("words only, as asked" if lexical else f"words only: the embedder `{wanted}` is not installed")
    if embedder != "none" and not state.embedded:
        embedder = "none"
    return Opened(found, words.open_for_reading(place.words(memory.state)), memory.state, embedder, tuple(degraded))


def _overlaid(memory: Memory, registry: Registry, found: Catalogue | None) -> Catalogue:
    """A copy in memory of the catalogue, the newest changes noted in it."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if found is not None:
        found.db.execute("COMMIT")
        found.db.backup(connection)
        found.close()
    else:
        connection.executescript(catalogue.TABLES + f"INSERT INTO meta VALUES ('format', '{place.FORMAT}');")
    copy = Catalogue(connection)
    changes = refresh.differences(memory, copy)
    # newest first: the day stands in the path
    changes.sort(key=lambda change: change.path.rsplit("/", 1)[-1], reverse=True)
    cards = [change for change in changes if change.path.startswith("cards/")][:SCAN_CHANGES]
    refresh.refresh(memory, registry, copy, cards)
    return copy

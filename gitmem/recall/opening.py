"""Open the index for one question: brought up to date where that is quick, else as it is, saying how much it covers."""

from __future__ import annotations

from gitmem import detach
from gitmem.git.locate import Memory
from gitmem.index import catalogue, coverage, place, words
from gitmem.index.catalogue import Catalogue
from gitmem.model.registry import Registry
from gitmem.recall.answer import Opened
from gitmem.recall.retrieve import QueryVector

SCAN_CHANGES = 300


class LiveIndex:
    """The index of a memory at its tip, as recall asks for it.

    A small change is taken in at once. With more to do, the work is left to a detached builder, the newest cards
    are read directly, and the answer says what is covered.
    """

    def __init__(self, memory: Memory, registry: Registry, lexical: bool = False):
        self._memory, self._registry, self._lexical = memory, registry, lexical
        self._embedder = "none" if lexical else coverage.embedder_name(memory, registry)

    def vector(self, text: str) -> QueryVector | None:
        """The vector of a prompt, begun now on a thread of its own."""
        return None if self._embedder == "none" else QueryVector(text, self._embedder)

    def open(self) -> Opened:
        memory, registry, embedder = self._memory, self._registry, self._embedder
        found = catalogue.open_for_reading(memory.state)
        if found is None or not self._ready(found):
            found = self._catch_up(found)
        state = coverage.coverage(found, embedder)
        degraded: list[str] = []
        indexed = state.worded if embedder == "none" else min(state.worded, state.embedded)
        if state.cards and indexed < state.cards:
            degraded.append(f"index {100 * indexed // state.cards} %")
        wanted = memory.setting("mem.embedder") or registry.memory.embedder
        if embedder == "none" and wanted != "none":
            degraded.append("words only, as asked" if self._lexical else f"words only: the embedder `{wanted}` is not installed")
        return Opened(found, words.open_for_reading(place.words(memory.state)), memory.state, tuple(degraded))

    def _ready(self, found: Catalogue) -> bool:
        if not coverage.speaks_of(found, self._memory):
            return False
        state = coverage.coverage(found, self._embedder)
        return state.complete

    def _catch_up(self, found: Catalogue | None) -> Catalogue:
        from gitmem.index import build

        if found is not None:
            found.close()
        memory, registry = self._memory, self._registry
        ready = build.ensure(memory, registry, vectors_too=self._embedder != "none")
        found = catalogue.open_for_reading(memory.state)
        if not ready:
            detach.index(memory.root, memory.git.env)
        if found is None or found.tree != (memory.tree or ""):
            found = _overlaid(memory, registry, found)
        return found


def _overlaid(memory: Memory, registry: Registry, found: Catalogue | None) -> Catalogue:
    """A copy in memory of the catalogue, the newest changes noted in it."""
    import sqlite3

    from gitmem.index import refresh

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

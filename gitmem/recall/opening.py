"""Open the index for one question: brought up to date where that is quick, else as it is, saying how much it covers."""

from __future__ import annotations

from gitmem import detach
from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.git.objects import Change
from gitmem.index import catalogue, coverage, place, vectors, words
from gitmem.index.catalogue import Catalogue
from gitmem.model import ids
from gitmem.model.card import id_of_path
from gitmem.model.registry import Registry
from gitmem.recall.answer import Opened
from gitmem.recall.retrieve import QueryVector

SCAN_CHANGES = 300
_NO_MARKS = str.maketrans("[],\"'", "     ")


class LiveIndex:
    """The index of a memory at its tip, as recall asks for it.

    A small change is taken in at once. With more to do, the work is left to a detached builder, the newest cards
    are read directly, and the answer says what is covered.
    """

    def __init__(self, memory: Memory, registry: Registry, lexical: bool = False):
        self._memory, self._registry, self._lexical = memory, registry, lexical
        self._repaired = False
        self._unread = 0
        self._embedder = "none" if lexical else coverage.embedder_name(memory, registry)

        self._without: set[str] = set()

    def vector(self, text: str) -> QueryVector | None:
        """The vector of a prompt, begun now on a thread of its own."""
        return None if self._embedder == "none" else QueryVector(text, self._embedder)

    def open(self) -> Opened:
        memory, embedder = self._memory, self._embedder
        found = None if "catalogue" in self._without else catalogue.open_for_reading(memory.state)
        if found is None or not self._ready(found):
            found = self._catch_up(found)
        try:
            return self._opened(found, embedder)
        except BaseException:
            found.close()
            raise

    def _opened(self, found: Catalogue, embedder: str) -> Opened:
        memory, registry = self._memory, self._registry
        degraded: list[str] = []
        if self._unread or not coverage.is_complete(found, embedder):
            state = coverage.coverage(found, embedder)
            indexed = state.worded if embedder == "none" else min(state.worded, state.embedded)
            cards = state.cards + self._unread
            if indexed < cards:
                degraded.append(f"index {100 * indexed // cards} %")
        wanted = memory.setting("mem.embedder") or registry.memory.embedder
        if embedder == "none" and wanted != "none":
            degraded.append(
                "words only, as asked"
                if self._lexical
                else f"words only: the embedder `{wanted}` is not installed"
            )
        if self._repaired or self._without:
            degraded.append("the index was damaged" + (" and is built anew" if self._repaired else ""))
        by_words = None if "words" in self._without else words.open_for_reading(place.words(memory.state))
        if by_words is None and "words" not in self._without and _has_words(found):
            raise words.Damaged("the words of the index cannot be opened")
        return Opened(found, by_words, memory.state, tuple(degraded))

    def repair(self, error: Exception) -> bool:
        from gitmem.index import build

        if not build.is_damage(error):
            return False
        self._repaired = build.repair(self._memory, error)
        if not self._repaired:
            # a builder is at work, or the folder cannot be written: this answer does without the damaged part
            part = (
                "words"
                if isinstance(error, words.Damaged)
                else "vectors"
                if isinstance(error, vectors.Damaged)
                else "catalogue"
            )
            self._without.add(part)
            if part == "vectors":
                self._embedder = "none"
        return True

    def _ready(self, found: Catalogue) -> bool:
        if not coverage.speaks_of(found, self._memory):
            return False
        if self._embedder != "none" and not (
            coverage.has_vectors(found, self._memory.state)
            and coverage.has_anchors(found, self._memory.state)
        ):
            return False
        return coverage.is_complete(found, self._embedder)

    def _catch_up(self, found: Catalogue | None) -> Catalogue:
        from gitmem.index import build

        if found is not None:
            found.close()
        if "catalogue" in self._without:
            found, self._unread = _overlaid(self._memory, self._registry, None)
            return found
        memory, registry = self._memory, self._registry
        ready = build.ensure(memory, registry, vectors_too=self._embedder != "none")
        found = catalogue.open_for_reading(memory.state)
        if not ready:
            detach.index(memory.root, memory.git.env)
        if found is None or found.tree != (memory.tree or ""):
            try:
                found, self._unread = _overlaid(memory, registry, found)
            except BaseException:
                if found is not None:
                    found.close()
                raise
        return found


def _has_words(found: Catalogue) -> bool:
    """Whether the words of any card were written."""
    some = "SELECT 1 FROM cards WHERE worded = 1 AND kind = 'card' AND fault IS NULL LIMIT 1"
    return found.db.execute(some).fetchone() is not None


def _overlaid(memory: Memory, registry: Registry, found: Catalogue | None) -> tuple[Catalogue, int]:
    """A copy in memory of the catalogue with the newest changes noted in it, and how many cards were left unread."""
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
    changes = [change for change in refresh.differences(memory, copy) if change.path.startswith("cards/")]
    # newest first: the day stands in the path
    changes.sort(key=lambda change: change.path.rsplit("/", 1)[-1], reverse=True)
    chosen, unread = changes[:SCAN_CHANGES], changes[SCAN_CHANGES:]
    telling = _changing_others(memory, unread) if unread else set()
    chosen += [change for change in unread if change.path in telling]
    unread = [change for change in unread if change.path not in telling]
    # a text that is no longer in the tree is not said, whether its new one was read or not
    chosen += [Change(change.path, change.old, None) for change in unread if change.old]
    refresh.refresh(memory, registry, copy, chosen)
    return copy, sum(1 for change in unread if change.new)


def _changing_others(memory: Memory, changes: list[Change]) -> set[str]:
    """Paths of the cards that supersede, retract or override others, and of those they do it to.

    They are read however many cards wait: without them a dead card would be said.
    """
    reader = objects.open_light(memory.git)
    found: set[str] = set()
    targets: set[str] = set()
    try:
        for change in changes:
            if change.new is None:
                continue
            data = reader.blob(change.new.oid)
            if any(key in data for key in (b"\nsupersedes:", b"\nretracts:", b"\noverrides:")):
                found.add(change.path)
                head = data[:4096].decode("utf-8", "replace")
                targets.update(word for word in head.translate(_NO_MARKS).split() if ids.is_id(word))
    finally:
        reader.close()
    return found | {change.path for change in changes if change.new and id_of_path(change.path) in targets}

"""Build what is missing: catalogue, then words, then vectors. In batches, so it can be stopped and goes on.

`ensure` is for the prompt path (small changes only, never waits); `build` finishes everything.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from gitmem.errors import Busy
from gitmem.git import lock, objects
from gitmem.git.locate import Memory
from gitmem.index import anchors, embed, place, refresh, vectors, words
from gitmem.index import catalogue as catalogues
from gitmem.index import coverage as coverages
from gitmem.index.analyse import ANALYSER_VERSION, tokens
from gitmem.index.catalogue import Catalogue, Item, Progress
from gitmem.index.coverage import Coverage, coverage, embedder_name
from gitmem.model import card as cards
from gitmem.model import layers
from gitmem.model.registry import Registry

# What a killed builder has to do again at most: the words of so many cards. Each batch becomes a segment of the index.
WORD_BATCH = 10_000
VECTOR_BATCH = 32
INLINE_CHANGES = 64
INLINE_VECTORS = 12
MAX_CHUNKS = 40


def build(
    memory: Memory,
    registry: Registry,
    progress: Progress | None = None,
    wait_s: float = 600.0,
    with_vectors: bool = True,
    thorough: bool = True,
) -> Coverage:
    """Bring the whole index up to date. What of it is damaged is found and made anew.

    Args:
        thorough: damage is looked for in every page and row, at a cost that follows the memory; else it is found when met.

    Raises:
        Busy: another builder held the lock for `wait_s` seconds.
    """
    embedder = embedder_name(memory, registry)
    with lock.held(place.lock(memory.state), wait_s, "the index"):
        try:
            return _build(memory, registry, embedder, progress, with_vectors, thorough)
        except Exception as error:
            if not catalogues.is_damage(error):
                raise
            catalogues.discard(memory.state)
            return _build(memory, registry, embedder, progress, with_vectors, thorough)


def _build(
    memory: Memory,
    registry: Registry,
    embedder: str,
    progress: Progress | None,
    with_vectors: bool,
    thorough: bool,
) -> Coverage:
    catalogue = catalogues.open_for_writing(memory.state)
    try:
        if thorough:
            catalogues.look_over(catalogue)
        _check_words(memory, catalogue, opened=thorough)
        if thorough and not coverages.are_sound(catalogue, memory.state):
            _forget_vectors(memory, catalogue)
        refresh.read(memory, registry, catalogue, progress)
        _words(memory, catalogue, progress)
        if with_vectors and embedder != "none":
            _vectors(memory, catalogue, embedder, progress)
        return coverage(catalogue, embedder)
    finally:
        catalogue.close()


def ensure(memory: Memory, registry: Registry, vectors_too: bool = True) -> bool:
    """Take in a small change at once; False when there is more to do than a prompt may wait for.

    A damaged catalogue is thrown away, which is all that there is time for.
    """
    embedder = embedder_name(memory, registry)
    try:
        with lock.held(place.lock(memory.state), 0.0, "the index"):
            catalogue = catalogues.open_for_writing(memory.state)
            try:
                _check_words(memory, catalogue, opened=False)
                changes = refresh.differences(memory, catalogue)
                if len(changes) > INLINE_CHANGES:
                    return False
                refresh.refresh(memory, registry, catalogue, changes)
                if catalogue.count("worded = 0") > INLINE_CHANGES:
                    return False
                _words(memory, catalogue, None, waited_for=True)
                if vectors_too and embedder != "none":
                    if len(_unembedded(catalogue, embedder, INLINE_VECTORS + 1)) > INLINE_VECTORS:
                        return False
                    _vectors(memory, catalogue, embedder, None)
                return True
            except sqlite3.DatabaseError as error:
                if not catalogues.is_damage(error):
                    raise
                catalogues.discard(memory.state)
                return False
            finally:
                catalogue.close()
    except (Busy, OSError, sqlite3.OperationalError):
        return False


def repair(memory: Memory, error: Exception) -> bool:
    """Throw away what a reader found damaged; False when that is not what the error says, or a builder is at work.

    Under the builder's lock nothing is being swapped, so words that cannot be opened now are damaged.
    """
    is_words, is_vectors = isinstance(error, words.Damaged), isinstance(error, vectors.Damaged)
    if not is_damage(error):
        return False
    try:
        with lock.held(place.lock(memory.state), 0.0, "the index"):
            if is_vectors:
                catalogue = catalogues.open_for_writing(memory.state)
                try:
                    _forget_vectors(memory, catalogue)
                finally:
                    catalogue.close()
                return True
            if not is_words:
                catalogues.discard(memory.state)
                return True
            shutil.rmtree(place.words(memory.state), ignore_errors=True)
            catalogue = catalogues.open_for_writing(memory.state)
            try:
                _check_words(memory, catalogue)
            finally:
                catalogue.close()
            return True
    except (Busy, OSError, sqlite3.Error):
        return False


def is_damage(error: BaseException) -> bool:
    """Whether an error says that a part of the index is not what was written."""
    return isinstance(error, (words.Damaged, vectors.Damaged)) or catalogues.is_damage(error)


def discard(memory: Memory) -> None:
    with lock.held(place.lock(memory.state), 60.0, "the index"):
        catalogues.discard(memory.state)


def chunks(item: Item, card: cards.Card | None) -> list[words.Chunk]:
    """The documents of a card: its head with each chunk of its body."""
    tags = " ".join(card.tags) if card else ""
    head = tokens(" \n".join((item.l0, *item.also, tags)))
    bodies = [tokens(text) for text in layers.l2(card)[:MAX_CHUNKS]] if card else []
    return [words.Chunk(item.row, item.scope, head, body) for body in bodies or [[]]]


def _check_words(memory: Memory, catalogue: Catalogue, opened: bool = True) -> None:
    """Words cut by another analyser are of no use, and those that are gone or cannot be opened are written anew.

    Args:
        opened: every segment is tried; what a prompt has no time for shows when it searches.
    """
    folder = place.words(memory.state)
    if catalogue.meta("analyser") == str(ANALYSER_VERSION):
        written = "SELECT 1 FROM cards WHERE kind = 'card' AND worded = 1 AND fault IS NULL LIMIT 1"
        if not catalogue.db.execute(written).fetchone():
            return
        if not opened and words.is_there(folder):
            return
        if opened and (found := words.open_for_reading(folder)) is not None:
            found.close()
            return
    shutil.rmtree(folder, ignore_errors=True)
    catalogue.db.execute("UPDATE cards SET worded = 0 WHERE kind = 'card' AND fault IS NULL")
    catalogue.db.execute("DELETE FROM dropped")
    catalogue.set_meta("analyser", str(ANALYSER_VERSION))


def _words(memory: Memory, catalogue: Catalogue, progress: Progress | None, waited_for: bool = False) -> None:
    """Write the words that are missing, the cards of a scope side by side; a batch that was written is kept, whatever comes."""
    total = catalogue.count("worded = 0")
    done = 0
    folder = place.words(memory.state)
    # a batch that was written but not noted (killed in between) is written anew
    again = catalogue.meta("words") == "written"
    while True:
        dropped = [row for (row,) in catalogue.db.execute("SELECT row FROM dropped")]
        todo = [
            row
            for (row,) in catalogue.db.execute(
                "SELECT row FROM cards WHERE worded = 0 ORDER BY scope, row LIMIT ?", (WORD_BATCH,)
            )
        ]
        if not todo and not dropped:
            break
        writer = words.Writer(folder)
        try:
            writer.remove([*dropped, *(todo if again else ())])
            reader = objects.open_light(memory.git)
            try:
                for row in todo:
                    item = _any_item(catalogue, row)
                    for chunk in chunks(item, _card(reader, item)):
                        writer.add(chunk)
                    done += 1
                    if progress and done % 100 == 0:
                        progress("indexing words", done, total)
            finally:
                reader.close()
        except BaseException:
            writer.cancel()
            raise
        catalogue.set_meta("words", "written")
        writer.commit(waited_for)
        with catalogue.writing() as db:
            db.executemany("UPDATE cards SET worded = 1 WHERE row = ?", [(row,) for row in todo])
            db.executemany("DELETE FROM dropped WHERE row = ?", [(row,) for row in dropped])
            if not again:
                catalogue.set_meta("words", "noted")
    if again:
        catalogue.set_meta("words", "noted")
    if progress and total >= 100:
        progress("indexing words", total, total)


def _any_item(catalogue: Catalogue, row: int) -> Item:
    found = catalogue.db.execute(
        f"SELECT {catalogues.ITEM_COLUMNS} FROM cards WHERE row = ?", (row,)
    ).fetchone()
    return catalogues.as_item(found)


def _card(reader: objects.Objects, item: Item) -> cards.Card | None:
    return cards.read(reader.blob(item.blob))[0]


def _unembedded(catalogue: Catalogue, embedder: str, limit: int) -> list[int]:
    where = "slot IS NULL" if catalogue.meta("embedder") == embedder else "1"
    rows = catalogue.db.execute(
        f"SELECT row FROM cards WHERE kind = 'card' AND fault IS NULL AND {where} ORDER BY row DESC LIMIT ?",
        (limit,),
    )
    return [row for (row,) in rows]


def _vectors(memory: Memory, catalogue: Catalogue, name: str, progress: Progress | None) -> None:
    if catalogue.meta("embedder") != name or not coverages.has_vectors(catalogue, memory.state):
        # another embedder's vectors never meet this one's; nor do those of a file that was cut off
        _forget_vectors(memory, catalogue)
        place.vectors(memory.state, name).unlink(missing_ok=True)
        catalogue.set_meta("embedder", name)
    total = len(_unembedded(catalogue, name, 1 << 30))
    if not total and coverages.has_anchors(catalogue, memory.state):
        return
    small = total <= INLINE_VECTORS
    model = embed.load(name, for_query=small)
    catalogue.set_meta("dim", str(model.dim))
    _anchors(memory, name, model)
    done = 0
    while rows := _unembedded(catalogue, name, VECTOR_BATCH):
        items = [_any_item(catalogue, row) for row in rows]
        start = int(catalogue.meta("slots") or "0")
        _store(memory, catalogue, name, start, model, items)
        done += len(items)
        if progress and total > INLINE_VECTORS:
            progress("embedding", done, total)


def _forget_vectors(memory: Memory, catalogue: Catalogue) -> None:
    """Throw vectors and anchors away; first no card speaks of them any more."""
    name = catalogue.meta("embedder") or ""
    catalogue.db.execute("UPDATE cards SET slot = NULL")
    catalogue.set_meta("slots", "0")
    for file in (place.vectors(memory.state, name), place.anchors(memory.state, name, anchors.VERSION)):
        file.unlink(missing_ok=True)


def _anchors(memory: Memory, name: str, model: embed.Embedder) -> None:
    """Write down what a prompt's vector is measured by: the means of the languages, and behind them the anchors."""
    file = place.anchors(memory.state, name, anchors.VERSION)
    if not file.is_file() or file.stat().st_size != anchors.ROWS * model.dim * 4:
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_suffix(".tmp")
        fresh.write_bytes(anchors.ready(name) or anchors.made(model))
        fresh.replace(file)


def _store(
    memory: Memory, catalogue: Catalogue, name: str, start: int, model: embed.Embedder, items: Sequence[Item]
) -> None:
    values = model.passages([item.embedded for item in items])
    file: Path = place.vectors(memory.state, name)
    vectors.append(file, start, model.dim, values)
    with catalogue.writing() as db:
        db.executemany(
            "UPDATE cards SET slot = ? WHERE row = ?", [(start + i, item.row) for i, item in enumerate(items)]
        )
        catalogue.set_meta("slots", str(start + len(items)))

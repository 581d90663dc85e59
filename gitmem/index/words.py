"""The words of all cards in a Whoosh index, and BM25F over it.

Whoosh receives text that is already tokenised, in scorable KEYWORD fields, and the schema is passed when the
index is opened: no class of ours is stored and no stored schema is loaded. Scores are computed here, from
Whoosh's postings: cards that left the tree never count, and a memory of three cards ranks as soberly as one
of ten thousand.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitmem.index import background

K1 = 1.2
B = {"head": 0.4, "body": 0.75}
WEIGHT = {"head": 2.0, "body": 1.0}
# Lengths that count as usual, in tokens. Constants, so that a card's score does not move with its neighbours.
USUAL_LENGTH = {"head": 24.0, "body": 80.0}
MAX_TERMS = 24
# The most common terms of a prompt tell cards apart least and cost most: they are left out of the ranking
# (not of the share that counts for relevance) once the rarer ones have used this up.
MAX_POSTINGS = 8_000
FIELDS = ("head", "body")
# Segments of one size, in documents, are merged when there are more than so many of them.
SIZES = (400, 3_200, 8_000)
MOST_ALIKE = 8
# While a prompt waits, so many documents are written anew at most.
INLINE_MERGE = 600


@dataclass(frozen=True, slots=True)
class WordHit:
    """A card found by its words. `coverage`: the idf-weighted share of the query found in its best chunk, 0 to 1."""

    row: int
    score: float
    coverage: float


@dataclass(slots=True)
class WordResult:
    """Hits, best first, and the idf of every query term."""

    hits: list[WordHit] = field(default_factory=list)
    idf: dict[str, float] = field(default_factory=dict)


class Damaged(Exception):
    """The files of the index are not what was written; it must be built anew."""


def schema() -> Any:
    from whoosh.fields import ID, KEYWORD, Schema

    words = {"scorable": True, "lowercase": False, "commas": False, "stored": False}
    return Schema(row=ID(stored=True), scope=ID(), head=KEYWORD(**words), body=KEYWORD(**words))


class Words:
    """An index open for reading."""

    def __init__(self, reader: Any):
        self._reader = reader
        self._leaves = [leaf for leaf, _ in reader.leaf_readers()]

    def documents(self) -> int:
        return self._reader.doc_count()

    def close(self) -> None:
        self._reader.close()

    def search(
        self, terms: Sequence[str], scopes: Sequence[str] | None, limit: int, cards: int
    ) -> WordResult:
        """BM25F over both fields; the best chunk counts for its card.

        Args:
            terms: query tokens, in order, with repeats.
            scopes: only chunks of these scopes; None: all.
            limit: how many cards at most.
            cards: number of cards in the memory, the N of idf.

        Source: Robertson, Zaragoza, Taylor, CIKM 2004, doi:10.1145/1031171.1031181.
        """
        try:
            return self._search(terms, scopes, limit, cards)
        except Exception as error:
            # Whoosh reads its files without checking them: what it trips over is not told apart
            raise Damaged(f"the words of the index cannot be read: {error!r}") from error

    def _search(
        self, terms: Sequence[str], scopes: Sequence[str] | None, limit: int, cards: int
    ) -> WordResult:
        unique = list(dict.fromkeys(terms))
        df = {term: max(self._df(name, term) for name in FIELDS) for term in unique}
        result = WordResult()
        chosen, postings = [], 0
        for term in sorted(unique, key=lambda one: (df[one], one)):
            result.idf[term] = background.idf(term, df[term], cards)
            if df[term] and len(chosen) < MAX_TERMS and (postings + df[term] < MAX_POSTINGS or not chosen):
                chosen.append(term)
                postings += df[term]
        total = sum(result.idf.values())
        best: dict[int, tuple[float, float]] = {}
        scored: list[tuple[float, float, int, int]] = []
        for number, leaf in enumerate(self._leaves):
            allowed = None if scopes is None else self._documents_of(leaf, scopes)
            if allowed is not None and not allowed:
                continue
            if allowed is not None and len(allowed) == leaf.doc_count_all():
                allowed = None
            for doc, (score, found) in self._score(leaf, chosen, result.idf, allowed).items():
                scored.append((score, found, number, doc))
        # best first, and only as far as needed: which card a chunk is of costs more to ask than its score
        scored.sort(reverse=True)
        for score, found, number, doc in scored:
            if len(best) >= limit:
                break
            row = int(self._leaves[number].stored_fields(doc)["row"])
            if row not in best:
                best[row] = (score, found / total if total else 0.0)
        ranked = sorted(best.items(), key=lambda one: (-one[1][0], one[0]))[:limit]
        result.hits = [WordHit(row, score, coverage) for row, (score, coverage) in ranked]
        return result

    def _df(self, name: str, term: str) -> int:
        return sum(_frequency(leaf, name, term) for leaf in self._leaves)

    def _documents_of(self, leaf: Any, scopes: Sequence[str]) -> list[int]:
        """The documents of some scopes, in order."""
        from whoosh.reading import TermNotFound

        found: list[int] = []
        for scope in scopes:
            try:
                found.extend(leaf.postings("scope", scope).all_ids())
            except TermNotFound:
                continue
        found.sort()
        return found

    def _score(
        self, leaf: Any, terms: Iterable[str], idf: dict[str, float], allowed: list[int] | None
    ) -> dict[int, list[float]]:
        """Document -> [BM25F score, idf found]."""
        from whoosh.reading import TermNotFound

        scores: dict[int, list[float]] = {}
        # to ask how long a document is costs more than all else, and most stand under several terms
        norms: dict[str, dict[int, float]] = {name: {} for name in FIELDS}
        for term in terms:
            frequency: dict[int, float] = {}
            for name in FIELDS:
                try:
                    matcher = leaf.postings(name, term)
                except TermNotFound:
                    continue
                b, weight, usual = B[name], WEIGHT[name], USUAL_LENGTH[name]
                length = leaf.doc_field_length
                known = norms[name]
                for doc in _meeting(matcher, allowed):
                    norm = known.get(doc)
                    if norm is None:
                        norm = known[doc] = 1 - b + b * length(doc, name, 0) / usual
                    frequency[doc] = frequency.get(doc, 0.0) + weight * matcher.weight() / norm
            gain = idf[term]
            for doc, tf in frequency.items():
                entry = scores.get(doc)
                if entry is None:
                    scores[doc] = [gain * tf * (K1 + 1) / (K1 + tf), gain]
                else:
                    entry[0] += gain * tf * (K1 + 1) / (K1 + tf)
                    entry[1] += gain
        return scores


def _meeting(matcher: Any, allowed: list[int] | None) -> Iterator[int]:
    """The documents of a matcher that are allowed, the matcher standing on each; blocks without any are passed over.

    A builder puts the cards of a scope side by side, so that a narrow scope is read in few blocks.
    """
    at = 0
    while matcher.is_active():
        doc = matcher.id()
        if allowed is not None:
            at = bisect_left(allowed, doc, at)
            if at == len(allowed):
                return
            if allowed[at] != doc:
                matcher.skip_to(allowed[at])
                continue
        yield doc
        matcher.next()


def _frequency(leaf: Any, name: str, term: str) -> int:
    """In how many documents a term stands. Whoosh goes on counting removed ones until their segment is merged."""
    if not leaf.has_deletions():
        return leaf.doc_frequency(name, term)
    from whoosh.reading import TermNotFound

    try:
        return sum(1 for _ in leaf.postings(name, term).all_ids())
    except TermNotFound:
        return 0


def is_there(folder: Path) -> bool:
    """Whether there is an index that names its segments; whether they can be read shows when they are."""
    if not folder.is_dir() or not any(folder.glob("*.toc")):
        return False
    from whoosh import index

    try:
        index.open_dir(str(folder), schema=schema())
    except Exception:
        return False
    return True


def open_for_reading(folder: Path) -> Words | None:
    """The index as it is now; None when there is none. A writer may swap files while it is opened: tried again."""
    if not folder.is_dir() or not any(folder.glob("*.toc")):
        return None
    from whoosh import index

    for _ in range(6):
        try:
            reader = index.open_dir(str(folder), schema=schema()).reader()
            for leaf, _ in reader.leaf_readers():
                if not leaf.doc_count_all():
                    continue  # merged away to the last document
                # both open lazily; opened now, they survive the segment being deleted under us
                leaf.stored_fields(0)
                leaf.doc_field_length(0, "head")
                leaf.doc_field_length(0, "body")
            return Words(reader)
        except Exception:
            # Whoosh says nothing of why: a file that was swapped, or bytes that make no sense
            time.sleep(0.01)
    return None


@dataclass(frozen=True, slots=True)
class Chunk:
    """One document: a card's head (L0, also, tags) and one chunk of its body, as tokens."""

    row: int
    scope: str
    head: Sequence[str]
    body: Sequence[str]


class Writer:
    """Adds and removes chunks; nothing is seen by readers before `commit`."""

    def __init__(self, folder: Path):
        from whoosh import index

        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._index = (
                index.open_dir(str(folder), schema=schema())
                if index.exists_in(str(folder))
                else index.create_in(str(folder), schema())
            )
        except Exception:
            # a corrupt index is rebuilt: its words come from the cards
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
            self._index = index.create_in(str(folder), schema())
        self._writer = self._index.writer(compound=False, limitmb=128)

    def remove(self, rows: Sequence[int]) -> None:
        if not rows:
            return
        # one searcher for all: each opens every segment
        searcher = self._writer.searcher()
        try:
            for row in rows:
                self._writer.delete_by_term("row", str(row), searcher=searcher)
        finally:
            searcher.close()

    def add(self, chunk: Chunk) -> None:
        # lists go past Whoosh's analysers: what is in them is a token
        self._writer.add_document(
            row=str(chunk.row), scope=chunk.scope, head=list(chunk.head), body=list(chunk.body)
        )

    def commit(self, waited_for: bool = False) -> None:
        """Make it seen. `waited_for`: a prompt waits, so that larger segments are merged another time."""
        self._writer.commit(
            mergetype=lambda writer, segments: _merge(writer, segments, INLINE_MERGE if waited_for else None)
        )

    def cancel(self) -> None:
        self._writer.cancel()


def _merge(writer: Any, segments: list[Any], most: int | None) -> list[Any]:
    """Keep few segments at a bounded cost: many of about one size become one, and so does one that lost a quarter.

    Each document is written anew once a size, however many commits bring few cards each; the largest are left alone.

    Args:
        most: so many documents may be written anew, the smallest segments first; None: all that it takes.
    """
    from whoosh.reading import SegmentReader

    by_size: dict[int, list[Any]] = {}
    for segment in segments:
        by_size.setdefault(_size(segment), []).append(segment)
    chosen = [segment for segment in segments if segment.deleted_count() * 4 > segment.doc_count_all()]
    for size, alike in by_size.items():
        if size < len(SIZES) and len(alike) > MOST_ALIKE:
            chosen.extend(segment for segment in alike if segment not in chosen)
    if most is not None:
        room, fitting = most, []
        for segment in sorted(chosen, key=lambda one: one.doc_count_all()):
            room -= segment.doc_count_all()
            if room >= 0:
                fitting.append(segment)
        chosen = fitting
    kept = []
    for segment in segments:
        if segment in chosen:
            reader = SegmentReader(writer.storage, writer.schema, segment)
            writer.add_reader(reader)
            reader.close()
        else:
            kept.append(segment)
    return kept


def _size(segment: Any) -> int:
    """Which of `SIZES` a segment has; their number for a larger one."""
    return sum(segment.doc_count_all() > size for size in SIZES)

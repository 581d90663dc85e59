"""Stage 3: candidates by words (BM25F) and by vectors, ranks fused, chains followed to their live ends."""

from __future__ import annotations

import array
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gitmem.index import anchors, background, embed, languages, place, scan, vectors, words
from gitmem.index.analyse import scripts, tokens
from gitmem.index.catalogue import Catalogue, Item
from gitmem.index.query import query_terms
from gitmem.model import live
from gitmem.model.registry import Registry
from gitmem.recall.relevance import ACROSS_UNIT, relevance, unit
from gitmem.recall.scope import Scope

QUERY_CHARS = 2000
RRF_K = 60
# What "add", "test" or "function" weigh (words of one prompt in eight): so much says nothing about a card.
GENERIC_NATS = 2.0
# A gathered scope of at most so many cards is scanned by row; a larger one whole.
GATHER = 4000


@dataclass(slots=True)
class Candidate:
    """A card that may be said. `via`: superseded cards of its chain that matched in its stead.

    `near` and `across`: how far above the prompt's baseline it lies, in units, as a text of the prompt's language and as one of another; between them they
    share it by how much of a language both have in common. None without vectors. `coverage`: share of the prompt's weight found in the card's best
    chunk; `support`: the same for L0 and other wordings of any card of its chain; both 0 to 1. `prompt_weight`: how much the prompt says at all, the sum of its terms' idf, in nats.
    `crossing`: prompt and card share neither a script nor a word, so that nearness alone can speak for it.
    """

    item: Item
    words_rank: int | None = None
    vectors_rank: int | None = None
    near: float | None = None
    across: float = 0.0
    coverage: float = 0.0
    support: float = 0.0
    prompt_weight: float = 0.0
    crossing: bool = False
    fused: float = 0.0
    via: list[str] = field(default_factory=list)

    @property
    def nearness(self) -> float | None:
        """`near` and `across` together; None without vectors."""
        return None if self.near is None else self.near + self.across

    def relevance(self, here: bool, cards: int) -> float:
        """See `gitmem.recall.relevance`; `here`: it is of the turn's project. `cards`: how many there were to choose from."""
        return relevance(
            self.near,
            self.across,
            self.coverage,
            self.support,
            self.prompt_weight,
            here,
            self.crossing,
            cards,
        )


@dataclass(slots=True)
class Retrieved:
    candidates: list[Candidate]
    cards: int = 0
    chained: list[tuple[Item, str, int | None, int | None]] = field(default_factory=list)
    dead: list[tuple[Item, str]] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)


class QueryVector:
    """The prompt's vector, computed on a thread of its own beside the search by words."""

    def __init__(self, text: str, embedder: str):
        self.embedder = embedder
        self._result: array.array | None = None
        self.problem: str | None = None
        self._thread = threading.Thread(target=self._work, args=(text, embedder), daemon=True)
        self._thread.start()

    def _work(self, text: str, embedder: str) -> None:
        try:
            self._result = embed.load(embedder).query(text)
        except Exception as error:
            self.problem = str(error)

    def get(self, timeout_s: float) -> array.array | None:
        self._thread.join(timeout_s)
        return self._result


def clip(text: str) -> str:
    """The part of a long prompt that is searched with: its beginning and its end."""
    if len(text) <= QUERY_CHARS:
        return text
    half = QUERY_CHARS // 2
    return text[:half] + "\n" + text[-half:]


def weights(terms: Sequence[str], idf: dict[str, float]) -> dict[str, float]:
    """What each term of the prompt weighs: its idf above that of words which any request holds.

    A single Chinese character that is part of a pair weighs a quarter.
    """
    paired = {char for term in terms if len(term) == 2 and not term.isascii() for char in term}
    return {term: max(0.0, idf[term] - GENERIC_NATS) * (0.25 if term in paired else 1.0) for term in terms}


def share(weight: dict[str, float], found: set[str]) -> float:
    """The share of the prompt's weight that stands in a set of terms, 0 to 1."""
    total = sum(weight.values())
    return sum(value for term, value in weight.items() if term in found) / total if total else 0.0


def retrieve(
    text: str,
    vector: QueryVector | None,
    catalogue: Catalogue,
    index: words.Words | None,
    state: place.Path,
    scope: Scope,
    registry: Registry,
    now: datetime,
    limit: int = 30,
    vector_wait_s: float = 1.0,
    max_scanned: int = scan.MAX_CARDS,
) -> Retrieved:
    """Candidates in fused order: live cards of the scope, each with what both retrievers say of it."""
    result = Retrieved([])
    narrow, result.cards = _narrow(catalogue, scope)
    terms = query_terms(text)
    cards = max(1, catalogue.number())
    loose = scan.unworded(catalogue, scope.names, max_scanned)
    if index:
        by_words = index.search(terms, scope.names if narrow is not None else None, limit * 2, cards)
    else:
        df = scan.frequencies(loose, terms)
        by_words = words.WordResult(idf={term: background.idf(term, df[term], cards) for term in terms})
    weight = weights(terms, by_words.idf)
    if loose:
        found = [hit for card in loose if (hit := scan.score(card, terms, by_words.idf))]
        by_words.hits = sorted([*by_words.hits, *found], key=lambda hit: (-hit.score, hit.row))

    rows: dict[int, Candidate] = {}
    rank = 0
    for hit in by_words.hits:
        item = catalogue.item(hit.row)
        if item is None or item.scope not in scope.names:
            continue
        rank += 1
        if rank > limit:
            break
        rows[hit.row] = Candidate(item, words_rank=rank, coverage=hit.coverage)

    query = vector.get(vector_wait_s) if vector else None
    if vector and query is None:
        result.degraded.append(f"words only: {vector.problem or 'the embedder took too long'}")
    name = catalogue.meta("embedder")
    if vector and query is not None and name == vector.embedder:
        measure = _Measure.of(text, query, name, state)
        if measure:
            _by_vectors(measure, catalogue, state, name, scope, narrow, rows, limit)
        elif int(catalogue.meta("slots") or "0"):
            result.degraded.append("words only: what vectors are measured against is not built yet")
    _follow_chains(catalogue, registry, now, scope, rows, result)
    own = scripts(text) - {"digit"}
    for candidate in result.candidates:
        _compare(candidate, catalogue, weight, own)
        candidate.fused = rrf(candidate.words_rank, candidate.vectors_rank)
    result.candidates.sort(key=lambda one: (-one.fused, one.item.id))
    return result


def rrf(*ranks: int | None, k: int = RRF_K) -> float:
    """Reciprocal rank fusion of ranks that count from 1; None: not found.

    Source: Cormack, Clarke, Buettcher, SIGIR 2009, doi:10.1145/1571941.1572114.
    """
    return sum(1.0 / (k + rank) for rank in ranks if rank is not None)


def _narrow(catalogue: Catalogue, scope: Scope) -> tuple[list[tuple[int, int]] | None, int]:
    """`(row, slot)` of the scope's cards when they are few (None: search everything and filter), and their number."""
    marks = ",".join("?" * len(scope.names))
    few = catalogue.number(scope.names)
    if few > GATHER:
        return None, few
    rows = catalogue.db.execute(
        f"SELECT row, slot FROM cards WHERE kind = 'card' AND slot IS NOT NULL AND scope IN ({marks})",
        scope.names,
    )
    return rows.fetchall(), few


@dataclass(frozen=True, slots=True)
class _Measure:
    """A prompt's vector and what cards are measured against by it.

    `base`: the mean cosine of its nearest anchors in its own language; `base_across`: the same across languages. `share`: how Chinese the prompt is.
    """

    query: array.array
    between: languages.Between
    base: float
    base_across: float
    step: float
    share: float

    @classmethod
    def of(cls, text: str, query: array.array, name: str, state: place.Path) -> _Measure | None:
        """None when there is nothing to measure against.

        Raises:
            vectors.Damaged: the file holds something else.
        """
        file = place.anchors(state, name, anchors.VERSION)
        means = vectors.means(file, len(query), languages.ROWS)
        if means is None:
            return None
        between = languages.between(query, means)
        found = vectors.rows(file, len(query), (query, *between.rows()), skip=languages.ROWS)
        if not found:
            return None
        near = sorted((own for own, *_ in found), reverse=True)[: anchors.NEAREST]
        across = sorted((between.cosine(*other) for _, *other in found), reverse=True)[: anchors.NEAREST]
        base, base_across = sum(near) / len(near), sum(across) / len(across)
        return cls(query, between, base, base_across, unit(name), languages.chinese_share(text))

    def take(self, candidate: Candidate, cosine: float, *across: float) -> None:
        """Note how near a card lies, from the dot products of its vector with the prompt's and with those of `between`."""
        apart = abs(self.share - languages.chinese_share(candidate.item.embedded))
        candidate.near = (1.0 - apart) * (cosine - self.base) / self.step
        candidate.across = apart * (self.between.cosine(*across) - self.base_across) / ACROSS_UNIT


def _by_vectors(
    measure: _Measure,
    catalogue: Catalogue,
    state: place.Path,
    name: str,
    scope: Scope,
    narrow: list[tuple[int, int]] | None,
    rows: dict[int, Candidate],
    limit: int,
) -> None:
    """Add the cards that lie nearest, in the prompt's language or across, and measure those that words have found."""
    file = place.vectors(state, name)
    dim = int(catalogue.meta("dim") or len(measure.query))
    slots = int(catalogue.meta("slots") or "0")
    if dim != len(measure.query):
        return
    deep = limit if narrow is not None else limit * 8
    within = [slot for _, slot in narrow] if narrow is not None else None
    lists = vectors.nearest(file, dim, (measure.query, measure.between.aim), within, slots, deep)
    found: dict[int, Candidate] = {}
    for near in lists:
        rank = 0
        for slot, _ in near:
            items = catalogue.items("slot = ?", (slot,)) if slot not in found else []
            if slot not in found and (not items or items[0].scope not in scope.names):
                continue
            rank += 1
            if rank > limit:
                break
            if items:
                found[slot] = rows.get(items[0].row) or Candidate(items[0])
    # cards found by words alone are measured too, so that one relevance judges all
    worded = {one.item.slot: one for one in rows.values() if one.item.slot is not None}
    everything = {**worded, **found}
    products = vectors.products(file, dim, (measure.query, *measure.between.rows()), list(everything))
    for slot, values in products.items():
        measure.take(everything[slot], *values)
    ranked = sorted(found.values(), key=lambda one: (-(one.nearness or 0.0), one.item.id))
    for rank, candidate in enumerate(ranked[:limit], 1):
        candidate.vectors_rank = rank
        rows.setdefault(candidate.item.row, candidate)


def _follow_chains(
    catalogue: Catalogue,
    registry: Registry,
    now: datetime,
    scope: Scope,
    rows: dict[int, Candidate],
    result: Retrieved,
) -> None:
    """Dead cards out; a superseded one speaks for the live end or ends of its chain."""
    catalogue.prefetch(one.item.id for one in rows.values())
    by_id: dict[str, Candidate] = {}
    for candidate in sorted(rows.values(), key=lambda one: one.item.id):
        state = live.status(catalogue, candidate.item.id, registry, now)
        if state.live and not live.fork_losers(catalogue, candidate.item.id, registry, now):
            _join(by_id, candidate.item, candidate)
            continue
        # one that is live all the same lost a fork: it speaks for the end that its chain keeps
        starts = live.roots(catalogue, candidate.item.id) if state.live else [candidate.item.id]
        ends = (
            [end for one in starts for end in live.live_ends(catalogue, one, registry, now)]
            if state.word == "superseded" or state.live
            else []
        )
        heard = []
        for end in ends:
            item = catalogue.by_id(end)
            if item is not None and item.scope in scope.names and item.kind == "card":
                _join(by_id, item, candidate).via.append(candidate.item.id)
                heard.append(end)
        if heard:
            result.chained.append(
                (candidate.item, ", ".join(heard), candidate.words_rank, candidate.vectors_rank)
            )
        else:
            result.dead.append((candidate.item, state.word))
    result.candidates = list(by_id.values())


def _join(by_id: dict[str, Candidate], item: Item, found: Candidate) -> Candidate:
    """Let `found` count for `item`: the better of both in every respect."""
    own = by_id.setdefault(item.id, Candidate(item))
    own.words_rank = _best(own.words_rank, found.words_rank)
    own.vectors_rank = _best(own.vectors_rank, found.vectors_rank)
    own.coverage = max(own.coverage, found.coverage)
    if found.nearness is not None and (own.nearness is None or found.nearness > own.nearness):
        own.near, own.across = found.near, found.across
    return own


def _best(a: int | None, b: int | None) -> int | None:
    return min((rank for rank in (a, b) if rank is not None), default=None)


def _compare(
    candidate: Candidate, catalogue: Catalogue, weight: dict[str, float], own: frozenset[str]
) -> None:
    """Coverage and support from the card's own words, chain included. `own`: the scripts of the prompt, digits apart."""
    item = candidate.item
    candidate.prompt_weight = sum(weight.values())
    chain = [found for one in live.chain(catalogue, item.id) if (found := catalogue.by_id(one)) is not None]
    heads = [" \n".join((one.l0, *one.also)) for one in chain or [item]]
    found = [set(tokens(head)) for head in heads]
    candidate.support = max((share(weight, one) for one in found), default=0.0)
    whole = share(weight, found[-1].union(tokens(item.l1)))
    candidate.coverage = max(candidate.coverage, whole, candidate.support)
    if candidate.coverage == 0:
        other = scripts(heads[-1]) - {"digit"}
        candidate.crossing = bool(own and other) and not own & other

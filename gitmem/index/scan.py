"""Cards that Whoosh does not hold, scored directly by the same formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.index.analyse import tokens
from gitmem.index.catalogue import Catalogue, Item
from gitmem.index.words import K1, USUAL_LENGTH, WEIGHT, B, WordHit

MAX_CARDS = 300


@dataclass(frozen=True, slots=True)
class Scanned:
    """A card's words: term counts of its head (L0, also) and of its opening (L1)."""

    row: int
    head: Counter[str]
    body: Counter[str]


def unworded(catalogue: Catalogue, scopes: Sequence[str], max_cards: int = MAX_CARDS) -> list[Scanned]:
    """The newest cards without words in the index."""
    if not catalogue.db.execute("SELECT 1 FROM cards WHERE worded = 0 LIMIT 1").fetchone():
        return []
    marks = ",".join("?" * len(scopes))
    items = catalogue.items(
        f"worded = 0 AND kind = 'card' AND scope IN ({marks})", scopes, f"created DESC, id LIMIT {max_cards}"
    )
    return [read(item) for item in items]


def read(item: Item) -> Scanned:
    return Scanned(item.row, Counter(tokens(" \n".join((item.l0, *item.also)))), Counter(tokens(item.l1)))


def frequencies(cards: Sequence[Scanned], terms: Sequence[str]) -> dict[str, int]:
    """In how many of the cards each term stands."""
    return {term: sum(1 for card in cards if card.head[term] or card.body[term]) for term in terms}


def score(card: Scanned, terms: Sequence[str], idf: dict[str, float]) -> WordHit | None:
    """BM25F of one card; None when it shares no term."""
    total, found, value = sum(idf.values()), 0.0, 0.0
    lengths = {"head": sum(card.head.values()), "body": sum(card.body.values())}
    for term in terms:
        tf = 0.0
        for name, counts in (("head", card.head), ("body", card.body)):
            if counts[term]:
                norm = 1 - B[name] + B[name] * lengths[name] / USUAL_LENGTH[name]
                tf += WEIGHT[name] * counts[term] / norm
        if tf:
            value += idf[term] * tf * (K1 + 1) / (K1 + tf)
            found += idf[term]
    return WordHit(card.row, value, found / total if total else 0.0) if value else None

"""Cards that Whoosh does not hold yet, scored directly by the same formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gitmem.index.analyse import tokens
from gitmem.index.catalogue import Catalogue, Item
from gitmem.index.words import K1, USUAL_LENGTH, WEIGHT, B, WordHit

MAX_CARDS = 300


def unworded(catalogue: Catalogue, scopes: Sequence[str]) -> list[Item]:
    """The newest cards without words in the index, at most `MAX_CARDS`."""
    marks = ",".join("?" * len(scopes))
    return catalogue.items(f"worded = 0 AND kind = 'card' AND scope IN ({marks})", scopes, f"created DESC, id LIMIT {MAX_CARDS}")


def score(item: Item, terms: Sequence[str], idf: dict[str, float]) -> WordHit | None:
    """BM25F of one card over its head (L0, also) and its opening (L1); None when it shares no term."""
    fields = {"head": Counter(tokens(" \n".join((item.l0, *item.also)))), "body": Counter(tokens(item.l1))}
    total, found, value = sum(idf.values()), 0.0, 0.0
    for term in terms:
        tf = 0.0
        for name, counts in fields.items():
            if counts[term]:
                norm = 1 - B[name] + B[name] * sum(counts.values()) / USUAL_LENGTH[name]
                tf += WEIGHT[name] * counts[term] / norm
        if tf:
            value += idf[term] * tf * (K1 + 1) / (K1 + tf)
            found += idf[term]
    return WordHit(item.row, value, found / total if total else 0.0) if value else None

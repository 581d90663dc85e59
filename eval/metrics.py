"""Measures, each a function of values. A ranking is a sequence of keys, best first; gold a set of keys."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Sequence


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """|gold among the first k| / |gold|, 0 to 1. Source: Manning, Raghavan, Schuetze, Introduction to Information Retrieval, 2008, ch. 8."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold)) if gold else 0.0


def hit_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 when any gold card stands among the first k, else 0."""
    return float(bool(set(ranked[:k]) & set(gold)))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold card; 0 when there is none. Its mean is MRR (Voorhees, TREC-8, 1999)."""
    return next((1.0 / rank for rank, key in enumerate(ranked, 1) if key in gold), 0.0)


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int = 10) -> float:
    """DCG / ideal DCG with gains of 0 and 1: sum over ranks of gain / log2(rank + 1).

    Source: Jaervelin, Kekaelaeinen, ACM TOIS 20(4), 2002, doi:10.1145/582415.582418.
    """
    if not gold:
        return 0.0
    found = sum(
        1.0 / math.log2(rank + 1) for rank, key in enumerate(dict.fromkeys(ranked[:k]), 1) if key in gold
    )
    ideal = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(len(set(gold)), k) + 1))
    return found / ideal


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, linear between neighbours; 0 of none.

    Source: Hyndman, Fan, The American Statistician 50(4), 1996, definition 7.
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    at = (len(ordered) - 1) * share
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def turn_score(labels: Collection[str], needed: bool, spoke: bool) -> float:
    """The composite of one turn, -1 to 1.

    A turn that needs memory scores 1 with a necessary card, 0.5 with only helpful ones, else 0; one that needs none scores 1 when
    silent, else 0; minus 1 for any harmful card.

    Args:
        labels: of the cards that were said: necessary, helpful, irrelevant, harmful.
        spoke: anything was said at all.
    """
    if needed:
        base = 1.0 if "necessary" in labels else 0.5 if "helpful" in labels else 0.0
    else:
        base = 0.0 if spoke else 1.0
    return base - (1.0 if "harmful" in labels else 0.0)


def agreement(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """The share of items to which two judges gave the same label."""
    return sum(x == y for x, y in zip(a, b, strict=True)) / len(a) if a else 0.0


def kappa(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """Cohen's kappa: (observed - chance) / (1 - chance); 1 when both gave one and the same label throughout.

    Source: Cohen, Educational and Psychological Measurement 20(1), 1960, doi:10.1177/001316446002000104.
    """
    if not a:
        return 0.0
    observed = agreement(a, b)
    left, right = Counter(a), Counter(b)
    chance = sum(left[label] * right[label] for label in left) / len(a) ** 2
    return 1.0 if chance == 1.0 else (observed - chance) / (1 - chance)


def precision_recall(accepted: Sequence[bool], true: Sequence[bool]) -> tuple[float, float]:
    """Of what was accepted, the share that is true; of what is true, the share that was accepted."""
    both = sum(a and t for a, t in zip(accepted, true, strict=True))
    return (both / sum(accepted) if any(accepted) else 1.0), (both / sum(true) if any(true) else 1.0)

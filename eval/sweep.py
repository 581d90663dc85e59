"""Doses over a threshold: the curve of each system, and the one threshold that is tuned on the first part of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.data import Probe
from eval.systems.base import Dose, Outcome, assembled

POINTS = 61


@dataclass(frozen=True, slots=True)
class Said:
    """What a system said to one probe at some threshold."""

    keys: tuple[str, ...]
    bytes: int
    dead: int = 0

    @property
    def spoke(self) -> bool:
        return bool(self.keys)


@dataclass(frozen=True, slots=True)
class Point:
    """One threshold: shares of the turns that need nothing in which something was said, and of needed cards that were said."""

    threshold: float
    injected: float
    recall: float
    hit: float
    bytes: float
    items: float
    score: float


def at(outcome: Outcome, dose: Dose, threshold: float | None) -> Said:
    """What is said at a threshold; None: as the system is shipped, or without any."""
    if threshold is None and outcome.said is not None:
        dead = {one.key for one in outcome.ranked if one.dead}
        return Said(outcome.said, outcome.bytes, sum(key in dead for key in outcome.said))
    if not outcome.fired:
        return Said((), 0)
    kept, size = assembled(outcome.ranked, dose, threshold)
    return Said(tuple(one.key for one in kept), size, sum(one.dead for one in kept))


def grid(outcomes: Sequence[Outcome], points: int = POINTS) -> list[float]:
    """Thresholds worth trying: quantiles of the best score of each probe and of all scores, and one above them all."""
    tops = sorted(out.ranked[0].score for out in outcomes if out.ranked and not out.ranked[0].always)
    if not tops:
        return [0.0]
    every = sorted({entry.score for out in outcomes for entry in out.ranked[:5] if not entry.always})
    chosen = {
        values[round(i * (len(values) - 1) / (points - 1))] for values in (tops, every) for i in range(points)
    }
    kept = sorted(chosen)
    return [*kept, kept[-1] + max(1e-6, abs(kept[-1]) * 1e-3)]


def point(
    probes: Sequence[Probe],
    outcomes: Mapping[str, Outcome],
    dose: Dose,
    threshold: float | None,
    need_weight: float,
) -> Point:
    """One place of the curve."""
    said = {one.id: at(outcomes[one.id], dose, threshold) for one in probes}
    needing = [one for one in probes if one.needs and one.gold]
    quiet = [one for one in probes if one.needs is False]
    found = [len(set(said[one.id].keys) & set(one.gold)) / len(one.gold) for one in needing]
    hits = [float(bool(set(said[one.id].keys) & set(one.gold))) for one in needing]
    silent = [float(not said[one.id].spoke) for one in quiet]
    parts = [(need_weight, hits), (1 - need_weight, silent)]
    weight = sum(w for w, values in parts if values) or 1.0
    score = sum(w * sum(values) / len(values) for w, values in parts if values) / weight
    everything = list(said.values())
    return Point(
        0.0 if threshold is None else threshold,
        1 - sum(silent) / len(silent) if silent else 0.0,
        sum(found) / len(found) if found else 0.0,
        sum(hits) / len(hits) if hits else 0.0,
        sum(one.bytes for one in everything) / max(1, len(everything)),
        sum(len(one.keys) for one in everything) / max(1, len(everything)),
        score,
    )


def curve(
    probes: Sequence[Probe],
    outcomes: Mapping[str, Outcome],
    dose: Dose,
    thresholds: Sequence[float],
    need_weight: float,
) -> list[Point]:
    return [point(probes, outcomes, dose, one, need_weight) for one in thresholds]


def tuned(points: Sequence[Point]) -> Point:
    """The place with the best score; of equals the quietest."""
    return max(points, key=lambda one: (round(one.score, 9), one.threshold))

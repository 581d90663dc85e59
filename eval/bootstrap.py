"""Intervals by drawing whole clusters with replacement, seeded: probes of one conversation are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the middle 95 % of its bootstrap distribution."""

    value: float
    low: float
    high: float
    count: int

    def as_dict(self) -> dict[str, float]:
        return {
            "value": round(self.value, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
            "n": self.count,
        }


class Bootstrap:
    """The same draws for every measure and system of one set of probes, so that differences are paired.

    Source: Cameron, Gelbach, Miller, Review of Economics and Statistics 90(3), 2008, doi:10.1162/rest.90.3.414 (pairs cluster bootstrap);
    percentile intervals after Efron, Tibshirani, An Introduction to the Bootstrap, 1993.
    """

    def __init__(self, clusters: Sequence[str], rounds: int = 2000, seed: int = 1):
        names = sorted(set(clusters))
        place = {name: i for i, name in enumerate(names)}
        self._of = np.array([place[name] for name in clusters], dtype=int)
        self._size = len(names)
        drawn = np.random.default_rng(seed).integers(0, max(1, self._size), (rounds, self._size))
        self._times = np.zeros((rounds, self._size))
        for i in range(rounds):
            self._times[i] = np.bincount(drawn[i], minlength=self._size)[: self._size]

    def mean(self, values: Sequence[float]) -> Interval:
        """The mean of one value a probe, in the order of the clusters that were given."""
        if not len(values):
            return Interval(0.0, 0.0, 0.0, 0)
        data = np.asarray(values, dtype=float)
        sums = np.bincount(self._of, weights=data, minlength=self._size)
        counts = np.bincount(self._of, minlength=self._size)
        means = (self._times @ sums) / np.maximum(1, self._times @ counts)
        low, high = np.percentile(means, [2.5, 97.5])
        return Interval(float(data.mean()), float(low), float(high), len(data))

    def difference(self, a: Sequence[float], b: Sequence[float]) -> Interval:
        """Mean of a minus mean of b over the same probes and draws."""
        return self.mean(np.asarray(a, dtype=float) - np.asarray(b, dtype=float))

"""Intervals over clusters."""

from __future__ import annotations

import pytest

from eval.bootstrap import Bootstrap


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    clusters = [f"c{i // 3}" for i in range(60)]
    values = [float(i % 4 == 0) for i in range(60)]
    first = Bootstrap(clusters, 500, seed=3).mean(values)
    assert Bootstrap(clusters, 500, seed=3).mean(values) == first
    assert Bootstrap(clusters, 500, seed=4).mean(values) != first
    assert first.value == pytest.approx(0.25)
    assert first.low < 0.25 < first.high


def test_probes_of_one_cluster_are_drawn_together():
    # every cluster is all 0 or all 1: as clusters the interval is wide, as single probes it would be narrow
    values = [float(i // 10 % 2) for i in range(100)]
    together = Bootstrap([f"c{i // 10}" for i in range(100)], 1000, seed=1).mean(values)
    alone = Bootstrap([f"c{i}" for i in range(100)], 1000, seed=1).mean(values)
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_clusters_of_unequal_size_weigh_by_their_probes():
    found = Bootstrap(["a", "a", "a", "b"], 200, seed=1).mean([1, 1, 1, 0])
    assert found.value == 0.75
    assert (found.low, found.high) == (0, 1)


def test_a_difference_of_equals_is_nothing():
    clusters = [f"c{i}" for i in range(20)]
    values = [float(i % 2) for i in range(20)]
    found = Bootstrap(clusters, 200, seed=1).difference(values, values)
    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_a_paired_difference_is_surer_than_its_parts():
    clusters = [f"c{i}" for i in range(40)]
    low = [float(i % 2) for i in range(40)]
    high = [value + 0.1 for value in low]
    found = Bootstrap(clusters, 500, seed=1).difference(high, low)
    assert found.low == pytest.approx(0.1) and found.high == pytest.approx(0.1)


def test_no_probes_have_no_interval():
    assert Bootstrap([], 10).mean([]).count == 0

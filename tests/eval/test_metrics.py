"""Measures against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval import metrics

RANKED = ["a", "b", "c", "d", "e"]


def test_recall_is_the_share_of_gold_among_the_first():
    assert metrics.recall_at(RANKED, {"b", "e", "x"}, 1) == 0
    assert metrics.recall_at(RANKED, {"b", "e", "x"}, 2) == pytest.approx(1 / 3)
    assert metrics.recall_at(RANKED, {"b", "e", "x"}, 5) == pytest.approx(2 / 3)
    assert metrics.recall_at(RANKED, set(), 5) == 0


def test_a_hit_is_any_gold_card_among_the_first():
    assert metrics.hit_at(RANKED, {"c", "x"}, 2) == 0
    assert metrics.hit_at(RANKED, {"c", "x"}, 3) == 1


def test_the_reciprocal_rank_is_that_of_the_first_gold_card():
    assert metrics.reciprocal_rank(RANKED, {"c", "e"}) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(RANKED, {"x"}) == 0


def test_ndcg_discounts_by_the_logarithm_of_the_rank():
    # gold on ranks 2 and 4: 1/log2(3) + 1/log2(5), of at best 1 + 1/log2(3)
    by_hand = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert metrics.ndcg_at(RANKED, {"b", "d"}) == pytest.approx(by_hand)
    assert metrics.ndcg_at(RANKED, {"a", "b"}) == 1
    assert metrics.ndcg_at(RANKED, {"d"}, k=3) == 0


def test_a_percentile_lies_between_its_neighbours():
    assert metrics.percentile([4, 1, 3, 2], 0.5) == 2.5
    assert metrics.percentile([10, 20], 0.95) == pytest.approx(19.5)
    assert metrics.percentile([], 0.5) == 0
    assert metrics.percentile([7], 0.95) == 7


@pytest.mark.parametrize(
    ("labels", "needed", "spoke", "score"),
    [
        (["necessary", "irrelevant"], True, True, 1),
        (["helpful"], True, True, 0.5),
        (["irrelevant"], True, True, 0),
        ([], True, False, 0),
        ([], False, False, 1),
        (["helpful"], False, True, 0),
        (["necessary", "harmful"], True, True, 0),
        (["harmful"], False, True, -1),
    ],
)
def test_the_composite_of_a_turn(labels, needed, spoke, score):
    assert metrics.turn_score(labels, needed, spoke) == score


def test_kappa_is_agreement_beyond_chance():
    # 50 items: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no; observed 0.7, chance 0.5
    a = ["y"] * 25 + ["n"] * 25
    b = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert metrics.agreement(a, b) == pytest.approx(0.7)
    assert metrics.kappa(a, b) == pytest.approx(0.4)
    assert metrics.kappa(["y", "y"], ["y", "y"]) == 1
    assert metrics.kappa([], []) == 0


def test_precision_and_recall_of_what_was_accepted():
    assert metrics.precision_recall([True, True, False, False], [True, False, True, False]) == (0.5, 0.5)
    assert metrics.precision_recall([False], [False]) == (1, 1)


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.sets(st.sampled_from("abcdefgh"), min_size=1),
    st.integers(1, 10),
)
def test_every_measure_lies_between_0_and_1_and_recall_grows_with_depth(ranked, gold, k):
    for value in (
        metrics.recall_at(ranked, gold, k),
        metrics.ndcg_at(ranked, gold, k),
        metrics.reciprocal_rank(ranked, gold),
    ):
        assert 0 <= value <= 1 + 1e-12
    assert metrics.recall_at(ranked, gold, k) <= metrics.recall_at(ranked, gold, k + 1)

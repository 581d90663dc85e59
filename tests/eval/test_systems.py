"""Rows of the tables against the product itself, and against each other."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from eval import datasets, sweep, systems
from eval.data import Probe
from eval.run import conversations
from eval.systems.base import Dose, Entry, Heard, Outcome, Unavailable, assembled
from eval.systems.rankers import bm25, cut
from eval.world import opened
from tests.conftest import ROOT

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def own(tmp_path_factory, _hermetic):
    place = ROOT / "eval" / "fixtures" / "own"
    options = {
        "name": "own", "cards": place / "cards.jsonl", "path": place / "probes.jsonl",
        "prompts": [{"path": place / "routine.jsonl", "turns": [0, 3], "project": "kestrel", "limit": 10}, {"path": place / "streams.jsonl", "stream": True, "needs": None, "prefix": "s"}],
    }  # fmt: skip
    found = datasets.load(options, NOW)
    with opened(found, tmp_path_factory.mktemp("worlds"), NOW) as worlds:
        yield found, worlds.of()


@pytest.mark.parametrize("name", ["full", "working", "personal"])
def test_the_swept_dose_at_the_shipped_threshold_is_what_the_product_says(own, name):
    found, world = own
    system = systems.make(name)
    spoke = 0
    for group in conversations(found.probes):
        heard = Heard()
        for probe in group:
            outcome = system.answer(probe, world, heard)
            swept, size = assembled(outcome.ranked, system.dose, system.threshold)
            assert (tuple(one.key for one in swept), size) == (outcome.said, outcome.bytes), probe.text
            assert len(outcome.text.encode()) == outcome.bytes
            spoke += bool(outcome.said)
    assert spoke


def test_a_higher_threshold_never_says_more(own):
    found, world = own
    system = systems.make("full")
    for probe in found.probes[:40]:
        outcome = system.answer(probe, world, Heard())
        counts = [len(sweep.at(outcome, system.dose, threshold).keys) for threshold in (0.0, 0.2, 0.5, 0.9)]
        assert counts == sorted(counts, reverse=True)


def test_filters_keep_out_other_projects_and_dead_cards(own):
    found, world = own
    probe = next(one for one in found.probes if one.id == "p14")
    for kind in ("bm25", "bm25-bigrams", "dense", "rrf"):
        plain = systems.make(kind).answer(probe, world, Heard()).ranked
        narrow = systems.make(f"{kind}+scope+live").answer(probe, world, Heard()).ranked
        assert any(one.dead for one in plain), kind
        assert narrow and not any(one.dead for one in narrow)
        assert {one.scope for one in narrow} <= {"kestrel", "global"}


def test_the_products_retrieval_never_ranks_a_dead_card(own):
    found, world = own
    for spec in ("product", "product-rrf", "product+scope"):
        system = systems.make(spec)
        assert not any(
            one.dead
            for probe in found.probes
            if probe.gold
            for one in system.answer(probe, world, Heard()).ranked
        )


def test_the_two_orders_of_the_product_are_over_the_same_cards(own):
    found, world = own
    probe = found.probes[0]
    by_relevance, by_rank = (
        systems.make(spec).answer(probe, world, Heard()).ranked for spec in ("product", "product-rrf")
    )
    assert {one.key for one in by_relevance[:5]} & {one.key for one in by_rank[:5]}


def test_what_was_said_in_a_session_is_not_said_again(own):
    _, world = own
    system, heard = systems.make("full"), Heard()
    probe = Probe("a", "which library draws the charts in kestrel?", project="kestrel", session="s", turn=0)
    first = system.answer(probe, world, heard)
    again = system.answer(replace(probe, id="b", turn=1), world, heard)
    assert "chart-lib" in first.said and "chart-lib" not in again.said


def test_bm25_on_bigrams_is_the_formula():
    assert cut("解析 JSON 文件a") == ["json", "a", "解析", "文件"]
    from collections import Counter

    # one of two documents holds the term, once; both are two terms long, so the length weighs nothing
    scores = bm25(["x"], {1: Counter(["x", "y"]), 2: Counter(["z", "y"])})
    import math

    assert scores == {1: pytest.approx(math.log(1 + 1.5 / 1.5) * 1 * 2.2 / 2.2)}


def test_an_item_too_long_with_its_body_is_tried_without_and_what_follows_may_still_fit():
    dose = Dose(3, 400, "l0+l1")
    ranked = [Entry("a", 0.9, 600, 150), Entry("b", 0.8, 700, 500), Entry("c", 0.7, 60, 60)]
    kept, size = assembled(ranked, dose, None)
    assert [one.key for one in kept] == ["a", "c"] and size <= 400
    assert assembled(ranked, dose, 0.95) == ([], 0)
    assert [one.key for one in assembled([Entry("t", 0.0, 50, 50, always=True)], dose, 0.95)[0]] == ["t"]


def test_the_bar_across_languages_moves_with_the_threshold():
    dose = Dose(3, 4000, "l0", cross_step=0.2)
    ranked = [Entry("near", 0.6, 50, 50), Entry("across", 0.6, 50, 50, crossing=True)]
    assert [one.key for one in assembled(ranked, dose, 0.5)[0]] == ["near"]
    assert [one.key for one in assembled(ranked, dose, 0.3)[0]] == ["near", "across"]


def test_the_tuned_threshold_is_the_best_one_and_of_equals_the_quietest():
    probes = [Probe("need", "x", gold=("a",)), Probe("quiet", "y", needs=False)]
    outcomes = {
        "need": Outcome("need", True, (Entry("a", 0.8, 50, 50),)),
        "quiet": Outcome("quiet", True, (Entry("b", 0.5, 50, 50),)),
    }
    dose = Dose(5, 1000, "l0")
    thresholds = sweep.grid(list(outcomes.values()))
    assert thresholds[:2] == [0.5, 0.8] and thresholds[-1] > 0.8
    best = sweep.tuned(sweep.curve(probes, outcomes, dose, thresholds, 0.5))
    assert (best.threshold, best.injected, best.recall, best.score) == (0.8, 0.0, 1.0, 1.0)


def test_an_outcome_survives_its_line():
    one = Outcome(
        "p",
        True,
        (Entry("a", 0.123456, 50, 40, True, True, "global", False),),
        ("a",),
        90,
        1.5,
        "note",
        "text 文",
    )
    assert Outcome.of(json.loads(json.dumps(one.as_dict()))) == one


def test_systems_that_are_not_there_are_named():
    with pytest.raises(ValueError, match="no system `elephant`"):
        systems.make("elephant")
    with pytest.raises(ValueError, match="no filter `colour`"):
        systems.make("bm25+colour")
    with pytest.raises(Unavailable, match="openviking"):
        systems.make("openviking")

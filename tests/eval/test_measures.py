"""Quotes, leaks, missed moments."""

from __future__ import annotations

import json
import random

import pytest

from eval import config, datasets, measures
from eval.systems.base import Outcome
from eval.world import Vectors
from tests.conftest import ROOT
from tests.eval.conftest import CARDS, PROBES, Quiet, write
from tests.eval.test_loaders import NOW


def test_the_projects_own_quote_pairs_are_all_judged_rightly():
    rows = [
        json.loads(line)
        for line in (ROOT / "eval/fixtures/own/quotes.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    found = measures.judged_quotes(rows, random.Random(1), 50)
    assert {key: found[key] for key in ("precision", "recall", "spans_that_differ", "edits_accepted")} == {
        "precision": 1,
        "recall": 1,
        "spans_that_differ": 0,
        "edits_accepted": 0,
    }
    assert found["edits_tried"] == 2
    assert (
        found["policy"]["short"] == {"accepted": 0, "pairs": 2} and found["policy"]["case"]["accepted"] == 0
    )


def test_a_false_acceptance_lowers_precision_and_a_refusal_recall():
    rows = [
        {
            "lang": "en",
            "label": "neg",
            "kind": "made up",
            "quote": "the cat sat here",
            "source": "the cat sat here",
        },
        {
            "lang": "en",
            "label": "pos",
            "kind": "identity",
            "quote": "the cat sat here",
            "source": "the cat sat here",
        },
        {
            "lang": "en",
            "label": "pos",
            "kind": "identity",
            "quote": "nowhere to be found",
            "source": "something else",
        },
    ]
    found = measures.judged_quotes(rows, random.Random(1), 5)
    assert (found["precision"], found["recall"]) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        ("full", {"personal", "no longer live"}),
        ("working", {"personal", "no longer live", "of another project"}),
    ],
)
def test_a_profile_that_says_everything_is_found_to_leak(tmp_path, monkeypatch, profile, why):
    write(tmp_path / "cards.jsonl", CARDS)
    write(tmp_path / "probes.jsonl", PROBES[:2])
    place = tmp_path / "c.yaml"
    place.write_text("datasets: [{cards: cards.jsonl}]\nnow: 2026-06-01T09:00:00Z\n")
    given = datasets.load(
        {"name": "small", "cards": tmp_path / "cards.jsonl", "path": tmp_path / "probes.jsonl"}, NOW
    )

    class Talker:
        def __init__(self, name):
            self.name = name

        def answer(self, probe, world, heard):
            text = "\n".join(item.l0 for item in world.all_items()) if self.name == profile else ""
            return Outcome(probe.id, True, text=text)

    monkeypatch.setattr(measures, "Whole", Talker)
    found = measures.leaked(given, config.read(place), tmp_path / "out", Vectors(), Quiet(), 1)
    assert found["leaks"] > 0
    assert {one["profile"] for one in found["examples"]} == {profile}
    assert {one["why"] for one in found["examples"]} <= why
    assert any(one["card"].endswith("-expired") for one in found["examples"])


def turn(said=(), session="s", agent="codex", project="yard"):
    return {
        "event": "recall",
        "automatic": True,
        "agent": agent,
        "project": project,
        "session": session,
        "said": list(said),
    }


def search(said=("x",), agent="codex", project="yard"):
    return {
        "event": "search",
        "agent": agent,
        "project": project,
        "said": list(said),
        "at": "2026-06-01T00:00:00Z",
    }


def test_a_search_soon_after_a_silent_turn_is_a_missed_moment():
    found = measures.missed_in([turn(), search(), turn(["a"]), turn(["b"]), turn(["c"]), search()])
    assert (found["missed"], found["searches"], found["silent_turns"], found["spoken_turns"]) == (1, 2, 1, 3)
    assert found["missed_and_found"] == 1 and found["share_of_silent"] == 1


def test_a_search_of_somebody_else_elsewhere_or_in_a_new_session_is_none():
    assert measures.missed_in([turn(), search(agent="hermes")])["missed"] == 0
    assert measures.missed_in([turn(), search(project="dock")])["missed"] == 0
    assert measures.missed_in([turn(), turn(["a"], session="t"), search()])["missed"] == 0
    assert measures.missed_in([turn(agent="you"), search(agent="you")])["searches"] == 0
    assert measures.missed_in([])["share_of_silent"] == 0


def test_what_must_not_be_heard_is_told_by_profile_scope_and_life():
    heard = measures._forbidden
    assert heard("harbour", True, "working", "pottery") == "of another project"
    assert heard("harbour", True, "full", "pottery") == ""
    assert heard("personal", True, "full", None) == "personal"
    assert heard("global", True, "personal", None) == "not personal"
    assert heard("personal", True, "personal", None) == "" == heard("global", True, "working", "x")
    assert heard("global", False, "full", None) == "no longer live"

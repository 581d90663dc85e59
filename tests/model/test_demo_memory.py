"""The invented memory of the demo and the recall cases written for it hold together."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gitmem.checks import safety
from gitmem.model import card, fold, ids
from gitmem.model.card import Card, Evidence

_ROOT = Path(__file__).resolve().parents[2]
_NOW = datetime(2026, 11, 10, 12, 0, tzinfo=UTC)
_PROJECTS = {"thesis", "dashboard", "atlas"}
_CARRIED_BY_ASSISTANT = {"fact", "decision", "result", "pitfall", "task"}
_KINDS = {
    "paraphrase", "exact", "cross", "identifier", "number", "traditional", "fullwidth", "old-words",
    "routine", "near-miss", "smalltalk", "other-project",
}  # fmt: skip
_LIFETIME_DAYS = {"decision": 365, "result": 180, "task": 14}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


CARDS = _lines(_ROOT / "templates" / "demo" / "memory.jsonl")
CASES = _lines(_ROOT / "tests" / "fixtures" / "recall_cases.jsonl")
BY_NAME = {entry["name"]: entry for entry in CARDS}
_SUPERSEDED = {entry["supersedes"] for entry in CARDS if "supersedes" in entry}


def _id(name: str) -> str:
    """A fixed id, drawn from the place of `name` in the file."""
    seed = list(BY_NAME).index(name) + 1
    return ids.new_id(lambda bits: (seed * 0x9E3779B97F4A7C15) % (1 << bits))


def _card(entry: dict[str, Any]) -> Card:
    created = _NOW - timedelta(days=entry["days_ago"])
    source = (
        f"sources/{entry['scope']}/{entry['host']}/{created:%Y/%m}/{created:%Y%m%d}-{_id(entry['name'])}.md"
    )
    return Card(
        id=_id(entry["name"]),
        scope=entry["scope"],
        type=entry["type"],
        created=f"{created:%Y-%m-%dT%H:%M:%SZ}",
        author=entry["host"],
        conclusion=entry["conclusion"],
        also=tuple(entry.get("also", ())),
        body=entry.get("body", ""),
        evidence=(Evidence(source, 3, entry["role"], entry["quote"]),),
        supersedes=(_id(entry["supersedes"]),) if "supersedes" in entry else (),
        expires=entry.get("expires"),
    )


each_card = pytest.mark.parametrize("entry", CARDS, ids=[entry["name"] for entry in CARDS])


@each_card
def test_a_demo_card_survives_its_file(entry):
    built = _card(entry)
    again = card.parse(card.dump(built))
    assert (again.conclusion, again.also, again.evidence) == (built.conclusion, built.also, built.evidence)
    assert again.body.strip() == built.body.strip()
    assert card.dump(again) == card.dump(card.parse(card.dump(again)))
    assert card.path_faults(card.card_path(built), again) == []


@each_card
def test_a_demo_card_quotes_its_turn(entry):
    assert fold.find(entry["quote"], entry["turn"]) is not None
    assert fold.long_enough(entry["quote"], entry["turn"])
    assert fold.units(entry["quote"]) >= fold.MIN_UNITS


@each_card
def test_a_demo_card_is_one_short_line(entry):
    assert "\n" not in entry["conclusion"]
    assert len(entry["conclusion"].encode()) <= card.MAX_CONCLUSION_BYTES


@each_card
def test_a_demo_card_rests_on_words_that_can_carry_it(entry):
    assert entry["scope"] in _PROJECTS | {"global", "personal"}
    assert entry["host"] in {"claude-code", "codex", "hermes", "pi"}
    if entry["role"] != "user":
        assert entry["role"] == "assistant"
        assert entry["scope"] in _PROJECTS
        assert entry["type"] in _CARRIED_BY_ASSISTANT
    if entry["type"] == "habit":
        assert entry["scope"] == "personal"


@each_card
def test_a_demo_card_passes_the_safety_check(entry):
    assert safety.scan(card.dump(_card(entry)).decode(), kind="card") == []
    assert safety.scan(entry["turn"], kind="source") == []


@each_card
def test_a_demo_card_replaces_an_older_one_of_its_scope(entry):
    if "supersedes" in entry:
        old = BY_NAME[entry["supersedes"]]
        assert old["scope"] == entry["scope"]
        assert old["days_ago"] > entry["days_ago"]
        assert old["conclusion"] != entry["conclusion"]


def test_no_two_demo_cards_share_a_name_an_id_or_a_conclusion():
    assert len(BY_NAME) == len(CARDS)
    assert len({_id(name) for name in BY_NAME}) == len(CARDS)
    assert len({entry["conclusion"] for entry in CARDS}) == len(CARDS)


def test_the_demo_holds_every_kind_an_evaluation_needs():
    assert {entry["scope"] for entry in CARDS} == _PROJECTS | {"global", "personal"}
    types = {entry["type"] for entry in CARDS}
    assert types == {"preference", "pitfall", "convention", "fact", "decision", "result", "habit", "task"}
    assert any(_dead_of_age(entry) for entry in CARDS)
    assert any(not entry.get("also") for entry in CARDS)


def _dead_of_age(entry: dict[str, Any]) -> bool:
    return "expires" not in entry and entry["days_ago"] > _LIFETIME_DAYS.get(entry["type"], 10**6)


def _visible(entry: dict[str, Any], project: str | None) -> bool:
    return entry["scope"] in ("global", project) or (entry["scope"] == "personal" and project is None)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_a_recall_case_wants_only_live_cards_that_its_project_can_see(case):
    assert set(case) == {"prompt", "project", "want", "lang", "kind", "split"}
    assert case["prompt"].strip() == case["prompt"] != ""
    assert case["project"] in _PROJECTS | {None}
    assert case["lang"] in {"en", "zh", "mixed"}
    assert case["kind"] in _KINDS
    assert case["split"] in {"dev", "test"}
    assert len(case["want"]) == len(set(case["want"])) <= 2
    for name in case["want"]:
        entry = BY_NAME[name]
        assert name not in _SUPERSEDED
        assert not _dead_of_age(entry)
        assert _visible(entry, case["project"])
    if case["kind"] in {"routine", "near-miss", "smalltalk", "other-project"}:
        assert case["want"] == []
    else:
        assert case["want"]


def test_a_cross_case_wants_a_card_without_wording_in_the_language_of_the_prompt():
    for case in CASES:
        if case["kind"] == "cross":
            assert any("also" not in BY_NAME[name] for name in case["want"]), case["prompt"]


def test_the_recall_cases_are_many_and_evenly_split():
    assert sum(bool(case["want"]) for case in CASES) >= 100
    assert sum(not case["want"] for case in CASES) >= 120
    for speaks in (True, False):
        split = Counter(case["split"] for case in CASES if bool(case["want"]) is speaks)
        assert abs(split["dev"] - split["test"]) <= 2
    for kind in _KINDS:
        split = Counter(case["split"] for case in CASES if case["kind"] == kind)
        assert abs(split["dev"] - split["test"]) <= 1


def test_no_recall_case_is_told_twice():
    seen = Counter((case["prompt"], case["project"]) for case in CASES)
    assert [case for case, times in seen.items() if times > 1] == []


def test_every_live_demo_card_is_wanted_somewhere():
    wanted = {name for case in CASES for name in case["want"]}
    live = {name for name, entry in BY_NAME.items() if name not in _SUPERSEDED and not _dead_of_age(entry)}
    assert wanted == live

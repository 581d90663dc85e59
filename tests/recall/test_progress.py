"""Unfinished work is said when its progress is asked for, and never as if it were live."""

from __future__ import annotations

import pytest

from gitmem.recall.session import Session
from tests.recall.world import World, card_id, spec

CARDS = (
    spec("old", "Chapter 2 is half written", scope="thesis", type="task", days_ago=9),
    spec("new", "Chapter 4: the ablation table lacks 3 seeds", scope="thesis", type="task", days_ago=2),
    spec("stale", "Chapter 1 needs a title", scope="thesis", type="task", days_ago=15),
    spec("first", "Migration: 2 of 5 tables moved", scope="shop", type="task", days_ago=5),
    spec(
        "second",
        "Migration: 4 of 5 tables moved",
        scope="shop",
        type="task",
        days_ago=1,
        supersedes=["first"],
    ),
    spec("closed", "Migration of the attic", scope="attic", type="task", days_ago=1),
    spec("errand", "Renew the passport", scope="personal", type="task", days_ago=1),
    spec("everywhere", "Move all repositories to the new host: 3 left", type="task", days_ago=3),
    spec("uv", "Use an isolated uv environment for each Python project", days_ago=30),
)
CUES = ("where were we?", "is it done?", "上次做到哪了？", "跑完了吗")


@pytest.fixture(scope="module")
def world(tmp_path_factory, _memory_template) -> World:
    from tests.recall.world import make

    projects = {"thesis": {}, "shop": {}, "attic": {"status": "archived"}}
    return make(tmp_path_factory.mktemp("tasks") / "memory", _memory_template, CARDS, projects).built()


@pytest.mark.parametrize("cue", CUES)
@pytest.mark.parametrize("profile", ["full", "working"])
def test_the_current_projects_work_is_said_newest_first_and_no_other(world, cue, profile):
    assert world.said(cue, profile, "thesis") == ["new", "old"]
    assert world.said(cue, profile, "shop") == ["second"]
    assert world.said(cue, profile, "attic") == [] or profile == "full"


@pytest.mark.parametrize("cue", CUES)
def test_without_a_project_full_hears_all_of_it_and_working_nothing(world, cue):
    assert world.said(cue, "full") == ["second", "new", "everywhere", "old"]
    assert world.said(cue, "working") == []
    assert world.said(cue, "personal") == ["errand"]


def test_work_in_hand_is_headed_as_a_state_of_its_day(world):
    text = world.ask("where were we?", "working", "thesis").text
    assert (
        f"- {card_id('new')[:7]} task, thesis, state as of 2026-11-18, not live, 2 days old: Chapter 4"
        in text
    )


@pytest.mark.parametrize(
    "prompt",
    [
        "the ablation table of chapter 4 lacks seeds",
        "Migration: 4 of 5 tables moved",
        "move the tables",
        "Chapter 2 is half written",
    ],
)
@pytest.mark.parametrize("profile", ["full", "working", "personal"])
def test_without_a_cue_no_work_is_said_however_near_it_comes(world, prompt, profile):
    for here in ("thesis", "shop", None):
        assert not {"old", "new", "first", "second", "everywhere", "errand"} & set(
            world.said(prompt, profile, here)
        )


def test_what_was_said_in_this_session_is_not_said_again(world):
    assert world.said(
        "where were we?", "full", "thesis", session=Session(turns=2, shown=[card_id("new")])
    ) == ["old"]


def test_a_cue_opens_a_later_turn_of_working(world):
    found = world.ask(
        "where were we?", "working", "thesis", explicit=False, in_session=True, session=Session(turns=4)
    )
    assert [world.names[item.id] for item in found.items] == ["new", "old"]
    assert found.trace.trigger == "cue “where were we”"


def test_the_trace_names_the_work_that_was_said(world):
    found = world.ask("where were we?", "full", "thesis")
    said = [one.id for one in found.trace.candidates if one.fate == "said"]
    assert said[:2] == [card_id("new"), card_id("old")]
    assert len(said) == len(set(said)) == found.trace.items


def test_work_asked_for_by_name_finds_what_else_fits_too(world):
    said = world.said(
        "is it done? I mean the isolated uv environment for the Python project", "full", "thesis"
    )
    assert said[:2] == ["new", "old"] and "uv" in said

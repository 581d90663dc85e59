"""The memory as it was: cards and projects of then, agents, profiles and retractions of today."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from gitmem.errors import Refused
from gitmem.recall.past import recall_at
from tests.recall.world import NOW, World, card_id, profiles_file, projects_file, spec

AMBER = spec(
    "amber", "Mark unverified entries in amber", scope="web", days_ago=20, also=["未验证的条目标成琥珀色"]
)
TEAL = spec(
    "teal",
    "Mark unverified entries in teal",
    scope="web",
    days_ago=10,
    supersedes=["amber"],
    also=["未验证的条目标成青色"],
)
PROMPT = "which colour marks unverified entries"


def at(
    world: World,
    rev: str,
    prompt: str = PROMPT,
    profile: str = "full",
    agent: str | None = None,
    keep_now: bool = True,
    project: str | None = "web",
    lexical: bool = False,
):  # type: ignore[no-untyped-def]
    return recall_at(
        world.context(profile if agent is None else None, agent),
        prompt,
        rev,
        keep_now,
        cwd=Path("/"),
        project=project,
        previous="",
        lexical=lexical,
    )


@pytest.fixture
def world(make) -> World:
    return make([AMBER], {"web": {}})


@pytest.mark.parametrize("lexical", [False, True])
@pytest.mark.parametrize("prompt", [PROMPT, "未验证的条目标成什么颜色"])
def test_before_a_correction_the_old_card_stands_and_after_it_the_new_one(world, prompt, lexical):
    before = world.memory.tip
    world.put(TEAL).built()
    now = [world.names[item.id] for item in at(world, world.memory.tip, prompt, lexical=lexical).items]
    then = [world.names[item.id] for item in at(world, before, prompt, lexical=lexical).items]
    assert (then, now) == (["amber"], ["teal"])


def test_a_day_means_its_last_commit_and_a_day_before_all_says_so(world):
    world.put(TEAL).built()
    world.memory.git.run("commit", "--allow-empty", "-m", "later", check=False)
    day = world.memory.git.run("log", "-1", "--format=%cs").text()
    assert [world.names[item.id] for item in at(world, day).items] == ["teal"]
    with pytest.raises(Refused, match="nothing had been written by 2001-01-01"):
        at(world, "2001-01-01")
    for wrong in ("no-such-rev", "2026-13-45", "", "HEAD:cards", "--all"):
        with pytest.raises(Refused):
            at(world, wrong)


def test_a_commit_of_something_else_is_no_memory(world):
    tree = world.memory.git.run("mktree").text()
    other = world.memory.git.run("commit-tree", tree, "-m", "x").text()
    with pytest.raises(Refused, match="no commit of a memory"):
        at(world, other)


def test_now_is_then_unless_it_is_said(world):
    world.put(
        spec(
            "brief",
            "The maintenance window of entries is Friday",
            scope="web",
            days_ago=15,
            expires=(NOW - timedelta(days=9)).date().isoformat(),
        )
    )
    world.put(TEAL).built()
    found = at(world, world.memory.tip, keep_now=False)
    assert found.trace.at != NOW.isoformat(timespec="seconds")
    found = at(world, world.memory.tip, "the maintenance window of entries", keep_now=True)
    assert card_id("brief") not in [item.id for item in found.items]


def test_what_is_retracted_today_is_not_recalled_from_the_past(world):
    before = world.memory.tip
    world.put(spec("gone", "said by mistake", scope="web", retracts=["amber"], days_ago=0)).built()
    assert at(world, before).text == ""


def test_a_right_that_was_taken_away_stays_away(make):
    agents = b"eye: {profile: full, read: [global, web], status: active}\n"
    world = make([AMBER], {"web": {}}, {"registry/agents.yaml": agents})
    before = world.memory.tip
    world.built()
    assert at(world, before, agent="eye").items
    world.commit({"registry/agents.yaml": agents.replace(b", web", b"")})
    assert at(world, before, agent="eye").text == ""
    world.commit({"registry/profiles.yaml": profiles_file(full={"scopes": ["personal"]})})
    assert at(world, before).text == ""


def test_a_project_that_is_archived_today_was_open_then(world):
    before = world.memory.tip
    world.commit({"registry/projects.yaml": projects_file({"web": {"status": "archived"}})}).built()
    assert world.said(PROMPT, "full", "web") == []
    assert [world.names[item.id] for item in at(world, before).items] == ["amber"]


def test_the_past_leaves_no_state_and_todays_index_as_it_was(world):
    before = world.memory.tip
    world.put(TEAL).built()
    at(world, before)
    assert not (world.memory.state / "sessions").exists()
    assert world.said(PROMPT, "full", "web") == ["teal"]
    assert not world.ask(PROMPT).trace.degraded


def test_words_of_bodies_are_found_in_the_past(make):
    body = "Short.\n\n## Why\n\nThe zanzibar incident."
    world = make([spec("deep", "Deploy on Mondays only", scope="web", body=body)], {"web": {}})
    before = world.memory.tip
    world.put(spec("other", "Use teal", scope="web")).built()
    found = at(world, before, "deploy on Mondays only, or on other days")
    assert [world.names[item.id] for item in found.items] == ["deep"]

"""The cases that everything began with: what must be said, what must not, and a change of mind."""

from pathlib import Path

import pytest

from gitmem.authoring.demo import demo_id
from gitmem.recall import render
from tests.recall.world import World, register_folder

RENAME = ("Rename parse_table and update the tests", "把 parse_table 改个名，顺便更新测试")
ENVIRONMENT = ("Set up the Python environment for this project", "帮我配一下这个项目的 Python 环境")
LICENCES = (
    "how does the thesis cite software licences",
    "how does my thesis cite software licences?",
    "论文里软件许可证是怎么引用的",
)
COLOUR = ("which colour do unverified entries get", "未验证的条目用什么颜色")


@pytest.mark.parametrize("here", ["atlas", "thesis", "dashboard", None])
@pytest.mark.parametrize("prompt", RENAME)
def test_working_says_nothing_to_a_routine_prompt_of_a_later_turn(demo_memory, tmp_path, prompt, here, today):
    world = World(demo_memory)
    folder = tmp_path / "folder"
    folder.mkdir()
    if here:
        world.memory = register_folder(demo_memory, here, folder)
    world.turn("hello", "working", session="s-0001-0001", cwd=folder, now=today)
    text, found = world.turn(prompt, "working", session="s-0001-0001", cwd=folder, now=today)
    assert text == ""
    assert not found.trace.fired


@pytest.mark.parametrize("here", ["atlas", "thesis", "dashboard", None])
@pytest.mark.parametrize("profile", ["full", "working"])
@pytest.mark.parametrize("prompt", ENVIRONMENT)
def test_both_profiles_get_the_environment_card_in_both_languages(demo, today, prompt, profile, here):
    found = demo.ask(prompt, profile, here, now=today)
    assert demo.names[found.items[0].id] == "uv-env"
    assert "conda" not in found.text
    assert not found.trace.degraded


@pytest.mark.parametrize("prompt", LICENCES)
def test_another_projects_decision_reaches_full_and_not_one_byte_reaches_working(demo, today, prompt):
    assert demo.said(prompt, "full", "dashboard", now=today)[0] == "spdx-footnote"
    for first in (True, False):
        found = demo.ask(prompt, "working", "dashboard", now=today, explicit=first, in_session=True)
        assert found.text == ""
    # naming the project in the prompt or on the folder of that project opens it, the prompt alone does not
    assert demo.said(prompt, "working", "thesis", now=today) in (["spdx-footnote"], [])


@pytest.mark.parametrize("profile", ["full", "working"])
@pytest.mark.parametrize("prompt", COLOUR)
def test_the_corrected_colour_is_said_and_never_the_old_one(demo, today, prompt, profile):
    found = demo.ask(prompt, profile, "dashboard", now=today)
    assert demo.names[found.items[0].id] == "teal"
    assert "amber" not in found.text and "琥珀" not in found.text


@pytest.mark.parametrize(
    "prompt",
    ["mark unverified entries in amber", "未验证的条目标成琥珀色", "the amber colour for unverified entries"],
)
def test_the_old_words_find_the_new_card(demo, today, prompt):
    found = demo.ask(prompt, "full", "dashboard", now=today)
    assert demo.names[found.items[0].id] == "teal"
    assert any(one.id == demo_id("amber") and one.fate == "chain" for one in found.trace.candidates)


def test_undoing_the_correction_revives_the_old_card_and_the_past_keeps_it(demo_memory, run, home: Path):
    question = COLOUR[0]
    place = home / "work"
    demo_memory.git.run("config", "--add", "mem.project.dashboard.path", str(place))
    before = demo_memory.git.run("rev-parse", "HEAD~1").text()

    now = run("recall", question, cwd=place)
    assert demo_id("teal")[: render.ids.SHORT] in now.out and now.code == 0
    past = run("recall", "--at", before, question, cwd=place)
    assert past.code == 0
    assert (
        demo_id("amber")[: render.ids.SHORT] in past.out
        and demo_id("teal")[: render.ids.SHORT] not in past.out
    )

    undone = run("undo", demo_memory.tip, cwd=place)
    assert undone.code == 0, undone.err
    revived = run("recall", question, cwd=place)
    assert demo_id("amber")[: render.ids.SHORT] in revived.out, revived
    assert demo_id("teal")[: render.ids.SHORT] not in revived.out

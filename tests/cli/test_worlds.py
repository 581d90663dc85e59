"""The worlds that tests live in are what they say."""

from __future__ import annotations

from gitmem.authoring.demo import demo_id
from gitmem.model import ids


def test_a_memory_begins_with_one_commit_and_a_clean_work_tree(memory):
    assert (
        memory.git.run("log", "--format=%s|%(trailers:key=Mem-Action,valueonly,separator=%x2C)").text()
        == "mem: init|registry"
    )
    assert memory.git.run("status", "--porcelain").text() == ""


def test_the_demo_passes_every_check(demo_memory):
    from gitmem import judge

    report = judge.check_tree(demo_memory.git, demo_memory.tip)
    assert report.problems == ()


def test_the_demo_ids_are_ids():
    assert ids.is_id(demo_id("uv-env"))


def test_the_demo_is_indexed_whole(demo_memory):
    from gitmem.index import build, catalogue

    found = catalogue.open_for_reading(demo_memory.state)
    try:
        assert found.tree == demo_memory.tree
        assert found.count("kind = 'card'") == 39 == found.count("worded = 1")
        assert build.coverage(found, found.meta("embedder") or "none").complete
        assert found.faults() == []
    finally:
        found.close()


def test_a_command_line_runs_in_this_process_and_in_its_own(memory, run):
    inside, outside = run("add", "Use pnpm here"), run("add", "Water the plants", process=True)
    assert inside.code == outside.code == 0, (inside, outside)
    assert ids.is_id(inside.out.strip()) and ids.is_id(outside.out.strip())

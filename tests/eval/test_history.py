"""A person's own history: nothing of it comes from the future."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from eval import config, datasets
from eval.data import digest
from eval.run import run
from eval.store import file_of, read
from eval.world import opened
from gitmem.learn import digest as digests
from gitmem.learn.turns import Turn
from tests.conftest import open_memory
from tests.eval.conftest import Quiet
from tests.recall.world import card_id, make, projects_file, put, spec
from tests.recall.world import commit as commit_files

NOW = datetime(2026, 6, 30, tzinfo=UTC)


@pytest.fixture
def lived(memory, monkeypatch):
    """A memory with a card of May, one of the first week of June and one of the second; a session of each of those weeks."""
    for day, name, text in (
        ("2026-05-20", "may", "Boats are painted in spring"),
        ("2026-06-03", "june", "Boats are painted in autumn, not in spring"),
        ("2026-06-10", "later", "Boats are never painted"),
    ):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{day}T12:00:00Z")
        monkeypatch.setenv("GIT_AUTHOR_DATE", f"{day}T12:00:00Z")
        memory = open_memory(memory.root)
        if name == "may":
            memory = commit_files(memory, {"registry/projects.yaml": projects_file({"yard": {}})})
        put(memory, spec(name, text, scope="yard", days_ago=170))
    for week, day in ((1, "2026-06-04"), (2, "2026-06-11")):
        turns = tuple(
            Turn(number, role, f"{day}T09:0{number}:00.000Z", text)
            for number, (role, text) in enumerate(
                [
                    ("user", "when are boats painted"),
                    ("assistant", "In spring."),
                    ("user", "and the oars"),
                    ("tool", "Read"),
                    ("assistant", "Likewise."),
                ],
                1,
            )
        )
        digests.write(
            memory.state,
            digests.Digest("codex", f"session-{week}", (f"session-{week}",), 1, None, (), None, None, "yard", "ready", None, f"{day}T09:00:00.000Z", f"{day}T09:05:00.000Z", f"{day}T10:00:00Z", 0, 0, (), turns),
        )  # fmt: skip
    return memory


def test_a_probe_is_asked_of_the_memory_as_it_was_before_its_week(lived):
    found = datasets.load({"kind": "history", "name": "mine", "memory": lived.root}, NOW)
    assert [(one.text, one.previous, one.turn, one.project) for one in found.probes] == [
        ("when are boats painted", "", 0, "yard"), ("and the oars", "when are boats painted", 1, "yard"),
    ] * 2  # fmt: skip
    dates = [lived.git.run("log", "-1", "--format=%cs", one.snapshot).text() for one in found.probes]
    assert dates == ["2026-05-20", "2026-05-20", "2026-06-03", "2026-06-03"]
    assert all(one.needs is None for one in found.probes)


def test_what_followed_lies_apart_and_no_answer_comes_from_the_future(lived, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        f"name: mine\nnow: 2026-06-30T00:00:00Z\nsystems: [full, bm25, dense]\ndatasets:\n  - {{name: mine, kind: history, memory: {lived.root}}}\nmeasures:\n  missed: {{memory: {lived.root}}}\n"
    )
    before = lived.git.run("rev-parse", lived.ref).text()
    out = tmp_path / "out"
    assert run(config.read(file), out, False, Quiet()) == 1
    assert lived.git.run("rev-parse", lived.ref).text() == before
    _, outcomes = read(file_of(out, "mine", "bm25"))
    first, second = (outcomes[f"{digest('codex', f'session-{week}')[:10]}-1"] for week in (1, 2))
    assert {one.key for one in first.ranked} == {card_id("may")}
    assert {one.key for one in second.ranked} == {card_id("may"), card_id("june")}
    followed = json.loads((out / "followed" / "mine.json").read_text(encoding="utf-8"))
    assert [one["text"] for one in followed[first.probe]] == [
        "In spring.",
        "and the oars",
        "Read",
        "Likewise.",
    ]
    assert (out / "followed" / "mine.json").stat().st_mode & 0o777 == 0o600
    for place in ("results", "datasets", "worlds"):
        for found in (out / place).rglob("*"):
            assert not found.is_file() or b"Likewise." not in found.read_bytes()


def test_turns_before_the_memory_began_are_left_out_and_counted(lived):
    at = "2020-05-01T09:00:00.000Z"
    turns = (Turn(1, "user", at, "hello there"),)
    early = digests.Digest(
        "codex",
        "early",
        ("early",),
        1,
        None,
        (),
        None,
        None,
        None,
        "ready",
        None,
        at,
        at,
        at,
        0,
        0,
        (),
        turns,
    )
    digests.write(lived.state, early)
    found = datasets.load({"kind": "history", "name": "mine", "memory": lived.root}, NOW)
    assert "hello there" not in [one.text for one in found.probes]
    assert found.notes == ("1 turns are older than the memory and are left out",)


def test_a_memory_just_made_of_its_conversations_is_asked_by_the_days_things_were_said(
    tmp_path, _memory_template
):
    made = make(
        tmp_path / "young",
        _memory_template,
        [
            spec("old", "Boats are painted in spring", scope="yard", valid_from="2026-05-02"),
            spec(
                "new",
                "Boats are painted in autumn",
                scope="yard",
                valid_from="2026-05-13",
                supersedes=["old"],
            ),
            spec("gone", "Oars are blue", scope="yard", valid_from="2026-05-02"),
            spec("back", "It was wrong", scope="yard", retracts=["gone"]),
        ],
        {"yard": {}},
    ).memory
    for number, day in enumerate(("2026-05-12", "2026-05-19"), 1):
        turns = (Turn(1, "user", f"{day}T09:00:00.000Z", "when are boats painted"),)
        digests.write(
            made.state,
            digests.Digest("codex", f"s{number}", (f"s{number}",), 1, None, (), None, None, "yard", "ready", None, f"{day}T09:00:00.000Z", f"{day}T09:05:00.000Z", f"{day}T10:00:00Z", 0, 0, (), turns),
        )  # fmt: skip
    found = datasets.load({"kind": "history", "name": "mine", "memory": made.root}, NOW)
    assert [one.snapshot for one in found.probes] == ["2026-05-11", "2026-05-18"]
    assert {one.key: one.date for one in found.cards} == {
        card_id("old"): "2026-05-02",
        card_id("new"): "2026-05-13",
    }
    assert "younger than its conversations" in found.notes[0]
    with opened(found, tmp_path / "worlds", NOW) as worlds:
        for probe, key in zip(found.probes, ("old", "new"), strict=True):
            world = worlds.of(probe.snapshot)
            said = {world.key(item.id) for item in world.all_items() if world.is_live(item.id)}
            assert said == {card_id(key)}


def test_a_folder_that_is_no_memory_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is no memory"):
        datasets.load({"kind": "history", "name": "mine", "memory": tmp_path}, NOW)

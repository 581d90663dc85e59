"""Decision records in the shapes they come in."""

from __future__ import annotations

import json

import pytest

from gitmem.errors import FormatError
from gitmem.imports import dates, decisions
from gitmem.imports.decisions import Record


def one(**fields):
    return {
        "id": "R-1",
        "project": "atlas",
        "title": "Keep tides as text",
        "text": "Because.",
        "status": "Final",
        "created": "2018-11-29",
        **fields,
    }


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("13-Jun-2000", "2000-06-13"),
        ("2018-11-29", "2018-11-29"),
        ("2018-9-2", "2018-09-02"),
        ("2018/11/29", "2018-11-29"),
        ("June 13, 2000", "2000-06-13"),
        ("13th June 2000", "2000-06-13"),
        ("2021年3月5日", "2021-03-05"),
        ("2018-11-29T10:00:00Z", "2018-11-29"),
        ("yyyy-mm-dd", None),
        ("2019-02-30", None),
        ("03/04/2020", None),
        ("None", None),
    ],
)
def test_a_day_is_read_or_left_open(text, day):
    assert dates.day(text) == day


@pytest.mark.parametrize(
    "data",
    [
        json.dumps([one(), one(id="R-2")], indent=1),
        json.dumps(one()) + "\n\n" + json.dumps(one(id="R-2")) + "\n",
        json.dumps({"records": [one(unknown=1), one(id="R-2", sup=[])]}),
        "\ufeff" + json.dumps([one(), one(id="R-2")]),
    ],
)
def test_json_arrays_lines_and_wrapped_arrays_are_read_alike(data):
    assert [entry.key for entry in decisions.read_json(data.encode()).entries] == ["R-1", "R-2"]


def test_a_broken_line_is_named():
    with pytest.raises(FormatError) as caught:
        decisions.read_json(b'{"id": "a", "title": "Keep tides"}\n{"id": \n', "log.jsonl")
    assert caught.value.line == 2 and "log.jsonl" in caught.value.message


def test_records_without_id_or_title_are_left_out_and_named():
    found = decisions.read_json(json.dumps([one(), {"title": "No id"}, {"id": "R-9"}, 3]).encode())
    assert len(found.entries) == 1
    assert [(left.key, left.reason) for left in found.left_out] == [
        ("record 2", "it has no id: No id"),
        ("record 3", "`R-9` has no title"),
        ("record 4", "it is no object"),
    ]


def test_a_short_title_is_quoted_with_what_follows_it():
    entry = decisions.entries_of(
        [Record("R-1", "HTTP3", "Speak the newer protocol. " + "And more. " * 60, "atlas")]
    ).entries[0]
    assert entry.conclusion == "HTTP3" and entry.quote == "HTTP3\n\nSpeak the newer protocol."


@pytest.mark.parametrize(("status", "ended"), [("Rejected", True), ("withdrawn", True), ("Deferred", True), ("removed", True),
    ("Superseded", True), ("Final", False), ("provisional|implemented|rejected", False), ("已废弃", True)])  # fmt: skip
def test_a_status_says_whether_a_record_is_over(status, ended):
    assert decisions.entries_of([Record("R-1", "Keep tides", status=status)]).entries[0].ended is ended


def test_edges_stay_within_a_project_and_what_is_dropped_is_reported():
    found = decisions.entries_of(
        [
            Record("R-1", "Keep tides as text", "", "atlas", "Replaced", "2018-01-01", ("S-1", "S-9")),
            Record("S-1", "Keep tides in a table", "", "pools"),
        ]
    )
    first, second = found.entries
    assert first.problems == (
        "`S-1` is of `pools`: the edge to it is left out",
        "`S-9` is not among the records: the edge to it is left out",
        )  # fmt: skip
    assert first.ended and second.supersedes_keys == ()


def test_a_circle_of_successors_is_cut_where_it_would_close():
    ring = [
        Record(f"R-{i}", f"Decision number {i}", "", "atlas", superseded_by=(f"R-{(i + 1) % 3}",))
        for i in range(3)
    ]
    found = decisions.entries_of(ring).entries
    assert [entry.supersedes_keys for entry in found] == [(), ("R-0",), ("R-1",)]
    assert "in a circle" in " ".join(found[2].problems)


def test_a_second_record_of_one_id_is_left_out():
    found = decisions.entries_of(
        [
            Record("R-1", "Keep tides", project="a"),
            Record("R-1", "Keep maps", project="a"),
            Record("R-1", "Keep logs", project="b"),
        ]
    )
    assert len(found.entries) == 2 and "a second record" in found.left_out[0].reason


FOLDER = {
    "0001-keep-tides.md": b"# 1. Keep tides as text\n\nDate: 2019-03-04\n\n## Status\n\nSuperseded by [2. Use a table](0002-use-a-table.md)\n\n## Context\n\nFiles are easy.\n",
    "0002-use-a-table.md": b"# 2. Use a table\n\n* Status: accepted\n* Date: 2020-05-06\n\n## Context\n\nFiles grew.\n",
    "0003-maps.md": b"---\nstatus: superseded by ADR-0004\ndate: 2021-01-01\n---\n# Draw maps here\n\nText.\n",
    "0004-maps-elsewhere.md": b"---\nstatus: accepted\ndate: 2021-02-01\n---\n\n# Draw maps elsewhere\n\nText.\n",
    "0005-no-maps.md": b"No maps at all\n==============\n\n**Status:** Rejected\n\nText.\n",
    "README.md": b"# Decisions\n",
    "notes.md": b"# Notes of the meeting\n\nNothing decided.\n",
}


def test_a_folder_of_markdown_records_is_read_with_its_chains():
    found = decisions.read_markdown(FOLDER, "atlas")
    rows = {
        entry.key: (entry.conclusion, entry.valid_from, entry.supersedes_keys, entry.ended)
        for entry in found.entries
    }
    assert rows == {
        "0001-keep-tides": ("Keep tides as text", "2019-03-04", (), False),
        "0002-use-a-table": ("Use a table", "2020-05-06", ("0001-keep-tides",), False),
        "0003-maps": ("Draw maps here", "2021-01-01", (), False),
        "0004-maps-elsewhere": ("Draw maps elsewhere", "2021-02-01", ("0003-maps",), False),
        "0005-no-maps": ("No maps at all", None, (), True),
    }
    assert {entry.project_name for entry in found.entries} == {"atlas"}
    assert [left.key for left in found.left_out] == ["notes.md"]

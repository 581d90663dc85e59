"""Reading JSON lines: whatever stands in a file, what is whole is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.learn import marker
from gitmem.learn.readers import claude_code, codex, lines, pi
from gitmem.learn.readers.lines import Lines, stamp
from tests.learn.told import Claude, Codex, Pi

WHOLE = {
    "claude-code": (claude_code.read, Claude().talk("一炉黑麦面包", "改成全麦\u2028再加盐", "好").bytes()),
    "codex": (codex.read, Codex().talk("一炉黑麦面包", "改成全麦\u2028再加盐", "好").bytes()),
    "pi": (pi.read, Pi().talk("一炉黑麦面包", "改成全麦\u2028再加盐", "好").bytes()),
}


@pytest.mark.parametrize("host", WHOLE)
@given(st.data())
def test_a_file_that_is_cut_anywhere_gives_the_beginning_of_its_turns(host, data):
    read, whole = WHOLE[host]
    at = data.draw(st.integers(0, len(whole)))
    found = read(lines.split(whole[:at]), "x")
    every = [turn.text for turn in read(lines.split(whole), "x").typed]
    assert [turn.text for turn in found.typed] == every[: len(found.typed)]
    assert not found.cut or not found.complete


@pytest.mark.parametrize("host", WHOLE)
@given(st.lists(st.one_of(st.binary(max_size=30), st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "payload", "message", "content", "role", "id", "uuid", "timestamp", "parentId", "source", "text"]), inner, max_size=5),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())), max_size=8))  # fmt: skip
def test_nothing_that_may_stand_in_a_line_stops_a_reader(host, rows):
    read, whole = WHOLE[host]
    found = read(lines.split(whole + b"\n".join(rows) + b"\n" + whole), "x")
    assert found.host == host


def test_a_line_separator_inside_a_text_ends_no_record():
    found = codex.read(lines.split(WHOLE["codex"][1]))
    assert [turn.text for turn in found.typed] == ["一炉黑麦面包", "改成全麦\u2028再加盐", "好"]


def test_lines_that_are_no_json_are_counted_and_passed_over():
    told = Lines(lines.split(b'{"a":1}\nnot json\n\xff\xfe\n[1]\n\n{"b":2}\n'))
    assert (list(told), told.unreadable, told.cut) == ([{"a": 1}, {"b": 2}], 3, False)


def test_the_learners_mark_is_seen_wherever_it_stands():
    told = Lines(lines.split(json.dumps({"deep": [f'x "{marker.LEARNER_MARK}"']}).encode()))
    assert (len(list(told)), told.marked) == (1, True)


def test_half_a_surrogate_pair_becomes_a_question_mark():
    raw = Codex().talk("x").bytes().replace(b'"x"', rb'"\ud83d"')
    assert [turn.text for turn in codex.read(lines.split(raw)).typed] == ["?"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-20T09:00:00Z", "2026-11-20T09:00:00.000Z"),
        ("2026-11-20T17:00:00.12345+08:00", "2026-11-20T09:00:00.123Z"),
        (1795165200, "2026-11-20T09:00:00.000Z"),
        ("2026-11-20T09:00:00", ""),
        ("1970-01-01T00:00:00Z", ""),
        (9e18, ""),
        (True, ""),
        (None, ""),
    ],
)
def test_times_become_utc_and_senseless_ones_nothing(value, expected):
    assert stamp(value) == expected

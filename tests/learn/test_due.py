"""Which conversation is due."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gitmem.learn import due
from gitmem.learn.cursor import Cursor
from gitmem.learn.due import Signs, judge
from gitmem.learn.readers import claude_code, lines
from gitmem.model import when
from tests.learn.told import Claude

THREE = claude_code.read(lines.split(Claude().talk("One", "Two", "Three").bytes()))
LAST = when.parse(THREE.last)
LATER = Signs(LAST + timedelta(hours=1))


def held(conversation, digests=1) -> Cursor:
    """The cursor after everything was captured."""
    last = conversation.turns[-1]
    keys = tuple(turn.key for turn in conversation.typed)
    return Cursor("claude-code", "s", known=keys, last=last.key, number=last.number, digests=digests)


def after(seconds: float, **fields) -> Signs:
    return Signs(LAST + timedelta(seconds=seconds), **fields)


def grown(*more: str):
    return claude_code.read(lines.split(Claude().talk("One", "Two", "Three", *more).bytes()))


@pytest.mark.parametrize(
    ("signs", "fate"),
    [
        (after(29 * 60), due.OPEN),
        (after(30 * 60), due.DUE),
        (after(5, ended_at=LAST + timedelta(seconds=4)), due.DUE),
        (after(600, ended_at=LAST - timedelta(seconds=300)), due.OPEN),
        (after(3600, open=True), due.OPEN),
        (after(25 * 3600, open=True), due.DUE),
        (after(3600, quiet="off in /x"), due.OFF),
        (after(3600, off_the_record=True), due.OFF_THE_RECORD),
        (after(3600, since=LAST + timedelta(seconds=1)), due.OLD),
        (after(3600, elsewhere={turn.key for turn in THREE.typed}), due.SAME),
    ],
)
def test_three_typed_turns_are_due_when_the_session_is_over(signs, fate):
    assert judge(THREE, None, signs).fate == fate


def test_a_prompt_without_its_answer_waits_longer():
    open_end = replace(THREE, complete=False)
    assert judge(open_end, None, after(3600)).fate == due.OPEN
    assert judge(open_end, None, after(4 * 3600)).fate == due.DUE
    ended = {"ended_at": LAST + timedelta(seconds=1)}
    assert judge(open_end, None, after(10, **ended)).fate == due.OPEN
    assert judge(open_end, None, after(90, **ended)).fate == due.DUE


def test_a_host_that_says_the_session_ended_is_believed():
    assert judge(replace(THREE, ended=True), None, after(1)).fate == due.DUE


@pytest.mark.parametrize(
    ("change", "fate"),
    [
        ({"sidechain": True}, due.SUB_AGENT),
        ({"marked": True}, due.LEARNER),
        ({"turns": THREE.turns[:4]}, due.SHORT),
    ],
)
def test_what_is_never_a_conversation_is_left_out(change, fate):
    assert judge(replace(THREE, **change), None, LATER).fate == fate


@pytest.mark.parametrize("words", ["Off the record: the oven is broken", "这个不要记"])
def test_words_that_ask_for_silence_silence_the_whole_session(words):
    assert judge(grown(words), held(THREE), after(7200)).fate == due.OFF_THE_RECORD


def test_the_turns_of_a_parent_count_and_give_the_context():
    fork = replace(THREE, before=THREE.turns[:4], turns=THREE.turns[4:])
    found = judge(fork, None, LATER)
    assert (found.fate, found.typed) == (due.DUE, 3)
    assert [turn.text for turn in found.context] == ["One", "Done: One", "Two", "Done: Two"]
    assert [turn.text for turn in found.new] == ["Three", "Done: Three"]


def test_a_captured_session_that_did_not_grow_is_no_news():
    assert judge(THREE, held(THREE), LATER).fate == due.SAME


def test_one_new_turn_suffices_after_a_capture_and_carries_the_three_before_it():
    found = judge(grown("Four", "Five"), held(grown("Four")), after(7200))
    assert (found.fate, found.typed) == (due.DUE, 5)
    assert [turn.text for turn in found.new] == ["Five", "Done: Five"]
    assert [turn.text for turn in found.context if turn.role == "user"] == ["Two", "Three", "Four"]


def test_an_answer_that_came_after_the_capture_is_part_of_what_is_new():
    cut = replace(THREE, turns=THREE.turns[:-1])
    found = judge(grown("Four"), held(cut), after(7200))
    assert [turn.text for turn in found.new] == ["Done: Three", "Four", "Done: Four"]


def test_a_typed_turn_on_another_branch_is_new_though_it_stands_before_the_last_captured_one():
    every = grown("Four")
    cursor = held(replace(every, turns=every.turns[:2] + every.turns[4:]))
    found = judge(every, cursor, after(7200))
    assert [turn.text for turn in found.new if turn.role == "user"] == ["Two"]


def test_what_was_said_while_memory_was_off_is_no_news():
    at = [when.parse(turn.at) for turn in THREE.typed]
    found = judge(THREE, None, after(3600, pause=(at[1], at[1] + timedelta(seconds=15))))
    assert [turn.text for turn in found.new if turn.role == "user"] == ["One", "Three"]
    assert "Done: Two" not in [turn.text for turn in found.new]

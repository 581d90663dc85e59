"""Codex' rollouts: who typed what, and what is the parent's."""

from __future__ import annotations

import json

import pytest

from gitmem.learn.readers import codex, lines
from tests.learn.told import CWD, Codex, iso


def read(told: Codex):
    return codex.read(lines.split(told.bytes()))


def test_a_session_becomes_typed_words_tools_and_final_answers():
    told = Codex()
    told.begins()
    told.item("developer", "<permissions instructions>x</permissions instructions>")
    told.item("user", "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>", "<environment_context>…")
    told.user("Price rye at 4 euros")
    told.says("Looking.", "commentary")
    told.tool("c1", "Chunk ID: 1\nProcess exited with code 0\nOutput:\nProcess exited with code 9\n")
    told.tool(
        "c2",
        "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nassertion failed",
        "apply_patch",
        "custom_tool_call",
    )
    told.event("patch_apply_end", call_id="c2", success=False)
    told.says("Rye costs 4 euros now.")
    told.ends("Rye costs 4 euros now.")
    found = read(told)
    assert [(turn.role, turn.text) for turn in found.turns] == [
        ("user", "Price rye at 4 euros"),
        ("tool", "exec_command, apply_patch; apply_patch failed: test"),
        ("assistant", "Rye costs 4 euros now."),
    ]
    assert (found.session, found.cwd, found.git_branch, found.tool_errors) == (told.session, CWD, "main", 1)
    assert (found.started, found.complete, found.ended) == (iso(0), True, None)


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        (json.dumps({"output": "boom", "metadata": {"exit_code": 3}}), True),
        (json.dumps({"output": "exit_code", "metadata": {"exit_code": 0}}), False),
        ("failed to parse function arguments: x", True),
        ({"content": "no", "success": False}, True),
        ([{"type": "input_text", "text": "Process exited with code 2\nOutput:\n"}], True),
        ("plain text about Exit code: 5", False),
        (None, False),
    ],
)
def test_a_failure_is_told_by_the_head_of_the_output(output, failed):
    told = Codex().talk("Go")
    told.tool("c1", output)
    assert read(told).tool_errors == int(failed)


def test_what_an_editor_puts_before_the_words_is_cut_off():
    told = Codex().talk(
        "# Context from my IDE setup:\n\n## Active file: menu\n\n## My request for Codex:\nBold, please"
    )
    assert [turn.text for turn in read(told).typed] == ["Bold, please"]


def test_a_version_without_phases_and_tasks_is_read():
    told = Codex()
    for number in (1, 2):
        told.user(f"Question {number}")
        told.says("Thinking", None)
        told.tool(f"c{number}", "x", "shell")
        told.says(f"Answer {number}", None)
    assert [turn.text for turn in read(told).turns if turn.role != "tool"] == [
        "Question 1", "Answer 1", "Question 2", "Answer 2",
    ]  # fmt: skip


def test_a_file_without_events_is_read_by_its_items():
    told = Codex()
    told.item("user", "<environment_context>x</environment_context>")
    told.item("user", "Only here")
    told.item("user", "<subagent_notification>x</subagent_notification>")
    told.item("assistant", "Yes")
    assert [turn.text for turn in read(told).turns] == ["Only here", "Yes"]


def test_compaction_repeats_nothing():
    told = Codex().talk("One")
    told.add(
        "compacted", message="", replacement_history=[{"type": "message", "role": "user", "content": []}]
    )
    told.event("context_compacted")
    found = read(told.talk("Two"))
    assert ([turn.text for turn in found.typed], found.compactions) == (["One", "Two"], 1)


def test_a_rollback_takes_turns_back_and_numbers_stay():
    told = Codex().talk("One", "Two", "Three")
    told.event("thread_rolled_back", num_turns=2)
    found = read(told.talk("Four"))
    assert ([turn.text for turn in found.typed], found.undone) == (["One", "Four"], ("Two", "Three"))
    assert [turn.text for turn in found.turns if turn.role == "assistant"] == ["Done: One", "Done: Four"]
    assert [turn.number for turn in found.typed] == [1, 7]


def test_an_aborted_turn_has_no_answer():
    told = Codex()
    told.begins()
    told.user("Rewrite")
    told.says("Starting", None)
    told.item("user", "<turn_aborted>\non purpose\n</turn_aborted>")
    told.event("turn_aborted", turn_id="t", reason="interrupted")
    found = read(told)
    assert ([turn.role for turn in found.turns], found.aborted, found.complete) == (["user"], 1, True)


def test_a_prompt_in_the_middle_of_a_task_is_a_queued_turn():
    told = Codex()
    told.begins()
    told.user("Bake")
    told.user("with rye")
    told.says("Baked with rye")
    told.ends("Baked with rye")
    assert [(turn.text, turn.queued) for turn in read(told).typed] == [("Bake", False), ("with rye", True)]


def _fork(parent: Codex, **meta) -> Codex:
    """A session that begins with its parent's records, all stamped with the moment of copying."""
    told = Codex("01a1f77e-0000-7000-8000-000000000002", start=500, **meta)
    told.records += [{**record, "timestamp": told.records[0]["timestamp"]} for record in parent.records]
    told.at += 5
    return told


def test_a_forks_copied_records_are_its_parents():
    parent = Codex().talk("One", "Two")
    found = read(_fork(parent, forked_from_id=parent.session).talk("Three"))
    assert ([turn.text for turn in found.typed], found.parent) == (["Three"], parent.session)
    assert [turn.text for turn in found.before if turn.role == "user"] == ["One", "Two"]


def test_a_fork_of_a_version_without_tasks_is_told_by_its_times():
    parent = Codex()
    parent.user("One")
    parent.says("Yes", None)
    told = _fork(parent, forked_from_id=parent.session)
    told.user("Two")
    assert [turn.text for turn in read(told).typed] == ["Two"]


def test_a_sub_agent_has_no_typed_turn():
    parent = Codex().talk("One")
    source = {"subagent": {"thread_spawn": {"parent_thread_id": parent.session, "depth": 1}}}
    found = read(_fork(parent, source=source, agent_nickname="Wren").talk("Count the loaves"))
    assert (found.sidechain, found.typed, found.before, found.parent) == (True, (), (), parent.session)


def test_a_resume_that_writes_its_own_meta_again_is_no_fork():
    told = Codex().talk("One")
    told.meta(told.session)
    assert [turn.text for turn in read(told.talk("Two")).typed] == ["One", "Two"]


def test_every_folder_it_was_in_is_known():
    told = Codex().talk("One")
    told.add("turn_context", cwd="/srv/other")
    assert read(told).folders == (CWD, "/srv/other")

"""Hermes' database: rows that stand, and who typed what."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from gitmem.learn.readers import hermes
from tests.learn.told import Hermes

SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted.\n\n## Goal\nrye"
END = "\n\n--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"


@pytest.fixture
def told(tmp_path):
    return Hermes(tmp_path / "state.db")


def read(told: Hermes) -> dict:
    with hermes.opened(told.close()) as database:
        return {one.session: one for one in hermes.read(database)}


def typed(told: Hermes, name: str = "s1") -> list[str]:
    return [turn.text for turn in read(told)[name].typed]


def test_a_session_becomes_typed_words_tools_and_final_answers(told):
    told.session("s1", git_branch="main", title="Rye", end_reason="user_exit", ended_at=told.at + 99)
    told.row("s1", "user", "Price rye", api_content="Price rye\n\nnotes: rye is dark")
    calls = [{"id": "c1", "function": {"name": "terminal", "arguments": "{}"}}]
    told.row("s1", "assistant", "", tool_calls=json.dumps(calls), finish_reason="tool_calls")
    told.row(
        "s1",
        "tool",
        json.dumps({"output": "make: *** Error 1", "exit_code": 2, "error": None}),
        tool_call_id="c1",
    )
    told.row("s1", "assistant", "Priced.", finish_reason="stop")
    found = read(told)["s1"]
    assert [(turn.role, turn.text) for turn in found.turns] == [
        ("user", "Price rye"),
        ("tool", "terminal; terminal failed: exit"),
        ("assistant", "Priced."),
    ]
    assert (found.title, found.git_branch, found.tool_errors, found.ended) == ("Rye", "main", 1, True)


@pytest.mark.parametrize(
    "values",
    [{"observed": 1}, {"display_kind": "hidden"}, {"active": 0, "compacted": 0}],
    ids=lambda one: "-".join(one),
)
def test_a_row_that_is_nobodys_turn_or_was_undone_is_left_out(told, values):
    told.session("s1")
    told.talk("s1", "One")
    told.row("s1", "user", "Not this", **values)
    found = read(told)["s1"]
    assert [turn.text for turn in found.typed] == ["One"]
    assert found.undone == (("Not this",) if "active" in values else ())


def test_rows_that_compaction_wrote_again_count_once(told):
    told.session("s1")
    at = told.row("s1", "user", "One", active=0, compacted=1)
    told.row("s1", "user", SUMMARY + END, _compressed_summary=1)
    told.row("s1", "user", "One", timestamp=at)
    told.talk("s1", "Two")
    found = read(told)["s1"]
    assert ([turn.text for turn in found.typed], found.compactions) == (["One", "Two"], 1)


def test_words_that_a_summarys_row_carries_are_heard_once(told):
    told.session("s1")
    told.talk("s1", "One")
    prior = "[PRIOR CONTEXT — for reference only; not a new message]\n{}\n[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n"
    told.row("s1", "user", prior.format("One") + SUMMARY + END + "\n\nTwo", _compressed_summary=1)
    told.row("s1", "user", prior.format("Three") + SUMMARY, _compressed_summary=1)
    assert typed(told) == ["One", "Two", "Three"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('[IMPORTANT: The user has invoked the "x" skill, …]\n\n# X\n\nThe user has provided the following instruction '
         "alongside the skill invocation: rye only\n\n[Runtime note: at /x]", ["rye only"]),
        ('[IMPORTANT: The user has invoked the "x" skill, …]\n\n# X', []),
        ("Review the conversation above and update memory", []),
        ("[CONTEXT SUMMARY]: rye", []),
        ('\0json:[{"type":"text","text":"Look at this"},{"type":"image_url","image_url":{}}]', ["Look at this"]),
        ('\0json:[{"type":"te', []),
        ("a\0b", ["a\0b"]),
    ],
)  # fmt: skip
def test_typed_words_are_told_from_what_hermes_wrote(told, content, words):
    told.session("s1")
    told.row("s1", "user", content)
    assert typed(told) == words


@pytest.mark.parametrize("source", ["subagent", "cron", "tool", "kanban"])
def test_a_session_that_no_person_began_has_no_typed_turn(told, source):
    told.session("s1", source=source)
    told.talk("s1", "Count the loaves")
    found = read(told)["s1"]
    assert (found.sidechain, found.typed) == (True, ())


def test_a_mark_counts_only_when_it_names_the_parent(told):
    told.session("a", end_reason="compression", ended_at=told.at)
    told.session("b", parent_session_id="a", model_config='{"_delegate_from":"elsewhere"}')
    told.talk("b", "One")
    told.session("c", parent_session_id="b", model_config='{"_delegate_from":"b"}')
    told.talk("c", "Two")
    found = read(told)
    assert (found["b"].continues, found["b"].sidechain) == (True, False)
    assert (found["c"].continues, found["c"].sidechain) == (False, True)


def test_a_chain_of_compactions_has_one_root(told):
    for name, parent in (("a", None), ("b", "a"), ("c", "b"), ("d", "b")):
        told.session(name, parent_session_id=parent, end_reason="compression", ended_at=told.at)
        told.talk(name, name)
    with hermes.opened(told.close()) as database:
        assert {one.id: one.root for one in hermes.sessions(database)} == {
            "a": "a",
            "b": "a",
            "c": "a",
            "d": "d",
        }


@pytest.mark.parametrize(
    ("reason", "ended"),
    [
        ("user_exit", True),
        ("compression", True),
        ("agent_close", None),
        ("ws_disconnect", None),
        (None, None),
    ],
)
def test_only_a_deliberate_end_is_one(told, reason, ended):
    told.session("s1", end_reason=reason, ended_at=told.at)
    assert read(told)["s1"].ended is ended


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        ('{"error":"no such tool"}', 1),
        ('{"exit_code":0,"error":null}', 0),
        ('<untrusted_tool_result source="web">\n{"exit_code":1}\n</untrusted_tool_result>', 1),
        ("an error in prose", 0),
        ('{"error":', 0),
    ],
)
def test_a_tools_failure_is_read_from_its_result(told, content, errors):
    told.session("s1")
    told.row("s1", "tool", content, tool_call_id="c1")
    assert read(told)["s1"].tool_errors == errors


def test_a_call_that_was_never_finished_is_the_cut_line_of_this_host(told):
    told.session("s1")
    told.row("s1", "user", "One")
    told.row("s1", "assistant", "", tool_calls='[{"id":"c1","function":{"na', finish_reason="tool_calls")
    found = read(told)["s1"]
    assert (found.cut, found.complete, [turn.text for turn in found.typed]) == (True, False, ["One"])


def test_an_old_database_without_the_newer_columns_is_read(tmp_path):
    told = Hermes(
        tmp_path / "state.db",
        (
            "observed",
            "_compressed_summary",
            "active",
            "compacted",
            "display_kind",
            "last_activity_at",
            "git_repo_root",
        ),
    )
    told.session("s1")
    told.talk("s1", "One")
    assert typed(told) == ["One"]


def test_times_after_a_repair_are_not_believed(told):
    told.session("s1")
    told.row("s1", "user", "One")
    told.row("s1", "user", "Two", timestamp=9e12)
    found = read(told)["s1"]
    assert [turn.at for turn in found.typed] == ["2026-11-20T09:00:05.000Z"] * 2


def test_the_database_is_never_written(told):
    told.session("s1")
    told.talk("s1", "One")
    with hermes.opened(told.file) as database, pytest.raises(Exception, match="readonly"):
        database.execute("DELETE FROM messages")


def test_a_folder_that_cannot_be_written_is_read_all_the_same(told, monkeypatch):
    told.session("s1")
    told.talk("s1", "One")
    file = told.close()
    real = hermes._connect
    # root may write everywhere, so SQLite's refusal is played
    refuses = lambda path: real(path) if path != file else (_ for _ in ()).throw(_error())  # noqa: E731
    monkeypatch.setattr(hermes, "_connect", refuses)
    with hermes.opened(file) as database:
        assert [one.id for one in hermes.sessions(database)] == ["s1"]


def _error():
    import sqlite3

    return sqlite3.OperationalError("unable to open database file")


def test_rows_that_are_still_in_the_log_are_read(told, tmp_path):
    told.session("s1")
    told.talk("s1", "One")
    live = tmp_path / "copy"
    live.mkdir()
    for name in os.listdir(told.file.parent):
        if name.startswith("state.db"):
            shutil.copy(told.file.parent / name, live / name)
    with hermes.opened(live / "state.db") as database:
        assert len(next(iter(hermes.read(database))).turns) == 2


@pytest.mark.parametrize("data", [b"", b"no database at all, but long enough to look like one" * 40])
def test_what_is_no_database_of_hermes_says_so(tmp_path, data):
    file = tmp_path / "state.db"
    file.write_bytes(data)
    with pytest.raises(OSError, match=r"state\.db"), hermes.opened(file):
        pass

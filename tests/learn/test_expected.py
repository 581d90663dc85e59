"""Sample sessions of every host, where `GIT_MEM_HOST_FIXTURES` says they lie: each gives what EXPECTED.json lists."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitmem.learn import find
from gitmem.learn.readers import claude_code, codex, hermes, pi

PLACE = os.environ.get("GIT_MEM_HOST_FIXTURES", "")
ROOT = Path(PLACE)
READERS = {"claude-code": claude_code.read, "codex": codex.read, "pi": pi.read}
EXPECTED = json.loads((ROOT / "EXPECTED.json").read_text(encoding="utf-8")) if PLACE else {}
pytestmark = pytest.mark.skipif(not PLACE, reason="GIT_MEM_HOST_FIXTURES is not set")
# Said in prose, or looked at below.
NO_FIELD = {"host", "note", "must_not_appear_as_user_text", "continued_by", "subagent_files"}


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    file = tmp_path_factory.mktemp("hermes") / "state.db"
    made = sqlite3.connect(file)
    made.executescript((ROOT / "hermes" / "state.sql").read_text(encoding="utf-8"))
    made.close()
    return file


def conversation(key: str, database: Path):
    expected = EXPECTED[key]
    if expected["host"] == "hermes":
        with hermes.opened(database) as opened:
            return next(iter(hermes.read(opened, [expected["session_id"]])))
    with find.lines(ROOT / key) as lines:
        return READERS[expected["host"]](lines, Path(key).stem)


@pytest.mark.parametrize("key", EXPECTED, ids=lambda key: key[-50:])
def test_a_session_gives_exactly_what_is_expected_of_it(key, database):
    expected, found = EXPECTED[key], conversation(key, database)
    typed = [turn.text for turn in found.typed]
    got = {
        "session_id": found.session,
        "cwd": found.cwd,
        "git_branch": found.git_branch,
        "typed_user_turns": [turn.text for turn in found.typed if not turn.queued],
        "midturn_typed": [turn.text for turn in found.typed if turn.queued],
        "new_typed_user_turns": typed,
        "copied_user_entries": sum(turn.role == "user" for turn in found.before),
        "undone_user_turns": list(found.undone),
        "abandoned_branch_user_turns": list(found.undone),
        "tool_errors": found.tool_errors,
        "compactions": found.compactions,
        "aborted_turns": found.aborted,
        "bash_executions": found.shell_lines,
        "title": found.title,
        "started_at": found.started,
        "last_activity": found.last,
        "parent": found.parent,
        "sidechain": found.sidechain,
        "agent_id": found.agent_id,
        "short": len(typed) < 3,
        "truncated_last_line": found.cut,
    }
    assert set(expected) - NO_FIELD <= set(got)
    assert {name: got[name] for name in expected if name in got} == {
        name: value for name, value in expected.items() if name in got
    }
    # what is not listed did not happen
    for name, nothing in (("sidechain", False), ("truncated_last_line", False), ("midturn_typed", [])):
        assert name in expected or got[name] == nothing, name
    words = "\n".join([*typed, *(turn.text for turn in found.before if turn.role == "user")])
    assert [text for text in expected.get("must_not_appear_as_user_text", ()) if text in words] == []
    if "subagent_files" in expected:
        assert find.sub_agents(ROOT / key) == expected["subagent_files"]


def test_every_session_file_is_listed():
    found = [*ROOT.glob("claude-code/projects/**/*.jsonl"), *ROOT.glob("codex/sessions/**/*.jsonl"), *ROOT.glob("pi/sessions/**/*.jsonl")]  # fmt: skip
    assert {path.relative_to(ROOT).as_posix() for path in found} == {
        key for key in EXPECTED if "#" not in key
    }


def test_a_run_over_all_of_them_takes_each_conversation_once(memory, home, database, captured, kept):
    for host, folder in (("claude-code", ".claude"), ("codex", ".codex"), ("pi", ".pi/agent")):
        shutil.copytree(ROOT / host, home / folder)
    (home / ".hermes").mkdir()
    shutil.copy(database, home / ".hermes" / "state.db")
    report = captured(now=datetime(2026, 11, 30, tzinfo=UTC))
    fates = {one.unit.session: one.fate for one in report.outcomes}
    for expected in EXPECTED.values():
        name = expected["session_id"]
        if expected.get("sidechain"):
            assert fates.get(name) in (None, "sub-agent", "captured"), name
        elif "continued_by" in expected:
            assert (fates[name], expected["continued_by"] in fates) == ("captured", False)
        elif "parent" not in expected and fates[name] != "too old":
            assert fates[name] == ("short" if expected.get("short") else "captured"), name
    said = [turn.text for one in kept() for turn in one.turns if turn.role == "user"]
    listed = [
        text
        for expected in EXPECTED.values()
        if fates.get(expected["session_id"], "captured") == "captured"
        for key in ("typed_user_turns", "midturn_typed", "new_typed_user_turns")
        for text in expected.get(key, ())
    ]
    assert sorted(said) == sorted(listed)
    assert captured(now=datetime(2026, 11, 30, 1, tzinfo=UTC)).of("captured") == []

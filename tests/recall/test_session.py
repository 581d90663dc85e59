"""What one conversation was told: nothing twice, and only what really arrived."""

from __future__ import annotations

import json
import os

import pytest

from gitmem.recall import session as sessions
from gitmem.recall.session import Session
from tests.recall.world import NOW, World, spec

CARDS = (
    spec("uv", "Use an isolated uv environment for each Python project"),
    spec("pnpm", "Use pnpm here, never npm", scope="web", type="convention"),
)
PROMPT = "Set up the isolated Python environment with uv"
ID = "0d6f9a52-5a1e-4d0c-9f5e-000000000001"


@pytest.fixture
def world(make) -> World:
    return make(CARDS, {"web": {}, "app": {}}).built()


def test_nothing_is_said_twice_until_the_host_compacts(world):
    first, _ = world.turn(PROMPT, session=ID)
    assert "uv environment" in first
    again, found = world.turn(PROMPT, session=ID)
    assert again == ""
    assert [one.fate for one in found.trace.candidates if "uv" in one.l0] == ["shown"]
    kept = sessions.load(world.memory.state, ID)
    sessions.compacted(kept)
    sessions.save(world.memory.state, ID, kept)
    assert world.turn(PROMPT, session=ID)[0] == first


def test_another_conversation_hears_it_again(world):
    assert world.turn(PROMPT, session=ID)[0] == world.turn(PROMPT, session=ID[:-1] + "2")[0] != ""


def test_what_never_arrived_is_said_again(world):
    from gitmem.recall import turn

    def broken(text: str) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        turn.turn(world.context(), PROMPT, session=ID, cwd=None, explicit=False, automatic=True, emit=broken)
    assert sessions.load(world.memory.state, ID) == Session()
    assert world.turn(PROMPT, session=ID)[0]


def test_the_first_call_is_the_first_turn_whatever_it_printed(world):
    text, found = world.turn("hello there", "working", session=ID)
    assert (text, found.trace.trigger) == ("", "first turn")
    assert not world.turn(PROMPT, "working", session=ID)[1].trace.fired


def test_without_a_session_nothing_is_kept(world):
    world.turn(PROMPT)
    assert not (world.memory.state / "sessions").exists()
    assert world.turn(PROMPT)[0]


def test_a_change_of_project_is_looked_at_once(world, tmp_path):
    from tests.recall.world import register_folder

    for name in ("web", "app"):
        (tmp_path / name).mkdir()
        world.memory = register_folder(world.memory, name, tmp_path / name)
    fired = [
        world.turn("install packages with npm", "working", session=ID, cwd=tmp_path / place)[1].trace.trigger
        for place in ("app", "app", "web", "web", ".", "web", "app")
    ]
    assert [trigger.split(" ")[0] for trigger in fired] == ["first", "a", "change", "a", "a", "a", "change"]


def test_off_the_record_silences_the_rest_of_a_conversation_and_leaves_no_trace(world):
    assert world.turn("off the record: " + PROMPT, session=ID)[0] == ""
    assert world.turn(PROMPT, session=ID)[0] == ""
    assert not (world.memory.state / "log.jsonl").exists()
    assert world.turn(PROMPT, session=ID[:-1] + "3")[0]


@pytest.mark.parametrize(
    "junk",
    [b"", b"{", b"[]", b"null", b'{"turns": "x", "shown": 3}', b"\xff\xfe", b'{"shown": null, "project": 7}'],
)
def test_a_broken_state_is_a_new_conversation(world, junk):
    world.turn(PROMPT, session=ID)
    (world.memory.state / "sessions" / f"{ID}.json").write_bytes(junk)
    assert world.turn(PROMPT, session=ID)[0]


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a/b", "", "x" * 5000, "会话 1", "CON", "-", "\0", "\ud800"]
)
def test_any_name_of_a_conversation_stays_inside_its_folder(world, name):
    value = Session(turns=3)
    sessions.save(world.memory.state, name, value)
    folder = world.memory.state / "sessions"
    assert sessions.load(world.memory.state, name).turns == (3 if name else 0)
    assert all(file.parent == folder for file in world.memory.state.rglob("*.json") if "passwd" in file.name)
    assert len(list(folder.glob("*.json"))) == 1 if name else not folder.exists()


def test_old_conversations_are_swept_away(world):
    world.turn(PROMPT, session=ID)
    old = world.memory.state / "sessions" / "old-session-000.json"
    old.write_text("{}")
    os.utime(old, (NOW.timestamp() - 200 * 86400,) * 2)
    world.turn(PROMPT, session=ID[:-1] + "4")
    assert not old.exists()
    assert json.loads((world.memory.state / "sessions" / f"{ID}.json").read_text())["turns"] == 1


def test_a_person_and_a_read_only_disk_still_get_an_answer(world, monkeypatch):
    from pathlib import Path

    def refuse(*_args, **_more):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "write_text", refuse)
    assert world.turn(PROMPT, session=ID)[0]

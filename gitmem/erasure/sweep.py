"""What holds the words beside history: reflogs, messages in the making, our own local state; and the objects themselves.

All of it is derived or can be done without. Everything here may be done twice.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gitmem.erasure import roots
from gitmem.erasure.order import Order
from gitmem.erasure.words import GONE
from gitmem.git.locate import Memory
from gitmem.index import build
from gitmem.learn import digest as digests
from gitmem.learn import durable, work
from gitmem.learn.candidate import DONE, DROPPED

# What git leaves behind of single commits and of messages in the making.
_PSEUDO_REFS = ("ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE", "REBASE_HEAD")
_MESSAGES = ("COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG", "gitk.cache")
_LARGEST_BYTES = 64_000_000
# Where a sync puts what it fetched until it is judged.
INCOMING = "incoming"
# Ours, and rebuilt or made anew when needed.
_DISPOSABLE = ("writer", "draft", "last.json", INCOMING)
_JOURNAL = "forget.json"


def traces_of_git(memory: Memory, order: Order) -> None:
    """Reflogs but the stash's, heads of the past, messages, graphs of commits."""
    stash = roots.stash_file(memory)
    marks = order.words.marks()
    for place in roots.git_dirs(memory):
        for file in (place / "logs").rglob("*"):
            if file.is_file() and file != stash:
                # kept as an empty file: git goes on writing where one is
                file.write_bytes(b"")
        for name in _PSEUDO_REFS:
            (place / name).unlink(missing_ok=True)
        for name in _MESSAGES:
            if _holds(place / name, marks):
                (place / name).unlink(missing_ok=True)


def local_state(memory: Memory, order: Order) -> None:
    """The index is thrown away; digests lose the turns; of the rest, what holds the words."""
    state = memory.state
    build.discard(memory)
    for place in state.glob("index-*"):
        shutil.rmtree(place, ignore_errors=True)
    for name in _DISPOSABLE:
        if (state / name).is_dir():
            shutil.rmtree(state / name, ignore_errors=True)
        else:
            (state / name).unlink(missing_ok=True)
    marks = order.words.marks()
    for file, one in list(digests.all_of(state)):
        _digest(file, one, order, marks)
    for file in sorted(state.rglob("*")):
        if file.is_file() and not file.is_symlink() and file.name != _JOURNAL and file.suffix != ".lock":
            _state_file(state, file, order, marks)


def _digest(file: Path, one: digests.Digest, order: Order, marks: list[bytes]) -> None:
    kept = without_turns(one, order, marks)
    if kept is None:
        file.unlink(missing_ok=True)
    elif kept != one:
        durable.write_json(file, asdict(kept))


def without_turns(one: digests.Digest, order: Order, marks: list[bytes]) -> digests.Digest | None:
    """A digest without what is to go; None when no word of the person's is left in it."""

    def stays(turn: Any) -> bool:
        if any((one.host, name, turn.number) in order.turns for name in {one.session, *one.sessions}):
            return False
        data = turn.text.encode("utf-8", "surrogatepass")
        return not any(mark in data for mark in marks)

    turns = tuple(filter(stays, one.turns))
    context = tuple(filter(stays, one.context))
    if not any(turn.role == "user" for turn in turns):
        return None
    gone = [turn.text for turn in (*one.turns, *one.context) if turn not in (*turns, *context)]
    title = one.title
    if title and (
        any(title.strip(" .…")[:24] in text for text in gone)
        or any(mark in title.encode("utf-8", "surrogatepass") for mark in marks)
    ):
        title = None
    return replace(one, turns=turns, context=context, title=title)


def _state_file(state: Path, file: Path, order: Order, marks: list[bytes]) -> None:
    """A log loses the lines that hold the words, a session the ids; any other file that holds words goes."""
    cards = [card.encode() for card in order.cards]
    if file.suffix == ".jsonl":
        with contextlib.suppress(OSError):
            lines = file.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if not any(mark in line for mark in marks)]
            if len(kept) != len(lines):
                durable_bytes(file, b"".join(kept))
    elif file.parent == state / work.FOLDER and file.name not in work.OTHER:
        _record(file, order, marks)
    elif file.parent.name == "sessions" and _holds(file, cards):
        value = durable.read_json(file) or {}
        shown = value.get("shown")
        if isinstance(shown, list):
            value["shown"] = [one for one in shown if one not in order.cards]
        durable_bytes(file, json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"))
    elif _holds(file, marks):
        file.unlink(missing_ok=True)


def _record(file: Path, order: Order, marks: list[bytes]) -> None:
    """What learning made of a conversation: candidates that hold the words are dropped, and lose their own."""
    value = durable.read_json(file) or {}
    found = value.get("candidates")
    changed = False
    for one in found if isinstance(found, list) else ():
        said = (value.get("host"), value.get("session"), one.get("turn"))
        data = json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass")
        if said in order.turns or any(mark in data for mark in marks):
            one.update(
                conclusion=GONE, quote=GONE, detail="", also=[], why="a person had it erased", extra={}
            )
            if one.get("fate") not in (DONE, DROPPED):
                one.update(fate=DROPPED, kind="forgotten")
            changed = True
    if changed:
        durable.write_json(file, value)
    if _holds(file, marks):
        file.unlink(missing_ok=True)


def durable_bytes(file: Path, data: bytes) -> None:
    fresh = file.with_name(f".{file.name}{durable.TEMPORARY}")
    fresh.touch(mode=0o600)
    fresh.write_bytes(data)
    fresh.replace(file)


def _holds(file: Path, marks: list[bytes]) -> bool:
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            return True
        data = file.read_bytes()
    except OSError:
        return False
    return any(mark in data for mark in marks)


def objects_gone(memory: Memory, held: int) -> list[str]:
    """Drop every object that nothing names any more; names of packs that are kept all the same.

    `held`: the lock of the memory. git takes it along, so that no writer begins beside a git that outlives us.
    """
    git = memory.git
    store = memory.common_dir / "objects"
    # it names commits that are gone, and git calls that damage
    graph = store / "info"
    had_graph = (graph / "commit-graph").exists() or (graph / "commit-graphs").exists()
    (graph / "commit-graph").unlink(missing_ok=True)
    shutil.rmtree(graph / "commit-graphs", ignore_errors=True)
    git.run("repack", "-a", "-d", "-q", pass_fds=(held,))
    git.run("prune", "--expire=now", pass_fds=(held,))
    for place in (*store.glob("tmp_objdir-*"), *store.glob("incoming-*")):
        shutil.rmtree(place, ignore_errors=True)
    for file in (*store.glob("pack/tmp_*"), *store.glob("tmp_obj_*"), *store.glob("*/tmp_obj_*")):
        file.unlink(missing_ok=True)
    if had_graph:
        git.run("commit-graph", "write", "--reachable", check=False)
    return sorted(file.name for file in store.glob("pack/*.keep"))

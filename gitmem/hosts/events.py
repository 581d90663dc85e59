"""What the events of every host share: a prompt is answered, a session begins, a session has ended.

A host's own module reads its JSON and writes its form; nothing here knows either. Nothing heavy is loaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem import identity
from gitmem.config import Env
from gitmem.context import Context
from gitmem.git import locate
from gitmem.record import changed
from gitmem.registry import load

if TYPE_CHECKING:
    from gitmem.hosts.hook import Call

# `connect` tries the hook under this name: nothing of that call is remembered.
TRIAL_SESSION = "git-mem-trial"
SUB_AGENTS, SCRIPTS = "sub_agents", "scripts"
MAX_QUEUED = 1000

# Text for the model, and a line for the person where the host shows one.
Say = Callable[[str, str], None]


def context(env: Env, call: Call) -> Context:
    """The memory that is configured, never the folder the host works in, and the agent that `connect` recorded."""
    env = changed(
        env, vars={**env.vars, "GIT_MEM_IN_HOOK": "1"}, host=call.host, agent=None, token=None, terminal=False
    )
    memory = locate.find(env, only_configured=True)
    call.state = memory.state
    registry = load.current(memory)
    return Context(
        env, memory, registry, identity.resolve(env, registry, memory), datetime.now().astimezone()
    )


def held_back(env: Env, call: Call, *, sub_agent: bool = False, script: bool = False) -> bool:
    """Whether this caller gets nothing: a sub-agent, or a run that a program started, and its profile does not name them."""
    asked = {name for name, is_one in ((SUB_AGENTS, sub_agent), (SCRIPTS, script)) if is_one}
    return bool(asked) and not asked <= set(context(env, call).caller.profile.also)


def prompt(
    env: Env,
    call: Call,
    *,
    prompt: Any,
    session: str | None,
    cwd: Path | None,
    trial: bool | None = None,
    say: Say,
    previous: str = "",
) -> None:
    """Answer a turn.

    Args:
        prompt: what the person typed, as it stood in the event.
        trial: nothing of the call is remembered or logged; None: the session's name tells.
        previous: the turn before it, where the host gives it.

    Raises:
        ValueError: there is no prompt in the event.
    """
    now = context(env, call)
    if not isinstance(prompt, str):
        raise ValueError("the event has no prompt")
    from gitmem.recall.turn import turn

    trial = session == TRIAL_SESSION if trial is None else trial

    def emit(text: str) -> None:
        from gitmem.recall import render

        said = render.ids_in(text)
        say(text, f"git mem: {_count(len(said))} ({', '.join(said)})")

    turn(
        now,
        # half of an emoji is a surrogate, and no encoder takes it
        prompt.encode("utf-8", "replace").decode("utf-8"),
        session=None if trial else session,
        cwd=cwd,
        previous=previous,
        explicit=False,
        deadline_s=call.deadline_s,
        automatic=not trial,
        logged=not trial,
        emit=emit,
    )
    if trial:
        call.tried(now.memory.common_dir)


def start(
    env: Env,
    call: Call,
    *,
    session: str | None,
    cwd: Path | None,
    again: bool = False,
    compacted: bool = False,
    cleared: bool = False,
    say: Say,
) -> None:
    """Give the brief.

    Args:
        again: the conversation goes on with all that it was told.
        compacted: the host forgot what it was told, and everything may be said again.
        cleared: it also begins anew; the next prompt is a first one.
    """
    from gitmem.recall.turn import start as begin

    now = context(env, call)
    if compacted or cleared:
        forget(now, session, cleared)
    begin(
        now,
        session=session,
        cwd=cwd,
        host=call.host,
        again=again,
        emit=lambda text, cards: say(text, f"git mem: {_count(cards)} to begin with"),
    )
    if session != TRIAL_SESSION:
        from gitmem import autosync

        autosync.start(now.memory, now.env)
        _learn(now)


def forget(now: Context, session: str | None, cleared: bool = False) -> None:
    """The host compacted the conversation: what was shown counts as shown no more."""
    from gitmem.recall import session as sessions

    kept = sessions.load(now.memory.state, session)
    sessions.compacted(kept)
    if cleared:
        kept.turns = 0
    sessions.save(now.memory.state, session, kept)


def end(env: Env, call: Call, *, session: str | None, transcript: Path | None, cwd: Path | None) -> None:
    """Note a session for learning: that it ended or, where a host does not say so, that it had another turn.

    The note is `<state>/queue/<host>-<name>.json`, one a session, the newest 1000 of them. Where memory is off nothing
    is noted, and a session that went off the record is struck out.
    """
    if session is None or session == TRIAL_SESSION:
        return
    from gitmem.recall import session as sessions
    from gitmem.recall.turn import silenced

    now = context(env, call)
    file = queue(now.memory.state) / f"{call.host}-{sessions.file_name(session)}.json"
    if silenced(now, sessions.load(now.memory.state, session), cwd):
        file.unlink(missing_ok=True)
        return
    note = {
        "session": session,
        "host": call.host,
        "transcript": None if transcript is None else str(transcript),
        "cwd": None if cwd is None else str(cwd),
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        _make_room(file.parent)
    fresh = file.with_suffix(f".{os.getpid()}.tmp")
    try:
        fresh.write_text(json.dumps(note, ensure_ascii=False), encoding="utf-8", errors="backslashreplace")
        os.chmod(fresh, 0o600)
        fresh.replace(file)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
    _learn(now)


def _learn(now: Context) -> None:
    """Read what ended meanwhile, in a process of its own that nobody waits for."""
    from gitmem.learn import background

    background.start(now.memory, now.env)


def queue(state: Path) -> Path:
    """The sessions that wait to be learned from, a file each."""
    return state / "queue"


def text_of(event: dict[str, Any], key: str) -> str | None:
    """A field of an event when it is a text with something in it."""
    found = event.get(key)
    return found if isinstance(found, str) and found else None


def path_of(event: dict[str, Any], key: str) -> Path | None:
    """A field of an event when it can be a path: absolute, without a null character."""
    found = text_of(event, key)
    return Path(found) if found and "\0" not in found and os.path.isabs(found) else None


def _make_room(folder: Path) -> None:
    found = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    for file in found[: max(0, len(found) - MAX_QUEUED + 1)]:
        file.unlink(missing_ok=True)


def _count(notes: int) -> str:
    return f"{notes} note{'' if notes == 1 else 's'}"

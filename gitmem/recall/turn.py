"""One turn, or the start, of a session: where it is, what it has heard, the answer, and what is kept of it.

Shared by a host's hook and by the command line. Nothing heavy is loaded unless the turn passes the trigger.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem import whereabouts
from gitmem.context import Context
from gitmem.recall import answer, cues, log, switches
from gitmem.recall import session as sessions
from gitmem.recall.session import Session
from gitmem.recall.trace import Answer, Trace

if TYPE_CHECKING:
    from gitmem.recall.opening import LiveIndex
    from gitmem.recall.retrieve import QueryVector

SWITCHED_OFF = "off: GIT_MEM_OFF is set"
OFF_THE_RECORD = "off the record in this session"


def turn(
    context: Context,
    prompt: str,
    *,
    session: str | None,
    cwd: Path | None,
    project: str | None = None,
    previous: str = "",
    explicit: bool,
    lexical: bool = False,
    explain: bool = False,
    deadline_s: float | None = None,
    automatic: bool,
    logged: bool = True,
    emit: Callable[[str], None],
) -> Answer:
    """Answer one turn and remember that it was answered.

    Args:
        session: the host's name for the conversation; None: nothing is kept.
        project: `--project`, which wins over `cwd`.
        explicit: a person typed the call; it is not held back by the trigger.
        deadline_s: `time.monotonic()` by which to answer, with less if need be.
        automatic: nobody asked for this recall; `git mem why` can replay it.
        logged: False: the log says nothing of it.
        emit: writes the text out; called when there is one. What the session has heard is stored after it
            returned, so that an answer that never arrived is given again.

    Returns:
        The answer; `trace.trigger` says why there is none.
    """
    began = time.monotonic()
    state = context.memory.state
    kept = sessions.load(state, session)
    if reason := silenced(context, kept, cwd, prompt if session else ""):
        # what is off for its session stays off for whoever reads the conversation later
        if reason in (OFF_THE_RECORD, SWITCHED_OFF) and session and not kept.off:
            kept.off = True
            sessions.save(state, session, kept)
        return Answer("", (), Trace(prompt, context.caller.profile.name, context.caller.name, trigger=reason))
    request = answer.Request(
        prompt,
        context.now,
        project=project,
        from_cwd=None if cwd is None else folder_project(context, cwd, kept),
        previous=previous,
        in_session=bool(session),
        explicit=explicit,
        lexical=lexical,
        explain=explain,
        deadline_s=deadline_s,
    )
    found = answer.recall(request, context.caller, context.registry, kept, LateIndex(context, lexical))
    trace = found.trace
    trace.at, trace.commit = context.now.isoformat(timespec="seconds"), context.memory.tip or ""
    trace.ms = 1000 * (time.monotonic() - began)
    if found.text:
        emit(found.text)
    if session:
        kept.turns += 1
        kept.project = trace.project or kept.project
        sessions.heard(kept, found.text, [item.id for item in found.items])
        sessions.save(state, session, kept)
    if logged:
        log.recalled(
            state, trace.as_dict(), [item.id for item in found.items], session=session, automatic=automatic
        )
    return found


def start(
    context: Context,
    *,
    session: str | None,
    cwd: Path | None,
    host: str | None,
    again: bool,
    emit: Callable[[str, int], None],
) -> None:
    """Say what stands at the start of a session; its cards count as shown.

    Args:
        host: what this host loads by itself is left out.
        again: the conversation goes on with everything it was told; the same brief is not said twice.
        emit: writes the text out, and gets the number of cards in it.
    """
    from gitmem.recall.brief import brief_text

    kept = sessions.load(context.memory.state, session)
    if silenced(context, kept, cwd):
        return
    text, cards = brief_text(context, None if cwd is None else folder_project(context, cwd, kept), host)
    if not text or (again and sessions.fingerprint(text) in kept.injected):
        return
    emit(text, len(cards))
    sessions.heard(kept, text, cards)
    sessions.save(context.memory.state, session, kept)


def folder_project(context: Context, cwd: Path, kept: Session) -> str | None:
    """The project of a folder, from the session as long as neither the registry nor the noted folders changed."""
    noted = sorted(whereabouts.folders(context.memory).items())
    registry = f"{context.memory.registry_tree}{noted or ''}"
    if (kept.folder, kept.folder_registry) != (str(cwd), registry):
        kept.folder_project = whereabouts.project_of_folder(cwd, context.memory, context.registry)
        kept.folder, kept.folder_registry = str(cwd), registry
    return kept.folder_project


def silenced(context: Context, kept: Session, cwd: Path | None, prompt: str = "") -> str | None:
    """Why this turn is not looked at and leaves no trace; None when memory is on."""
    if context.env.off:
        return SWITCHED_OFF
    if kept.off or (prompt and cues.off_the_record(prompt)):
        return OFF_THE_RECORD
    return switches.load(context.memory.state).off(cwd, context.now)


class LateIndex:
    """The memory's index, whose modules are loaded when a turn passed the trigger."""

    def __init__(self, context: Context, lexical: bool):
        self._context, self._lexical = context, lexical
        self._live: LiveIndex | None = None

    def vector(self, text: str) -> QueryVector | None:
        return self._index().vector(text)

    def open(self) -> answer.Opened:
        return self._index().open()

    def repair(self, error: Exception) -> bool:
        return self._index().repair(error)

    def _index(self) -> LiveIndex:
        from gitmem.recall.opening import LiveIndex

        if self._live is None:
            self._live = LiveIndex(self._context.memory, self._context.registry, self._lexical)
        return self._live

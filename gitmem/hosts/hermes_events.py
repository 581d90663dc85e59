"""Hermes' hook events: which of them are answered, and in what form.

Hermes adds `context` to what the person typed and shows no line to the person. It has no way to say anything when a
session starts, so the brief goes out with the first turn; and no event for a compaction, so the summary in the
history tells. `on_session_end` is the end of every turn; `on_session_finalize` that of a session.

Source: Hermes' documentation of shell hooks, and the form of its messages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.config import Env
from gitmem.hosts import events

if TYPE_CHECKING:
    from gitmem.hosts.hook import Call

_EVENTS = ("pre_llm_call", "on_session_finalize")
_SUB_AGENT = "subagent"
# Who typed nothing: timers, other programs, a board's workers.
_SCRIPTS = ("cron", "tool", "oneshot", "kanban", "batch")
# Messages in the person's name that Hermes wrote itself.
_NOT_TYPED = ("Review the conversation above and ", "[IMPORTANT: Background process", "[ASYNC DELEGATION")
_SUMMARY = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
_SKILL, _WITH, _NOTE = (
    "[IMPORTANT: The user has invoked the ",
    "instruction alongside the skill invocation: ",
    "\n\n[Runtime note:",
)


def answer(event: dict[str, Any], env: Env, call: Call) -> None:
    """Answer one event."""
    call.event = events.text_of(event, "hook_event_name") or ""
    if call.event not in _EVENTS:
        return
    extra = event["extra"] if isinstance(event.get("extra"), dict) else {}
    platform = extra.get("platform")
    if events.held_back(env, call, sub_agent=platform == _SUB_AGENT, script=platform in _SCRIPTS):
        return
    session, cwd = events.text_of(event, "session_id"), events.path_of(event, "cwd")
    if call.event == "pre_llm_call":
        _turn(extra, env, call, session, cwd)
    else:
        events.end(env, call, session=session, transcript=_history(env), cwd=cwd)


def _turn(extra: dict[str, Any], env: Env, call: Call, session: str | None, cwd: Path | None) -> None:
    """Answer a turn; on the first one, and on the first after a compaction, with the brief before it."""
    typed, first = _typed(extra.get("user_message")), extra.get("is_first_turn") is True
    if typed == "" and not first:
        return
    brief: list[str] = []

    def say(text: str, line: str) -> None:
        call.say({"context": "\n".join([*brief, text])})
        brief.clear()

    summary = _summary(extra.get("conversation_history"))
    compacted = bool(summary and session) and _is_new(env, call, session, summary)
    if first or compacted:
        events.start(
            env,
            call,
            session=session,
            cwd=cwd,
            compacted=compacted,
            say=lambda text, line: brief.append(text),
        )
    try:
        if typed != "":
            previous = _previous(extra.get("conversation_history"), typed)
            events.prompt(env, call, prompt=typed, session=session, cwd=cwd, previous=previous, say=say)
    finally:
        if brief:
            call.say({"context": brief[0]})


def _is_new(env: Env, call: Call, session: str, summary: str) -> bool:
    """Whether this is the first turn that follows this summary; it is noted beside what was said."""
    from gitmem.recall import session as sessions

    state = events.context(env, call).memory.state
    kept = sessions.load(state, session)
    mark = sessions.fingerprint(summary)
    if mark in kept.injected:
        return False
    kept.injected.append(mark)
    sessions.save(state, session, kept)
    return True


def _typed(message: Any) -> Any:
    """What the person typed: "" when nothing, the message itself when it is no text at all."""
    text = _text(message)
    if text is None:
        return message
    if text.startswith(_NOT_TYPED):
        return ""
    if text.startswith(_SKILL):
        return text.partition(_WITH)[2].partition(_NOTE)[0].strip()
    return text


def _text(content: Any) -> str | None:
    """The text of a message that is one, or a list of parts, as with an image."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return None


def _user_turns(history: Any) -> Iterator[str]:
    """What stands in the history in the person's name, the newest first."""
    for message in reversed(history if isinstance(history, list) else []):
        if (
            isinstance(message, dict)
            and message.get("role") == "user"
            and (text := _text(message.get("content")))
        ):
            yield text


def _previous(history: Any, typed: Any) -> str:
    """The person's turn before this one; the history may end with this one."""
    for i, text in enumerate(_user_turns(history)):
        if text.startswith(_SUMMARY):
            return ""
        said = _typed(text)
        if said and not (i == 0 and said == typed):
            return said
    return ""


def _summary(history: Any) -> str | None:
    """What Hermes put in place of older turns, under whatever role."""
    for message in reversed(history if isinstance(history, list) else []):
        text = _text(message.get("content")) if isinstance(message, dict) else None
        if text and text.startswith(_SUMMARY):
            return text
    return None


def _history(env: Env) -> Path | None:
    """The database that holds the session, if it is where it usually is."""
    home = env.vars.get("HERMES_HOME") or (os.path.join(env.home, ".hermes") if env.home else None)
    file = Path(home, "state.db") if home else None
    return file if file and file.exists() else None

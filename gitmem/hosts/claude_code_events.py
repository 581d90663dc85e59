"""Claude Code's hook events: which of them are answered, and in what form.

Source: Claude Code's documentation of hooks. `additionalContext` goes to the model (at most 10,000 characters),
`systemMessage` is a line for the person. `agent_id` stands in events of a sub-agent only.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem import identity
from gitmem.config import Env
from gitmem.context import Context
from gitmem.git import locate
from gitmem.registry import load

if TYPE_CHECKING:
    from gitmem.hosts.hook import Call

# `connect` tries the hook under this name: nothing of that call is remembered.
TRIAL_SESSION = "git-mem-trial"
# Prompts that the host wrote itself: results of background work, its own commands, shell lines of the person.
_NOT_TYPED = (
    "<task-notification>", "<system-reminder>", "<cross-session-message", "<local-command-", "<command-name>", "<command-message>",
    "<bash-input>", "<bash-stdout>", "<bash-stderr>",
)  # fmt: skip


def answer(event: dict[str, Any], env: Env, call: Call) -> None:
    """Answer one event; silence for sub-agents and for runs that a program started."""
    name = event.get("hook_event_name")
    call.event = name if isinstance(name, str) else ""
    if event.get("agent_id") or env.vars.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk-"):
        return
    if call.event == "UserPromptSubmit":
        _prompt(event, env, call)
    elif call.event == "SessionStart":
        _start(event, env, call)


def _prompt(event: dict[str, Any], env: Env, call: Call) -> None:
    prompt = event.get("prompt")
    if not isinstance(prompt, str):
        raise ValueError("the event has no prompt")
    if prompt.lstrip().startswith(_NOT_TYPED):
        return
    from gitmem.recall.turn import turn

    session = _session(event)
    trial = session == TRIAL_SESSION

    def emit(text: str) -> None:
        from gitmem.recall import render

        said = render.ids_in(text)
        _say(call, text, f"{_count(len(said))} ({', '.join(said)})")

    turn(
        _context(env, call),
        # half of an emoji is a surrogate, and no encoder takes it
        prompt.encode("utf-8", "replace").decode("utf-8"),
        session=None if trial else session,
        cwd=_folder(event),
        explicit=False,
        deadline_s=call.deadline_s,
        automatic=not trial,
        emit=emit,
    )


def _start(event: dict[str, Any], env: Env, call: Call) -> None:
    from gitmem.recall import session as sessions
    from gitmem.recall.turn import start

    context, session, source = _context(env, call), _session(event), event.get("source")
    if source in ("compact", "clear"):
        kept = sessions.load(context.memory.state, session)
        sessions.compacted(kept)
        if source == "clear":
            kept.turns = 0
        sessions.save(context.memory.state, session, kept)
    start(
        context,
        session=session,
        cwd=_folder(event),
        host=call.host,
        again=source == "resume",
        emit=lambda text, cards: _say(call, text, f"{_count(cards)} to begin with"),
    )


def _context(env: Env, call: Call) -> Context:
    """The memory that is configured, never the folder the host works in, and the agent that `connect` recorded."""
    env = replace(
        env, vars={**env.vars, "GIT_MEM_IN_HOOK": "1"}, host=call.host, agent=None, token=None, terminal=False
    )
    memory = locate.find(env, only_configured=True)
    call.state = memory.state
    registry = load.current(memory)
    return Context(
        env, memory, registry, identity.resolve(env, registry, memory), datetime.now().astimezone()
    )


def _say(call: Call, text: str, note: str) -> None:
    call.say(
        {
            "hookSpecificOutput": {"hookEventName": call.event, "additionalContext": text},
            "systemMessage": f"git mem: {note}",
        }
    )


def _count(notes: int) -> str:
    return f"{notes} note{'' if notes == 1 else 's'}"


def _session(event: dict[str, Any]) -> str | None:
    found = event.get("session_id")
    return found if isinstance(found, str) and found else None


def _folder(event: dict[str, Any]) -> Path | None:
    found = event.get("cwd")
    usable = isinstance(found, str) and "\0" not in found and os.path.isabs(found)
    return Path(found) if usable else None  # type: ignore[arg-type]

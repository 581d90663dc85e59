"""Codex' hook events: which of them are answered, and in what form.

Codex refuses an answer with a key that it does not know, so nothing but the documented ones is ever printed. It has no
event for the end of a session: `Stop` ends a turn, and the session is noted with each. `notify` (event type
`agent-turn-complete`, for people without hooks) notes it too.

Source: Codex' documentation of hooks, and the first line of its session files. `agent_id` stands in events of a
sub-agent only.
"""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.config import Env
from gitmem.hosts import events

if TYPE_CHECKING:
    from gitmem.hosts.hook import Call

_EVENTS = ("UserPromptSubmit", "SessionStart", "Stop", "agent-turn-complete")
# An editor puts what is open and selected before what the person typed.
_TYPED = "## My request for Codex:"
# Text that Codex itself gives the model in the person's name.
_NOT_TYPED = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions for", "<INSTRUCTIONS>", "<turn_aborted>",
    "<subagent_notification>", "<skill>", "<user_shell_command>", "<hook_prompt",
)  # fmt: skip
_HEAD_BYTES = 400_000


def answer(event: dict[str, Any], env: Env, call: Call) -> None:
    """Answer one event."""
    call.event = events.text_of(event, "hook_event_name") or events.text_of(event, "type") or ""
    if call.event not in _EVENTS:
        return
    cwd, transcript = events.path_of(event, "cwd"), events.path_of(event, "transcript_path")
    origin = _origin(transcript)
    if events.held_back(
        env,
        call,
        sub_agent=bool(event.get("agent_id")) or origin == events.SUB_AGENTS,
        script=origin == events.SCRIPTS or event.get("client") == "codex_exec",
    ):
        return
    session = events.text_of(event, "session_id") or events.text_of(event, "thread-id")
    if call.event == "UserPromptSubmit":
        prompt = event.get("prompt")
        if not (isinstance(prompt, str) and prompt.lstrip().startswith(_NOT_TYPED)):
            events.prompt(env, call, prompt=_typed(prompt), session=session, cwd=cwd, say=_say(call))
    elif call.event == "SessionStart":
        source = event.get("source")
        events.start(
            env,
            call,
            session=session,
            cwd=cwd,
            again=source == "resume",
            compacted=source == "compact",
            cleared=source == "clear",
            say=_say(call),
        )
    else:
        events.end(env, call, session=session, transcript=transcript, cwd=cwd)


def _say(call: Call) -> events.Say:
    return lambda text, line: call.say(
        {
            "systemMessage": line,
            "hookSpecificOutput": {"hookEventName": call.event, "additionalContext": text},
        }
    )


def _typed(prompt: Any) -> Any:
    """What the person typed, without what an editor put before it."""
    if not isinstance(prompt, str):
        return prompt
    before, mark, typed = prompt.partition(_TYPED)
    return typed.strip() if mark and (not before or before.endswith("\n")) else prompt


def _origin(transcript: Path | None) -> str | None:
    """Who began the session: `sub_agents`, `scripts`, or None for a person; from the first line of its file.

    The file is not there before the first turn. `source` is an object in a sub-agent's session, `exec` in one that
    `codex exec` began, `mcp` in one that a program asks for through MCP.
    """
    if transcript is None:
        return None
    try:
        if not stat.S_ISREG(transcript.stat().st_mode):
            return None
        with transcript.open("rb") as file:
            first = json.loads(file.readline(_HEAD_BYTES))
        meta = first["payload"]
        if isinstance(meta.get("source"), dict) or meta.get("thread_source") == "subagent":
            return events.SUB_AGENTS
        by_program = meta.get("source") in ("exec", "mcp") or meta.get("originator") == "codex_exec"
        return events.SCRIPTS if by_program else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None

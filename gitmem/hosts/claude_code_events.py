"""Claude Code's hook events: which of them are answered, and in what form.

Source: Claude Code's documentation of hooks. `additionalContext` goes to the model (at most 10,000 characters),
`systemMessage` is a line for the person. `agent_id` stands in events of a sub-agent only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitmem.config import Env
from gitmem.hosts import events

if TYPE_CHECKING:
    from gitmem.hosts.hook import Call

# Prompts that the host wrote itself: results of background work, its own commands, shell lines of the person.
_NOT_TYPED = (
    "<task-notification>", "<system-reminder>", "<cross-session-message", "<local-command-", "<command-name>", "<command-message>",
    "<bash-input>", "<bash-stdout>", "<bash-stderr>",
)  # fmt: skip


def answer(event: dict[str, Any], env: Env, call: Call) -> None:
    """Answer one event."""
    call.event = events.text_of(event, "hook_event_name") or ""
    script = env.vars.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk-")
    if call.event not in ("UserPromptSubmit", "SessionStart", "SessionEnd") or events.held_back(
        env, call, sub_agent=bool(event.get("agent_id")), script=script
    ):
        return
    session, cwd = events.text_of(event, "session_id"), events.path_of(event, "cwd")
    if call.event == "UserPromptSubmit":
        typed = event.get("prompt")
        if not (isinstance(typed, str) and typed.lstrip().startswith(_NOT_TYPED)):
            events.prompt(env, call, prompt=typed, session=session, cwd=cwd, say=_say(call))
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
        transcript = events.path_of(event, "transcript_path")
        events.end(env, call, session=session, transcript=transcript, cwd=cwd)


def _say(call: Call) -> events.Say:
    return lambda text, line: call.say(
        {
            "hookSpecificOutput": {"hookEventName": call.event, "additionalContext": text},
            "systemMessage": line,
        }
    )

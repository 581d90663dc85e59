"""Pi's events, as our extension (templates/pi/git-mem.ts) sends them: which are answered, and in what form.

Pi has no hooks of its own; the extension is ours, so the form is too: `content` goes to the model, `note` is a line
for the person. A brief that is asked for at the start of a session is given with its first prompt.

Source: Pi's documentation of extensions and sessions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gitmem.config import Env
from gitmem.hosts import events

if TYPE_CHECKING:
    from gitmem.hosts.hook import Call

_EVENTS = ("before_agent_start", "session_start", "session_compact", "session_shutdown")
# The text of a skill that the person called; what they typed with it follows.
_SKILL = re.compile(r'<skill name="[^"]*" location="[^"]*">\n.*?\n</skill>(?:\n\n|\Z)', re.DOTALL)


def answer(event: dict[str, Any], env: Env, call: Call) -> None:
    """Answer one event; a run without a screen is one that a program started."""
    call.event = events.text_of(event, "hook_event_name") or ""
    if call.event not in _EVENTS or events.held_back(env, call, script=event.get("interactive") is False):
        return
    session, cwd = events.text_of(event, "session_id"), events.path_of(event, "cwd")
    reason = events.text_of(event, "reason")
    if call.event == "before_agent_start":
        prompt = _typed(event.get("prompt"))
        if prompt != "":
            previous = events.text_of(event, "previous") or ""
            events.prompt(
                env, call, prompt=prompt, session=session, cwd=cwd, previous=previous, say=_say(call)
            )
    elif call.event == "session_shutdown":
        if reason != "reload":
            transcript = events.path_of(event, "session_file")
            events.end(env, call, session=session, transcript=transcript, cwd=cwd)
    else:
        compacted = call.event == "session_compact"
        before = events.text_of(event, "previous_session_id")
        if reason == "fork" and session and before:
            _inherit(env, call, session, before)
        # also a Pi that is started anew may go on with a conversation that holds the brief
        events.start(
            env, call, session=session, cwd=cwd, again=not compacted, compacted=compacted, say=_say(call)
        )


def _inherit(env: Env, call: Call, session: str, before: str) -> None:
    """A fork holds the conversation it came from: what was said there is said, and off the record stays off."""
    from gitmem.recall import session as sessions

    state = events.context(env, call).memory.state
    if not sessions.load(state, session).turns:
        sessions.save(state, session, sessions.load(state, before))


def _say(call: Call) -> events.Say:
    return lambda text, line: call.say({"content": text, "note": line})


def _typed(prompt: Any) -> Any:
    """What the person typed, without the text of a skill before it."""
    return (
        _SKILL.sub("", prompt, count=1)
        if isinstance(prompt, str) and prompt.startswith("<skill ")
        else prompt
    )

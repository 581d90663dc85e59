"""Every host as a test sees it: its events in, and the text that its agent gets out of an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.hosts import codex_events, events


@dataclass(frozen=True, slots=True)
class Speaker:
    """`prompt(text, cwd, session)`, `start(cwd, source, session)`, `end(cwd, session)`: an event on standard input."""

    host: str
    prompt: Callable[[str, Path, str], bytes]
    start: Callable[[Path, str, str], bytes]
    end: Callable[[Path, str], bytes]
    text: Callable[[str], str]


def _text(out: str) -> str:
    answer = json.loads(out)
    assert set(answer) == {"hookSpecificOutput", "systemMessage"}
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert answer["systemMessage"].startswith("git mem: ") and "\n" not in answer["systemMessage"]
    return answer["hookSpecificOutput"]["additionalContext"]


SPEAKERS = {
    one.host: one
    for one in (
        Speaker(
            "claude-code",
            lambda text, cwd, session: events.prompt(text, cwd, session),
            lambda cwd, source, session: events.start(cwd, source, session),
            lambda cwd, session: events.event("SessionEnd", cwd, session, reason="prompt_input_exit"),
            _text,
        ),
        Speaker(
            "codex",
            lambda text, cwd, session: codex_events.prompt(text, cwd, session),
            lambda cwd, source, session: codex_events.start(cwd, source, session),
            lambda cwd, session: codex_events.stop(cwd, session),
            _text,
        ),
    )
}

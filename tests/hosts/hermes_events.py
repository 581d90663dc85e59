"""Events as Hermes sends them to a shell hook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "20261120_091512_3fa9c1"


def event(name: str, cwd: Path, session: str = SESSION, **extra: Any) -> bytes:
    return json.dumps(
        {
            "hook_event_name": name,
            "tool_name": None,
            "tool_input": None,
            "session_id": session,
            "cwd": str(cwd),
            "profile": "default",
            "extra": {"platform": "cli", **extra},
        },
        ensure_ascii=False,
    ).encode("utf-8", "surrogatepass")


def prompt(text: Any, cwd: Path, session: str = SESSION, **extra: Any) -> bytes:
    """A turn that is not the first one, unless `is_first_turn` says so."""
    turn = {
        "user_message": text,
        "conversation_history": [],
        "is_first_turn": False,
        "model": "hermes-4-405b",
    }
    return event("pre_llm_call", cwd, session, **{**turn, **extra})


def finalize(cwd: Path, session: str = SESSION) -> bytes:
    return event("on_session_finalize", cwd, session)

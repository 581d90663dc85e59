"""Events as Claude Code sends them to a hook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "0b7d5c1e-52aa-4f0e-9f0b-3c1d6a7e8f90"
UV = "Set up the Python environment for this project"
ROUTINE = "Rename parse_table and update the tests"


def event(name: str, cwd: Path, session: str = SESSION, **more: Any) -> bytes:
    common = {
        "session_id": session,
        "transcript_path": f"/home/sam/.claude/projects/-home-sam-work/{session}.jsonl",
        "cwd": str(cwd),
        "hook_event_name": name,
    }
    return json.dumps({**common, **more}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def prompt(text: str, cwd: Path, session: str = SESSION, **more: Any) -> bytes:
    return event("UserPromptSubmit", cwd, session, permission_mode="default", prompt=text, **more)


def start(cwd: Path, source: str = "startup", session: str = SESSION) -> bytes:
    return event("SessionStart", cwd, session, source=source)

"""Events as Codex sends them to a hook, and the line that begins its session files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "01a2c0de-7a10-7b3f-9c55-4e1f2a3b4c5d"
TURN = "7d1b9a2e-30f4-4c58-8e7a-6b5c4d3e2f10"


def event(name: str, cwd: Path, session: str = SESSION, transcript: Path | None = None, **more: Any) -> bytes:
    common = {
        "session_id": session,
        "transcript_path": None if transcript is None else str(transcript),
        "cwd": str(cwd),
        "hook_event_name": name,
        "model": "gpt-5.5",
        "permission_mode": "default",
    }
    return json.dumps({**common, **more}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def prompt(text: str, cwd: Path, session: str = SESSION, **more: Any) -> bytes:
    return event("UserPromptSubmit", cwd, session, turn_id=TURN, prompt=text, **more)


def start(cwd: Path, source: str = "startup", session: str = SESSION, **more: Any) -> bytes:
    return event("SessionStart", cwd, session, source=source, **more)


def stop(cwd: Path, session: str = SESSION, **more: Any) -> bytes:
    more = {"stop_hook_active": False, "last_assistant_message": "Renamed it; 完成。", **more}
    return event("Stop", cwd, session, turn_id=TURN, **more)


def notification(cwd: Path, session: str = SESSION) -> str:
    return json.dumps(
        {
            "type": "agent-turn-complete",
            "thread-id": session,
            "turn-id": TURN,
            "cwd": str(cwd),
            "client": "codex-tui",
            "input-messages": ["rename parse_table 并更新测试"],
            "last-assistant-message": "done — 完成",
        },
        ensure_ascii=False,
    )


def transcript(file: Path, source: Any = "cli", originator: str = "codex-tui") -> Path:
    """A session file that holds its first line only."""
    meta = {"id": SESSION, "cwd": "/home/sam/work", "originator": originator, "source": source}
    line = {"timestamp": "2026-11-20T09:00:00.000Z", "type": "session_meta", "payload": meta}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(line) + "\n")
    return file

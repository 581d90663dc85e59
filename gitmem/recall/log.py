"""The local log of recalls and searches, and the last automatic turn for `why`. Never leaves this computer."""

from __future__ import annotations

import contextlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

MAX_BYTES = 2_000_000
_PROMPT_CHARS = 300


def append(state: Path, entry: dict[str, Any]) -> bool:
    """Add one line; a full or read-only disk is no reason to fail, and the answer says so."""
    file = state / "log.jsonl"
    try:
        state.mkdir(parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > MAX_BYTES:
            file.replace(state / "log.old.jsonl")
        line = (
            json.dumps({"at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), **entry}, ensure_ascii=False)
            + "\n"
        )
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(handle)
    except OSError:
        return False
    return True


def recalled(
    state: Path,
    trace: dict[str, Any],
    said: list[str],
    *,
    session: str | None,
    automatic: bool,
    event: str = "recall",
) -> None:
    """Note one turn: who asked, what was said, how near the best card came."""
    best = max((c["relevance"] or 0.0 for c in trace["candidates"]), default=0.0)
    append(
        state,
        {
            "event": event,
            "agent": trace["agent"],
            "profile": trace["profile"],
            "project": trace["project"],
            "session": session,
            "automatic": automatic,
            "fired": trace["fired"],
            "trigger": trace["trigger"],
            "said": said,
            "best": round(best, 3),
            "bytes": trace["bytes"],
            "degraded": trace["degraded"],
            "ms": round(trace["ms"], 1),
            "prompt": trace["prompt"][:_PROMPT_CHARS],
        },
    )
    if automatic and trace["fired"]:
        last(state, {**trace, "prompt": trace["prompt"][:2000], "session": session, "said": said})


def last(state: Path, turn: dict[str, Any]) -> None:
    """Keep the last automatic turn for `git mem why`."""
    file = state / "last.json"
    fresh = file.with_suffix(f".{os.getpid()}.tmp")
    try:
        fresh.write_text(json.dumps(turn, ensure_ascii=False), encoding="utf-8", errors="backslashreplace")
        os.chmod(fresh, 0o600)
        fresh.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)


def read_last(state: Path) -> dict[str, Any] | None:
    try:
        return json.loads((state / "last.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def entries(state: Path) -> list[dict[str, Any]]:
    """Every line that can be read, oldest first."""
    found = []
    for name in ("log.old.jsonl", "log.jsonl"):
        try:
            data = (state / name).read_bytes()
        except OSError:
            continue
        for line in data.split(b"\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                found.append(entry)
    return found

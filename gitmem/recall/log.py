"""The local log of recalls and searches, and the last automatic turn for `why`. Never leaves this computer."""

from __future__ import annotations

import contextlib
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gitmem.model import when

MAX_BYTES = 2_000_000
_PROMPT_CHARS = 300
_HALF = re.compile("[\ud800-\udfff]")


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
        found = _whole(json.loads((state / "last.json").read_text(encoding="utf-8")))
        return found if isinstance(found, dict) else None
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
                found.append(_whole(entry) if b"\\ud" in line else entry)
    return found


def last_silent(state: Path, since: str) -> dict[str, Any] | None:
    """The newest automatic turn, if nothing was recalled for it and it is later than `since` (RFC 3339)."""
    newest = next((one for one in reversed(entries(state)) if one.get("automatic") is True), None)
    if newest is None or newest.get("fired") is not False or not isinstance(newest.get("at"), str):
        return None
    try:
        if since and when.parse(newest["at"]) < when.parse(since):
            return None
    except ValueError:
        return None
    return newest


def _whole(value: Any) -> Any:
    """A value whose texts can be written again: halves of characters, from bytes that were none, become U+FFFD."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(one) for key, one in value.items()}
    return value

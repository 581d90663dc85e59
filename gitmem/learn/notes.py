"""What hooks noted of sessions: `<state>/queue/<host>-<name>.json`, a file a session. See `gitmem.hosts.events.end`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gitmem.learn import durable
from gitmem.model import when

# Its hook says that a turn ended; nothing says that a session did.
_NO_END = ("codex",)


@dataclass(frozen=True, slots=True)
class Note:
    """`ended_at`: when the session ended; None where the host's hook says only that it goes on."""

    file: Path
    host: str
    session: str
    transcript: Path | None
    ended_at: datetime | None


def load(state: Path) -> dict[tuple[str, str], Note]:
    """Every note that can be read, by host and session."""
    found = {}
    for file in sorted((state / "queue").glob("*.json")):
        value = durable.read_json(file) or {}
        host, session, transcript = value.get("host"), value.get("session"), value.get("transcript")
        if not isinstance(host, str) or not isinstance(session, str):
            continue
        try:
            at = None if host in _NO_END else when.parse(value["at"])
        except (KeyError, TypeError, ValueError):
            at = None
        found[host, session] = Note(
            file, host, session, Path(transcript) if isinstance(transcript, str) else None, at
        )
    return found

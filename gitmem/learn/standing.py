"""How learning stands, without a question to anybody: what waits, when it last ran, what kept it from running."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gitmem.learn import distil, run, work
from gitmem.learn.candidate import OPEN, PLANNED


@dataclass(frozen=True, slots=True)
class Standing:
    """`waiting`: conversations that are captured and not learned from yet; times are RFC 3339 in UTC."""

    waiting: int
    last: str | None
    stopped: str | None
    failed: str | None
    failed_at: str | None


def standing(state: Path) -> Standing:
    """Look at the records and the note of the last run."""
    waiting = 0
    for _, digest, record in work.all_of(state):
        unread = any(number not in record.read for number in range(len(distil.slices(digest))))
        waiting += unread or any(one.fate in (OPEN, PLANNED) for one in record.candidates)
    note = run.last(state) or {}

    def text(key: str) -> str | None:
        value = note.get(key)
        return value if isinstance(value, str) and value else None

    return Standing(waiting, text("at"), text("stopped"), text("failed"), text("failed_at"))

"""A decision record as a value, whatever file it stood in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """One decision as its file tells it. `superseded_by` and `supersedes` hold ids of records."""

    id: str
    title: str
    text: str = ""
    project: str | None = None
    status: str = ""
    created: str = ""
    superseded_by: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()

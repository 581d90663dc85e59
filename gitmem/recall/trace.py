"""What recall did with a prompt: one value that `--explain`, `why`, the log and evaluation read."""

from __future__ import annotations

from typing import Any

from gitmem.record import fresh, record

# What became of a candidate.
SAID, QUIET, DEAD, CHAIN, SHOWN, SHADOWED, NO_ROOM = (
    "said",
    "quiet",
    "dead",
    "chain",
    "shown",
    "shadow",
    "no room",
)


@record()
class Candidate:
    """A card that was looked at. Ranks count from 1; `relevance` is calibrated, 0 to 1."""

    id: str
    l0: str
    scope: str
    words_rank: int | None
    vectors_rank: int | None
    relevance: float | None
    support: float
    fate: str
    why: str = ""


@record()
class Item:
    """A card that is said, as it is said."""

    id: str
    type: str
    scope: str
    date: str
    age_days: int
    l0: str
    l1: str
    unquoted: bool = False
    progress: bool = False


@record(frozen=False)
class Trace:
    """Filled in by the stages in order."""

    prompt: str
    profile: str
    agent: str
    trigger: str = ""
    fired: bool = False
    project: str | None = None
    project_from: str = ""
    scopes: str = ""
    aside: dict[str, int] = fresh(dict)
    candidates: list[Candidate] = fresh(list)
    degraded: list[str] = fresh(list)
    invalid: int = 0
    threshold: float = 0.0
    items: int = 0
    max_items: int = 0
    bytes: int = 0
    max_bytes: int = 0
    at: str = ""
    commit: str = ""
    ms: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in self.__slots__}
        kept["candidates"] = [{name: getattr(one, name) for name in one.__slots__} for one in self.candidates]
        return kept


@record()
class Answer:
    """`text`: the very bytes to print, empty when there is nothing to say."""

    text: str
    items: tuple[Item, ...]
    trace: Trace

    @property
    def status(self) -> str:
        """`items`, `nothing` or `degraded`; empty never hides a failure."""
        if self.trace.degraded:
            return "degraded"
        return "items" if self.items else "nothing"

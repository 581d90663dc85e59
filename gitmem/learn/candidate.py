"""A candidate: what a model took out of a conversation, with the words it came from, until it is a card or dropped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FACT, FORGET = "fact", "forget"
# Where a conversation's folder is no project yet, facts about it wait under this name.
HERE = "here"

OPEN, WAITING, PLANNED, DONE, DROPPED, UNMATCHED = (
    "open", "waiting", "planned", "done", "dropped", "unmatched",
)  # fmt: skip


@dataclass(slots=True)
class Candidate:
    """One fact, or one request to forget.

    Args:
        action: `fact` or `forget`; of a request `conclusion` says what shall be forgotten.
        scope: a project's id, `global`, `personal`, or `here` while the folder is no project.
        turn, role, quote: the words, in the digest; `at`: when they were said, RFC 3339.
        fate: `open` (for review), `waiting` (for its project), `planned` (judged, not committed), `done`, `dropped`, or
            `unmatched` (a request to forget what no card says).
        outcome: of a planned or done one: `promote`, `merge`, `supersede` or `retract`.
        kind, why: of a dropped one: the kind of reason in a word or two, and a sentence.
        cards: ids of the cards that were made of it; `targets`: of those it confirmed, replaced or took back.
        tries: how often it came back from a plan that the memory had outrun.
    """

    action: str
    conclusion: str
    type: str
    scope: str
    confidence: float
    turn: int
    role: str
    quote: str
    at: str
    also: tuple[str, ...] = ()
    detail: str = ""
    fate: str = OPEN
    outcome: str = ""
    kind: str = ""
    why: str = ""
    cards: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    tries: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    def drop(self, kind: str, why: str = "") -> None:
        self.fate, self.kind, self.why = DROPPED, kind, why

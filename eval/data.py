"""What is measured: cards that make a memory, and probes, the turns at which it is asked. Values only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

DEV, TEST = "dev", "test"


@dataclass(frozen=True, slots=True)
class Card:
    """A card before it is imported.

    Args:
        key: its name in the data set; `supersedes` names others by it.
        scope: `global`, `personal`, or the id of a project.
        date: the day since which it holds. expires: the last day on which it does, or `never`.
        cluster: what belongs together and is drawn together by the bootstrap.
    """

    key: str
    conclusion: str
    scope: str = "global"
    type: str = "fact"
    also: tuple[str, ...] = ()
    body: str = ""
    date: str = "2026-01-05"
    supersedes: tuple[str, ...] = ()
    cluster: str = ""
    expires: str = "never"


@dataclass(frozen=True, slots=True)
class Probe:
    """One turn at which the memory is asked.

    Args:
        project: the project the turn is in; `personal`: it is asked of the personal agent.
        gold: keys of the cards that answer it, any of which helps; empty with `needs` False: silence is right.
        stale: keys of cards that were true once and would mislead.
        needs: whether the moment needs memory. True with no gold: what it needs was never written. None: nobody knows yet, and the
            probe counts for doses alone.
        split: `dev`, on which thresholds are tuned, or `test`.
        previous: the turn before. `session` and `turn` (from 0) place it in a conversation; without a session it stands alone.
        snapshot: as of when the memory is asked: a commit of an existing memory, or a day before which cards must lie; empty: as it is.
    """

    id: str
    text: str
    project: str | None = None
    personal: bool = False
    lang: str = "en"
    kind: str = ""
    gold: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    needs: bool | None = True
    split: str = DEV
    cluster: str = ""
    previous: str = ""
    session: str = ""
    turn: int = 0
    snapshot: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Cards and probes.

    Args:
        decisions: records to be imported as the product imports decisions, instead of `cards`.
        memory: the folder of an existing memory, which is asked as of each probe's snapshot, instead of `cards`.
        notes: what a reader of the report should know.
        measures: what the report says of it beside the usual: `stale`, `stream`.
    """

    name: str
    cards: tuple[Card, ...] = ()
    probes: tuple[Probe, ...] = ()
    decisions: bytes | None = None
    memory: str = ""
    notes: tuple[str, ...] = ()
    measures: frozenset[str] = field(default_factory=frozenset)

    def hash(self) -> str:
        """Of everything that a result depends on."""
        return digest(
            [asdict(one) for one in self.cards],
            [asdict(one) for one in self.probes],
            self.memory,
            self.decisions,
        )

    def cards_hash(self) -> str:
        """Of what the memory is made of."""
        return digest([asdict(one) for one in self.cards], self.memory, self.decisions)


def digest(*parts: Any) -> str:
    """A short hash of values, the same in every process."""
    made = hashlib.sha256()
    for part in parts:
        made.update(
            part
            if isinstance(part, bytes)
            else json.dumps(part, sort_keys=True, ensure_ascii=False, default=sorted).encode()
        )
        made.update(b"\0")
    return made.hexdigest()[:16]


def half(name: str, seed: str = "split") -> str:
    """`dev` or `test` for whatever is called `name`, the same every time, about half each."""
    return DEV if hashlib.sha256(f"{seed}\0{name}".encode()).digest()[0] % 2 == 0 else TEST


def language(text: str) -> str:
    """`zh`, `en` or `mixed`, by the characters of a text."""
    chinese = sum("\u3400" <= char <= "\u9fff" for char in text)
    latin = sum(char.isascii() and char.isalpha() for char in text)
    if not chinese:
        return "en"
    return "zh" if latin <= 2 else "mixed"


def unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))

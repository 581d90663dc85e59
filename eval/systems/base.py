"""What a system is, and what it answers to a probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from eval.data import Probe
from eval.world import World
from gitmem.index.catalogue import Item as Card
from gitmem.recall import render
from gitmem.recall.session import Session

DEPTH = 20
# What the block costs before its first item: `assemble` counts it too.
WRAPPER_BYTES = len(f"{render.OPEN}\n{render.HEADER}\n{render.CLOSE}\n".encode())


@dataclass(frozen=True, slots=True)
class Entry:
    """A card in a system's order.

    Args:
        score: what a threshold is laid on; higher is better, comparable between probes of the same system.
        long, short: bytes of the card as it is said, with L1 where the dose has it, and with L0 alone.
        crossing: prompt and card share no script and no word; a higher bar stands in.
        dead: it is no longer live. `scope`: of the card.
        always: it is said whatever the threshold (a task whose progress is asked for).
    """

    key: str
    score: float
    long: int
    short: int
    crossing: bool = False
    dead: bool = False
    scope: str = ""
    always: bool = False


@dataclass(frozen=True, slots=True)
class Dose:
    """How much may be said: items, bytes of the whole block, and what a threshold on a crossing card adds."""

    max_items: int
    max_bytes: int
    level: str
    cross_step: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a system did with a probe.

    Args:
        fired: it looked at all.
        ranked: its order, at most DEPTH deep, before a threshold.
        said: keys that it said as it is shipped; None: it has no threshold of its own until one is tuned.
        bytes: of the text that it printed, UTF-8, wrapper included; `text`: that text, of the product alone.
    """

    probe: str
    fired: bool
    ranked: tuple[Entry, ...] = ()
    said: tuple[str, ...] | None = None
    bytes: int = 0
    ms: float = 0.0
    note: str = ""
    text: str = ""

    def as_dict(self) -> dict[str, Any]:
        rows = [
            [e.key, round(e.score, 6), e.long, e.short, int(e.crossing), int(e.dead), e.scope, int(e.always)]
            for e in self.ranked
        ]
        return {
            "probe": self.probe, "fired": self.fired, "ranked": rows, "said": None if self.said is None else list(self.said),
            "bytes": self.bytes, "ms": round(self.ms, 2), "note": self.note, "text": self.text,
        }  # fmt: skip

    @classmethod
    def of(cls, value: dict[str, Any]) -> Outcome:
        ranked = tuple(
            Entry(r[0], r[1], r[2], r[3], bool(r[4]), bool(r[5]), r[6], bool(r[7])) for r in value["ranked"]
        )
        said = None if value["said"] is None else tuple(value["said"])
        return cls(
            value["probe"],
            value["fired"],
            ranked,
            said,
            value["bytes"],
            value["ms"],
            value["note"],
            value["text"],
        )


@dataclass(slots=True)
class Heard:
    """What a system remembers of a conversation while its probes are asked in order."""

    session: Session = field(default_factory=Session)
    shown: set[str] = field(default_factory=set)


class Unavailable(Exception):
    """The system is not installed here: its row is left out, and the report says so."""


class System(Protocol):
    """A row of the tables.

    `dose`: what it may say; `threshold`: the one it is shipped with, None without one. `tuned`: exactly one threshold is tuned for it on
    the first part of the data.
    """

    name: str
    about: str
    dose: Dose
    threshold: float | None
    tuned: bool

    def answer(self, probe: Probe, world: World, heard: Heard) -> Outcome: ...


def entry(
    world: World, card: Card, score: float, level: str, *, crossing: bool = False, always: bool = False
) -> Entry:
    """A card as the product would print it, measured."""
    long = render.line(render.item_of(card, world.now, level, progress=always))
    short = render.line(render.item_of(card, world.now, "l0", progress=always))
    return Entry(
        world.key(card.id),
        score,
        len(long.encode()),
        len(short.encode()),
        crossing,
        not world.is_live(card.id),
        card.scope,
        always,
    )


def assembled(ranked: Sequence[Entry], dose: Dose, threshold: float | None) -> tuple[list[Entry], int]:
    """What is said of an order at a threshold (None: whatever comes first), and its bytes; whole items within the dose, as the product assembles them."""
    kept: list[Entry] = []
    used = WRAPPER_BYTES
    for one in ranked:
        if (
            threshold is not None
            and not one.always
            and one.score < threshold + (dose.cross_step if one.crossing else 0.0)
        ):
            continue
        if len(kept) >= dose.max_items:
            break
        for size in (one.long, one.short):
            if used + size <= dose.max_bytes:
                kept.append(one)
                used += size
                break
    return kept, used if kept else 0

"""Which cards hold now: edges, lifetimes, chains. Pure functions over a look-up of facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gitmem.model import when
from gitmem.model.registry import Registry

USER, DOCUMENT, ASSISTANT = 6, 4, 2
_STRENGTH = {"user": USER, "document": DOCUMENT, "assistant": ASSISTANT, "tool": 0}


@dataclass(frozen=True, slots=True)
class Facts:
    """What liveness and ranking need to know of a valid card.

    `strength`: 0 (unquoted) to 6 (the user's words); `said_at`: since when it holds, else when it was written.
    """

    id: str
    scope: str
    type: str | None
    created: str
    valid_from: str | None
    expires: str | None
    l0: str
    edges: tuple[tuple[str, str], ...]
    strength: int
    said_at: str
    import_source: str | None = None

    def targets(self, kind: str) -> list[str]:
        return [target for edge, target in self.edges if edge == kind]


class Graph(Protocol):
    """The valid cards of one tree."""

    def facts(self, card_id: str) -> Facts | None: ...

    def pointing_at(self, card_id: str) -> Sequence[Facts]:
        """Valid cards that hold any edge to `card_id`, by id."""
        ...


@dataclass(frozen=True, slots=True)
class Status:
    """`live`, or why not: `superseded`, `retracted`, `expired`, `not yet`, `archived`; `by`: the cards that did it."""

    word: str
    by: tuple[str, ...] = ()

    @property
    def live(self) -> bool:
        return self.word == "live"


def strength(role: str, reported: bool) -> int:
    """How much words weigh: user > document > assistant, reported one step lower."""
    return max(0, _STRENGTH[role] - (1 if reported else 0))


def begun(facts: Facts, now: datetime) -> bool:
    """Whether its `valid_from` has come."""
    return facts.valid_from is None or when.parse(facts.valid_from) <= now


def retracted_by(
    graph: Graph, card_id: str, now: datetime, _known: dict[str, bool] | None = None
) -> tuple[str, ...]:
    """The retractions of a card that count: begun, and not retracted themselves.

    `_known`: whether an edge of a card counts, as far as found; it keeps a thicket of retractions from
    being walked along every path, and a cycle from being walked for ever.
    """
    known = {card_id: False} if _known is None else _known
    return tuple(
        other.id
        for other in graph.pointing_at(card_id)
        if card_id in other.targets("retracts") and _counts(graph, other, now, known)
    )


def superseded_by(graph: Graph, card_id: str, now: datetime) -> tuple[str, ...]:
    """The direct successors of a card that count: begun, and not retracted. An expired one still counts."""
    return tuple(
        other.id
        for other in graph.pointing_at(card_id)
        if card_id in other.targets("supersedes") and _counts(graph, other, now, {card_id: False})
    )


def _counts(graph: Graph, holder: Facts, now: datetime, known: dict[str, bool]) -> bool:
    """An edge counts while the card that holds it is valid, begun and not retracted."""
    if holder.id not in known:
        known[holder.id] = False  # while it is looked at: in a cycle it does not count
        known[holder.id] = begun(holder, now) and not retracted_by(graph, holder.id, now, known)
    return known[holder.id]


def confirmations(graph: Graph, card_id: str, now: datetime) -> list[Facts]:
    """Cards that said this one again, its predecessors with the same L0 included, each once, oldest first."""
    own = graph.facts(card_id)
    if own is None:
        return []
    found: dict[str, Facts] = {}
    seen: set[str] = set()
    queue = [own]
    while queue:
        said = queue.pop()
        if said.id in seen:
            continue
        seen.add(said.id)
        for other in graph.pointing_at(said.id):
            if said.id in other.targets("corroborates") and _counts(graph, other, now, {said.id: False}):
                found[other.id] = other
        before = (graph.facts(target) for target in said.targets("supersedes"))
        queue.extend(facts for facts in before if facts is not None and facts.l0 == own.l0)
    return sorted(found.values(), key=lambda facts: (facts.created, facts.id))


def ends_at(graph: Graph, facts: Facts, registry: Registry, now: datetime) -> datetime | None:
    """When a card runs out, its confirmations counted; None: never.

    `expires` says it; else the type's lifetime from the last confirmation, else `valid_from`, else `created`.
    """
    confirmed = confirmations(graph, facts.id, now)
    ends = [c.expires for c in confirmed if c.expires] or ([facts.expires] if facts.expires else [])
    if ends:
        return None if "never" in ends else max(when.end_of(end) for end in ends)
    rule = registry.types.get(facts.type or "")
    if rule is None or rule.lifetime_days is None:
        return None
    starts = [when.parse(c.created) for c in confirmed]
    starts.append(when.parse(facts.valid_from or facts.created))
    return when.later(max(starts), rule.lifetime_days)


def status(graph: Graph, card_id: str, registry: Registry, now: datetime) -> Status:
    """Whether a card is live at `now`, and if not, why."""
    facts = graph.facts(card_id)
    if facts is None:
        return Status("missing")
    if by := retracted_by(graph, card_id, now):
        return Status("retracted", by)
    if by := superseded_by(graph, card_id, now):
        return Status("superseded", by)
    if not begun(facts, now):
        return Status("not yet")
    end = ends_at(graph, facts, registry, now)
    if end is not None and end <= now:
        return Status("expired")
    if registry.archived(facts.scope):
        return Status("archived")
    return Status("live")


def live_ends(graph: Graph, card_id: str, registry: Registry, now: datetime) -> list[str]:
    """The live ends of a card's chain, itself when it is live; forks resolved alike everywhere.

    Of two live ends that are no split of one import, the one with the stronger, then the later
    evidence, then the larger id stays.
    """
    ends: list[str] = []
    seen: set[str] = set()
    queue = [card_id]
    while queue:
        current = queue.pop(0)
        if current in seen:
            continue
        seen.add(current)
        state = status(graph, current, registry, now)
        if state.word == "superseded":
            queue.extend(state.by)
        elif state.live:
            ends.append(current)
    return settle(graph, ends) if len(ends) > 1 else ends


def settle(graph: Graph, ends: Sequence[str]) -> list[str]:
    """Of live ends of one chain, those that stand: a split stands whole, a fork keeps one."""
    facts = [found for end in ends if (found := graph.facts(end)) is not None]
    best = max(facts, key=lambda one: (one.strength, one.said_at, one.id))
    return sorted(
        one.id
        for one in facts
        if one.id == best.id or (best.import_source is not None and one.import_source == best.import_source)
    )


def fork_losers(graph: Graph, card_id: str, registry: Registry, now: datetime) -> bool:
    """Whether a live card loses to another live end of its own chain."""
    facts = graph.facts(card_id)
    if facts is None or not facts.targets("supersedes"):
        return False
    for root in roots(graph, card_id):
        ends = live_ends(graph, root, registry, now)
        if card_id not in ends and ends:
            return True
    return False


def roots(graph: Graph, card_id: str) -> list[str]:
    """The oldest cards that a chain of supersedes edges leads back to."""
    found: list[str] = []
    seen: set[str] = set()
    queue = [card_id]
    while queue:
        current = queue.pop(0)
        if current in seen:
            continue
        seen.add(current)
        facts = graph.facts(current)
        before = [target for target in facts.targets("supersedes") if graph.facts(target)] if facts else []
        if before:
            queue.extend(before)
        elif facts:
            found.append(current)
    return found


def chain(graph: Graph, card_id: str) -> list[str]:
    """Every card of the chains through `card_id`, oldest first."""
    seen: set[str] = set()
    queue = [card_id]
    while queue:
        current = queue.pop(0)
        facts = graph.facts(current)
        if current in seen or facts is None:
            continue
        seen.add(current)
        queue.extend(facts.targets("supersedes"))
        queue.extend(
            other.id for other in graph.pointing_at(current) if current in other.targets("supersedes")
        )
    return sorted(seen, key=lambda one: (graph.facts(one).created, one))  # type: ignore[union-attr]

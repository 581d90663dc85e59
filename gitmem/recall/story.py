"""One card's whole story: what it is now, its chain, who said its words, confirmations, and who has heard it.

In: the catalogue, the objects of the memory's tip, the local log. Out: values; the command line words them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitmem.context import Context
from gitmem.errors import FormatError
from gitmem.index.catalogue import Catalogue, Item
from gitmem.model import card as cards
from gitmem.model import live, when
from gitmem.model import source as sources
from gitmem.model.card import Card
from gitmem.model.registry import Registry


@dataclass(frozen=True, slots=True)
class Said:
    """Words that a card quotes. `host`: where they were said; `kind`: session, import or statement."""

    role: str
    host: str
    kind: str
    at: str
    quote: str
    source: str
    turn: int
    reported_by: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """One card of a chain. `since`, `until` are times as in files; `until` None: it still holds."""

    id: str
    l0: str
    since: str
    until: str | None
    status: live.Status
    said: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """`by` is the host or agent it came from; None: the person typed it."""

    id: str
    at: str
    by: str | None


@dataclass(frozen=True, slots=True)
class Story:
    """`ends`: when it runs out; `heard`: agent -> times; `set_aside`: live, but another end of its chain is heard."""

    item: Item
    card: Card
    status: live.Status
    chain: tuple[Link, ...]
    confirmed: tuple[Confirmation, ...]
    targets: tuple[Item, ...]
    ends: datetime | None
    heard: dict[str, int]
    instead: tuple[str, ...]
    set_aside: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A card that fails the checks and is left out of recall."""

    path: str
    blob: str
    id: str
    line: int
    message: str


def tell(context: Context, catalogue: Catalogue, item: Item) -> Story:
    """Everything about a card, a confirmation or a retraction."""
    registry, now = context.registry, context.now
    read = _reader(context)
    facts = catalogue.facts(item.id)
    assert facts is not None
    card = cards.parse(context.memory.git.run("cat-file", "blob", item.blob).out)
    status = live.status(catalogue, item.id, registry, now)
    chain = tuple(
        _link(context, catalogue, one, read)
        for one in (live.chain(catalogue, item.id) if item.kind == "card" else ())
    )
    confirmed = live.confirmations(catalogue, item.id, now) if item.kind == "card" else []
    pointed = dict.fromkeys((*card.retracts, *card.corroborates))
    ends_of_chain = live.live_ends(catalogue, item.id, registry, now) if item.kind == "card" else []
    return Story(
        item,
        card,
        status,
        chain or (_link(context, catalogue, item.id, read),),
        tuple(_confirmation(catalogue, one, read) for one in confirmed),
        tuple(found for target in pointed if (found := catalogue.by_id(target)) is not None),
        live.ends_at(catalogue, facts, registry, now) if item.kind == "card" else None,
        heard(context, item.id),
        tuple(one for one in ends_of_chain if one != item.id),
        status.live and live.fork_losers(catalogue, item.id, registry, now),
    )


def heard(context: Context, card_id: str) -> dict[str, int]:
    """How often each agent was told a card, as far as this computer's log goes back; most often first."""
    from gitmem.recall import log

    counts = Counter(
        str(entry.get("agent") or "you")
        for entry in log.entries(context.memory.state)
        if entry.get("event") != "search" and card_id in _listed(entry.get("said"))
    )
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def broken(catalogue: Catalogue, prefix: str) -> list[Broken]:
    """Cards left out of recall whose id, or file name where it cannot be read, begins so."""
    import json

    found = []
    for path, blob, fault, other in catalogue.db.execute(
        "SELECT path, blob, fault, registry_fault FROM cards WHERE fault IS NOT NULL OR registry_fault IS NOT NULL ORDER BY path"
    ):
        card_id = path.removesuffix(".md")[-10:]
        if card_id.startswith(prefix):
            line, message = json.loads(fault) if fault else (1, other)
            found.append(Broken(path, blob, card_id, line, message))
    return found


def span(catalogue: Catalogue, card_id: str, registry: Registry, now: datetime) -> tuple[str, str | None]:
    """From when until when a card holds; None: no end so far."""
    facts = catalogue.facts(card_id)
    assert facts is not None
    since = facts.valid_from or facts.created
    status = live.status(catalogue, card_id, registry, now)
    if status.word in ("superseded", "retracted"):
        by = [found for one in status.by if (found := catalogue.facts(one)) is not None]
        return since, min(one.valid_from or one.created for one in by)
    if status.word == "expired":
        end = live.ends_at(catalogue, facts, registry, now)
        return since, when.stamp(end) if end else None
    return since, None


def _link(
    context: Context, catalogue: Catalogue, card_id: str, read: Callable[[str], sources.Source | None]
) -> Link:
    item = catalogue.by_id(card_id)
    assert item is not None
    card = cards.parse(context.memory.git.run("cat-file", "blob", item.blob).out)
    since, until = span(catalogue, card_id, context.registry, context.now)
    status = live.status(catalogue, card_id, context.registry, context.now)
    return Link(card_id, item.l0, since, until, status, tuple(_said(card, read)))


def _said(card: Card, read: Callable[[str], sources.Source | None]) -> Iterable[Said]:
    for one in card.evidence:
        source = read(one.source)
        turn = source.turn(one.turn) if source else None
        if source is None or turn is None:
            continue
        yield Said(
            one.role, source.host, source.kind, turn.at, one.quote, one.source, one.turn, one.reported_by
        )


def _confirmation(
    catalogue: Catalogue, facts: live.Facts, read: Callable[[str], sources.Source | None]
) -> Confirmation:
    item = catalogue.by_id(facts.id)
    cited = (
        catalogue.db.execute("SELECT source FROM cites WHERE row = ? ORDER BY source", (item.row,)).fetchone()
        if item
        else None
    )
    source = read(cited[0]) if cited else None
    host = source.host if source else (item.author if item else None)
    return Confirmation(facts.id, facts.created, None if host == "git-mem" else host)


def _reader(context: Context) -> Callable[[str], sources.Source | None]:
    """Sources of the memory's tip, each read once."""
    kept: dict[str, sources.Source | None] = {}

    def read(path: str) -> sources.Source | None:
        if path not in kept:
            found = context.memory.git.run("cat-file", "blob", f"{context.memory.tip}:{path}", check=False)
            try:
                kept[path] = sources.parse(found.out) if found.code == 0 else None
            except FormatError:
                kept[path] = None
        return kept[path]

    return read


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()

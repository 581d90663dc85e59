"""Items as the files of one commit, judged; what the checks refuse is taken out and the rest judged again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from gitmem.checks.change import Corpus
from gitmem.checks.problem import Problem
from gitmem.errors import FormatError, Refused
from gitmem.git.locate import Memory
from gitmem.imports.compare import CHANGED, NEW, WRITTEN, Item
from gitmem.imports.entry import NEVER
from gitmem.imports.known import DIGEST, KEY, Known, origin
from gitmem.imports.parcel import Part, parcel
from gitmem.model import card as cards
from gitmem.model import frontmatter, ids, live, when
from gitmem.model.card import Card, Evidence
from gitmem.model.registry import Registry

MAX_EDGES = 50
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Built:
    """The items with their final fate, and the files of those that are written."""

    items: tuple[Item, ...]
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Frame:
    """What every card of an import shares."""

    kind: str
    email: str
    now: datetime
    name: str
    known: Known


def build(
    memory: Memory,
    registry: Registry,
    items: Sequence[Item],
    known: Known,
    corpus: Corpus,
    *,
    kind: str,
    email: str,
    now: datetime,
    random_bits: Callable[[int], int],
    progress: Progress | None = None,
) -> Built:
    """Cards and sources of the items, as far as the checks accept them.

    Raises:
        Refused: the checks refuse something that is no single entry's fault.
    """
    from gitmem import judge

    name = f"{cards.slug(kind) or 'import'}-{now:%Y%m%d-%H%M%S}-{random_bits(24):06x}"
    frame = _Frame(kind, email, now, name, known)
    current = [_screened(item) for item in _with_ids(items, corpus, random_bits)]
    while True:
        noted, files, parts = _files(current, frame)
        if not files:
            return Built(tuple(noted))
        if progress:
            progress("judging", 0, len(files))
        report = judge.check_draft(
            memory, registry, files, agent=None, person=True, email=email, now=now, corpus=corpus
        )
        if report.ok:
            if progress:
                progress("judging", len(files), len(files))
            return Built(tuple(noted), files)
        blamed = _blame(report.errors, current, parts)
        if not blamed:
            raise Refused(
                "the checks refuse this import, nothing written", details=report.render().splitlines()[:20]
            )
        current = [
            item.refused(blamed[index]) if index in blamed else item for index, item in enumerate(current)
        ]


def _with_ids(items: Sequence[Item], corpus: Corpus, random_bits: Callable[[int], int]) -> list[Item]:
    """Ids are drawn once, so that leaving one entry out changes no other."""
    taken: set[str] = set()
    out = []
    for item in items:
        if item.action in WRITTEN:
            drawn = ids.new_id(random_bits)
            while drawn in taken or corpus.path_of(drawn) is not None:
                drawn = ids.new_id(random_bits)
            taken.add(drawn)
            item = replace(item, card_id=drawn)
        out.append(item)
    return out


def _screened(item: Item) -> Item:
    """Text that no memory file may hold is found before it can spoil the source it would share with others."""
    if item.action not in WRITTEN:
        return item
    try:
        frontmatter.decode(item.entry.document_text.encode(), 1 << 20)
    except FormatError as error:
        return item.refused(error.message)
    return item


def _files(
    items: Sequence[Item], frame: _Frame
) -> tuple[list[Item], dict[str, bytes], dict[str, tuple[Part, list[int]]]]:
    """Items with paths and notes; files by path; sources by path with the item of each text."""
    stamp = when.stamp(frame.now)
    by_scope: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        if item.action in WRITTEN:
            by_scope.setdefault(item.scope, []).append(index)
    files: dict[str, bytes] = {}
    parts: dict[str, tuple[Part, list[int]]] = {}
    places: dict[int, tuple[str, int]] = {}
    for scope, members in by_scope.items():
        made, where = parcel(
            [items[index].entry.document_text for index in members], scope, frame.name, stamp
        )
        for part in made:
            files[part.path] = part.data
            parts[part.path] = (part, members)
        places.update(zip(members, where, strict=True))
    index_of = {
        (item.scope, item.entry.key): index for index, item in enumerate(items) if item.action in WRITTEN
    }
    replaced = {
        (item.scope, key) for item in items if item.action != "refused" for key in item.entry.supersedes_keys
    }
    out = list(items)
    for index, (path, turn) in places.items():
        item = items[index]
        edges, notes = _edges(item, items, index_of, frame)
        card = _card(item, path, turn, edges, (item.scope, item.entry.key) in replaced, frame)
        place = cards.card_path(card, cards.slug(item.entry.conclusion))
        files[place] = cards.dump(card)
        if item.entry.expires and not item.entry.ended and _is_over(item.entry.expires, frame.now):
            notes.append(f"it expired on {item.entry.expires[:10]}: kept, and never said")
        out[index] = replace(item, path=place, notes=(*item.notes, *notes))
    return out, files, parts


def _edges(
    item: Item, items: Sequence[Item], index_of: dict[tuple[str, str], int], frame: _Frame
) -> tuple[list[str], list[str]]:
    """What a card supersedes: its own earlier version, and the cards of the entries that its entry replaces."""
    found = [item.replaces] if item.replaces else []
    notes = []
    for key in item.entry.supersedes_keys:
        fresh = index_of.get((item.scope, key))
        if fresh is not None:
            found.append(items[fresh].card_id or "")
            continue
        state = frame.known.newest(item.scope, f"{frame.kind}/{key}")
        if state is None:
            notes.append(f"`{key}` was left out: the edge to it too")
        elif state.open:
            found.append(state.card.id)
        elif item.replaces is None or item.replaces not in live.superseded_by(
            frame.known.graph, state.card.id, frame.now
        ):
            notes.append(f"{state.why}: the edge to `{key}` is left out")
    return list(dict.fromkeys(filter(None, found)))[:MAX_EDGES], notes


def _card(item: Item, source: str, turn: int, edges: list[str], replaced: bool, frame: _Frame) -> Card:
    entry = item.entry
    return Card(
        id=item.card_id or "",
        type=entry.type,
        scope=item.scope,
        conclusion=entry.conclusion,
        also=entry.also,
        tags=entry.tags,
        created=when.stamp(frame.now),
        author=frame.email,
        valid_from=entry.valid_from,
        expires=_over_since(entry.valid_from, frame.now)
        if entry.ended or (entry.ended_unless_replaced and not replaced)
        else entry.expires,
        supersedes=tuple(edges),
        evidence=(Evidence(source, turn, "document", entry.quote),),
        body=entry.body,
        extra={KEY: origin(frame.kind, entry), DIGEST: entry.digest()},
    )


def _is_over(expires: str, now: datetime) -> bool:
    try:
        return expires != NEVER and when.end_of(expires) <= now
    except ValueError:
        return False  # the checks say what is wrong with it


def _over_since(day: str | None, now: datetime) -> str:
    """Its own day; the day before the import where that is unknown or has not passed, so that it is never live."""
    yesterday = (now - timedelta(days=1)).date().isoformat()
    return min(day[:10], yesterday) if day else yesterday


def _blame(
    problems: Sequence[Problem], items: Sequence[Item], parts: dict[str, tuple[Part, list[int]]]
) -> dict[int, str]:
    """Index of an item -> what the checks say of it."""
    by_path = {
        item.card_id: index
        for index, item in enumerate(items)
        if item.card_id and item.action in (NEW, CHANGED)
    }
    found: dict[int, str] = {}
    for problem in problems:
        if problem.path in parts:
            part, members = parts[problem.path]
            text = part.text_at(problem.line)
            index = members[text] if text is not None else None
        else:
            index = by_path.get(problem.path.removesuffix(".md")[-ids.LENGTH :])
        if index is not None:
            hint = f" ({problem.hint})" if problem.hint else ""
            found.setdefault(index, f"{problem.code} {problem.message}{hint}")
    return found

"""What earlier imports left in a memory: every imported card, by where it came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from gitmem.errors import FormatError
from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.imports.entry import Entry
from gitmem.model import frontmatter, live
from gitmem.model.live import Graph

KEY, DIGEST = "x-import", "x-import-digest"
_MARK = b"\nx-import: "


@dataclass(frozen=True, slots=True)
class Imported:
    """A card that came from an import. `origin`: `<kind>/<key>`; `digest`: of the entry it was made from."""

    id: str
    scope: str
    origin: str
    digest: str
    conclusion: str
    created: str


@dataclass(frozen=True, slots=True)
class State:
    """The newest version of an entry in the memory, and whether a new one may replace it."""

    card: Imported
    open: bool
    why: str = ""


class Known:
    """Imported cards of some scopes, by scope and origin."""

    def __init__(self, cards: Iterable[Imported], graph: Graph, now: datetime):
        self.graph, self.now = graph, now
        self.versions: dict[tuple[str, str], list[Imported]] = {}
        for card in cards:
            self.versions.setdefault((card.scope, card.origin), []).append(card)

    def newest(self, scope: str, origin: str) -> State | None:
        """The version that no other version of the same entry replaced."""
        versions = [
            one for one in self.versions.get((scope, origin), ()) if self.graph.facts(one.id) is not None
        ]
        if not versions:
            return None
        ids = {one.id for one in versions}
        replaced = {target for one in versions for target in self.graph.facts(one.id).targets("supersedes")}  # type: ignore[union-attr]
        last = max(
            (one for one in versions if one.id not in replaced),
            key=lambda one: (one.created, one.id),
            default=versions[-1],
        )
        if live.retracted_by(self.graph, last.id, self.now):
            return State(last, False, f"`{last.id}` was retracted")
        by = [one for one in live.superseded_by(self.graph, last.id, self.now) if one not in ids]
        if by:
            return State(last, False, f"`{last.id}` was superseded by `{by[0]}`")
        return State(last, True)

    def of_file(self, scope: str, prefix: str) -> list[State]:
        """Open newest versions of the entries of one file, by origin; `prefix` ends in `#`."""
        found = []
        for place in sorted(self.versions):
            if place[0] == scope and place[1].startswith(prefix):
                state = self.newest(*place)
                if state is not None and state.open:
                    found.append(state)
        return found


def imported(memory: Memory, scopes: Iterable[str]) -> list[Imported]:
    """Every imported card below `cards/<scope>/` of the memory's tip."""
    if memory.tip is None:
        return []
    folders = [f"cards/{scope}" for scope in sorted(set(scopes))]
    listed = objects.entries(memory.git, memory.tip, *folders) if folders else []
    reader = (
        objects.open_bulk(memory.git, str(memory.common_dir))
        if len(listed) > 50
        else objects.open_light(memory.git)
    )
    found = []
    try:
        for entry in listed:
            data = reader.blob(entry.oid) if entry.mode == objects.REGULAR else b""
            if _MARK not in data:
                continue
            try:
                meta = frontmatter.parse(data).meta
            except FormatError:
                continue
            values = [meta.get(key, "") for key in ("id", "scope", KEY, DIGEST, "conclusion", "created")]
            if all(isinstance(value, str) for value in values):
                found.append(Imported(*values))
    finally:
        reader.close()
    return found


def origin(kind: str, entry: Entry) -> str:
    return f"{kind}/{entry.key}"

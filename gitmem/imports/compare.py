"""What becomes of each entry, decided by what the memory holds already. No clock, no randomness, no writing."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gitmem.imports import projects
from gitmem.imports.entry import Entry
from gitmem.imports.known import Known, State, origin
from gitmem.model import live
from gitmem.model.registry import Registry

NEW, CHANGED, SAME, SETTLED, DUPLICATE, REFUSED = "new", "changed", "same", "settled", "duplicate", "refused"
WRITTEN = (NEW, CHANGED)
# kinds whose entries are told apart by their key alone: two decisions may bear one title
BY_KEY = frozenset({"decisions"})
# how alike two bullets of one file must be for the newer to replace the one that is gone
ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Item:
    """An entry and its fate.

    Args:
        action: new; changed (replaces `replaces`); same (imported before); settled (its card was retracted or superseded
            here, and stays so); duplicate (a live card says it); refused (`reason` says why).
        card_id, path: of the card it becomes.
    """

    entry: Entry
    scope: str
    action: str = NEW
    reason: str = ""
    replaces: str | None = None
    card_id: str | None = None
    path: str | None = None
    notes: tuple[str, ...] = ()

    def refused(self, reason: str) -> Item:
        return replace(self, action=REFUSED, reason=reason, card_id=None, path=None)


def scoped(
    entries: Sequence[Entry], registry: Registry, scope: str | None
) -> tuple[list[Item], dict[str, str]]:
    """Entries with their scopes, and the projects to register (id -> name)."""
    items: list[Item] = []
    new: dict[str, str] = {}
    for entry in entries:
        item = Item(entry, entry.scope or scope or "", notes=entry.problems)
        if entry.project_name is not None and entry.scope is None:
            id_ = projects.known(registry, entry.project_name)
            if id_ is None:
                id_ = projects.project_id(entry.project_name)
                if id_ is None:
                    items.append(
                        item.refused(
                            f"no id can be made of the project `{entry.project_name}`: git mem project add ID --name '{entry.project_name}'"
                        )
                    )
                    continue
                if new.setdefault(id_, entry.project_name) != entry.project_name:
                    items.append(
                        item.refused(
                            f"the projects `{new[id_]}` and `{entry.project_name}` would both be `{id_}`"
                        )
                    )
                    continue
            item = replace(item, scope=id_)
        items.append(item if item.scope else item.refused("it names no scope: --scope gives one"))
    return items, new


def compared(
    items: Sequence[Item], kind: str, known: Known, registry: Registry
) -> tuple[list[Item], list[str]]:
    """Items with their fate, and what a person should hear of the files as a whole."""
    out: list[Item] = []
    seen: set[tuple[str, str]] = set()
    for item in items:
        place = (item.scope, item.entry.key)
        if item.action != NEW:
            out.append(item)
            continue
        if place in seen:
            out.append(item.refused(f"a second entry `{item.entry.key}`"))
            continue
        seen.add(place)
        state = known.newest(item.scope, origin(kind, item.entry))
        out.append(_fate(item, state) if state else item)
    notes = _moved(out, kind, known)
    if kind not in BY_KEY:
        _duplicates(out, known, registry)
    return out, notes


def _fate(item: Item, state: State) -> Item:
    if state.card.digest == item.entry.digest():
        return replace(item, action=SAME, reason=f"imported before as `{state.card.id}`")
    if state.open:
        return replace(item, action=CHANGED, replaces=state.card.id)
    return replace(item, action=SETTLED, reason=state.why)


def _moved(items: list[Item], kind: str, known: Known) -> list[str]:
    """Entries without a key of their own: one that is like an entry gone from the same file replaces it."""
    notes = []
    files: dict[tuple[str, str], list[int]] = {}
    for index, item in enumerate(items):
        if item.entry.file is not None:
            files.setdefault((item.scope, item.entry.file), []).append(index)
    for (scope, file), members in files.items():
        present = {origin(kind, items[index].entry) for index in members}
        gone = [
            state for state in known.of_file(scope, f"{kind}/{file}#") if state.card.origin not in present
        ]
        pairs = sorted(
            (
                (-_alike(state.card.conclusion, items[index].entry.conclusion), index, state.card.id)
                for state in gone
                for index in members
                if items[index].action == NEW
            ),
        )
        taken: set[str] = set()
        for ratio, index, card_id in pairs:
            if -ratio < ALIKE or card_id in taken or items[index].action != NEW:
                continue
            taken.add(card_id)
            items[index] = replace(items[index], action=CHANGED, replaces=card_id)
        left = len(gone) - len(taken)
        if left:
            notes.append(
                f"{left} {'entries' if left != 1 else 'entry'} imported from `{file}` {'are' if left != 1 else 'is'} no longer in it, and still remembered"
            )
    return notes


def _alike(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def _duplicates(items: list[Item], known: Known, registry: Registry) -> None:
    """New entries that a live card says already, or an earlier entry of this import."""
    wanted = {
        (item.scope, item.entry.type, folded(item.entry.conclusion)) for item in items if item.action == NEW
    }
    there: dict[tuple[str, str, str], str] = {}
    for card_id in known.graph.all_ids() if wanted else ():  # type: ignore[attr-defined]
        facts = known.graph.facts(card_id)
        if facts is None or not facts.l0:
            continue
        place = (facts.scope, facts.type or "", folded(facts.l0))
        if place in wanted and live.status(known.graph, card_id, registry, known.now).live:
            there[place] = card_id
    earlier: set[tuple[str, str, str, str]] = set()
    for index, item in enumerate(items):
        if item.action != NEW:
            continue
        place = (item.scope, item.entry.type, folded(item.entry.conclusion))
        if place in there:
            items[index] = replace(item, action=DUPLICATE, reason=f"`{there[place]}` says it already")
        elif (*place, item.entry.document_text) in earlier:
            items[index] = replace(item, action=DUPLICATE, reason="an earlier entry says it already")
        earlier.add((*place, item.entry.document_text))


def folded(text: str) -> str:
    """For comparing: case, width, white space and a full stop at the end do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .。")

"""The cards of one tree, read whole. The plain answer that faster ones are compared with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from gitmem.checks import card as card_check
from gitmem.checks.change import import_source
from gitmem.git.objects import REGULAR, Entry
from gitmem.model import layers, live
from gitmem.model.card import Card, id_of_path
from gitmem.model.live import Facts
from gitmem.model.registry import Registry


def facts_of(card: Card) -> Facts:
    """What liveness needs of a card."""
    best = max(
        card.evidence,
        key=lambda item: live.strength(item.role, bool(item.reported_by)),
        default=None,
    )
    imported = import_source(card)
    return Facts(
        id=card.id,
        scope=card.scope,
        type=card.type,
        created=card.created,
        valid_from=card.valid_from,
        expires=card.expires,
        l0="" if card.retracts or card.corroborates else layers.l0(card),
        edges=tuple(card.edges()),
        strength=live.strength(best.role, bool(best.reported_by)) if best else 0,
        said_at=card.valid_from or card.created,
        import_source=imported,
    )


class TreeCorpus:
    """Every card of a list of tree entries. Reading is put off until something is asked.

    With `registry`, cards that it or another card rules out count as invalid too, as they do in recall.
    """

    def __init__(
        self, entries: Iterable[Entry], read: Callable[[str], bytes], registry: Registry | None = None
    ):
        self._entries = entries
        self._read = read
        self._registry = registry
        self._facts: dict[str, Facts] | None = None
        self._paths: dict[str, str] = {}
        self._replaces: dict[str, tuple[str, ...]] = {}
        self._pointing: dict[str, list[Facts]] = {}

    def facts(self, card_id: str) -> Facts | None:
        return self._load().get(card_id)

    def pointing_at(self, card_id: str) -> Sequence[Facts]:
        self._load()
        return self._pointing.get(card_id, ())

    def path_of(self, card_id: str) -> str | None:
        self._load()
        return self._paths.get(card_id)

    def all_ids(self) -> Iterable[str]:
        self._load()
        return sorted(self._paths)

    def _load(self) -> dict[str, Facts]:
        if self._facts is None:
            found = self._read_all()
            self._replaces = {one.id: one.supersedes for one in found}
            self._facts = {one.id: facts_of(one) for one in found if self._stands(one)}
            for facts in sorted(self._facts.values(), key=lambda one: one.id):
                for target in dict.fromkeys(target for _, target in facts.edges):
                    self._pointing.setdefault(target, []).append(facts)
        return self._facts

    def _read_all(self) -> list[Card]:
        """Cards that are right by themselves; notes where every id stands, in the first of two files that claim it."""
        files = {
            entry.path: entry for entry in self._entries if entry.path.startswith(("cards/", "sources/"))
        }

        def source(path: str) -> bytes | None:
            entry = files.get(path)
            return self._read(entry.oid) if entry is not None and entry.mode == REGULAR else None

        found = []
        for path in sorted(files, key=os.fsencode):
            if not path.startswith("cards/") or not path.endswith(".md"):
                continue
            entry = files[path]
            data = self._read(entry.oid) if entry.mode == REGULAR else b""
            verdict = card_check.judge(path, entry.mode, data, source, with_safety=False)
            card_id = verdict.card.id if verdict.card is not None else id_of_path(path)
            first = self._paths.setdefault(card_id, path) if card_id is not None else path
            if verdict.card is not None and verdict.valid and first == path:
                found.append(verdict.card)
        return found

    def _stands(self, card: Card) -> bool:
        """Whether neither the registry nor another card rules a card out that is right by itself."""
        registry = self._registry
        if registry is None:
            return True
        return (
            registry_fault(card.type, card.scope, card.author, registry) is None
            and card.id not in registry.forgotten
            and all(target in self._paths or target in registry.forgotten for _, target in card.edges())
            and not self._leads_back(card.id)
        )

    def _leads_back(self, start: str) -> bool:
        """Whether supersedes edges lead from a card back to it."""
        seen: set[str] = set()
        queue = list(self._replaces.get(start, ()))
        while queue:
            one = queue.pop()
            if one == start:
                return True
            if one not in seen:
                seen.add(one)
                queue.extend(self._replaces.get(one, ()))
        return False


def registry_fault(type_: str | None, scope: str, author: str, registry: Registry) -> str | None:
    """What the registry says against a card: unknown type, scope or author."""
    if type_ is not None and type_ not in registry.types:
        return f"unknown type `{type_}`"
    if not registry.is_scope(scope):
        return f"no project `{scope}`"
    if not registry.known_author(author):
        return f"unknown author `{author}`"
    rule = registry.types.get(type_ or "")
    if rule is not None and rule.scopes == "personal" and scope != "personal":
        return f"a `{type_}` belongs in `personal`"
    return None

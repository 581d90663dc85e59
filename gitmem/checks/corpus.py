"""The cards of one tree, read whole. The plain answer that faster ones are compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gitmem.checks import card as card_check
from gitmem.checks.change import import_source
from gitmem.git.objects import Entry
from gitmem.model import layers, live
from gitmem.model.card import Card
from gitmem.model.live import Facts


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
        said_at=card.created,
        import_source=imported,
    )


class TreeCorpus:
    """Every card of a list of tree entries. Reading is put off until something is asked."""

    def __init__(self, entries: Iterable[Entry], read: Callable[[str], bytes]):
        self._entries = [entry for entry in entries if entry.path.startswith(("cards/", "sources/"))]
        self._read = read
        self._facts: dict[str, Facts] | None = None
        self._paths: dict[str, str] = {}
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
        return self._load().keys()

    def _load(self) -> dict[str, Facts]:
        if self._facts is None:
            self._facts = {}
            by_path = {entry.path: entry for entry in self._entries}

            def source(path: str) -> bytes | None:
                return self._read(by_path[path].oid) if path in by_path else None

            for entry in self._entries:
                if not entry.path.startswith("cards/"):
                    continue
                verdict = card_check.judge(entry.path, entry.mode, self._read(entry.oid), source, with_safety=False)
                if verdict.card is not None:
                    self._paths.setdefault(verdict.card.id, entry.path)
                if verdict.valid and verdict.card is not None and self._paths[verdict.card.id] == entry.path:
                    self._facts[verdict.card.id] = facts_of(verdict.card)
            for facts in sorted(self._facts.values(), key=lambda one: one.id):
                for target in dict.fromkeys(target for _, target in facts.edges):
                    self._pointing.setdefault(target, []).append(facts)
        return self._facts

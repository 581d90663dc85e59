"""The live cards most like a candidate, those planned in this batch included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gitmem.context import Context
from gitmem.index.analyse import tokens
from gitmem.index.refresh import folded
from gitmem.model import live
from gitmem.recall import retrieve
from gitmem.recall.answer import Opened, using
from gitmem.recall.opening import LiveIndex
from gitmem.recall.scope import Scope

MOST = 12
_PLANNED_MOST = 4
_TASKS_MOST = 6


@dataclass(frozen=True, slots=True)
class Known:
    """A card as review sees it. `strength`, `said_at`: as in `live.Facts`; `planned`: it is not committed yet."""

    id: str
    scope: str
    type: str
    l0: str
    strength: int
    said_at: str
    planned: bool = False


class Shelf:
    """The live cards of the memory's tip and of the plan, open for the length of one review.

    Args:
        planned: cards of the plan that stand in no other planned card's way; `gone`: ids that the plan supersedes or retracts.
    """

    def __init__(self, context: Context, planned: Sequence[Known], gone: Iterable[str]):
        self._context = context
        self._planned = [one for one in planned if one.id not in set(gone)]
        self._gone = frozenset(gone)
        self._index = LiveIndex(context.memory, context.registry)

    def like(self, scope: str, text: str, type_: str) -> list[Known]:
        """At most 12 cards of a scope, the closest first; for a task the scope's tasks among them."""
        vector = self._index.vector(retrieve.clip(text))

        def look(opened: Opened) -> list[Known]:
            catalogue = opened.catalogue
            found = retrieve.retrieve(
                retrieve.clip(text), vector, catalogue, opened.words, opened.state,
                Scope((scope,), None, None, None, ""), self._context.registry, self._context.now,
                limit=MOST * 2, vector_wait_s=10.0,
            )  # fmt: skip
            ids = [one.item.id for one in found.candidates]
            if type_ == "task":
                rows = catalogue.items(
                    f"scope = ? AND type = 'task' AND kind = 'card' AND {_VALID}",
                    (scope,),
                    "created DESC, id",
                )
                ids = [*(item.id for item in rows if self._live(opened, item.id)), *ids][: MOST + _TASKS_MOST]
            return [
                known
                for one in dict.fromkeys(ids)
                if one not in self._gone and (known := _known(catalogue, one))
            ]

        stored = using(self._index, look)
        near = self._near(scope, text, type_)
        return [*near, *stored][:MOST]

    def same(self, scope: str, conclusion: str) -> Known | None:
        """The live or planned card that says exactly this."""
        own = folded(conclusion)
        for one in self._planned:
            if one.scope == scope and folded(one.l0) == own:
                return one

        def look(opened: Opened) -> Known | None:
            rows = opened.catalogue.items(
                f"fold = ? AND scope = ? AND kind = 'card' AND {_VALID}", (own, scope)
            )
            for item in rows:
                if item.id not in self._gone and self._live(opened, item.id):
                    return _known(opened.catalogue, item.id)
            return None

        return using(self._index, look)

    def _live(self, opened: Opened, card_id: str) -> bool:
        return live.status(opened.catalogue, card_id, self._context.registry, self._context.now).live

    def _near(self, scope: str, text: str, type_: str) -> list[Known]:
        """Planned cards: those that share words, the most first; few are planned at a time, so the others follow."""
        own = set(tokens(text))

        def shared(one: Known) -> float:
            theirs = set(tokens(one.l0))
            return len(own & theirs) / (len(own | theirs) or 1) + (type_ == one.type == "task")

        return sorted(
            (one for one in self._planned if one.scope == scope), key=lambda one: (-shared(one), one.id)
        )[:_PLANNED_MOST]


_VALID = "fault IS NULL AND registry_fault IS NULL"


def _known(catalogue, card_id: str) -> Known | None:  # type: ignore[no-untyped-def]
    facts = catalogue.facts(card_id)
    if facts is None:
        return None
    return Known(facts.id, facts.scope, facts.type or "", facts.l0, facts.strength, facts.said_at)

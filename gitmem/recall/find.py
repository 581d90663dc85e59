"""Search: the retrieval of recall without trigger and gate, within what the caller may read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from gitmem.context import Context
from gitmem.errors import Refused
from gitmem.index.catalogue import Catalogue
from gitmem.model import live
from gitmem.recall import log, retrieve
from gitmem.recall.answer import Opened, using
from gitmem.recall.opening import LiveIndex
from gitmem.recall.scope import Scope

# A card without a word of the query counts from so far above the query's baseline (`Candidate.nearness`): in the `dev` half of the demo's cases nine prompts
# in ten that want nothing have no card nearer.
NEAR_ALONE = 0.6
MOST_ALONE = 3
# Below this relevance such a card is a neighbour and no find.
WEAK = 0.2


@dataclass(frozen=True, slots=True)
class Hit:
    """A card that was found; `status` as in `live.Status`."""

    id: str
    type: str
    scope: str
    date: str
    l0: str
    status: str
    relevance: float
    words_rank: int | None
    vectors_rank: int | None

    @property
    def weak(self) -> bool:
        """Near in meaning alone, and not very."""
        return self.words_rank is None and self.status == "live" and self.relevance < WEAK

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def search(
    context: Context,
    text: str,
    *,
    here: str | None,
    project: str | None,
    everywhere: bool,
    scope: str | None,
    type_: str | None,
    dead_too: bool,
    limit: int,
    lexical: bool,
) -> tuple[list[Hit], list[str]]:
    """Cards for some words, most relevant first, and in what the answer is degraded."""
    names = _names(context, here, project, everywhere, scope)
    index = LiveIndex(context.memory, context.registry, lexical)
    vector = index.vector(retrieve.clip(text))

    def look(opened: Opened) -> tuple[list[Hit], list[str]]:
        wide = Scope(names, project or here, None, None, "")
        found = retrieve.retrieve(
            retrieve.clip(text),
            vector,
            opened.catalogue,
            opened.words,
            opened.state,
            wide,
            context.registry,
            context.now,
            limit=max(40, limit * 3),
            vector_wait_s=10.0,
        )
        hits = [
            Hit(
                one.item.id, one.item.type or "", one.item.scope, one.item.valid_from or one.item.created, one.item.l0, "live",
                round(one.relevance(one.item.scope in (project, here), found.cards), 4), one.words_rank, one.vectors_rank,
            )
            for one in found.candidates
            if (type_ is None or one.item.type == type_) and (one.words_rank is not None or (one.nearness or 0.0) >= NEAR_ALONE)
        ]  # fmt: skip
        hits.sort(key=lambda hit: (-hit.relevance, hit.words_rank or 999, hit.id))
        alone = [hit for hit in hits if hit.weak]
        hits = [*(hit for hit in hits if not hit.weak), *alone[:MOST_ALONE]][:limit]
        if dead_too:
            hits.extend(_dead(opened.catalogue, context, found, type_, limit - len(hits)))
        return hits, [*opened.degraded, *found.degraded]

    hits, degraded = using(index, look)
    log.append(
        context.memory.state,
        {
            "event": "search",
            "agent": context.caller.name,
            "project": project or here,
            "said": [hit.id for hit in hits],
            "prompt": text[:300],
        },
    )
    return hits, degraded


def _names(
    context: Context, here: str | None, project: str | None, everywhere: bool, scope: str | None
) -> tuple[str, ...]:
    """The scopes to look in. A person sees everything; an agent its profile's scopes here, unless it asks for more."""
    caller, registry = context.caller, context.registry
    readable = [
        name
        for name in ("global", "personal", *registry.projects)
        if caller.reads(name) and not registry.archived(name)
    ]
    if caller.agent and "personal" in readable and "personal" not in caller.read and "all" not in caller.read:
        readable.remove("personal")
    if scope:
        if scope not in readable:
            raise Refused(
                f"`{caller.name}` may not read `{scope}`"
                if registry.is_scope(scope)
                else f"no scope `{scope}`",
                ["git mem project list"],
            )
        return (scope,)
    if project:
        return tuple(name for name in ("global", project) if name in readable)
    if everywhere or caller.person:
        return tuple(readable)
    wanted = set(caller.profile.scopes) - {"projects"}
    if "projects" in caller.profile.scopes:
        wanted |= set(registry.projects) if caller.profile.projects == "all" else {here or ""}
    return tuple(name for name in readable if name in wanted)


def _dead(
    catalogue: Catalogue, context: Context, found: retrieve.Retrieved, type_: str | None, room: int
) -> Iterable[Hit]:
    """Cards that no longer hold, marked as what they are."""
    rows = [(item, words, vectors) for item, _, words, vectors in found.chained] + [
        (item, None, None) for item, _ in found.dead
    ]
    for item, words, vectors in rows[: max(0, room)]:
        if type_ is None or item.type == type_:
            word = live.status(catalogue, item.id, context.registry, context.now).word
            yield Hit(
                item.id,
                item.type or "",
                item.scope,
                item.valid_from or item.created,
                item.l0,
                word,
                0.0,
                words,
                vectors,
            )

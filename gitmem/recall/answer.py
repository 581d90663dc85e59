"""Recall: from a prompt to the block an agent hears, or to silence.

    trigger -> resolve scope -> retrieve -> gate -> fit budget -> render

Each stage is a function of values; what it dropped and why stands in the trace.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from gitmem import whereabouts
from gitmem.identity import Caller
from gitmem.model import ids
from gitmem.model.registry import Registry
from gitmem.recall import trace as t
from gitmem.recall import trigger
from gitmem.recall.session import Session
from gitmem.recall.trace import Answer, Trace
from gitmem.record import changed, record

if TYPE_CHECKING:
    from pathlib import Path

    from gitmem.index.catalogue import Catalogue
    from gitmem.index.words import Words
    from gitmem.recall.retrieve import QueryVector


T = TypeVar("T")


@record()
class Request:
    """A turn. `project` is `--project`; `from_cwd` the working directory's; `previous` the turn before.

    `now` is aware, in the local zone; `explicit`: a person typed the call; `explain`: count what was left aside. `deadline_s`: monotonic time by which
    to answer, with less if need be.
    """

    prompt: str
    now: datetime
    project: str | None = None
    from_cwd: str | None = None
    previous: str = ""
    in_session: bool = False
    explicit: bool = True
    lexical: bool = False
    explain: bool = False
    deadline_s: float | None = None


@record()
class Opened:
    """An index open for reading: the catalogue, the words, and in what they fall short."""

    catalogue: Catalogue
    words: Words | None
    state: Path
    degraded: tuple[str, ...] = ()
    max_scanned: int = 300

    def close(self) -> None:
        self.catalogue.close()
        if self.words is not None:
            self.words.close()


class Index(Protocol):
    """What recall asks of an index, and only when a turn passed the trigger."""

    def vector(self, text: str) -> QueryVector | None: ...

    def open(self) -> Opened: ...

    def repair(self, error: Exception) -> bool:
        """Throw away what is damaged; False when the error says nothing of the kind."""
        ...


def recall(request: Request, caller: Caller, registry: Registry, session: Session, index: Index) -> Answer:
    """Answer one turn. `session` is read only; `index` is opened when the turn passed the trigger."""
    profile = caller.profile
    trace = Trace(
        request.prompt,
        profile.name,
        caller.name,
        max_items=profile.max_items,
        max_bytes=profile.max_bytes,
        threshold=profile.threshold,
    )

    from_prompt = whereabouts.project_of_prompt(request.prompt, registry)
    from gitmem.recall import scope as scopes

    project, origin = scopes.current_project(
        profile.project_from, request.project, request.from_cwd, from_prompt
    )
    decision = trigger.decide(
        request.prompt, profile, session, project, in_session=request.in_session, explicit=request.explicit
    )
    trace.trigger, trace.fired, trace.project, trace.project_from = (
        decision.reason,
        decision.fired,
        project,
        origin,
    )
    if not decision.fired:
        return Answer("", (), trace)
    scope = scopes.resolve(caller, registry, project, origin, from_prompt)
    trace.scopes = scope.words
    if not scope.names:
        return Answer("", (), trace)
    return _look_up(request, caller, registry, session, index, scope, decision.progress, trace)


def _look_up(request, caller, registry, session, index, scope, progress, trace) -> Answer:  # type: ignore[no-untyped-def]
    from gitmem.recall import retrieve

    text = retrieve.clip(_with_previous(request, retrieve.query_terms))
    vector = index.vector(text)

    def look(opened: Opened) -> Answer:
        wait_s = 1.0 if request.deadline_s is None else max(0.0, request.deadline_s - time.monotonic())
        found = retrieve.retrieve(
            text, vector, opened.catalogue, opened.words, opened.state, scope, registry, request.now,
            vector_wait_s=wait_s, max_scanned=opened.max_scanned,
        )  # fmt: skip
        trace.degraded = [*opened.degraded, *found.degraded]
        return _choose(request, caller, registry, session, opened.catalogue, scope, progress, found, trace)

    return using(index, look)


def using(index: Index, work: Callable[[Opened], T]) -> T:
    """Do `work` with the open index and close it; one that turns out damaged is thrown away, and built anew, once."""
    for attempt in (1, 2):
        try:
            with closing(index.open()) as opened:
                return work(opened)
        except Exception as error:
            if attempt == 2 or not index.repair(error):
                raise
    raise AssertionError


def _choose(request, caller, registry, session, catalogue, scope, progress, found, trace) -> Answer:  # type: ignore[no-untyped-def]
    """What of the candidates is said, and the block that says it; the rest goes into the trace."""
    from gitmem.recall import gate, render

    profile = caller.profile
    tasks = [one for one in found.candidates if registry.types[one.item.type].recalled == "progress"]
    others = [one for one in found.candidates if registry.types[one.item.type].recalled == "similarity"]
    passed, fates = gate.gate(
        others,
        profile,
        scope,
        frozenset(session.shown),
        found.cards,
        _overridden(catalogue, registry, scope, request.now, others),
    )
    items = [render.item_of(one.item, request.now, profile.level) for one in passed]
    if progress:
        current = _progress(catalogue, registry, scope, session, request, profile)
        items = [*current, *items]
        fates = [
            *(
                t.Candidate(
                    one.id, one.l0, one.scope, None, None, None, 0.0, t.SAID, "its progress is asked for"
                )
                for one in current
            ),
            *fates,
        ]
    else:
        fates.extend(
            t.Candidate(
                one.item.id, one.item.l0, one.item.scope, one.words_rank, one.vectors_rank, None, one.support,
                t.QUIET, "a task is recalled when its progress is asked for",
            )
            for one in tasks
        )  # fmt: skip
    kept, left = render.assemble(items, profile)
    block = render.block(kept)
    no_room = {item.id for item in left}
    said = {item.id for item in kept}
    trace.candidates = [
        *(_placed(fate, said, no_room) for fate in fates),
        *(
            t.Candidate(
                item.id,
                item.l0,
                item.scope,
                w,
                v,
                None,
                0.0,
                t.CHAIN,
                f"superseded, counts for {ids.short(end)}",
            )
            for item, end, w, v in found.chained
        ),
        *(
            t.Candidate(item.id, item.l0, item.scope, None, None, None, 0.0, t.DEAD, why)
            for item, why in found.dead
        ),
    ]
    trace.items, trace.bytes = len(kept), len(block.encode())
    if request.explain:
        trace.aside = _aside(catalogue, registry, scope, request.now)
    return Answer(block, tuple(kept), trace)


def _overridden(catalogue, registry, scope, now, candidates) -> dict[str, str]:  # type: ignore[no-untyped-def]
    """Global candidates that a live card of the turn's own project overrides, whether that card was found or not."""
    from gitmem.model import live

    found = {}
    if scope.project in scope.names:
        for one in candidates:
            for facts in catalogue.pointing_at(one.item.id) if one.item.scope == "global" else ():
                overrides = facts.scope == scope.project and one.item.id in facts.targets("overrides")
                if overrides and live.status(catalogue, facts.id, registry, now).live:
                    found[one.item.id] = facts.id
    return found


def _aside(catalogue, registry, scope, now) -> dict[str, int]:  # type: ignore[no-untyped-def]
    """How many cards were never candidates, by why; counted only when somebody asks."""
    from gitmem.model import live

    found = {"cards of other projects": 0, "of other scopes": 0, "of other types": 0, "no longer live": 0}
    for item in catalogue.items("kind = 'card'"):
        if item.scope not in scope.names:
            found["cards of other projects" if item.scope in registry.projects else "of other scopes"] += 1
        elif not scope.holds(item.scope, item.type):
            found["of other types"] += 1
        elif not live.status(catalogue, item.id, registry, now).live:
            found["no longer live"] += 1
    return found


def _placed(fate: t.Candidate, said: set[str], no_room: set[str]) -> t.Candidate:
    if fate.fate == t.SAID and fate.id in no_room:
        return changed(fate, fate=t.NO_ROOM, why="found no room in the dose")
    return fate


def _with_previous(request: Request, terms_of: Callable[[str], list[str]]) -> str:
    """A prompt too short to search with ("yes, do that") is read together with the turn before it."""
    if request.previous and len(terms_of(request.prompt)) < 2:
        return request.previous[-500:] + "\n" + request.prompt
    return request.prompt


def _progress(catalogue, registry, scope, session, request, profile):  # type: ignore[no-untyped-def]
    """Live task cards of the scope, newest first; of the current project alone when there is one."""
    from gitmem.model import live
    from gitmem.recall import render

    types = [name for name, rule in registry.types.items() if rule.recalled == "progress"]
    names = [scope.project] if scope.project in scope.names else list(scope.names)
    marks = ",".join("?" * len(types)), ",".join("?" * len(names))
    rows = catalogue.items(
        f"kind = 'card' AND type IN ({marks[0]}) AND scope IN ({marks[1]})",
        (*types, *names),
        "created DESC, id",
    )
    found = []
    for item in rows:
        heard = scope.holds(item.scope, item.type) and item.id not in session.shown
        if heard and live.status(catalogue, item.id, registry, request.now).live:
            found.append(render.item_of(item, request.now, profile.level, progress=True))
    return found[: profile.max_items]

"""From drafts of cards to one commit: judged in process first, then written through git."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gitmem import autosync, judge
from gitmem.checks.problem import Report
from gitmem.context import Context, author_email
from gitmem.errors import Busy, Refused
from gitmem.git import write
from gitmem.git.locate import Memory
from gitmem.git.write import Draft, Written
from gitmem.index import build, catalogue, refresh
from gitmem.index.catalogue import Catalogue
from gitmem.model.layers import shorten


@dataclass(frozen=True, slots=True)
class Change:
    """What a command wants to commit. `cards`: ids for the trailers and for the caller."""

    files: Mapping[str, bytes | None]
    subject: str
    action: str
    cards: Sequence[str] = ()
    session: str | None = None
    trailers: Sequence[tuple[str, str]] = ()


class ChecksFailed(Refused):
    """The draft did not pass; `report` has the problems."""

    def __init__(self, report: Report):
        first = report.errors[0]
        super().__init__(
            f"{first.message}, nothing written", [first.hint] if first.hint else [], first.details
        )
        self.report = report


def commit(context: Context, make: Callable[[Context], Change | None]) -> tuple[Written, Change] | None:
    """Write what `make` returns, under the memory's lock; None when it returns None.

    Raises:
        ChecksFailed, Refused, Busy: nothing was written.
    """
    made: list[Change] = []

    def draft(memory: Memory) -> Draft | None:
        here = context.with_memory(memory)
        change = make(here)
        if change is None:
            return None
        corpus = _corpus(here)
        try:
            report = judge.check_draft(
                memory,
                here.registry,
                change.files,
                agent=here.caller.agent,
                person=here.caller.person,
                email=author_email(memory),
                now=here.now,
                corpus=corpus,
            )
        finally:
            if corpus is not None:
                corpus.close()
        if not report.ok:
            raise ChecksFailed(report)
        made[:] = [change]
        return Draft(change.files, subject(change.subject), trailers=_trailers(here, change), judged=True)

    env = {"GIT_MEM_AGENT": context.caller.agent} if context.caller.agent else {}
    written = write.write(context.memory, draft, env=env)
    if written is None:
        return None
    autosync.start(context.memory, context.env)
    return written, made[0]


def _corpus(context: Context) -> Catalogue | None:
    """The cards of the parent, from the index when it speaks of exactly that tree."""
    found = catalogue.open_for_reading(context.memory.state)
    if (
        found is not None
        and found.tree == context.memory.tree
        and found.meta("registry") == context.memory.registry_tree
    ):
        return found
    if found is not None:
        found.close()
    return None


def cards_now(context: Context) -> Catalogue:
    """The catalogue at the memory's tip; words and vectors may lag behind.

    A builder at work, which may take minutes over vectors, is not waited for: then a copy in this process alone is
    brought up to date. So it is where the index cannot be written.
    """
    memory, registry = context.memory, context.registry
    for attempt in (1, 2):
        if attempt == 2 or not build.ensure(memory, registry, vectors_too=False):
            try:
                build.build(memory, registry, wait_s=1.0, with_vectors=False, thorough=False)
            except (Busy, OSError, sqlite3.Error):
                return _copy_at_tip(context)
        found = catalogue.open_for_reading(memory.state)
        if found is not None and _at_tip(found, memory):
            return found
        if found is not None:
            found.close()
    return _copy_at_tip(context)


def _at_tip(found: Catalogue, memory: Memory) -> bool:
    return found.tree == (memory.tree or "") and found.meta("registry") == (memory.registry_tree or "")


def _copy_at_tip(context: Context) -> Catalogue:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    stored = catalogue.open_for_reading(context.memory.state)
    if stored is not None:
        stored.db.backup(connection)
        stored.close()
    else:
        connection.executescript(catalogue.TABLES)
    copy = Catalogue(connection)
    refresh.refresh(context.memory, context.registry, copy, refresh.differences(context.memory, copy))
    return copy


def _trailers(context: Context, change: Change) -> list[tuple[str, str]]:
    found = [("Mem-Action", change.action)]
    found.extend(("Mem-Card", card) for card in list(change.cards)[:50])
    if context.caller.agent:
        found.append(("Mem-Agent", context.caller.agent))
    elif context.caller.host:
        found.append(("Mem-Host", context.caller.host))
    if change.session:
        found.append(("Mem-Session", change.session))
    return [*found, *change.trailers]


def subject(text: str) -> str:
    """One line of at most 72 bytes."""
    return shorten(" ".join(text.split()), 72)

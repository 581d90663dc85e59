"""Entries become cards and sources: planned as a whole, judged as a whole, committed as one.

    read -> settle scopes and projects -> compare with what is there -> cards and sources -> judge -> commit

What the checks refuse is left out and named, and the rest lands. The same entries again change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitmem.errors import Refused
from gitmem.git.locate import Memory
from gitmem.git.write import Draft, Written, write
from gitmem.imports import compare, projects
from gitmem.imports.compare import REFUSED, WRITTEN, Item
from gitmem.imports.draft import build
from gitmem.imports.entry import Entry
from gitmem.imports.known import Known, imported
from gitmem.model import layers
from gitmem.model.registry import Project, Registry

Progress = Callable[[str, int, int], None]
MAX_NAMED_CARDS = 50


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What would become what. `files`: everything the commit adds; `new_projects`: id -> name, registered before it."""

    kind: str
    items: tuple[Item, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    new_projects: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    tip: str | None = None

    @property
    def written(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.action in WRITTEN)

    @property
    def refused(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.action == REFUSED)

    def counts(self) -> dict[str, int]:
        """How many entries had each fate, in the order of the first."""
        found: dict[str, int] = {}
        for item in self.items:
            found[item.action] = found.get(item.action, 0) + 1
        return found


@dataclass(frozen=True, slots=True)
class Landed:
    """What was done. `commit` is None when there was nothing to write, and in a dry run."""

    plan: ImportPlan
    commit: str | None = None
    registry_commit: str | None = None
    ids: tuple[str, ...] = ()


def plan(
    memory: Memory,
    registry: Registry,
    entries: Sequence[Entry],
    *,
    kind: str,
    email: str | None,
    now: datetime,
    random_bits: Callable[[int], int],
    scope: str | None = "global",
    person: bool = True,
    progress: Progress | None = None,
) -> ImportPlan:
    """What importing `entries` would do; nothing is written.

    Args:
        kind: what they come from; with an entry's key and scope it tells whether it was imported before.
        email: the person's; the author of the cards.
        scope: of entries that name none; None: such entries are refused.
        person: a person started this. An import speaks with the person's voice, so nobody else may.

    Raises:
        Refused: no person, or no e-mail.
    """
    if not person:
        raise Refused(
            f"importing `{kind}` is for people: what is imported counts as the person's own words",
            ["run it in a terminal of your own"],
        )
    if not email:
        raise Refused(
            "git does not know who you are, nothing imported",
            ['git config --global user.name "Your Name"', "git config --global user.email you@example.com"],
        )
    items, new = compare.scoped(entries, registry, scope)
    widened = replace(
        registry, projects={**registry.projects, **{id_: Project(id_, name) for id_, name in new.items()}}
    )
    scopes = {item.scope for item in items if item.scope}
    corpus, close = _corpus(memory)
    try:
        if progress:
            progress("comparing", 0, len(items))
        known = Known(imported(memory, scopes), corpus, now)
        items, notes = compare.compared(items, kind, known, registry)
        built = build(
            memory,
            widened,
            items,
            known,
            corpus,
            kind=kind,
            email=email,
            now=now,
            random_bits=random_bits,
            progress=progress,
        )
    finally:
        close()
    used = {item.scope for item in built.items if item.action in WRITTEN}
    return ImportPlan(
        kind,
        built.items,
        built.files,
        {id_: name for id_, name in new.items() if id_ in used},
        tuple(notes),
        memory.tip,
    )


def land(
    memory: Memory,
    registry: Registry,
    entries: Sequence[Entry],
    *,
    kind: str,
    email: str | None,
    now: datetime,
    random_bits: Callable[[int], int],
    scope: str | None = "global",
    person: bool = True,
    dry_run: bool = False,
    progress: Progress | None = None,
    env: Mapping[str, str] | None = None,
) -> Landed:
    """Import `entries`: a commit that registers the projects they name, when there are new ones, then one with the rest.

    Raises:
        Refused: no person, no e-mail, or a hook said no.
        Busy: somebody else writes, or git is in the middle of an operation.
    """
    from gitmem.registry import load

    def planned(at: Memory, by: Registry) -> ImportPlan:
        return plan(
            at,
            by,
            entries,
            kind=kind,
            email=email,
            now=now,
            random_bits=random_bits,
            scope=scope,
            person=person,
            progress=progress,
        )

    first = planned(memory, registry)
    if dry_run or not first.files:
        return Landed(first)
    registered = _register(memory, first, env) if first.new_projects else None
    # planned and judged already, unless somebody else wrote in between
    expected = registered.commit if registered else first.tip
    stands = registered is None or registered.parent == first.tip
    done: list[ImportPlan] = []

    def make(current: Memory) -> Draft | None:
        again = first if current.tip == expected and stands else planned(current, load.current(current))
        done.append(again)
        if progress:
            progress("writing", 0, len(again.files))
        return _draft(again) if again.files else None

    written = write(memory, make, env=env)
    final = done[-1]
    if written is None:
        return Landed(final, None, registered.commit if registered else None)
    if progress:
        progress("writing", len(final.files), len(final.files))
    ids = tuple(item.card_id for item in final.written if item.card_id)
    return Landed(final, written.commit, registered.commit if registered else None, ids)


def _register(memory: Memory, first: ImportPlan, env: Mapping[str, str] | None) -> Written | None:
    def make(current: Memory) -> Draft | None:
        found = (
            current.git.run("cat-file", "blob", f"{current.tip}:{projects.PATH}", check=False)
            if current.tip
            else None
        )
        before = found.out if found is not None and found.code == 0 else b""
        after = projects.with_new(before, first.new_projects)
        if after == before:
            return None
        names = ", ".join(sorted(first.new_projects))
        count = len(first.new_projects)
        subject = f"mem: register {count} project{'s' if count != 1 else ''} named by imported {first.kind}"
        return Draft({projects.PATH: after}, subject, names, [("Mem-Action", "registry")])

    return write(memory, make, env=env)


def _draft(done: ImportPlan) -> Draft:
    written = done.written
    if len(written) == 1:
        subject = f"mem({written[0].entry.type}): {layers.shorten(written[0].entry.conclusion, 60)}"
    else:
        subject = f"mem: import {len(written):,} entries of {done.kind}"
    trailers = [("Mem-Action", "import")]
    if len(written) <= MAX_NAMED_CARDS:
        trailers += [("Mem-Card", item.card_id) for item in written if item.card_id]
    return Draft(dict(done.files), subject, "", trailers)


def _corpus(memory: Memory):
    """The memory's cards, from the index where it knows this very tree, and what closes it."""
    from gitmem import judge
    from gitmem.git import objects
    from gitmem.index import catalogue

    found = catalogue.corpus_of(memory.git, memory.tip) if memory.tip else None
    if found is not None:
        return found, found.close
    reader = objects.open_bulk(memory.git, str(memory.common_dir))
    return judge.tree_corpus(memory.git, memory.tip, reader), reader.close

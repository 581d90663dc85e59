"""The cards themselves: faults, forks, what runs out, what is said twice or at odds, what newer patterns refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from shlex import quote

from gitmem import judge
from gitmem.checks import registry_files
from gitmem.checks.problem import SAFETY, Problem, printable
from gitmem.context import Context
from gitmem.git import objects
from gitmem.health import alike
from gitmem.health.finding import FIX, LOOK, OK, Finding, count, spelt
from gitmem.index.catalogue import Catalogue, Item
from gitmem.model import ids, live

SOON = timedelta(days=14)
_NAMED = 3
_PAIRS = 5


def findings(
    context: Context, catalogue: Catalogue, progress: Callable[[int, int], None] | None = None
) -> Iterator[Finding]:
    """Everything about cards that the caller may read; `catalogue` is of the memory's tip."""
    assert context.memory.tip is not None
    report = judge.check_tree(context.memory.git, context.memory.tip, progress)
    readable = [one for one in report.errors if _readable(context, one.path)]
    old = [one for one in readable if one.check == SAFETY]
    faults = [one for one in readable if one.check != SAFETY]
    alive = [
        item
        for item in catalogue.items("kind = 'card'")
        if context.caller.reads(item.scope)
        and live.status(catalogue, item.id, context.registry, context.now).live
    ]
    if not readable:
        words = f"{spelt(context.memory.root, context.env)}, {count(len(alive), 'live card')}, {f'all {catalogue.count()} pass' if catalogue.count() != 1 else 'it passes'}"
        yield Finding(OK, "cards", "memory", words)
    yield from _faults(context, catalogue, faults)
    if old:
        paths = sorted({printable(one.path) for one in old})
        words = f"{count(len(paths), 'file')} from before a newer pattern, which would be refused today: {_listed(paths)}"
        yield Finding(LOOK, "unsafe", "safety", words, "git mem check --all --only safety")
    yield from _forks(context, catalogue, alive)
    yield from _runs_out(context, catalogue, alive)
    yield from _pairs(alive)


def _readable(context: Context, path: str) -> bool:
    folder, _, rest = path.partition("/")
    return folder not in ("cards", "sources") or context.caller.reads(rest.split("/")[0])


def _faults(context: Context, catalogue: Catalogue, faults: Sequence[Problem]) -> Iterator[Finding]:
    root = spelt(context.memory.root, context.env)
    files: dict[str, list[Problem]] = {}
    for one in faults:
        files.setdefault(one.path, []).append(one)
    for path, found in list(files.items())[:_NAMED]:
        shown = printable(path)
        words = f"{shown}:{found[0].line}: {found[0].code} {found[0].message}"
        if path.startswith("registry/"):
            yield Finding(
                FIX,
                "registry-invalid",
                "settings",
                f"{words}; its last good version counts",
                _restore(context, path),
            )
            continue
        mend = f"git mem check --all says what; mend {root}/{shown} and commit"
        if path.startswith("cards/") and shown == path and _unreadable(catalogue, path):
            # it never was a card of the memory, so it may go
            mend = f'git -C {root} rm -q {quote(path)} && git -C {root} commit -qm "a file that is no card"'
        yield Finding(
            FIX,
            "card-invalid",
            "cards",
            f"not recalled: {words}",
            mend,
            _id_of(path),
        )
    if len(files) > _NAMED:
        yield Finding(
            FIX,
            "card-invalid",
            "cards",
            f"and {count(len(files) - _NAMED, 'more file')} with faults",
            "git mem check --all",
        )


def _id_of(path: str) -> tuple[str, ...]:
    """The id that a file's name ends in, if it does."""
    name = path.removesuffix(".md")[-ids.LENGTH :]
    return (name,) if ids.is_id(name) else ()


def _unreadable(catalogue: Catalogue, path: str) -> bool:
    found = catalogue.db.execute("SELECT scope FROM cards WHERE path = ?", (printable(path),)).fetchone()
    return found is not None and found[0] is None


def _restore(context: Context, path: str) -> str:
    """Take the newest version of a registry file that can be read."""
    memory, name = context.memory, path.removeprefix("registry/").removesuffix(".yaml")
    root = spelt(memory.root, context.env)
    for commit in objects.history(memory.git, memory.tip or "", path):
        blob = memory.git.run("cat-file", "blob", f"{commit}:{path}", check=False)
        if blob.code == 0 and name in registry_files.FILES and not registry_files.read(name, blob.out)[1]:
            return f'git -C {root} checkout -q {commit[:10]} -- {quote(path)} && git -C {root} commit -qm "the last good {name}.yaml"'
    return f"git mem check --all says what; mend {root}/{path} and commit"


def _forks(context: Context, catalogue: Catalogue, alive: Sequence[Item]) -> Iterator[Finding]:
    for item in alive:
        if not live.fork_losers(catalogue, item.id, context.registry, context.now):
            continue
        roots = live.roots(catalogue, item.id)
        ends = sorted(
            {end for one in roots for end in live.live_ends(catalogue, one, context.registry, context.now)}
            - {item.id}
        )
        named = " ".join(ids.short(one) for one in (*ends, item.id))
        words = f"{ids.short(item.id)} and {' '.join(ids.short(one) for one in ends)} both replace one card; {ids.short(ends[0])} is heard"
        yield Finding(
            FIX, "fork", "fork", words, f'git mem supersede {named} "what holds now"', (*ends, item.id)
        )


def _runs_out(context: Context, catalogue: Catalogue, alive: Sequence[Item]) -> Iterator[Finding]:
    soon: list[str] = []
    types: set[str] = set()
    for item in alive:
        rule = context.registry.types.get(item.type or "")
        if rule is not None and rule.lifetime_days is not None and rule.lifetime_days <= SOON.days:
            continue  # it is made to be short-lived
        facts = catalogue.facts(item.id)
        ends = live.ends_at(catalogue, facts, context.registry, context.now) if facts else None
        if ends is not None and ends - context.now <= SOON:
            soon.append(item.id)
            types.add(item.type or "card")
    if soon:
        what = count(len(soon), types.pop() if len(types) == 1 else "card")
        words = f"{what} run{'s' if len(soon) == 1 else ''} out within {SOON.days} days"
        yield Finding(
            LOOK, "running-out", "old", words, "git mem list --expiring, then git mem confirm ID", tuple(soon)
        )


def _pairs(alive: Sequence[Item]) -> Iterator[Finding]:
    same, odds = alike.pairs(alike.words_of(item.id, item.scope, item.l0) for item in alive)
    for found, code, area, what in (
        (same, "near-duplicates", "alike", "nearly the same"),
        (odds, "contradictions", "at odds", "something else about one thing, it seems"),
    ):
        if not found:
            continue
        shown = ", ".join(f"{ids.short(a)} and {ids.short(b)}" for a, b in found[:_PAIRS])
        more = f", and {count(len(found) - _PAIRS, 'more pair')}" if len(found) > _PAIRS else ""
        first = f'git mem supersede {ids.short(found[0][0])} {ids.short(found[0][1])} "what holds now"'
        yield Finding(
            LOOK,
            code,
            area,
            f"{shown}{more} say {what}",
            first,
            tuple(one for pair in found[:_PAIRS] for one in pair),
        )


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(paths[:_NAMED]) + (f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else "")

"""doctor: what is wrong, and the line that mends it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gitmem import config
from gitmem.cli import output
from gitmem.cli.common import examples, json_option, note_other_memory, open_context
from gitmem.context import Context
from gitmem.errors import MemError
from gitmem.health.finding import FIX, LOOK, OK, Finding

_AREA = 11


@click.command(epilog=examples("git mem doctor", "git mem doctor --json"))
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> int:
    """Find what is wrong or deserves a look, each with the line that mends it. Exits 1 when something must be fixed.

    Nothing is changed. `FIX`: something does not work. `look`: it works, and you may want it otherwise.
    """
    env = config.from_process()
    context: Context | None = None
    found: list[Finding] = []
    from gitmem.health import command, git

    found.extend(_looked("git", lambda: git.version(env)))
    try:
        context = open_context(ctx)
    except MemError as error:
        found.append(
            Finding(
                FIX,
                "memory-missing",
                "memory",
                error.message,
                error.hints[0] if error.hints else "git mem init",
            )
        )
    if context is not None:
        found = [*_memory(context), *found]
    found.extend(_looked("command", lambda: command.findings(env)))
    found.extend(_looked("hooks", lambda: _failures(env)))
    fix, look = (sum(one.level == level for one in found) for level in (FIX, LOOK))
    if as_json:
        memory = str(context.memory.root) if context else None
        output.as_json(
            {"memory": memory, "fix": fix, "look": look, "findings": [_as_dict(one) for one in found]}
        )
    else:
        output.answer(
            rows(_merged(found)) + (f"{fix} to fix, {look} to look at\n" if fix or look else "all is well\n")
        )
        if context is not None:
            note_other_memory(context.memory, context.env)
    return 1 if fix else 0


def _memory(context: Context) -> Iterable[Finding]:
    """Everything that needs a memory; the index is looked at before its cards bring it up to date."""
    from gitmem.health import erasure, git, index, learning, names, place, sync

    indexed = _looked("index", lambda: index.findings(context))
    yield from _looked("cards", lambda: _cards(context))
    yield from _looked("hooks", lambda: _hooks(context))
    yield from indexed
    for host, agent in _connected(context):
        yield from _looked(host, lambda host=host, agent=agent: _host(context, host, agent))  # type: ignore[misc]
    yield from _looked("learning", lambda: learning.findings(context))
    yield from _looked("forgetting", lambda: erasure.findings(context))
    yield from _looked("sync", lambda: sync.findings(context))
    yield from _looked("memory", lambda: place.findings(context))
    yield from _looked("names", lambda: names.findings(context))
    yield from _looked("git", lambda: git.findings(context))


def _looked(area: str, look: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """What a look found; a look that fails is a finding too, and the others go on."""
    try:
        return list(look())
    except (MemError, OSError, ValueError, sqlite3.Error) as error:
        words = error.message if isinstance(error, MemError) else f"{type(error).__name__}: {error}"
        hint = error.hints[0] if isinstance(error, MemError) and error.hints else "git mem index --rebuild"
        return [Finding(FIX, "look-failed", area, f"could not be looked at: {words}", hint)]


def _cards(context: Context) -> Iterable[Finding]:
    from gitmem.authoring.commit import cards_now
    from gitmem.health import cards, hosts

    show = output.progress()
    catalogue = cards_now(context)
    try:
        yield from cards.findings(
            context, catalogue, (lambda done, total: show("checking", done, total)) if show else None
        )
        yield from hosts.said_twice(context, catalogue, [host for host, _ in _connected(context)])
    finally:
        catalogue.close()


def _hooks(context: Context) -> Iterable[Finding]:
    from gitmem.health import hooks
    from gitmem.hooks import place

    if context.memory.bare:
        return []
    looked = place.states_by_tree(context.memory)
    trees: dict[Path, Sequence[Any]] = {tree: states for tree, states, _ in looked}
    return hooks.findings(context.env, trees, {tree: aside for tree, _, aside in looked if aside})


def _failures(env: config.Env) -> Iterable[Finding]:
    from datetime import UTC, datetime

    from gitmem.health import hosts
    from gitmem.hosts import hook

    return hosts.unrecorded(hook.fallback(env), env, datetime.now(UTC))


def _connected(context: Context) -> list[tuple[str, str]]:
    """Hosts that are connected to this memory, and as whom."""
    from gitmem.hosts import connect

    pairs = ((host, context.memory.setting(connect.key(host))) for host in connect.CONNECTABLE)
    return [(host, agent) for host, agent in pairs if agent]


def _host(context: Context, host: str, agent: str) -> Iterable[Finding]:
    from gitmem.health import hosts
    from gitmem.hosts import examine

    return hosts.connection(context, host, agent, examine.check(context, host))


def rows(found: Sequence[Finding]) -> str:
    """Level, area, words; what mends it in a line of its own."""
    width = max([_AREA, *(output.width(one.area) for one in found)])
    lines = []
    for one in found:
        level = one.level + " " * (4 - len(one.level))
        coloured = output.style(level, {OK: "green", FIX: "red", LOOK: "yellow"}[one.level])
        lines.append(f"{coloured}  {one.area}{' ' * (width - output.width(one.area))}  {one.words}")
        if one.mend:
            lines.append(" " * (width + 8) + output.aimed(one.mend))
    return "".join(f"{line}\n" for line in lines)


def _merged(found: Sequence[Finding]) -> list[Finding]:
    """What is well first, one row an area; then what must be fixed, then the rest."""
    good: dict[str, str] = {}
    for one in found:
        if one.level == OK:
            good[one.area] = f"{good[one.area]}; {one.words}" if one.area in good else one.words
    well = [Finding(OK, area, area, words) for area, words in good.items()]
    return [*well, *(one for one in found if one.level == FIX), *(one for one in found if one.level == LOOK)]


def _as_dict(one: Finding) -> dict[str, Any]:
    return {**asdict(one), "mend": output.aimed(one.mend), "cards": list(one.cards)}

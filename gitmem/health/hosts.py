"""Connected hosts: did they call, and do they keep the same notes themselves?

In: what an examination of each connection found. Out: findings, one good row a host or the faulty ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from gitmem.config import Env
from gitmem.context import Context
from gitmem.errors import MemError
from gitmem.health.finding import FIX, LOOK, OK, Finding, ago, count, spelt
from gitmem.imports import find, kinds
from gitmem.index.catalogue import Catalogue
from gitmem.index.refresh import folded
from gitmem.model import live, when
from gitmem.recall import log

_WEEK = timedelta(days=7)
# What holds for every host alike has a row of its own.
_TOLD_ONCE = ("command", "memory")
TITLES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "hermes": "Hermes",
    "pi": "Pi",
    "openclaw": "OpenClaw",
}


class Seen(Protocol):
    """One thing that was found about a connection."""

    @property
    def level(self) -> str: ...
    @property
    def what(self) -> str: ...
    @property
    def words(self) -> str: ...
    @property
    def fix(self) -> str: ...


def connection(context: Context, host: str, agent: str, seen: Sequence[Seen]) -> Iterator[Finding]:
    """`agent`: as whom the host is connected."""
    bad = [one for one in seen if one.level != OK]
    for one in bad:
        if one.what in _TOLD_ONCE:
            continue
        code = "host-" + re.sub(r"[^a-z]+", "-", one.what.lower()).strip("-")
        mend = one.fix or f"git mem connect --check {host}"
        yield Finding(FIX if one.level == FIX else LOOK, code, host, f"{one.what}: {one.words}", mend)
    if not bad:
        yield Finding(OK, "host", host, _week(context, agent))


def unrecorded(file: Path | None, env: Env, now: datetime) -> Iterator[Finding]:
    """Failures of the last week that a hook could note in no memory's log."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file else []
    except OSError:
        return
    recent = []
    for line in lines:
        at, _, rest = line.partition(" ")
        try:
            if now - when.parse(at) <= _WEEK:
                recent.append(rest)
        except ValueError:
            continue
    if file and recent:
        words = f"{count(len(recent), 'call')} of a host failed outside any memory this week; the last: {recent[-1]}"
        yield Finding(LOOK, "hook-failed", "hooks", words, f"see {spelt(file, env)}; git mem connect --check")


def _week(context: Context, agent: str) -> str:
    turns = [
        one for one in log.entries(context.memory.state) if one.get("automatic") and one.get("agent") == agent
    ]
    if not turns:
        return "connected"
    last = context.now - when.parse(turns[-1]["at"])
    week = [one for one in turns if context.now - when.parse(one["at"]) <= _WEEK]
    spoke = sum(bool(one.get("said")) for one in week)
    return f"last prompt {ago(last)}; spoke on {spoke} of {len(week)} this week"


def said_twice(context: Context, catalogue: Catalogue, hosts: Sequence[str]) -> Iterator[Finding]:
    """Connected hosts whose own memory holds what live cards say."""
    home = context.env.home
    if home is None or not hosts:
        return
    held: dict[str, set[str]] = {}
    try:
        places = find.found(home, None, context.env.vars)
    except (MemError, OSError, ValueError):
        return
    for place in places:
        if place.kind in hosts:
            held.setdefault(place.kind, set()).update(_conclusions(place, home))
    for host, notes in held.items():
        same = sum(1 for note in notes if note and _says(catalogue, context, note, context.now))
        if same:
            words = f"{TITLES.get(host, host)}'s own memory holds {same} of the same notes"
            yield Finding(LOOK, "said-twice", "said twice", words, "keep one: git mem help hosts")


def _conclusions(place: find.Found, home: Any) -> set[str]:
    try:
        reading = kinds.read(place.kind, place.path, home=home, scope_of=lambda _: "global")
    except (MemError, OSError):
        return set()
    return {folded(entry.conclusion) for entry in reading.entries}


def _says(catalogue: Catalogue, context: Context, fold: str, now: datetime) -> bool:
    return any(
        context.caller.reads(item.scope) and live.status(catalogue, item.id, context.registry, now).live
        for item in catalogue.items("fold = ? AND kind = 'card'", (fold,))
    )

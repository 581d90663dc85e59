"""Is this the memory that agents find, is it switched on, and who may read what it keeps on this computer?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gitmem.context import Context
from gitmem.errors import MemError
from gitmem.git import locate
from gitmem.health.finding import FIX, LOOK, Finding, spelt
from gitmem.recall import switches

# What holds secrets or people's words below the memory's local state.
PRIVATE = ("tokens", "tokens/*", "log.jsonl", "log.old.jsonl", "last.json")


def findings(context: Context) -> Iterator[Finding]:
    yield from _found_by_agents(context)
    yield from _off(context)
    yield from _readable_by_others(context)


def _found_by_agents(context: Context) -> Iterator[Finding]:
    memory = context.memory
    mend = f"git config --global mem.repo {spelt(memory.root, context.env)}"
    try:
        # as a hook of a host finds it: from any folder, no terminal
        found = locate.find(replace(context.env, terminal=False), only_configured=True)
    except MemError as error:
        accepted = (
            ", though it was accepted in its own folder" if memory.setting("mem.accepted") == "true" else ""
        )
        yield Finding(
            FIX, "memory-unconfigured", "memory", f"agents do not find it: {error.message}{accepted}", mend
        )
        return
    if found.common_dir != memory.common_dir:
        words = f"agents use another memory, {spelt(found.root, context.env)}"
        yield Finding(LOOK, "memory-other", "memory", words, mend)


def _off(context: Context) -> Iterator[Finding]:
    if context.env.off:
        yield Finding(
            LOOK,
            "off-environment",
            "off",
            "GIT_MEM_OFF is set here: nothing is recalled",
            "unset GIT_MEM_OFF",
        )
    found = switches.load(context.memory.state)
    until = switches.Switches(until=found.until).off(None, context.now)
    parts = [until] if until else []
    if found.folders:
        parts.append("off in " + ", ".join(spelt(Path(one), context.env) for one in found.folders))
    if found.only:
        parts.append("off outside " + ", ".join(spelt(Path(one), context.env) for one in found.only))
    if parts:
        yield Finding(LOOK, "off", "off", "switches are still on: " + "; ".join(parts), "git mem off --end")


def _readable_by_others(context: Context) -> Iterator[Finding]:
    if os.name == "nt":
        return  # no such bits
    state = context.memory.state
    open_ = sorted(path for name in PRIVATE for path in state.glob(name) if path.stat().st_mode & 0o077)
    if open_:
        names = ", ".join(path.name for path in open_[:3]) + (
            f" and {len(open_) - 3} more" if len(open_) > 3 else ""
        )
        paths = " ".join(spelt(path, context.env) for path in open_)
        yield Finding(
            FIX,
            "state-readable",
            "privacy",
            f"other users of this computer may read {names}",
            f"chmod go= {paths}",
        )

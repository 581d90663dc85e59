"""Was a forgetting interrupted? Until it is finished, words that were to go may still be there, and strict hooks stand open."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.context import Context
from gitmem.erasure import accept, journal, remains
from gitmem.health.finding import FIX, Finding, count
from gitmem.model import ids


def findings(context: Context) -> Iterator[Finding]:
    """One row for each thing that was left half done."""
    state, memory = context.memory.state, context.memory
    if journal.is_open(state):
        yield Finding(
            FIX,
            "forget-open",
            "forgetting",
            "was interrupted and is not finished",
            "git mem forget --continue",
        )
    if accept.is_open(context):
        yield Finding(
            FIX,
            "accept-open",
            "sync",
            "taking a rewritten branch was interrupted",
            "git mem sync --accept-rewrite",
        )
        return
    if not journal.is_open(state) and (back := sorted(remains.back(memory, context.registry.forgotten))):
        yield Finding(
            FIX,
            "forgotten-back",
            "forgetting",
            f"{count(len(back), 'forgotten card')} came back into the repository, by a fetch or a pull of an old copy",
            f"git mem forget {ids.short(back[0])}",
            tuple(back),
        )

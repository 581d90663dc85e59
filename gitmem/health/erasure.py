"""Was a forgetting interrupted? Until it is finished, words that were to go may still be there, and strict hooks stand open."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.context import Context
from gitmem.erasure import accept, journal
from gitmem.health.finding import FIX, Finding


def findings(context: Context) -> Iterator[Finding]:
    """One row for each thing that was left half done."""
    state = context.memory.state
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

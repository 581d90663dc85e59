"""Was a forgetting interrupted? Until it is finished, words that were to go may still be there, and strict hooks stand open.
And did a fetch by hand bring them back?"""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.context import Context
from gitmem.erasure import remains
from gitmem.erasure.unfinished import unfinished
from gitmem.health.finding import FIX, Finding, count
from gitmem.model import ids


def findings(context: Context) -> Iterator[Finding]:
    """One row for each thing that was left half done; of words that are there again only where nothing is."""
    left = unfinished(context)
    for one in left:
        yield Finding(FIX, one.code, one.area, one.words, one.mend)
    if not left and (back := sorted(remains.back(context.memory, context.registry.forgotten))):
        yield Finding(
            FIX,
            "forgotten-back",
            "forgetting",
            f"{count(len(back), 'forgotten card')} came back into the repository, by a fetch or a pull of an old copy",
            f"git mem forget {ids.short(back[0])}",
            tuple(back),
        )

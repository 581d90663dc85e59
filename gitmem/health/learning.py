"""Does learning run: what waits, who reads, and what kept it from running."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from gitmem.context import Context
from gitmem.errors import MemError
from gitmem.health.finding import FIX, LOOK, OK, Finding, ago, count
from gitmem.learn import background, timer
from gitmem.learn.standing import standing
from gitmem.learn.ways import choose
from gitmem.model import when

_LATE = timedelta(days=2)
_ON = f"git config --global {background.SETTING} true"


def findings(context: Context) -> Iterator[Finding]:
    """One row, or none where nobody asked for learning and nothing waits."""
    agreed = background.agreed(context.memory)
    found = standing(context.memory.state)
    wait = count(found.waiting, "session") + (" wait" if found.waiting != 1 else " waits")
    last = None if found.last is None else context.now - when.parse(found.last)
    told = "never ran" if last is None else f"last run {ago(last)}"
    if agreed is None or agreed is False:
        if found.waiting and agreed is None:
            yield Finding(
                LOOK,
                "learning-unasked",
                "learning",
                f"{wait}, and nobody said yes to learning",
                f"git mem learn, or for good: {_ON}",
            )
        return
    try:
        reader = choose.choose(context)
    except MemError as error:
        yield Finding(
            FIX,
            "learning-reader",
            "learning",
            error.message,
            error.hints[0] if error.hints else "git mem help privacy",
        )
        return
    if reader is None:
        yield Finding(
            FIX, "learning-reader", "learning", f"nobody reads; {wait}", choose.hints()[0].split("   ")[0]
        )
    elif found.failed and (found.last is None or (found.failed_at or "") > found.last):
        yield Finding(
            FIX, "learning-failed", "learning", f"the last run failed: {found.failed}", "git mem learn"
        )
    elif found.stopped and found.waiting:
        yield Finding(
            LOOK,
            "learning-stopped",
            "learning",
            f"the last run stopped: {found.stopped}; {wait}",
            "git mem learn",
        )
    elif found.waiting and (last is None or last > _LATE):
        there = timer.there(context.env.home, context.env.vars)
        yield Finding(
            FIX,
            "learning-late",
            "learning",
            f"{wait}, {told}",
            "git mem learn" if there else "git mem learn --every 6h",
        )
    else:
        yield Finding(
            OK,
            "learning",
            "learning",
            f"{told}, {reader.name} reads" + (f"; {wait}" if found.waiting else ""),
        )

"""Does the memory reach its remote: when it was last synced, and what kept it from it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from gitmem import autosync
from gitmem.context import Context
from gitmem.health.finding import FIX, LOOK, OK, Finding, count
from gitmem.model import when
from gitmem.sharing import sync

_LATE = timedelta(days=7)


def findings(context: Context) -> Iterator[Finding]:
    """One row; none where there is no remote."""
    found = sync.standing(context.memory)
    if found is None:
        return
    if found.failed:
        yield Finding(
            FIX,
            "sync-stopped",
            "sync",
            f"the last sync stopped: {found.failed}",
            found.mend or "git mem sync",
        )
    elif found.refused:
        first = found.refused.split("\n", 1)[0]
        yield Finding(
            FIX, "sync-refused", "sync", f"{found.remote} did not take the last push: {first}",
            f"git mem check --range {sync.remote.SEEN}{found.remote}..{context.memory.branch}",
        )  # fmt: skip
    elif found.last is None:
        yield Finding(
            LOOK, "sync-never", "sync", f"never synced with {found.remote} from here", "git mem sync"
        )
    elif context.now - when.parse(found.last) > _LATE and not autosync.on(context.memory):
        yield Finding(
            LOOK,
            "sync-late",
            "sync",
            f"last sync {found.last[:10]}",
            "git mem sync, or for good: git mem sync --always on",
        )
    else:
        more = f"; {count(found.ahead, 'commit')} to give" if found.ahead else ""
        yield Finding(OK, "sync", "sync", f"last sync {found.last[:16].replace('T', ' ')} UTC{more}")

"""Does the memory reach its remote: when it was last synced, and what kept it from it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from gitmem import autosync
from gitmem.context import Context
from gitmem.health.finding import FIX, LOOK, OK, Finding, count
from gitmem.learn import durable
from gitmem.model import when
from gitmem.sharing import remote
from gitmem.sharing.sync import note_file

_LATE = timedelta(days=7)


def findings(context: Context) -> Iterator[Finding]:
    """One row; none where there is no remote."""
    memory = context.memory
    names = memory.git.lines("remote")
    if not names:
        return
    note = durable.read_json(note_file(memory)) or {}
    at, failed_at = str(note.get("at") or ""), str(note.get("failed_at") or "")
    if note.get("failed") and failed_at > at:
        yield Finding(FIX, "sync-stopped", "sync", f"the last sync stopped: {note['failed']}", "git mem sync")
    elif note.get("refused"):
        first = str(note["refused"]).split("\n", 1)[0]
        yield Finding(
            FIX, "sync-refused", "sync", f"the remote did not take the last push: {first}", "git mem sync"
        )
    elif not at:
        yield Finding(
            LOOK,
            "sync-never",
            "sync",
            f"{count(len(names), 'remote')}, never synced from here",
            "git mem sync",
        )
    elif context.now - when.parse(at) > _LATE and not autosync.on(memory):
        yield Finding(
            LOOK,
            "sync-late",
            "sync",
            f"last sync {at[:10]}",
            "git mem sync, or for good: git mem sync --always on",
        )
    else:
        ahead = _ahead(context, str(note.get("remote") or names[0]))
        yield Finding(
            OK,
            "sync",
            "sync",
            f"last sync {at[:16].replace('T', ' ')} UTC"
            + (f"; {count(ahead, 'commit')} to give" if ahead else ""),
        )


def _ahead(context: Context, name: str) -> int:
    memory = context.memory
    seen = remote.seen(memory, name)
    if seen is None or memory.tip is None:
        return 0
    return int(memory.git.run("rev-list", "--count", f"{seen}..{memory.tip}", check=False).text() or "0")

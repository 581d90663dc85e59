"""Recall as of a commit: cards and projects from there, its time as now; agents and profiles of today.

The cards of an old tree are read into a catalogue in memory; vectors and words of the current index serve where
their blobs are the same. No session state is read or written.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gitmem import whereabouts
from gitmem.context import Context
from gitmem.errors import Refused
from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.index import build, catalogue, coverage, place, refresh
from gitmem.index.catalogue import Catalogue
from gitmem.recall import answer
from gitmem.recall.answer import Opened
from gitmem.recall.retrieve import QueryVector
from gitmem.recall.session import Session
from gitmem.recall.trace import Answer
from gitmem.registry import load


@dataclass(frozen=True, slots=True)
class _Past:
    """An index that is open already."""

    opened: Opened
    embedder: str

    def vector(self, text: str) -> QueryVector | None:
        return None if self.embedder == "none" else QueryVector(text, self.embedder)

    def open(self) -> Opened:
        return self.opened

    def repair(self, error: Exception) -> bool:
        return False


def recall_at(
    context: Context,
    prompt: str,
    at: str,
    keep_now: bool,
    *,
    cwd: Path,
    project: str | None,
    previous: str,
    lexical: bool,
    explain: bool = False,
) -> Answer:
    """Answer a prompt from the memory as it was.

    Raises:
        Refused: no such commit, or nothing had been written by that day.
    """
    commit, moment = _commit_at(context.memory, at)
    then = replace(
        context.memory,
        tip=commit,
        tree=context.memory.git.run("rev-parse", f"{commit}^{{tree}}").text(),
        registry_tree=context.memory.git.run("rev-parse", f"{commit}:registry").text(),
    )
    old = load.at(context.memory.git, commit)
    registry = replace(context.registry, projects=old.projects)
    now = context.now if keep_now else moment.astimezone(context.now.tzinfo)
    request = answer.Request(
        prompt,
        now,
        project=project,
        from_cwd=whereabouts.project_of_folder(cwd, context.memory, registry),
        previous=previous,
        explicit=True,
        lexical=lexical,
        explain=explain,
    )
    opened = _open(context.memory, then, registry, lexical, context)
    found = answer.recall(request, context.caller, registry, Session(), opened)
    found.trace.at, found.trace.commit = now.isoformat(timespec="seconds"), commit
    return found


def _commit_at(memory: Memory, at: str) -> tuple[str, datetime]:
    """A revision of the memory, or the last commit before a day ended or a moment came."""
    git = memory.git
    found = (
        git.run("rev-parse", "--verify", "-q", f"{at}^{{commit}}", check=False) if not _dated(at) else None
    )
    if found is not None and found.code == 0:
        commit = found.text()
        stamp = int(git.run("log", "-1", "--format=%ct", commit).text())
        if git.run("cat-file", "-e", f"{commit}:registry", check=False).code != 0:
            raise Refused(f"`{at}` is no commit of a memory", ["git mem log"])
        return commit, datetime.fromtimestamp(stamp, UTC)
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        raise Refused(
            f"`{at}` is neither a commit nor a day", ["git mem recall --at 2026-10-01 …", "git mem log"]
        ) from None
    if len(at) == 10:
        moment = moment.replace(hour=23, minute=59, second=59)
    moment = moment.astimezone() if moment.tzinfo is None else moment
    commit = git.run("rev-list", "-1", f"--before={int(moment.timestamp())}", memory.ref).text()
    if not commit:
        raise Refused(f"nothing had been written by {at}", ["git mem log"])
    return commit, moment


def _dated(at: str) -> bool:
    return len(at) >= 10 and at[4:5] == "-" and at[7:8] == "-"


def _open(memory: Memory, then: Memory, registry, lexical: bool, context: Context) -> _Past:  # type: ignore[no-untyped-def]
    """A catalogue of the old tree, with the vectors that the current index has for the same blobs."""
    build.ensure(memory, context.registry, vectors_too=not lexical)
    current = catalogue.open_for_reading(memory.state, whole=True)
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(catalogue.TABLES + f"INSERT INTO meta VALUES ('format', '{place.FORMAT}');")
    old = Catalogue(connection)
    # retractions of today hold for the past too: a card that was taken back is not recalled from history
    changes = objects.changes(memory.git, None, then.tree or "", "cards", "sources")
    known = {c.path for c in changes}
    later = [
        c
        for c in objects.changes(memory.git, then.tree, memory.tree or "", "cards", "sources")
        if c.old is None and c.new and c.path not in known
    ]
    taken_back = _retractions(current, later)
    refresh.refresh(then, registry, old, [*changes, *taken_back])
    embedder = "none" if lexical else coverage.embedder_name(memory, context.registry)
    if current is not None and embedder != "none" and current.meta("embedder") == embedder:
        slots = dict(current.db.execute("SELECT blob, slot FROM cards WHERE slot IS NOT NULL"))
        rows = connection.execute("SELECT row, blob FROM cards").fetchall()
        connection.executemany(
            "UPDATE cards SET slot = ? WHERE row = ?", [(slots.get(blob), row) for row, blob in rows]
        )
        for key in ("embedder", "dim", "slots"):
            old.set_meta(key, current.meta(key) or "")
    else:
        embedder = "none"
    if current is not None:
        current.close()
    # every card of that time is read directly
    return _Past(Opened(old, None, memory.state, max_scanned=1 << 30), embedder)


def _retractions(current: Catalogue | None, later: list[objects.Change]) -> list[objects.Change]:
    if current is None:
        return []
    paths = {path for (path,) in current.db.execute("SELECT path FROM cards WHERE kind = 'retraction'")}
    return [change for change in later if change.path in paths]

"""The conversations of one host: read what changed, join what belongs together, pass over the rest. Nothing is written."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from gitmem.learn import find
from gitmem.learn.cursor import READERS, Cursor
from gitmem.learn.due import joined
from gitmem.learn.readers import claude_code, codex, hermes, pi
from gitmem.learn.turns import Conversation

_READERS = {"claude-code": claude_code.read, "codex": codex.read, "pi": pi.read}


@dataclass(frozen=True, slots=True)
class Unit:
    """One conversation. `sessions`: the host's names for it, oldest first; `path` and `seen` as in `Cursor`."""

    conversation: Conversation
    sessions: tuple[str, ...]
    path: Path
    seen: tuple[int, ...]

    @property
    def session(self) -> str:
        return self.sessions[0]


@dataclass(slots=True)
class Tally:
    """What a run met at one host.

    Args:
        read: sessions whose history was read; `unchanged`: known from an earlier run; `old`: not read, as nothing in
            them is new enough.
        sub_agents: files of sub-agents that lie beside their sessions, and are not read.
        unreadable: file -> why.
    """

    host: str
    place: Path
    read: int = 0
    unchanged: int = 0
    old: int = 0
    sub_agents: int = 0
    unreadable: dict[Path, str] = field(default_factory=dict)


def units(
    tally: Tally,
    home: Path,
    variables: Mapping[str, str],
    cursors: Mapping[tuple[str, str], Cursor],
    since: datetime | None,
    also: Iterable[Path] = (),
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Unit]:
    """Every conversation of the host that changed since its cursor, each once.

    Args:
        since: what went on no later, and has no digests, is not read.
        also: files that the host's hooks named.
        progress: called with a step, how many files are done, and of how many.
    """
    if tally.place.is_dir() and not os.access(tally.place, os.R_OK | os.X_OK):
        tally.unreadable[tally.place] = os.strerror(errno.EACCES)
    files = find.files(tally.host, home, variables, also)
    if tally.host == "hermes":
        found = [unit for file in files for unit in _hermes(tally, file.path, cursors, since)]
        return found
    paths = {one.path: one for one in cursors.values() if one.host == tally.host}
    best: dict[str, Unit] = {}
    for done, file in enumerate(files, 1):
        if progress is not None:
            progress(f"reading {tally.host}", done, len(files))
        if tally.host == "claude-code":
            tally.sub_agents += find.sub_agents(file.path)
        seen = (READERS, file.size, file.mtime_ns)
        cursor = paths.get(str(file.path))
        if cursor is not None and cursor.seen == seen:
            tally.unchanged += 1
            continue
        # a file is at least as new as its newest record
        if since and not (cursor and cursor.digests) and _moment(file.mtime_ns) < since:
            tally.old += 1
            continue
        conversation = _read(tally, file.path)
        if conversation is None:
            continue
        if not conversation.last:
            conversation = replace(conversation, last=_moment(file.mtime_ns).isoformat())
        unit = Unit(conversation, (conversation.session,), file.path, seen)
        other = best.get(unit.session)
        # a copy in the archive, or one that was packed
        if other is None or len(other.conversation.turns) < len(conversation.turns):
            best[unit.session] = unit
    return _with_parents(list(best.values()), files)


def _read(tally: Tally, path: Path) -> Conversation | None:
    name = path.name.removesuffix(".zst").removesuffix(".jsonl")
    try:
        with find.lines(path) as lines:
            conversation = _READERS[tally.host](lines, name)
    except OSError as error:
        tally.unreadable[path] = error.strerror or str(error)
        return None
    tally.read += 1
    return conversation if conversation.session else None


def _with_parents(found: list[Unit], files: list[find.File]) -> list[Unit]:
    """A fork whose parent is gone from the disk holds the only copy of what was said before: there it is its own."""
    names = "\n".join(file.path.name for file in files)

    def own(unit: Unit) -> Unit:
        kept = unit.conversation
        if not kept.before or (kept.parent and kept.parent in names):
            return unit
        turns = tuple(sorted((*kept.before, *kept.turns), key=lambda turn: turn.number))
        return replace(unit, conversation=replace(kept, before=(), turns=turns))

    return [own(unit) for unit in found]


def _hermes(
    tally: Tally, file: Path, cursors: Mapping[tuple[str, str], Cursor], since: datetime | None
) -> Iterator[Unit]:
    try:
        with hermes.opened(file) as database:
            chains: dict[str, list[hermes.Listed]] = {}
            for one in hermes.sessions(database):
                chains.setdefault(one.root, []).append(one)
            for root, chain in chains.items():
                seen = (READERS, *(number for one in chain for number in one.seen))
                cursor = cursors.get((hermes.HOST, root))
                if cursor is not None and cursor.seen == seen and cursor.path == str(file):
                    tally.unchanged += len(chain)
                    continue
                last = max(one.last for one in chain)
                if (
                    since
                    and not (cursor and cursor.digests)
                    and last
                    and datetime.fromisoformat(last) < since
                ):
                    tally.old += len(chain)
                    continue
                members = list(hermes.read(database, [one.id for one in chain]))
                tally.read += len(members)
                yield Unit(joined(members), tuple(one.session for one in members), file, seen)
    except OSError as error:
        tally.unreadable[file] = error.strerror or str(error)


def _moment(mtime_ns: int) -> datetime:
    return datetime.fromtimestamp(mtime_ns / 1e9, UTC)

"""What is kept of a conversation until it was learned from: `<state>/digests/<host>-<hash>/<n>.json`, mode 600.

A digest holds the person's words, the final answers, the names of tools and a coarse word for what failed. Secrets
are masked before anything is written. It never leaves this computer and is dropped after the retention time.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gitmem.checks.safety import mask_secrets
from gitmem.learn import cursor, durable
from gitmem.learn.turns import Conversation, Turn
from gitmem.model import when
from gitmem.whereabouts import normal_remote

FORMAT = 1
# Words beyond this are a paste: its beginning and end are kept.
MAX_CHARS = 20_000
_MASKED_CHARS = 1_000_000
READY, WAITING = "ready", "waiting"


@dataclass(frozen=True, slots=True)
class Digest:
    """One slice of a conversation.

    Args:
        sessions: the host's names for it, oldest first; `session` is the first, under which sources cite it.
        part: counts from 1.
        remote: the repository's address without a name or password in it.
        project: the registered project of its folder. `state`: `ready`, or `waiting` for its folder to be registered.
        last: the newest record of the slice; `captured`: when it was written, from which the retention time counts.
        context: turns that an earlier digest or the parent's holds, for understanding alone.
        turns: what is new.
        masked: how many texts held a secret.
    """

    host: str
    session: str
    sessions: tuple[str, ...]
    part: int
    cwd: str | None
    folders: tuple[str, ...]
    remote: str | None
    git_branch: str | None
    project: str | None
    state: str
    title: str | None
    started: str
    last: str
    captured: str
    tool_errors: int
    compactions: int
    context: tuple[Turn, ...]
    turns: tuple[Turn, ...]
    masked: int = 0
    format: int = FORMAT


def make(
    conversation: Conversation,
    sessions: tuple[str, ...],
    context: tuple[Turn, ...],
    turns: tuple[Turn, ...],
    *,
    part: int,
    project: str | None,
    waits: bool,
    now: datetime,
) -> Digest:
    """A digest with its secrets masked."""
    hidden = [0]

    def safe(turn: Turn) -> Turn:
        text = masked(turn.text)
        hidden[0] += text != turn.text[:_MASKED_CHARS]
        return replace(turn, text=shortened(text))

    return Digest(
        host=conversation.host,
        session=sessions[0],
        sessions=sessions,
        part=part,
        cwd=conversation.cwd,
        folders=conversation.folders,
        remote=normal_remote(conversation.remote) if conversation.remote else None,
        git_branch=conversation.git_branch,
        project=project,
        state=WAITING if waits else READY,
        title=masked(conversation.title) if conversation.title else None,
        started=conversation.started,
        last=conversation.last,
        captured=when.stamp(now),
        tool_errors=conversation.tool_errors,
        compactions=conversation.compactions,
        context=tuple(map(safe, context)),
        turns=tuple(map(safe, turns)),
        masked=hidden[0],
    )


def masked(text: str) -> str:
    return mask_secrets(text[:_MASKED_CHARS])


def shortened(text: str) -> str:
    """A long text's beginning and end, each whole in itself."""
    if len(text) <= MAX_CHARS:
        return text
    head, tail = MAX_CHARS * 3 // 5, MAX_CHARS * 2 // 5
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"


def folder(state: Path) -> Path:
    return state / "digests"


def place(state: Path, host: str, session: str) -> Path:
    """The folder of a conversation's digests."""
    return folder(state) / f"{host}-{cursor.name_of(host, session)}"


def write(state: Path, digest: Digest) -> Path:
    """Store a digest; it is on the disk when this returns."""
    file = place(state, digest.host, digest.session) / f"{digest.part}.json"
    durable.folder(folder(state))
    durable.write_json(file, asdict(digest))
    return file


def read(file: Path) -> Digest | None:
    """The digest in a file; None when it cannot be read or is of another format."""
    value = durable.read_json(file)
    if value is None or value.get("format") != FORMAT:
        return None
    try:
        return Digest(
            **{
                **value,
                **{key: tuple(value[key]) for key in ("sessions", "folders")},
                **{key: tuple(Turn(**turn) for turn in value[key]) for key in ("context", "turns")},
            }
        )
    except (TypeError, KeyError):
        return None


def all_of(state: Path) -> Iterator[tuple[Path, Digest]]:
    """Every digest, the oldest conversation first, its parts in order."""
    found = [(file, one) for file in folder(state).glob("*/*.json") if (one := read(file)) is not None]
    found.sort(key=lambda pair: (pair[1].last, pair[1].host, pair[1].session, pair[1].part))
    yield from found


def settle(state: Path, waiting: Digest, file: Path, project: str) -> None:
    """The folder of a digest that waited was registered."""
    durable.write_json(file, asdict(replace(waiting, project=project, state=READY)))


def drop_old(state: Path, now: datetime, days: int) -> int:
    """Remove digests older than the retention time; how many there were."""
    dropped = 0
    for file in list(folder(state).glob("*/*.json")):
        if _captured(durable.read_json(file), file) < now.astimezone(UTC) - timedelta(days=days):
            file.unlink(missing_ok=True)
            dropped += 1
    for place in folder(state).glob("*/"):
        if not any(place.iterdir()):
            place.rmdir()
    return dropped


def _captured(value: dict[str, Any] | None, file: Path) -> datetime:
    try:
        return when.parse((value or {})["captured"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return datetime.fromtimestamp(file.stat().st_mtime, UTC)


def forget(state: Path, host: str, session: str) -> None:
    """Remove all digests of a conversation."""
    shutil.rmtree(place(state, host, session), ignore_errors=True)

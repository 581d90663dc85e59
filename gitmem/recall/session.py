"""What one session of a host has heard so far: turns, project, cards. Local, small, disposable."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path

from gitmem.record import fresh, record

KEEP_DAYS = 30
_OPTIONAL = ("project", "folder_project")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


@record(frozen=False)
class Session:
    """`shown` are card ids; `project` the last resolved one; `injected` the fingerprint of every text that was printed."""

    turns: int = 0
    project: str | None = None
    shown: list[str] = fresh(list)
    injected: list[str] = fresh(list)
    off: bool = False
    folder: str = ""
    folder_project: str | None = None
    folder_registry: str = ""


def load(state: Path, session: str | None) -> Session:
    """The session's state; a new one when there is none or it cannot be read."""
    if not session:
        return Session()
    try:
        kept = json.loads(_file(state, session).read_text(encoding="utf-8"))
        fresh = Session()
        for key, value in kept.items():
            if key in _OPTIONAL or (key in Session.__slots__ and type(value) is type(getattr(fresh, key))):
                setattr(fresh, key, value)
        return fresh
    except (OSError, ValueError, TypeError, AttributeError):
        return Session()


def save(state: Path, session: str | None, value: Session) -> None:
    """Store the state, whole or not at all; without a session nothing is stored."""
    if not session:
        return
    file = _file(state, session)
    fresh = file.with_suffix(f".{os.getpid()}.tmp")
    try:
        if not file.parent.is_dir():
            file.parent.mkdir(parents=True, exist_ok=True)
            _sweep(file.parent)
        kept = {key: getattr(value, key) for key in Session.__slots__}
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
        fresh.replace(file)
        if value.turns <= 1:
            _sweep(file.parent)
    except OSError:
        # a full disk costs a repetition, not the prompt
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)


def heard(value: Session, text: str, cards: Iterable[str]) -> None:
    """Note a text that was given to the host, and the cards in it."""
    value.shown.extend(card for card in cards if card not in value.shown)
    if text:
        value.injected.append(fingerprint(text))


def fingerprint(text: str) -> str:
    """By this a text of ours is known again in a transcript; hosts trim white space around it."""
    import hashlib

    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()


def compacted(value: Session) -> None:
    """The host forgot what it was told: everything may be said again."""
    value.shown.clear()


def file_name(session: str) -> str:
    """A session's name as it may stand in the name of a file."""
    # Hosts name sessions by UUID; anything else might be no name for a file. Hashing loads OpenSSL: not on every prompt.
    return session if 8 <= len(session) <= 64 and set(session) <= _PLAIN else fingerprint(session)


def _file(state: Path, session: str) -> Path:
    return state / "sessions" / f"{file_name(session)}.json"


def _sweep(folder: Path) -> None:
    limit = time.time() - KEEP_DAYS * 86400
    try:
        for file in folder.iterdir():
            if file.stat().st_mtime < limit:
                file.unlink(missing_ok=True)
    except OSError:
        return

"""How far each session was captured: a file a session, `<state>/cursors/<host>/<name>.json`. Local, no words in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from gitmem.learn import durable

# One more when a reader's rules change, so that files judged by the old ones are read again.
READERS = 1


@dataclass(frozen=True, slots=True)
class Cursor:
    """What is known of a session from earlier runs.

    Args:
        fate: what became of it; see `gitmem.learn.due`.
        path: the file it was read from; `seen`: version of the readers, size and time of that file. What has not
            changed is not read again.
        known: keys of the typed turns that digests hold or that were passed over, oldest first.
        last: key of the last turn that was, of any role; `number`: its number.
        digests: how many were written.
        at: the session's newest record, RFC 3339.
    """

    host: str
    session: str
    fate: str = ""
    path: str = ""
    seen: tuple[int, ...] = ()
    known: tuple[str, ...] = ()
    last: str = ""
    number: int = 0
    digests: int = 0
    at: str = ""


def name_of(host: str, session: str) -> str:
    """A session as the name of a file or folder."""
    return hashlib.sha256(f"{host}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def folder(state: Path) -> Path:
    return state / "cursors"


def load(state: Path, hosts: Iterable[str]) -> dict[tuple[str, str], Cursor]:
    """Every cursor of some hosts by host and session. One that cannot be read counts as none."""
    found: dict[tuple[str, str], Cursor] = {}
    kinds = {one.name: str(one.type) for one in fields(Cursor)}
    for host in hosts:
        for file in sorted((folder(state) / host).glob("*.json")):
            value = durable.read_json(file) or {}
            kept = {
                key: tuple(value[key]) if kind.startswith("tuple") else value[key]
                for key, kind in kinds.items()
                if isinstance(
                    value.get(key), list if kind.startswith("tuple") else int if kind == "int" else str
                )
            }
            if {"host", "session"} <= set(kept):
                found[kept["host"], kept["session"]] = Cursor(**kept)  # type: ignore[arg-type]
    return found


def save(state: Path, cursor: Cursor, *, sync: bool = True) -> None:
    """Store a cursor, whole or not at all. Only after what it covers is durable."""
    file = folder(state) / cursor.host / f"{name_of(cursor.host, cursor.session)}.json"
    durable.write_json(file, asdict(cursor), sync=sync)


def floor(state: Path, host: str) -> str:
    """From when on a host's sessions are captured, as its first run said; "" before that."""
    value = (durable.read_json(folder(state) / "since.json") or {}).get(host)
    return value if isinstance(value, str) else ""


def set_floor(state: Path, host: str, since: str) -> None:
    kept = durable.read_json(folder(state) / "since.json") or {}
    durable.write_json(folder(state) / "since.json", {**kept, host: since})

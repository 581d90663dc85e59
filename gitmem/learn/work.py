"""Where learning stands with each digest: `<state>/learning/<host>-<hash>-<part>.json`, mode 600.

A digest is distilled piece by piece; its candidates are reviewed, planned and committed, or dropped with the reason.
Nothing is the usual result, and remembered as well. A record lives as long as its digest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from gitmem.learn import digest as digests
from gitmem.learn import durable
from gitmem.learn.candidate import OPEN, PLANNED, Candidate
from gitmem.learn.digest import Digest
from gitmem.model import when

FORMAT = 1
FOLDER = "learning"
MAX_TRIES = 3
_FIRST_PAUSE = timedelta(minutes=15)
_LONGEST_PAUSE = timedelta(hours=24)


@dataclass(slots=True)
class Trouble:
    """An order that got no usable answer. `tries`: answers that were none; `misses`: times nobody answered."""

    tries: int = 0
    misses: int = 0
    not_before: str = ""
    why: str = ""


@dataclass(slots=True)
class Work:
    """What learning did with one digest.

    Args:
        key: the digest's file below `<state>/digests`, without its ending: `claude-code-1a2b…/1`.
        last: when the conversation last went on; the oldest comes first.
        read: pieces that were distilled, or given up.
        gave_up: pieces whose answer could not be read, again and again; `gave_up_why`: the last time, in words.
    """

    key: str
    host: str
    session: str
    part: int
    last: str
    project: str | None
    read: list[int] = field(default_factory=list)
    gave_up: list[int] = field(default_factory=list)
    gave_up_why: str = ""
    trouble: Trouble = field(default_factory=Trouble)
    candidates: list[Candidate] = field(default_factory=list)
    format: int = FORMAT

    def open(self) -> list[tuple[int, Candidate]]:
        return [(number, one) for number, one in enumerate(self.candidates) if one.fate == OPEN]

    def missed(self, now: datetime, why: str) -> None:
        """Nobody answered: it is asked again after a pause that grows."""
        self.trouble.misses += 1
        self.trouble.why = why
        self.trouble.not_before = when.stamp(now + pause(self.trouble.misses))

    def failed(self, now: datetime, why: str) -> bool:
        """An answer that is none; True when it was the last try. One that comes during the pause is no further try."""
        self.trouble.why = why
        if self.held_back(now) and self.trouble.tries:
            return False
        self.trouble.tries += 1
        self.trouble.not_before = when.stamp(now + pause(self.trouble.tries))
        return self.trouble.tries >= MAX_TRIES

    def give_up(self, piece: int, why: str) -> None:
        self.read = sorted({*self.read, piece})
        self.gave_up = sorted({*self.gave_up, piece})
        self.gave_up_why, self.trouble = why, Trouble()

    def reopen(self) -> bool:
        """Have the pieces asked about again that were given up; whether there were any."""
        if not self.gave_up:
            return False
        self.read = [piece for piece in self.read if piece not in self.gave_up]
        self.gave_up, self.gave_up_why, self.trouble = [], "", Trouble()
        return True

    def held_back(self, now: datetime) -> bool:
        return bool(self.trouble.not_before) and when.parse(self.trouble.not_before) > now


def pause(times: int) -> timedelta:
    """A quarter of an hour, twice as long each time, a day at most."""
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(times - 1, 10))


def folder(state: Path) -> Path:
    return state / FOLDER


def place(state: Path, key: str) -> Path:
    return folder(state) / f"{key.replace('/', '-')}.json"


def key_of(file: Path) -> str:
    """A digest's key, from its file."""
    return f"{file.parent.name}/{file.stem}"


def begun(file: Path, digest: Digest) -> Work:
    return Work(key_of(file), digest.host, digest.session, digest.part, digest.last, digest.project)


def read(state: Path, key: str) -> Work | None:
    """The record of a digest; None when there is none that can be read, and then it is begun anew."""
    value = durable.read_json(place(state, key))
    if value is None or value.get("format") != FORMAT:
        return None
    try:
        candidates = [
            Candidate(**{**one, **{name: tuple(one[name]) for name in ("also", "cards", "targets")}})
            for one in value["candidates"]
        ]
        return Work(**{**value, "trouble": Trouble(**value["trouble"]), "candidates": candidates})
    except (TypeError, KeyError, AttributeError):
        return None


def write(state: Path, work: Work) -> None:
    """Store a record; it is on the disk when this returns."""
    durable.write_json(place(state, work.key), asdict(work))


def all_of(state: Path) -> Iterator[tuple[Path, Digest, Work]]:
    """Every digest with what became of it, the oldest conversation first."""
    for file, digest in digests.all_of(state):
        yield file, digest, read(state, key_of(file)) or begun(file, digest)


def tidy(state: Path) -> int:
    """Drop records whose digest is gone; of how many something was still open."""
    lost = 0
    keys = {place(state, key_of(file)).name for file in digests.folder(state).glob("*/*.json")}
    for file in folder(state).glob("*.json"):
        if file.name in keys or file.name in OTHER:
            continue
        value = durable.read_json(file) or {}
        lost += any(
            one.get("fate") in (OPEN, PLANNED) for one in value.get("candidates", ()) if isinstance(one, dict)
        )
        file.unlink(missing_ok=True)
    return lost


# Files of the folder that are no record.
OTHER = frozenset({"plan.json", "asked.json", "last.json", "proposed.json"})

"""JSON lines as hosts write them: bytes in, objects out; what does not parse is counted and passed over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from gitmem.learn import marker

# A clock that was wrong, or a repaired record, gives times outside of these.
_EARLIEST, _LATEST = datetime(2015, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


class Lines:
    """The records of a file, each a JSON object.

    A record ends at LF and nowhere else: U+2028 and its like stand inside texts. Each line is decoded by itself, as the
    last one may be cut in the middle of a character.

    After the iteration `cut` says whether the last line was not whole, `unreadable` how many were none, and `marked`
    whether the learner's mark stood in any of them.
    """

    def __init__(self, source: Iterable[bytes]):
        """`source`: pieces of the file that each end at LF, the last perhaps not, as a binary file gives them."""
        self._source = source
        self.cut = False
        self.unreadable = 0
        self.marked = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for raw in self._source:
            if not raw.strip():
                continue
            self.marked = self.marked or marker.holds(raw)
            try:
                # half of a surrogate pair may stand escaped in a text; no encoder takes it later
                record = json.loads(raw.decode("utf-8"))
            except (ValueError, RecursionError):
                self.unreadable += 1
                self.cut = True
                continue
            self.cut = False
            if isinstance(record, dict):
                yield record
            else:
                self.unreadable += 1


def split(data: bytes) -> list[bytes]:
    """The lines of a file that was read at once."""
    return [line + b"\n" for line in data.split(b"\n")]


def text_of(value: Any) -> str:
    """A text that any encoder takes; "" for what is none."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def name_of(value: Any) -> str | None:
    """A text with something in it."""
    return text_of(value) or None


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def stamp(value: Any) -> str:
    """RFC 3339 in UTC with milliseconds, from RFC 3339 or seconds since 1970; "" for what is no sane time."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                return ""
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value, UTC)
        else:
            return ""
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    if not _EARLIEST <= moment < _LATEST:
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def blocks_text(content: Any, *kinds: str) -> str:
    """The text of a message that is one, or a list of blocks, of which those of `kinds` count."""
    if isinstance(content, str):
        return text_of(content)
    parts = [
        text_of(block.get("text"))
        for block in items(content)
        if isinstance(block, dict) and block.get("type") in kinds
    ]
    return "\n".join(part for part in parts if part)

"""Entries as sources: one turn an entry, in as few files as their size allows. Values in, values out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.model import source as sources
from gitmem.model.source import Source, Turn

HOST = "import"
# well below what a source may have; the frontmatter and escapes need room
PART_BYTES = 200 * 1024


@dataclass(frozen=True, slots=True)
class Part:
    """One source file. `lines`: the line from 1 at which each turn begins -> the index of its text."""

    path: str
    data: bytes
    lines: tuple[tuple[int, int], ...]

    def text_at(self, line: int) -> int | None:
        """The index of the text that stands at a line; None above the first."""
        before = [index for start, index in self.lines if start <= line]
        return before[-1] if before else None


def parcel(texts: Sequence[str], scope: str, name: str, at: str) -> tuple[list[Part], list[tuple[str, int]]]:
    """Sources that hold the texts, and for each text the path and the number of its turn.

    Numbers go on over the parts, as in a conversation that grew.
    """
    groups: list[list[int]] = [[]]
    size = 0
    for index, text in enumerate(texts):
        # the header, and a backslash at worst for every line
        cost = len(text.encode()) + text.count("\n") + 64
        if groups[-1] and size + cost > PART_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(index)
        size += cost
    parts: list[Part] = []
    places: list[tuple[str, int]] = []
    for number, group in enumerate(filter(None, groups), 1):
        turns = tuple(Turn(index + 1, "document", at, texts[index]) for index in group)
        source = Source(HOST, name, scope, at, "import", turns)
        path = sources.source_path(source, name if number == 1 else f"{name}-p{number}")
        data = sources.dump(source)
        starts = [i for i, line in enumerate(data.split(b"\n"), 1) if line.startswith(b"## ")]
        parts.append(Part(path, data, tuple(zip(starts, group, strict=True))))
        places.extend((path, turn.number) for turn in turns)
    return parts, places

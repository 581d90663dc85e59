"""Read YAML text with the place of every part: the values, the dashes, colons and commas, the comments.

In: text of a YAML file as people keep it. Out: a `Document` whose nodes name positions in that text, and the plain
values that the text stands for. The grammar is PyYAML's, as it is for the programs whose files are edited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import yaml

from gitmem.errors import Refused

# What YAML 1.1 takes for the end of a line.
NEWLINE = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_COMMENT = re.compile("#[^\n\r\x85\u2028\u2029]*")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place.

    Args:
        kind: "map", "list", "scalar" or "alias".
        start: its first character, an anchor or tag included.
        end: behind its last character; comments and blank lines after it are outside, but the line end of a literal
            or folded text is inside. An empty value has start == end.
        flow: written in brackets or braces.
        text: of a scalar.
        pairs: of a map, in file order. items: of a list.
    """

    kind: str
    start: int
    end: int
    flow: bool = False
    text: str | None = None
    pairs: tuple[tuple[Node, Node], ...] = ()
    items: tuple[Node, ...] = ()

    def get(self, key: str) -> tuple[Node, Node] | None:
        """The pair that counts for `key`: of equal keys the last one."""
        found = [pair for pair in self.pairs if pair[0].kind == "scalar" and pair[0].text == key]
        return found[-1] if found else None

    @property
    def parts(self) -> tuple[tuple[Node, Node], ...]:
        """First and last node of each member: key and value, or an item twice."""
        return self.pairs if self.kind == "map" else tuple((item, item) for item in self.items)


@dataclass(frozen=True, slots=True)
class Document:
    """`value` is what the text reads as; `root` None: no value at all; `close`: where the document ends."""

    text: str
    value: Any
    root: Node | None
    close: int
    dashes: tuple[int, ...]
    colons: tuple[int, ...]
    commas: tuple[int, ...]
    comments: tuple[tuple[int, int], ...]

    def comments_in(self, start: int, end: int) -> list[tuple[int, int]]:
        return [c for c in self.comments if start <= c[0] < end]

    def dash(self, item: Node) -> int:
        """The dash of an item of a block list."""
        return max(at for at in self.dashes if at < item.start)

    def colon(self, pair: tuple[Node, Node]) -> int | None:
        """The colon between a key and its value; None where there is none, as in `{a}`."""
        return next(
            (at for at in self.colons if pair[0].end <= at < max(pair[1].start, pair[0].end + 1)), None
        )

    def comma(self, start: int, end: int) -> int | None:
        """The first comma between members in `text[start:end]`."""
        return next((at for at in self.commas if start <= at < end), None)

    def line_start(self, pos: int) -> int:
        ends = [found.end() for found in NEWLINE.finditer(self.text, 0, pos)]
        return ends[-1] if ends else int(self.text.startswith("\ufeff"))

    def line_after(self, pos: int) -> int:
        """The beginning of the first line that does not hold the character before `pos`."""
        if pos == self.line_start(pos) and pos:
            return pos
        found = NEWLINE.search(self.text, pos)
        return found.end() if found else len(self.text)

    def column(self, pos: int) -> int:
        return pos - self.line_start(pos)

    def starts_line(self, pos: int) -> bool:
        return not self.text[self.line_start(pos) : pos].strip(" ")

    def nodes(self) -> Iterator[Node]:
        """Every node, outer before inner, in file order."""
        waiting = [self.root] if self.root else []
        while waiting:
            node = waiting.pop()
            yield node
            inner = [part for pair in node.pairs for part in pair] if node.kind == "map" else list(node.items)
            waiting += reversed(inner)


def parse(text: str) -> Document:
    """Read a file of one document.

    Raises:
        Refused: malformed text, naming line and column; or more than one document, or too deep to read.
    """
    try:
        value = yaml.safe_load(text)
        tokens = list(yaml.scan(text, Loader=yaml.SafeLoader))
        events = [
            e for e in yaml.parse(text, Loader=yaml.SafeLoader) if not isinstance(e, yaml.StreamStartEvent)
        ]
        root = _node(iter(events[1:])) if isinstance(events[0], yaml.DocumentStartEvent) else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise Refused(f"not valid YAML: {error.problem}{place}") from error
    except yaml.YAMLError as error:
        raise Refused(f"not valid YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise Refused("not valid YAML: it is nested too deep") from error
    except ValueError as error:  # a date like 2026-13-01
        raise Refused(f"not valid YAML: {error}") from error

    def places(kind: type) -> tuple[int, ...]:
        # a key token is not shown, and a colon may stand for one that only `?` would show: width tells
        return tuple(
            t.start_mark.index for t in tokens if type(t) is kind and t.end_mark.index > t.start_mark.index
        )

    comments = []
    for before, after in pairwise(tokens):
        comments += [m.span() for m in _COMMENT.finditer(text, before.end_mark.index, after.start_mark.index)]
    close = next(
        (e.start_mark.index for e in events if isinstance(e, yaml.DocumentEndEvent) and e.explicit), len(text)
    )
    return Document(
        text, value, root, close, places(yaml.BlockEntryToken), places(yaml.ValueToken), places(yaml.FlowEntryToken), tuple(comments)
    )  # fmt: skip


def _node(events: Iterator[yaml.Event], first: yaml.Event | None = None) -> Node:
    event = first if first is not None else next(events)
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        return Node("alias", start, end)
    if isinstance(event, yaml.ScalarEvent):
        return Node("scalar", start, end, text=event.value)
    parts = []
    closing = yaml.SequenceEndEvent if isinstance(event, yaml.SequenceStartEvent) else yaml.MappingEndEvent
    while not isinstance(inner := next(events), closing):
        parts.append(_node(events, inner))
    flow = bool(event.flow_style)
    end = inner.end_mark.index if flow or not parts else parts[-1].end
    if closing is yaml.SequenceEndEvent:
        return Node("list", start, end, flow, items=tuple(parts))
    return Node("map", start, end, flow, pairs=tuple(zip(parts[::2], parts[1::2], strict=True)))

"""Read JSON text with the place of every part: the values, the commas, the comments.

In: text of a JSON file as people keep it: comments `//` and `/* */`, trailing commas, a byte order
mark. Out: a `Document` whose nodes name positions in that text. Beyond that the grammar is the strict
one, since the hosts read no more than that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.errors import Refused

SPACE = " \t\r\n"
NEWLINE = re.compile(r"\r\n|\n|\r")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_LINE_COMMENT = re.compile(r"//[^\r\n]*")
_WORDS = {"true": True, "false": False, "null": None}
_MAX_DEPTH = 200  # far beyond any settings file, far below Python's recursion limit


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place: `text[start:end]`; `items` of an object or array, in file order."""

    kind: str  # "object", "array" or "scalar"
    start: int
    end: int
    scalar: Any = None
    items: tuple[Item, ...] = ()

    @property
    def value(self) -> Any:
        """The plain Python value; of duplicate keys the last one counts, as in every host's reader."""
        if self.kind == "object":
            return {item.key: item.node.value for item in self.items}
        if self.kind == "array":
            return [item.node.value for item in self.items]
        return self.scalar

    def get(self, key: str) -> Node | None:
        """The member that counts for `key`, or None (also when this is no object)."""
        found = [item.node for item in self.items if item.key == key]
        return found[-1] if found else None


@dataclass(frozen=True, slots=True)
class Item:
    """One member or element: `start` is the key's (or the value's) first character, `comma` the
    position of the comma behind it, if there is one."""

    key: str | None
    start: int
    node: Node
    colon_gap: str = ""
    comma: int | None = None

    @property
    def end(self) -> int:
        return self.node.end

    @property
    def after(self) -> int:
        """The first position behind the item and its comma."""
        return self.end if self.comma is None else self.comma + 1


@dataclass(frozen=True, slots=True)
class Document:
    text: str
    root: Node
    comments: tuple[tuple[int, int], ...]  # (start, end), in file order

    def comments_in(self, start: int, end: int) -> list[tuple[int, int]]:
        return [c for c in self.comments if start <= c[0] < end]

    def is_bare(self, node: Node) -> bool:
        """No items and no comments: nothing of anybody's is in there."""
        return not node.items and not self.comments_in(node.start, node.end)

    def at(self, path: Sequence[int]) -> Node:
        """The node reached by item positions from the root."""
        node = self.root
        for index in path:
            node = node.items[index].node
        return node


def where(text: str, pos: int) -> str:
    """`line L, column C`, both counted from 1 and the column in characters."""
    breaks = [m.end() for m in NEWLINE.finditer(text, 0, pos)]
    start = breaks[-1] if breaks else int(text.startswith("\ufeff"))
    return f"line {len(breaks) + 1}, column {pos - start + 1}"


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = int(text.startswith("\ufeff"))
        self.comments: list[tuple[int, int]] = []

    def fail(self, what: str, pos: int | None = None) -> Refused:
        return Refused(f"not valid JSON: {what} at {where(self.text, self.pos if pos is None else pos)}")

    def peek(self) -> str:
        """Skip white space and comments; the next character, or "" at the end."""
        text = self.text
        while self.pos < len(text):
            if text[self.pos] in SPACE:
                self.pos += 1
            elif text.startswith("//", self.pos):
                self._comment(_LINE_COMMENT.match(text, self.pos).end())  # type: ignore[union-attr]
            elif text.startswith("/*", self.pos):
                end = text.find("*/", self.pos + 2)
                if end < 0:
                    raise self.fail("comment without its end")
                self._comment(end + 2)
            else:
                return text[self.pos]
        return ""

    def _comment(self, end: int) -> None:
        self.comments.append((self.pos, end))
        self.pos = end

    def value(self, depth: int) -> Node:
        char, start = self.peek(), self.pos
        if char in ("{", "["):
            return self.container(char, depth)
        if char == '"':
            return Node("scalar", start, *self.string())
        if number := _NUMBER.match(self.text, start):
            return Node("scalar", start, *self.number(number))
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, start):
                self.pos += len(word)
                return Node("scalar", start, self.pos, meaning)
        raise self.fail("expected a value" + (f", found `{char}`" if char else ""))

    def number(self, match: re.Match[str]) -> tuple[int, int | float]:
        try:
            meaning = json.loads(match.group())
        except ValueError as error:  # Python reads no integer of more than 4,300 digits
            raise self.fail("number that is too long") from error
        self.pos = match.end()
        return self.pos, meaning

    def string(self) -> tuple[int, str]:
        """Read a string; its end and its meaning."""
        start, match = self.pos, _STRING.match(self.text, self.pos)
        if match is None:
            raise self.fail("string without its end, or with a raw control character in it")
        try:
            meaning = json.loads(match.group())
        except ValueError as error:
            raise self.fail("string with an unknown escape", start) from error
        self.pos = match.end()
        return self.pos, meaning

    def container(self, opening: str, depth: int) -> Node:
        if depth >= _MAX_DEPTH:
            raise self.fail(f"more than {_MAX_DEPTH} levels")
        start, closing = self.pos, "}" if opening == "{" else "]"
        self.pos += 1
        items: list[Item] = []
        while (char := self.peek()) != closing:
            if items and items[-1].comma is None:
                raise self.fail(f"expected `,` or `{closing}`" + (f", found `{char}`" if char else ""))
            item_start, key, gap = self.pos, None, ""
            if opening == "{":
                if char != '"':
                    raise self.fail('expected a key in `"` or `}`')
                key = self.string()[1]
                if self.peek() != ":":
                    raise self.fail("expected `:`")
                self.pos += 1
                gap_start = self.pos
                self.peek()
                gap = self.text[gap_start : self.pos]
            node = self.value(depth + 1)
            comma = None
            if self.peek() == ",":
                comma = self.pos
                self.pos += 1
            items.append(Item(key, item_start, node, gap, comma))
        self.pos += 1
        return Node("object" if opening == "{" else "array", start, self.pos, items=tuple(items))


def parse(text: str) -> Document:
    """Read JSON with comments and trailing commas.

    Raises:
        Refused: anything else, naming line and column.
    """
    reader = _Reader(text)
    root = reader.value(0)
    if reader.peek():
        raise reader.fail("more text after the value")
    return Document(text, root, tuple(reader.comments))

"""New lines for a YAML text in the manner of the lines that are there: line ends, indentation, quotes.

In: a document, and a value of maps, lists, words and numbers. Out: text. Words are put in double quotes as they are,
so the value may hold nothing that would have to be escaped there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from gitmem.hosts.yaml_read import Document

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Style:
    """`unit`, `offset`: columns from a key to the keys and to the dashes below it; `quoted`: keys in braces."""

    newline: str
    unit: int
    offset: int
    quoted: bool


def style_of(doc: Document) -> Style:
    """How the document is written, by its first example of each."""
    newline, unit, offset = _LINE_END.search(doc.text), 0, -1
    for node in doc.nodes():
        for key, value in node.pairs if not node.flow else ():
            if value.flow or not value.parts or not doc.starts_line(key.start):
                continue
            first = value.parts[0][0]
            deeper = doc.column(first.start if value.kind == "map" else doc.dash(first)) - doc.column(
                key.start
            )
            if value.kind == "map":
                unit = unit or deeper
            elif offset < 0:
                offset = deeper
    braces = next((n for n in doc.nodes() if n.flow and n.kind == "map" and n.pairs), None)
    quoted = braces is not None and doc.text.startswith('"', braces.pairs[0][0].start)
    unit = unit if unit > 0 else 2
    return Style(newline.group() if newline else "\n", unit, offset if offset >= 0 else unit, quoted)


def block(value: Any, column: int, style: Style) -> list[str]:
    """A map, or a list of maps of plain values, as indented lines without their ends."""
    space = " " * column
    if isinstance(value, list):
        return [
            space + ("  " if i else "- ") + line
            for item in value
            for i, line in enumerate(f"{key}: {_scalar(inner)}" for key, inner in item.items())
        ]
    lines = []
    for key, inner in value.items():
        under = column + (style.offset if isinstance(inner, list) else style.unit)
        lines += [f"{space}{key}:", *block(inner, under, style)]
    return lines


def flow(value: Any, style: Style) -> str:
    """A value in brackets and braces."""
    if isinstance(value, list):
        return "[" + ", ".join(flow(item, style) for item in value) + "]"
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{name(key, style)}: {flow(inner, style)}" for key, inner in value.items()) + "}"
        )
    return _scalar(value)


def name(key: str, style: Style) -> str:
    """A key in braces."""
    return f'"{key}"' if style.quoted else key


def _scalar(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)

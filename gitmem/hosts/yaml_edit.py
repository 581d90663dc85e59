"""Add an entry to a list in YAML text, and cut one out, keeping every byte that the edit is not about.

In: the text of a YAML file as people keep it (comments, anchors, any indentation, blocks or brackets, LF or CRLF, a
byte order mark). Out: splices on that text. The module knows nothing of files or of what the keys mean.

The text is edited at the places that PyYAML names, and not loaded and dumped: of the libraries looked at, `ruamel.yaml`
keeps comments, but one load and dump moves others' indentation, spacing, quotes and long lines, and knows no
CRLF; `strictyaml` builds on it and refuses anchors and brackets; PyYAML alone drops the comments. PyYAML is here
already, and it is what the program behind the file reads it with. Because places in YAML are subtle, each edit is
read again: the new text must stand for the old values with that one change, else the edit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.errors import Refused
from gitmem.hosts.json_edit import Splice, splice
from gitmem.hosts.yaml_read import NEWLINE, Document, Node, parse

Entry = Mapping[str, str | int]
_EMPTY = re.compile(r"\s*(?:null|Null|NULL|~|\[[ \t]*\]|\{[ \t]*\})?\s*")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class _Style:
    newline: str
    unit: int  # columns from a key to the keys below it
    offset: int  # columns from a key to the dashes below it
    quoted: bool  # keys in braces


def insert(text: str, path: Sequence[str], entry: Entry) -> list[Splice]:
    """Append `entry` to the list at `path`, making missing maps and the list on the way.

    New text follows the file: its line ends, its indentation, its brackets. A value of nothing, `null`, `[]` or `{}`
    counts as an empty list or map.

    Raises:
        Refused: malformed text; something on the path that is no map, or no list at its end; or a place where
            the entry cannot stand without changing something else, as in a list that another key shares.
    """
    doc = parse(text)
    wanted = _appended(doc.value, path, entry)
    for edits in _ways(doc, path, entry):
        if reads_as(splice(text, edits), wanted):
            return edits
    raise Refused(f"cannot add to `{'.'.join(path)}` without changing something else", ["edit it by hand"])


def remove(doc: Document, trail: Sequence[int], blank: str = "") -> list[Splice]:
    """Cut out the member at `trail` (positions from the root), with its line and its comma. Comments stay.

    Args:
        blank: what stands for the value that has no members left: nothing, `null`, `~`, `[]` or `{}`.

    Raises:
        Refused: it does not stand on lines of its own.
    """
    parent = at(doc, trail[:-1])
    first, last = parent.parts[trail[-1]]
    if parent.flow:
        return _cut_from_brackets(doc, parent, trail[-1])
    start = first.start if parent.kind == "map" else doc.dash(first)
    if not doc.starts_line(start):
        raise Refused(f"cannot take `{doc.text[start : last.end]}` out of its line", ["edit it by hand"])
    begin, end = doc.line_start(start), doc.line_after(last.end)
    kept = "".join(_kept_comment(doc, c, doc.column(start)) for c in doc.comments_in(begin, end))
    if end == len(doc.text) and not _ends_line(doc.text) and begin and not kept:
        before = NEWLINE.search(doc.text, max(0, begin - 2), begin)  # what is last now ended the text as ours did
        begin = before.start() if before else begin
    edits = [Splice(begin, end, kept)]
    if len(parent.parts) == 1 and len(trail) > 1 and blank:
        key, value = at(doc, trail[:-2]).parts[trail[-2]]
        behind = doc.colon((key, value))
        own = doc.text[value.start : start].split("\n")[0].split("#")[0].rstrip() if value.start < start else ""
        place = value.start + len(own) if own.startswith(("&", "!")) else (behind or 0) + 1
        edits.append(Splice(place, place, f" {blank}"))
    return edits


def at(doc: Document, trail: Sequence[int]) -> Node:
    """The value reached by member positions from the root."""
    node = doc.root
    for index in trail:
        node = node.parts[index][1]  # type: ignore[union-attr]
    return node  # type: ignore[return-value]


def reads_as(text: str, value: Any) -> bool:
    """Whether the text stands for this value."""
    try:
        return same(parse(text).value, value)
    except Refused:
        return False


def same(one: Any, other: Any) -> bool:
    """Equal values of equal types; no number equals itself only when it should."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


def _appended(value: Any, path: Sequence[str], entry: Entry) -> Any:
    """The value with the entry in it; what it shares with others is copied, so that only this place changes."""
    if not path:
        if value is not None and not (isinstance(value, list) or value == {}):
            raise Refused("not a list")
        return [*(value or ()), dict(entry)]
    if value is not None and value != [] and not isinstance(value, dict):
        raise Refused("not a map")
    inside = dict(value or {})
    try:
        inside[path[0]] = _appended(inside.get(path[0]), path[1:], entry)
    except Refused as error:
        if not error.message.startswith("not a "):
            raise
        raise Refused(f"`{path[0]}` is {error.message}", ["edit it by hand"]) from error
    return inside


def _ways(doc: Document, path: Sequence[str], entry: Entry) -> Iterator[list[Splice]]:
    """The places where the entry could go, the one that looks best first."""
    style, node, key_column, made = _style(doc), doc.root, -1, _nested(path, entry)
    if node is None or _is_nothing(doc, node):
        place = doc.line_start(doc.close) if doc.close < len(doc.text) else doc.close
        yield [_lines(doc, place, _block(made, 0, style), style)]
        return
    for depth, key in enumerate(path):
        if node.kind != "map":
            return
        pair = node.get(key)
        if pair is None:
            yield from _into(doc, node, key, _nested(path[depth + 1 :], entry), style)
            return
        key_column, node, outer = doc.column(pair[0].start), pair[1], node
        if _is_nothing(doc, node) or (node.flow and not node.parts and not outer.flow):
            yield from _below(doc, outer, pair, _nested(path[depth + 1 :], entry), key_column, style)
            return
    if node.kind == "list":
        yield from _into(doc, node, None, dict(entry), style)


def _into(doc: Document, parent: Node, key: str | None, value: Any, style: _Style) -> Iterator[list[Splice]]:
    """Append a member to a list or map that has some, or that is in brackets."""
    if parent.flow:
        yield _into_brackets(doc, parent, ("" if key is None else _name(key, style) + ": ") + _flow(value, style), style)
        return
    first, last = parent.parts[0][0], parent.parts[-1][1]
    start = first.start if parent.kind == "map" else doc.dash(first)
    lines = _block([value] if key is None else {key: value}, doc.column(start), style)
    if parent is doc.root:
        yield [_lines(doc, doc.line_start(doc.close) if doc.close < len(doc.text) else doc.close, lines, style)]
    yield [_lines(doc, doc.line_after(last.end), lines, style)]
    if doc.starts_line(start):
        yield [_lines(doc, doc.line_start(start), lines, style)]


def _below(
    doc: Document, outer: Node, pair: tuple[Node, Node], value: Any, column: int, style: _Style
) -> Iterator[list[Splice]]:
    """Give a key that has nothing its first value."""
    colon, old = doc.colon(pair), pair[1]
    if colon is None:
        return
    if not outer.flow and _EMPTY.fullmatch(doc.text, colon + 1, old.end):
        gone = [Splice(colon + 1, old.end, "")] if colon + 1 < old.end else []
        under = column + (style.offset if isinstance(value, list) else style.unit)
        yield [*gone, _lines(doc, doc.line_after(old.end), _block(value, under, style), style)]
    yield [Splice(colon + 1, max(old.end, colon + 1), " " + _flow(value, style))]


def _into_brackets(doc: Document, parent: Node, new: str, style: _Style) -> list[Splice]:
    text, close = doc.text, parent.end - 1
    if not parent.parts:
        opened = text.index("[" if parent.kind == "list" else "{", parent.start)
        return [Splice(opened + 1, opened + 1, new)]
    first, last = parent.parts[-1]
    end = max(first.end, last.end, (doc.colon((first, last)) or 0) + 1 if parent.kind == "map" else 0)
    comma = doc.comma(end, close)
    place, lead = end if comma is None else comma + 1, " "
    if doc.starts_line(first.start):
        lead = style.newline + " " * doc.column(first.start)
        for start, after in doc.comments_in(place, close):
            if NEWLINE.search(text, place, start):
                break
            place = after
    if comma is not None:
        return [Splice(place, place, lead + new + ",")]
    if place == end:
        return [Splice(end, end, "," + lead + new)]
    return [Splice(end, end, ","), Splice(place, place, lead + new)]


def _cut_from_brackets(doc: Document, parent: Node, index: int) -> list[Splice]:
    members, close = parent.parts, parent.end - 1
    first, last = members[index]
    comma = doc.comma(last.end, members[index + 1][0].start if index + 1 < len(members) else close)
    before = doc.comma(members[index - 1][1].end, first.start) if index else None
    opened = before + 1 if before is not None else doc.text.index("[" if parent.kind == "list" else "{", parent.start) + 1
    comments = doc.comments_in(opened, first.start)
    lead = comments[-1][1] if comments else opened
    if index + 1 < len(members) and comma is not None and not index and not comments and not doc.comments_in(comma, members[1][0].start):
        return [Splice(first.start, members[1][0].start, "")]
    edits = [Splice(lead, last.end, "")]
    if comma is not None:
        edits.append(Splice(comma, comma + 1, ""))
    elif before is not None:
        edits.append(Splice(before, before + 1, ""))
    return edits


def _lines(doc: Document, place: int, lines: Sequence[str], style: _Style) -> Splice:
    """Whole lines at the beginning of a line, or at the end of a text whose last line has no end."""
    if place == len(doc.text) and place and not _ends_line(doc.text):
        started = bool(doc.text.removeprefix("\ufeff"))
        return Splice(place, place, (style.newline if started else "") + style.newline.join(lines))
    return Splice(place, place, "".join(line + style.newline for line in lines))


def _block(value: Any, column: int, style: _Style) -> list[str]:
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
        lines += [f"{space}{key}:", *_block(inner, under, style)]
    return lines


def _flow(value: Any, style: _Style) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, style) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_name(key, style)}: {_flow(inner, style)}" for key, inner in value.items()) + "}"
    return _scalar(value)


def _scalar(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _name(key: str, style: _Style) -> str:
    return f'"{key}"' if style.quoted else key


def _nested(path: Sequence[str], entry: Entry) -> Any:
    made: Any = [dict(entry)]
    for key in reversed(path):
        made = {key: made}
    return made


def _is_nothing(doc: Document, node: Node) -> bool:
    return node.kind == "scalar" and bool(_EMPTY.fullmatch(doc.text, node.start, node.end))


def _style(doc: Document) -> _Style:
    newline, unit, offset = _LINE_END.search(doc.text), 0, -1
    for node in doc.nodes():
        for key, value in node.pairs if not node.flow else ():
            if value.flow or not value.parts or not doc.starts_line(key.start):
                continue
            first = value.parts[0][0]
            deeper = doc.column(first.start if value.kind == "map" else doc.dash(first)) - doc.column(key.start)
            if value.kind == "map":
                unit = unit or deeper
            elif offset < 0:
                offset = deeper
    braces = next((n for n in doc.nodes() if n.flow and n.kind == "map" and n.pairs), None)
    quoted = braces is not None and doc.text.startswith('"', braces.pairs[0][0].start)
    unit = unit if unit > 0 else 2
    return _Style(newline.group() if newline else "\n", unit, offset if offset >= 0 else unit, quoted)


def _kept_comment(doc: Document, comment: tuple[int, int], column: int) -> str:
    """A comment of lines that go, on a line of its own."""
    start, end = comment
    if doc.starts_line(start):
        return doc.text[doc.line_start(start) : doc.line_after(end)]
    ending = NEWLINE.match(doc.text, end)
    return " " * column + doc.text[start:end] + (ending.group() if ending else "")


def _ends_line(text: str) -> bool:
    return text.endswith(("\n", "\r", "\x85", "\u2028", "\u2029"))

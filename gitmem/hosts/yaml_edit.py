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
from typing import Any

from gitmem.errors import Refused
from gitmem.hosts.json_edit import Splice, splice
from gitmem.hosts.yaml_read import NEWLINE, Document, Node, parse
from gitmem.hosts.yaml_write import Style, block, flow, name, style_of

Entry = Mapping[str, str | int]
_EMPTY = re.compile(r"\s*(?:null|Null|NULL|~|\[[ \t]*\]|\{[ \t]*\})?\s*")


def insert(text: str, path: Sequence[str], entry: Entry) -> list[Splice]:
    """Append `entry` to the list at `path`, making missing maps and the list on the way.

    New text follows the file: its line ends, its indentation, its brackets. A value of nothing, `null`, `[]` or `{}`
    counts as an empty list or map.

    Raises:
        Refused: malformed text; something on the path that is no map, or no list at its end; or a place where
            the entry cannot stand without changing something else, as in a list that another key shares.
    """
    doc = parse(text)
    _require(doc.value, path)
    try:
        wanted = _appended(doc.value, path, entry)
        for edits in _ways(doc, path, entry):
            if reads_as(splice(text, edits), wanted):
                return edits
    except RecursionError as error:
        raise Refused("cannot edit a file whose values hold themselves", ["edit it by hand"]) from error
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
    edits = [Splice(begin, end, kept)]
    if len(parent.parts) == 1 and len(trail) > 1 and blank:
        key, value = at(doc, trail[:-2]).parts[trail[-2]]
        behind = doc.colon((key, value))
        own = (
            doc.text[value.start : start].split("\n")[0].split("#")[0].rstrip() if value.start < start else ""
        )
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
        return [*(value or ()), dict(entry)]
    return {**(value or {}), path[0]: _appended((value or {}).get(path[0]), path[1:], entry)}


def _require(value: Any, path: Sequence[str]) -> None:
    """Refuse a path that leads through anything but maps, to anything but a list."""
    for depth in range(len(path) + 1):
        kind, name = (dict, "map") if depth < len(path) else (list, "list")
        if value is None or value == [] or value == {}:
            return
        if not isinstance(value, kind):
            where = f"`{'.'.join(path[:depth])}`" if depth else "the whole"
            raise Refused(f"{where} is not a {name}", ["edit it by hand"])
        value = value.get(path[depth]) if depth < len(path) else None


def _ways(doc: Document, path: Sequence[str], entry: Entry) -> Iterator[list[Splice]]:
    """The places where the entry could go, the one that looks best first."""
    style, node, key_column, made = style_of(doc), doc.root, -1, _nested(path, entry)
    if node is None or _is_nothing(doc, node):
        place = doc.line_start(doc.close) if doc.close < len(doc.text) else doc.close
        yield [_lines(doc, place, block(made, 0, style), style)]
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
        yield from _into(doc, node, None, dict(entry), style, key_column + 1)


def _into(
    doc: Document, parent: Node, key: str | None, value: Any, style: Style, least: int = 0
) -> Iterator[list[Splice]]:
    """Append a member to a list or map that has some, or that is in brackets.

    Args:
        least: comments below the last member belong to the list from this column on.
    """
    if parent.flow:
        yield _into_brackets(
            doc, parent, ("" if key is None else name(key, style) + ": ") + flow(value, style), style
        )
        return
    first, last = parent.parts[0][0], parent.parts[-1][1]
    start = first.start if parent.kind == "map" else doc.dash(first)
    lines = block([value] if key is None else {key: value}, doc.column(start), style)
    if parent is doc.root:
        yield [
            _lines(doc, doc.line_start(doc.close) if doc.close < len(doc.text) else doc.close, lines, style)
        ]
    yield [
        _lines(
            doc, _below_comments(doc, doc.line_after(last.end), max(least, doc.column(start))), lines, style
        )
    ]
    if doc.starts_line(start):
        yield [_lines(doc, doc.line_start(start), lines, style)]


def _below_comments(doc: Document, place: int, least: int) -> int:
    """Behind the comments that follow on lines of their own and are indented like what stands above them."""
    for start, end in doc.comments_in(place, len(doc.text)):
        if doc.text[place:start].strip() or doc.column(start) < least or not doc.starts_line(start):
            break
        place = doc.line_after(end)
    return place


def _below(
    doc: Document, outer: Node, pair: tuple[Node, Node], value: Any, column: int, style: Style
) -> Iterator[list[Splice]]:
    """Give a key that has nothing its first value."""
    colon, old = doc.colon(pair), pair[1]
    if colon is None:
        return
    if not outer.flow and _EMPTY.fullmatch(doc.text, colon + 1, old.end):
        gone = [Splice(colon + 1, old.end, "")] if colon + 1 < old.end else []
        under = column + (style.offset if isinstance(value, list) else style.unit)
        yield [*gone, _lines(doc, doc.line_after(old.end), block(value, under, style), style)]
    yield [Splice(colon + 1, max(old.end, colon + 1), " " + flow(value, style))]


def _into_brackets(doc: Document, parent: Node, new: str, style: Style) -> list[Splice]:
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
    text, members, close = doc.text, parent.parts, parent.end - 1
    first, last = members[index]
    following = members[index + 1][0].start if index + 1 < len(members) else close
    comma = doc.comma(last.end, following)
    before = doc.comma(members[index - 1][1].end, first.start) if index else None
    opened = parent.start if before is None else before
    if before is None:
        opened = text.index("[" if parent.kind == "list" else "{", parent.start)
    if not index and comma is not None and not NEWLINE.search(text, opened, following):
        return [Splice(first.start, following, "")]
    comments = doc.comments_in(opened, first.start)
    lead, after = comments[-1][1] if comments else opened + 1, last.end if comma is None else comma + 1
    if comments and not NEWLINE.match(text, after + len(text[after:]) - len(text[after:].lstrip(" "))):
        lead = doc.line_after(lead)  # what follows must not slip into the comment
    edits = [Splice(lead, last.end, "")]
    if comma is not None:
        edits.append(Splice(comma, comma + 1, ""))
    elif before is not None:
        edits.append(Splice(before, before + 1, ""))
    return edits


def _lines(doc: Document, place: int, lines: Sequence[str], style: Style) -> Splice:
    """Whole lines at the beginning of a line, or at the end of a text whose last line has no end."""
    if place == len(doc.text) and place and not _ends_line(doc.text):
        started = bool(doc.text.removeprefix("\ufeff"))
        return Splice(place, place, (style.newline if started else "") + style.newline.join(lines))
    return Splice(place, place, "".join(line + style.newline for line in lines))


def _nested(path: Sequence[str], entry: Entry) -> Any:
    made: Any = [dict(entry)]
    for key in reversed(path):
        made = {key: made}
    return made


def _is_nothing(doc: Document, node: Node) -> bool:
    return node.kind == "scalar" and bool(_EMPTY.fullmatch(doc.text, node.start, node.end))


def _kept_comment(doc: Document, comment: tuple[int, int], column: int) -> str:
    """A comment of lines that go, on a line of its own."""
    start, end = comment
    if doc.starts_line(start):
        return doc.text[doc.line_start(start) : doc.line_after(end)]
    ending = NEWLINE.match(doc.text, end)
    return " " * column + doc.text[start:end] + (ending.group() if ending else "")


def _ends_line(text: str) -> bool:
    return text.endswith(("\n", "\r", "\x85", "\u2028", "\u2029"))

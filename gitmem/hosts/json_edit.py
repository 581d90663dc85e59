"""Edit JSON text in place, keeping every byte that the edit is not about.

In: the text of a JSON file as people keep it (comments `//` and `/* */`, trailing commas, any
indentation, LF or CRLF, a byte order mark, duplicate keys). Out: splices on that text. The module
knows nothing of files or of what the keys mean.

Why it is written here: of the Python libraries looked at, `json-five` gives back the bytes it read
but has no edits that format themselves, accepts the wider JSON5 and installs the module `json5`,
which another distribution owns; `jsonc-edit` needs Node.js; `jsoncgx` is GPL and refuses trailing
commas; `jsonc-parser`, `json-with-comments`, `commentjson` and `json5` drop the comments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.errors import Refused
from gitmem.hosts.json_read import NEWLINE, SPACE, Document, Node, parse, where

_BLANKS = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class Splice:
    """Replace `text[start:end]` by `new`; positions in characters."""

    start: int
    end: int
    new: str


def splice(text: str, edits: Sequence[Splice]) -> str:
    """Apply edits that do not overlap; all positions are those of `text` before any of them."""
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text


def inverse(text: str, edits: Sequence[Splice]) -> list[Splice]:
    """The edits that turn `splice(text, edits)` back into `text`."""
    shift, back = 0, []
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        start = edit.start + shift
        back.append(Splice(start, start + len(edit.new), text[edit.start : edit.end]))
        shift += len(edit.new) - (edit.end - edit.start)
    return back


def insert(text: str, path: Sequence[str], value: Any) -> list[Splice]:
    """Append `value` to the array at `path`, making missing objects and the array on the way.

    New text follows the file: its line ends, its indentation, its one-line or many-line layout.
    A text of white space only counts as an empty file and gets its first object.

    Raises:
        Refused: malformed text, or something on the path that is no object, or no array at its end.
    """
    if not text.strip(SPACE + "\ufeff"):
        made = _nest(path, value)
        return [Splice(len(text), len(text), _render(made, "", _Style("\n", "  ", " ", False)) + "\n")]
    doc = parse(text)
    node = doc.root
    for depth, key in enumerate(path):
        _require(doc, node, "object", path[:depth])
        child = node.get(key)
        if child is None:
            return _append(doc, node, key, _nest(path[depth + 1 :], value))
        node = child
    _require(doc, node, "array", path)
    return _append(doc, node, None, value)


def remove(doc: Document, path: Sequence[int], blank: str = "") -> list[Splice]:
    """Cut out the item at `path` (positions from the root) with its comma and its line.

    Comments around it stay. `blank` is the white space that an emptied container is left with.
    """
    text, parent, index = doc.text, doc.at(path[:-1]), path[-1]
    item = parent.items[index]
    if len(parent.items) == 1 and not [
        c for c in doc.comments_in(parent.start, parent.end) if not item.start <= c[0] < item.end
    ]:
        return [Splice(parent.start + 1, parent.end - 1, blank)]
    gone = [(item.end, item.after)] if item.comma is None or item.comma == item.end else []
    if item.comma is not None and item.comma != item.end:
        gone.append((item.comma, item.comma + 1))
    is_last = index == len(parent.items) - 1
    if is_last and index and item.comma is None:  # the comma before it separated it from nothing else
        comma = parent.items[index - 1].comma
        gone.append((comma, comma + 1))  # type: ignore[arg-type]
    before = parent.items[index - 1].after if index else parent.start + 1
    comments = doc.comments_in(before, item.start)
    lead = comments[-1][1] if comments else before
    tail = _BLANKS.match(text, item.after).end()  # type: ignore[union-attr]
    # a comment between the item and its comma stays, and so is what comes next
    follows = tail if item.comma in (None, item.end) else _BLANKS.match(text, item.end).end()  # type: ignore[union-attr]
    if not index and not is_last and not doc.comments_in(item.end, parent.items[1].start):
        return [Splice(item.start, parent.items[1].start, "")]
    if text.startswith(("//", "/*"), tail) and NEWLINE.search(text, lead, item.start):
        gone += [(item.start, item.end), (item.after, tail)]  # the comment keeps its line
    elif comments and text.startswith("//", comments[-1][0]) and not NEWLINE.match(text, follows):
        # what follows must not slip into the line comment
        gone.append((NEWLINE.match(text, lead).end(), item.end))  # type: ignore[union-attr]
    else:
        gone.append((lead, item.end))
    return [Splice(start, end, "") for start, end in gone if start < end]


@dataclass(frozen=True, slots=True)
class _Style:
    newline: str
    unit: str
    gap: str  # behind a colon, and behind a comma within a line
    one_line: bool


def _style(doc: Document) -> _Style:
    text, newline, unit, gap = doc.text, NEWLINE.search(doc.text), "  ", " "
    for node in _containers(doc.root):
        if node.items and _starts_line(text, node.items[0].start):
            outer, inner = _indent(text, node.start), _indent(text, node.items[0].start)
            if inner.startswith(outer) and inner != outer:
                unit = inner[len(outer) :]
                break
    members = next((n.items for n in _containers(doc.root) if n.kind == "object" and n.items), ())
    if members and not members[0].colon_gap:
        gap = ""
    one_line = bool(doc.root.items) and not NEWLINE.search(text, doc.root.start, doc.root.end)
    return _Style(newline.group() if newline else "\n", unit, gap, one_line)


def _containers(node: Node) -> Iterator[Node]:
    if node.kind != "scalar":
        yield node
        for item in node.items:
            yield from _containers(item.node)


def _append(doc: Document, parent: Node, key: str | None, value: Any) -> list[Splice]:
    """Put one more item at the end of `parent`, behind the comments that share the last item's line."""
    text, style = doc.text, _style(doc)
    last = parent.items[-1] if parent.items else None
    many_lines = _starts_line(text, last.start) if last else not style.one_line
    closing = _indent(text, parent.start)
    indent = _indent(text, last.start) if last and many_lines else closing + style.unit
    inside = doc.comments_in(parent.start, parent.end)
    if last is None:
        place = inside[-1][1] if inside else parent.start + 1
    else:
        place = last.after
        for start, end in doc.comments_in(last.after, parent.end):
            if NEWLINE.search(text, place, start):
                break
            place = end
    behind_line_comment = any(end == place and text.startswith("//", start) for start, end in inside)
    many_lines = many_lines or behind_line_comment
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ":" + style.gap
    new = name + _render(value, indent if many_lines else None, style)
    lead = style.newline + indent if many_lines else style.gap
    if last is None and not inside:
        new = lead + new + style.newline + closing if many_lines else new
        return [Splice(place, parent.end - 1, new)]
    if last is None:
        return [Splice(place, place, lead + new)]
    if last.comma is not None:
        return [Splice(place, place, lead + new + ",")]
    if place == last.end:
        return [Splice(place, place, "," + lead + new)]
    return [Splice(last.end, last.end, ","), Splice(place, place, lead + new)]


def _render(value: Any, indent: str | None, style: _Style) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False, separators=("," + style.gap, ":" + style.gap))
    lines = json.dumps(value, ensure_ascii=False, indent=style.unit, separators=(",", ":" + style.gap))
    return lines.replace("\n", style.newline + indent)


def _nest(path: Sequence[str], value: Any) -> Any:
    made: Any = [value]
    for key in reversed(path):
        made = {key: made}
    return made


def _require(doc: Document, node: Node, kind: str, path: Sequence[str]) -> None:
    if node.kind != kind:
        name = f"`{'.'.join(path)}`" if path else "the whole"
        raise Refused(f"{name} is not an {kind} at {where(doc.text, node.start)}")


def _line_start(text: str, pos: int) -> int:
    return max(text.rfind("\n", 0, pos), text.rfind("\r", 0, pos)) + 1


def _indent(text: str, pos: int) -> str:
    """The white space that the line of `pos` begins with."""
    line = text[_line_start(text, pos) : pos].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _starts_line(text: str, pos: int) -> bool:
    start = _line_start(text, pos)
    return start > 0 and not text[start:pos].strip(" \t")

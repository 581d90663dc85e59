"""Decision records, from a JSON array, JSON lines, or a folder of Markdown files, with their superseded-by chains.

A record that was rejected, withdrawn or deferred ended on its own date; so did one that is said to be superseded when
its successor is not in the same project. Edges join records of one project only, and never in a circle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gitmem.errors import FormatError
from gitmem.imports import adr, dates
from gitmem.imports.entry import NEVER, Entry, LeftOut, Reading, make, one_line, says_something, tidy
from gitmem.imports.record import Record

_ENDED = re.compile(
    r"(reject|withdraw|deferr|declin|abandon|cancel|won'?t|否决|拒绝|撤回|搁置|推迟|放弃)", re.IGNORECASE
)
_REPLACED = re.compile(r"(supersed|replac|remov|obsolet|deprecat|取代|废弃|废止|替代)", re.IGNORECASE)


def read_json(data: bytes, name: str = "the file") -> Reading:
    """Records of a JSON array, of an object that holds one, or of JSON lines. Keys it does not know are ignored.

    Raises:
        FormatError: it is none of these.
    """
    records: list[Record] = []
    left_out: list[LeftOut] = []
    for number, item in enumerate(_items(data, name), 1):
        found = _record(item)
        if isinstance(found, Record):
            records.append(found)
        else:
            left_out.append(LeftOut(f"record {number}", found))
    reading = entries_of(records)
    return Reading(reading.entries, tuple(left_out) + reading.left_out)


def read_markdown(files: Mapping[str, bytes], project: str | None = None) -> Reading:
    """Records of a folder, given as path below it -> content; the file's name without `.md` is its id."""
    records: list[Record] = []
    left_out: list[LeftOut] = []
    for name, data in sorted(files.items()):
        found = adr.record(name, data, project)
        if isinstance(found, Record):
            records.append(found)
        elif found:
            left_out.append(LeftOut(name, found))
    ids = {record.id for record in records}
    records = [
        replace(
            record,
            superseded_by=tuple(adr.resolve(one, ids) for one in record.superseded_by),
            supersedes=tuple(adr.resolve(one, ids) for one in record.supersedes),
        )
        for record in records
    ]
    reading = entries_of(records)
    return Reading(reading.entries, tuple(left_out) + reading.left_out)


def entries_of(records: Iterable[Record]) -> Reading:
    """Records as entries, told apart by project and id."""
    kept: dict[tuple[str | None, str], Record] = {}
    left_out: list[LeftOut] = []
    for record in records:
        if (record.project, record.id) in kept:
            left_out.append(
                LeftOut(
                    record.id,
                    f"a second record of this id in `{record.project or 'the same project'}`: {record.title}",
                )
            )
        else:
            kept[record.project, record.id] = record
    edges, notes = _edges(kept)
    successors = {old for olds in edges.values() for old in olds}
    entries = [
        _entry(place, record, edges.get(place, []), place in successors, notes.get(place, []))
        for place, record in kept.items()
    ]
    return Reading(tuple(entries), tuple(left_out))


Place = tuple[str | None, str]


def _edges(records: dict[Place, Record]) -> tuple[dict[Place, list[Place]], dict[Place, list[str]]]:
    """`successor -> predecessors` within projects and without circles, and what was dropped."""
    edges: dict[Place, list[Place]] = {}
    notes: dict[Place, list[str]] = {}
    elsewhere: dict[str, list[str]] = {}
    for project, id_ in records:
        elsewhere.setdefault(id_, []).append(project or "no project")
    for place, record in records.items():
        pairs = [(place, (record.project, other), other) for other in record.superseded_by]
        pairs += [((record.project, other), place, other) for other in record.supersedes]
        for old, new, named in pairs:
            if old not in records or new not in records:
                where = f"is of `{elsewhere[named][0]}`" if named in elsewhere else "is not among the records"
                notes.setdefault(place, []).append(f"`{named}` {where}: the edge to it is left out")
            elif old in edges.get(new, ()):
                continue
            elif old == new or _leads(edges, old, new):
                notes.setdefault(place, []).append(
                    f"`{old[1]}` and `{new[1]}` would replace each other in a circle: the edge is left out"
                )
            else:
                edges.setdefault(new, []).append(old)
    return edges, notes


def _leads(edges: dict[Place, list[Place]], start: Place, goal: Place) -> bool:
    """Whether `start` replaces `goal` over some chain."""
    queue, seen = [start], set()
    while queue:
        current = queue.pop()
        if current == goal:
            return True
        if current not in seen:
            seen.add(current)
            queue.extend(edges.get(current, ()))
    return False


def _entry(place: Place, record: Record, replaces: list[Place], replaced: bool, notes: list[str]) -> Entry:
    day = dates.day(record.created) if record.created else None
    if day is None:
        notes = [*notes, f"`{record.created}` is no date" if record.created else "it has no date"]
    over = is_over(record.status)
    replaced_elsewhere = not over and says_replaced(record.status)
    title = one_line(record.title)
    text = tidy(record.text).strip()
    document = f"{title}\n\n{text}".strip()
    facts = [
        record.id,
        *(
            filter(
                None,
                [f"status {one_line(record.status)}" if record.status else "", f"dated {day}" if day else ""],
            )
        ),
    ]
    return make(
        place[1],
        document,
        conclusion=title,
        body=f"{text}\n\n## Record\n\n{', '.join(facts)}".strip(),
        also=(record.id[:200],) if record.id not in title else (),
        type="decision",
        valid_from=day,
        expires=NEVER,
        ended=over or (replaced_elsewhere and not replaced),
        ended_unless_replaced=replaced_elsewhere and replaced,
        supersedes_keys=tuple(old for _, old in replaces),
        project_name=record.project,
        problems=tuple(notes),
    )


def is_over(status: str) -> bool:
    """Whether a record of this status holds no longer, whatever came after it."""
    # a template left as it was (`draft|accepted|rejected`) names every status and means none
    return "|" not in status and bool(_ENDED.search(status))


def says_replaced(status: str) -> bool:
    """Whether the status says that something else took its place."""
    return "|" not in status and bool(_REPLACED.search(status))


def _record(item: Any) -> Record | str:
    if not isinstance(item, dict):
        return "it is no object"
    id_, title, text = (_text(item.get(key)) for key in ("id", "title", "text"))
    if not id_:
        return f"it has no id: {title[:60]}" if title else "it has no id"
    title = title or one_line(text)[:120]
    if not says_something(title):
        return f"`{id_}` has no title"
    project = one_line(_text(item.get("project"))) or None
    return Record(
        one_line(id_), title, text, project, _text(item.get("status")), _text(item.get("created")),
        _ids(item.get("superseded_by")), _ids(item.get("supersedes")),
    )  # fmt: skip


def _text(value: Any) -> str:
    """A value as text; what says that there is none is none."""
    if value is None or isinstance(value, (dict, list, bool)):
        return ""
    text = str(value).strip()
    return "" if text.lower() in ("none", "null") else text


def _ids(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(text for item in items if (text := one_line(_text(item)))))


def _items(data: bytes, name: str) -> list[Any]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"`{name}` is not UTF-8", data.count(b"\n", 0, error.start) + 1) from error
    try:
        value = json.loads(text)
    except ValueError as whole:
        return _lines(text, name, whole)
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        return lists[0] if "id" not in value and len(lists) == 1 else [value]
    if isinstance(value, list):
        return value
    raise FormatError(
        f"`{name}` holds no records",
        1,
        ["an array, or one object a line, with id, project, title, text, status, created, superseded_by"],
    )


def _lines(text: str, name: str, whole: ValueError) -> list[Any]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(json.loads(line))
        except ValueError as error:
            fault = error if found else whole
            at = number if found else getattr(whole, "lineno", 1)
            raise FormatError(f"`{name}`:{at} is no JSON: {getattr(fault, 'msg', fault)}", at) from error
    return found

"""One Markdown decision record: title, status, date and successors, in the forms that such folders use."""

from __future__ import annotations

import re

from gitmem.imports import lenient
from gitmem.imports.blocks import without_comments
from gitmem.imports.entry import one_line, says_something
from gitmem.imports.record import Record

_TITLE = re.compile(r"^#\s+(.+?)\s*#*\s*$", re.MULTILINE)
_SETEXT = re.compile(r"^(\S.*)\n=+\s*$", re.MULTILINE)
_NUMBER = re.compile(
    r"^(?:(?:ADR|RFC|DR)[-\s#]*)?\d{1,5}\s*[-.:：)]\s*|^(?:ADR|RFC|DR)[-\s#]*\d{1,5}\s+", re.IGNORECASE
)
_FIELD = r"^[ \t]*(?:[-*+][ \t]+)?\**(?:{names})\**[ \t]*[:：][ \t]*\**[ \t]*(.+)$"
_STATUS = re.compile(_FIELD.format(names="status|状态"), re.IGNORECASE | re.MULTILINE)
_DATE = re.compile(_FIELD.format(names="date|created|decided|日期"), re.IGNORECASE | re.MULTILINE)
_STATUS_SECTION = re.compile(
    r"^#{2,4}[ \t]*(?:status|状态)[ \t]*#*[ \t]*\n(.*?)(?=^#{1,6}\s|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\[[^\]]*\]\(<?([^)>\s#]+)[^)]*\)")
_BY = re.compile(r"(?:superse[cd]ed|replaced|obsoleted)[ \t-]+by|取代者|(?:已)?被", re.IGNORECASE)
_OVER = re.compile(r"(?<!by )\b(?:supersedes|replaces|obsoletes)\b|^取代", re.IGNORECASE)
_NAME = re.compile(r"\b((?:ADR|RFC)[-\s]?\d+|\d{3,5}(?:-[a-z0-9-]+)?)\b", re.IGNORECASE)
_SKIP = frozenset(
    {"readme", "index", "template", "adr-template", "0000-template", "toc", "changelog", "contributing"}
)


def record(name: str, data: bytes, project: str | None) -> Record | str:
    """The record in a file, or why it is none; an empty text for files that only accompany records.

    Args:
        name: the file's path below its folder.
    """
    stem = name.rsplit("/", 1)[-1].removesuffix(".md")
    if not name.endswith(".md") or stem.lower() in _SKIP:
        return ""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return "it is not UTF-8"
    meta, body = lenient.split(text)
    body = without_comments(body).strip("\n")
    title = lenient.text_of(meta, "title") or _title(body)
    status = lenient.text_of(meta, "status") or _status(body)
    if not title or not says_something(title):
        return "it has no title"
    if not status and not re.match(r"(?:adr|rfc|dr)?[-_]?\d+", stem, re.IGNORECASE):
        return "it has neither a status nor a number: no decision record"
    created = lenient.text_of(meta, "date", "created")
    if not created and (found := _DATE.search(body)):
        created = one_line(found[1])
    by, over = _edges(status)
    by += [
        _id(one) for one in lenient.list_of(meta, "superseded_by") + lenient.list_of(meta, "superseded-by")
    ]
    over += [_id(one) for one in lenient.list_of(meta, "supersedes")]
    return Record(
        stem,
        title,
        _text(body),
        project,
        _plain(status),
        created or stem[:10],
        tuple(dict.fromkeys(by)),
        tuple(dict.fromkeys(over)),
    )


def resolve(named: str, ids: set[str]) -> str:
    """The id that a reference means: the file itself, or the one file that begins with its number."""
    if named in ids:
        return named
    digits = re.search(r"\d+", named)
    if digits:
        same = [
            one for one in ids if (at := re.search(r"\d+", one)) and int(at.group()) == int(digits.group())
        ]
        if len(same) == 1:
            return same[0]
    return named


def _title(body: str) -> str:
    found = _TITLE.search(body) or _SETEXT.search(body)
    return one_line(_NUMBER.sub("", found[1])) if found else ""


def _status(body: str) -> str:
    """Every line of the status section, or the line that begins with the word."""
    section = _STATUS_SECTION.search(body)
    if section:
        return section[1].strip()
    found = _STATUS.search(body)
    return found[1].strip() if found else ""


def _plain(status: str) -> str:
    return one_line(_LINK.sub(lambda m: m.group().split("]")[0].lstrip("["), status)).strip("*_ ")[:200]


def _edges(status: str) -> tuple[list[str], list[str]]:
    """Who replaces this record, and what it replaces, as its status says."""
    by: list[str] = []
    over: list[str] = []
    for line in status.split("\n"):
        side = by if _BY.search(line) else over if _OVER.search(line) else None
        if side is None:
            continue
        links = [_id(match[1]) for match in _LINK.finditer(line) if match[1].endswith(".md")]
        if not links:
            start = (_BY.search(line) or _OVER.search(line)).end()  # type: ignore[union-attr]
            links = [
                match[1]
                for match in _NAME.finditer(_LINK.sub(lambda m: m.group().split("]")[0][1:], line[start:]))
            ]
        side.extend(links)
    return by, over


def _id(reference: str) -> str:
    return reference.strip().rsplit("/", 1)[-1].split("#")[0].removesuffix(".md")


def _text(body: str) -> str:
    """The record without its title line."""
    return _SETEXT.sub("", _TITLE.sub("", body, count=1), count=1).strip("\n")

"""A block of ours in a text file that people write too, such as AGENTS.md: put in, found again, taken out.

In: the text of a file, line ends and byte order mark as they are (None: there is no such file). Out: new text and a
note that tells how to undo: places and hashes, never the person's words.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TypedDict

_NEWLINE = re.compile(r"\r\n|\n|\r")
_BOM = "\ufeff"


class Note(TypedDict):
    """How to undo. Plain JSON; keep it until the block is taken out."""

    version: int
    created: bool  # there was no file
    lead: str  # what was written before the block to keep it apart
    block_sha256: str


@dataclass(frozen=True, slots=True)
class Block:
    """Our lines between two marker lines. `begin`, `end`: the marker lines, stable for ever."""

    begin: str
    end: str
    lines: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.lines) + 2

    def text(self, newline: str) -> str:
        return newline.join((self.begin, *self.lines, self.end)) + newline


def put(block: Block, text: str | None, note: Note | None = None) -> tuple[str, Note | None]:
    """The text with the block: at its end, or where an older one of ours stands.

    Returns:
        The text, and the note; `note` itself when nothing had to be done.
    """
    old = text or ""
    found = _find(block, old)
    newline = _newline(old)
    if found is not None:
        if stands(block, old):
            return old, note
        start, end = found
        theirs = _theirs(block, old[start:end], note)
        new = old[:start] + block.text(newline) + theirs + old[end:]
        lead, created = (note["lead"], note["created"]) if note else ("", False)
        return new, _note(block, created, lead)
    lead = "" if not old.strip(_BOM) or _ends_line(old) else newline
    if not _is_blank(old):
        lead += newline
    new = old + lead + block.text(newline)
    return new, _note(block, text is None, lead)


def take(block: Block, text: str | None, note: Note | None = None) -> str | None:
    """The text without the block.

    Lines that somebody wrote between the markers stay. Byte for byte the text of before `put`, if nothing else
    was changed; with other edits, every other line stays as it is.

    Returns:
        None: nothing is left of a file that we made.
    """
    if text is None or (found := _find(block, text)) is None:
        return text
    start, end = found
    before, inside, after = text[:start], text[start:end], text[end:]
    kept = _theirs(block, inside, note)
    # an editor may have changed all line ends since
    newline = _newline(inside)
    if note:
        lead = newline * len(_NEWLINE.findall(note["lead"]))
    else:
        lead = newline if before.endswith(newline * 2) else ""
    if lead and before.endswith(lead):
        before = before[: -len(lead)]
        if (kept or after) and before.strip(_BOM) and not _ends_line(before):
            # something was written behind us: it must not run on from the line before
            before += newline
    rest = before + kept + after
    return None if note and note["created"] and _is_blank(rest) else rest


def stands(block: Block, text: str | None) -> bool:
    """Whether the block stands there as we would write it now."""
    found = _find(block, text or "")
    return found is not None and _plain((text or "")[slice(*found)]) == _plain(block.text("\n"))


def _find(block: Block, text: str) -> tuple[int, int] | None:
    """From the beginning of the line of `begin` to behind the line of `end`; None without both."""
    begin = None
    for start, end in _lines(text):
        line = _bare(text[start:end])
        if line == block.begin:
            begin = start + (1 if text.startswith(_BOM, start) else 0)
        elif line == block.end and begin is not None:
            return begin, end
    return None


def _lines(text: str) -> list[tuple[int, int]]:
    """Where each line begins and ends, its line end included."""
    places, start = [], 0
    for match in _NEWLINE.finditer(text):
        places.append((start, match.end()))
        start = match.end()
    return [*places, (start, len(text))] if start < len(text) else places


def _theirs(block: Block, inside: str, note: Note | None) -> str:
    """What somebody wrote between the markers."""
    if note and _sha256(_plain(inside)) == note["block_sha256"]:
        return ""
    ours = {block.begin, block.end, *map(_bare, block.lines)}
    return "".join(inside[start:end] for start, end in _lines(inside) if _bare(inside[start:end]) not in ours)


def _bare(line: str) -> str:
    return line.strip(_BOM + " \t\r\n")


def _plain(text: str) -> str:
    """The words, whatever editors do to the white space at line ends."""
    return "\n".join(_bare(text[start:end]) for start, end in _lines(text))


def _newline(text: str) -> str:
    found = _NEWLINE.search(text)
    return found.group() if found else "\n"


def _ends_line(text: str) -> bool:
    return text.endswith(("\n", "\r"))


def _is_blank(text: str) -> bool:
    return not text.strip(_BOM + " \t\r\n")


def _note(block: Block, created: bool, lead: str) -> Note:
    return Note(version=1, created=created, lead=lead, block_sha256=_sha256(_plain(block.text("\n"))))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

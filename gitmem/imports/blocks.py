"""Markdown notes as blocks: a bullet with what is nested below it, or a paragraph. Text in, values out.

Only as much of Markdown as notes for agents use; what it does not know stays text and is never lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BULLET = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+•]|\d{1,3}[.)、])(?:[ \t]+|$)(?P<text>.*)")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_IMAGE_ONLY = re.compile(r"\s*(?:\[?!\[[^\]]*\]\([^)]*\)\]?(?:\([^)]*\))?\s*)+$")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """`text` without its bullet and indentation; `trail`: the headings above it, and the line that led in to its list."""

    text: str
    trail: tuple[str, ...]
    bullet: bool
    line: int


def blocks(text: str) -> list[Block]:
    """The bullets and paragraphs of a text, in order. A fence or a table stays with what precedes it."""
    return _Splitter().split(text)


def without_comments(text: str) -> str:
    """The text without HTML comments, those in fences and code spans apart; line numbers stay."""
    out = []
    for inside, part in by_fence(text):
        if inside:
            out.append(part)
            continue
        spans = code_spans(part)
        out.append(
            _COMMENT.sub(
                lambda m, spans=spans: (
                    m.group() if any(a <= m.start() < b for a, b in spans) else "\n" * m.group().count("\n")
                ),
                part,
            )
        )
    return "".join(out)


def by_fence(text: str) -> list[tuple[bool, str]]:
    """`(inside a code fence, part)`; the parts joined are the text, fence lines belong to the fence."""
    parts: list[tuple[bool, list[str]]] = [(False, [])]
    closing = ""
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        mark = _FENCE.match(line)
        if not closing and mark:
            closing = mark[1]
            parts.append((True, [line]))
        elif closing:
            parts[-1][1].append(line)
            if (
                mark
                and mark[1][0] == closing[0]
                and len(mark[1]) >= len(closing)
                and not line.strip(" \t\r\n" + closing[0])
            ):
                closing = ""
                parts.append((False, []))
        else:
            parts[-1][1].append(line)
    return [(inside, "".join(lines)) for inside, lines in parts if lines]


def code_spans(text: str) -> list[tuple[int, int]]:
    """Where code spans stand: a run of backticks up to the next run of the same length."""
    found, runs = [], list(re.finditer(r"`+", text))
    i = 0
    while i < len(runs):
        close = next(
            (j for j in range(i + 1, len(runs)) if len(runs[j].group()) == len(runs[i].group())), None
        )
        # a span does not reach over a blank line
        if close is None or "\n\n" in text[runs[i].start() : runs[close].end()]:
            i += 1
            continue
        found.append((runs[i].start(), runs[close].end()))
        i = close + 1
    return found


class _Splitter:
    def __init__(self) -> None:
        self.found: list[Block] = []
        self.headings: list[tuple[int, str]] = []
        self.lead = ""
        self.lines: list[str] = []
        self.start = 0
        self.bullet = False
        self.width = 0
        self.closing = ""
        self.blank = False

    def split(self, text: str) -> list[Block]:
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            self._line(number, line.rstrip())
        self._close()
        return self.found

    def _line(self, number: int, line: str) -> None:
        fence = _FENCE.match(line)
        if self.closing:
            self.lines.append(line)
            if fence and fence[1].startswith(self.closing):
                self.closing = ""
            return
        if fence:
            self._reopen(number)
            self.closing = fence[1]
            self._take(line)
            return
        heading = _HEADING.match(line)
        if heading:
            self._close()
            self.lead = ""
            level = len(heading[1])
            self.headings = [one for one in self.headings if one[0] < level] + [(level, heading[2])]
            return
        if not line.strip():
            self.blank = True
            return
        if _RULE.match(line) and not (self.lines and not self.bullet and not self.blank):
            self._close()
            self.lead = ""
            return
        if _IMAGE_ONLY.match(line):
            return
        bullet = BULLET.match(line)
        indent = len(line) - len(line.lstrip())
        if bullet and (not self.bullet or not self.lines or indent < self.width):
            self._begin_bullet(number, bullet, line)
        elif (self.lines and self.bullet and indent >= min(self.width, 2)) or (self.lines and not self.blank):
            self._take(line)
        elif line.lstrip().startswith("|") and self.found and not self.lines:
            self._reopen(number)
            self._take(line)
        else:
            if line.lstrip().startswith("|") and self.lines:
                self._take(line)
                return
            self._close()
            self.lead = ""
            self.lines, self.start, self.bullet = [line], number, False
        self.blank = False

    def _begin_bullet(self, number: int, bullet: re.Match[str], line: str) -> None:
        if self.lines and not self.bullet and self._leads_in():
            self.lead = " ".join(" ".join(self.lines).split())
            self.lines = []
        self._close()
        self.bullet, self.start = True, number
        self.width = len(bullet["indent"]) + 1
        self.lines = [line[bullet.start("text") :]]

    def _leads_in(self) -> bool:
        return len(self.lines) <= 3 and self.lines[-1].rstrip("*_ ").endswith((":", "："))

    def _take(self, line: str) -> None:
        if self.blank and self.lines:
            self.lines.append("")
        self.lines.append(line)
        self.blank = False

    def _reopen(self, number: int) -> None:
        """What follows belongs to the block before it, when one stands under the same heading."""
        if self.lines:
            return
        if self.found and self.found[-1].trail[: len(self.headings)] == tuple(
            title for _, title in self.headings
        ):
            last = self.found.pop()
            self.lines, self.start, self.bullet = [last.text], last.line, last.bullet
            self.blank = True
        else:
            self.lines, self.start, self.bullet = [], number, False
            self.blank = False

    def _close(self) -> None:
        text = _dedent(self.lines)
        if text.strip():
            trail = tuple(title for _, title in self.headings if title)
            if self.bullet and self.lead:
                trail = (*trail, self.lead)
            self.found.append(Block(text, trail, self.bullet, self.start))
        self.lines = []
        self.blank = False


def _dedent(lines: list[str]) -> str:
    """The first line as it is, the others without the indentation they share."""
    rest = [line for line in lines[1:] if line.strip()]
    shared = min((len(line) - len(line.lstrip(" ")) for line in rest), default=0)
    out = [lines[0].strip() if lines else ""] + [line[shared:] if line.strip() else "" for line in lines[1:]]
    return "\n".join(_unquoted(out)).strip("\n")


def _unquoted(lines: list[str]) -> list[str]:
    """A block quote without its marks."""
    if all(line.startswith(">") for line in lines if line):
        return [line.removeprefix(">").removeprefix(" ") for line in lines]
    return lines

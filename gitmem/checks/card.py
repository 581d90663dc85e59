"""One card by itself: its form, its place, its evidence, its safety. What recall asks of every card.

Nothing here depends on the registry or on other cards, so a verdict holds for a blob and its path for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gitmem.checks import evidence, safety
from gitmem.checks.problem import SAFETY, SCHEMA, Problem
from gitmem.errors import FormatError
from gitmem.git.objects import REGULAR
from gitmem.model import card as cards
from gitmem.model import source as sources
from gitmem.model.card import Card
from gitmem.model.frontmatter import Document

ReadSource = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The card (None when it cannot be read), its document, and what is wrong."""

    card: Card | None
    document: Document | None
    problems: tuple[Problem, ...]
    kinds: frozenset[str] = frozenset()

    @property
    def valid(self) -> bool:
        return self.card is not None and not any(p.severity == "error" for p in self.problems)


def judge(path: str, mode: str, data: bytes, read_source: ReadSource, with_safety: bool = True) -> Verdict:
    """Judge one card file. `read_source(path)` gives the bytes of a source of the same tree, or None.

    `with_safety` off is for recall: newer safety patterns refuse new cards and never silently kill old ones.
    """
    if mode != REGULAR:
        return Verdict(None, None, (Problem(path, 1, SCHEMA, f"{_kind(mode)}, not a regular file (100644)"),))
    card, faults, document = cards.read(data)
    problems = [Problem(path, fault.line, SCHEMA, fault.message, fault.hint) for fault in faults]
    kinds: frozenset[str] = frozenset()
    if card is not None:
        assert document is not None
        problems.extend(Problem(path, 1, SCHEMA, message) for message in cards.path_faults(path, card))
        found, kinds = evidence.judge(path, card, document, read_source)
        problems.extend(found)
    if with_safety and faults_are_readable(data):
        found_raw = scan(path, data, "card")
        problems.extend(found_raw)
        if card is not None and document is not None:
            problems.extend(_decoded(path, data, card, document, {one.message for one in found_raw}))
    return Verdict(card, document, tuple(problems), kinds)


def judge_source(path: str, mode: str, data: bytes) -> tuple[sources.Source | None, list[Problem]]:
    """Judge one source file."""
    if mode != REGULAR:
        return None, [Problem(path, 1, SCHEMA, f"{_kind(mode)}, not a regular file (100644)")]
    try:
        source = sources.parse(data)
    except FormatError as error:
        return None, [Problem(path, error.line or 1, SCHEMA, error.message, " ".join(error.hints))]
    problems = [Problem(path, 1, SCHEMA, message) for message in sources.path_faults(path, source)]
    problems.extend(scan(path, data, "source"))
    return source, problems


def scan(path: str, data: bytes, kind: str) -> list[Problem]:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return [
        Problem(path, found.line, SAFETY, found.what, found.hint, (), found.severity)
        for found in safety.scan(text, kind=kind)
    ]


def _decoded(path: str, data: bytes, card: Card, document: Document, known: set[str]) -> list[Problem]:
    """What the bytes do not show: an escape such as `\\u200b` or `\\x69` is a character once the YAML is read."""
    raw = data.decode("utf-8", "replace")
    values: list[tuple[tuple[str | int, ...], str]] = [(("conclusion",), card.conclusion or "")]
    values.extend((("also", i), text) for i, text in enumerate(card.also))
    values.extend((("tags", i), text) for i, text in enumerate(card.tags))
    values.extend((("evidence", i, "quote"), item.quote) for i, item in enumerate(card.evidence))
    values.extend(((key,), str(value)) for key, value in card.extra.items())
    return [
        Problem(path, document.line(where), SAFETY, found.what, found.hint, (), found.severity)
        for where, text in values
        if text not in raw
        for found in safety.scan(text, kind="card")
        if found.what not in known
    ]


def faults_are_readable(data: bytes) -> bool:
    return b"\0" not in data and len(data) <= 1 << 20


def _kind(mode: str) -> str:
    return {"120000": "a symbolic link", "160000": "a submodule", "100755": "an executable file"}.get(
        mode, f"mode {mode}"
    )

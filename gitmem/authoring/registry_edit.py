"""Change one entry of a registry file, leaving every other line, comment and order as it is."""

from __future__ import annotations

import re
from typing import Any

from gitmem.model import frontmatter

_KEY = re.compile(r"""^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s#:'"][^:]*)):(?:\s|$)""")


def put(text: str, name: str, entry: dict[str, Any]) -> str:
    """`text` with the top-level entry `name` set to `entry`; appended when it is new."""
    block = "\n".join(frontmatter.dump_yaml([(name, _texts(entry))])) + "\n"
    span = _span(text, name)
    if span is None:
        return (text if text.endswith("\n") or not text else text + "\n") + block
    return text[: span[0]] + block + text[span[1] :]


def drop(text: str, name: str) -> str:
    """`text` without the top-level entry `name`."""
    span = _span(text, name)
    return text if span is None else text[: span[0]] + text[span[1] :]


def _span(text: str, name: str) -> tuple[int, int] | None:
    """Where an entry begins and ends; comments behind its last line stay outside."""
    start = None
    end = 0
    at = 0
    # at line feeds alone: other separators may stand inside a quoted value
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        match = _KEY.match(line)
        if match and start is not None:
            break
        if match and next(group for group in match.groups() if group is not None).strip() == name:
            start = at
            end = at + len(line)
        elif start is not None and line.strip() and line[0] in " \t-":
            end = at + len(line)
        at += len(line)
    return None if start is None else (start, end)


def _texts(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        key: list(value) if isinstance(value, (list, tuple)) else str(value) for key, value in entry.items()
    }

"""Hermes' own memory: `MEMORY.md` (what the agent noted) and `USER.md` (what it knows of the person).

Entries are divided by a line that is only `§`; the sign inside a line is text.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.imports.entry import LeftOut, Reading, make, numbered, says_something, tidy

FILES = {"MEMORY.md": "fact", "USER.md": "preference"}


def read(files: Mapping[str, bytes]) -> Reading:
    """Entries of the two files, given as name -> content; locks, backups and archives beside them are not looked at."""
    entries, left_out = [], []
    for name, type_ in FILES.items():
        if name not in files:
            continue
        try:
            text = files[name].decode("utf-8")
        except UnicodeDecodeError:
            left_out.append(LeftOut(name, "it is not UTF-8"))
            continue
        taken: set[str] = set()
        for part in split(text):
            if not says_something(part):
                left_out.append(LeftOut(name, f"`{part}` says too little"))
                continue
            # what it knows of the person holds everywhere
            scope = "global" if name == "USER.md" else None
            entries.append(make(numbered(name, part, taken), part, type=type_, scope=scope))
    return Reading(tuple(entries), tuple(left_out))


def split(text: str) -> list[str]:
    """The entries of a file, empty ones dropped."""
    parts: list[list[str]] = [[]]
    for line in tidy(text).split("\n"):
        if line.strip() == "§":
            parts.append([])
        else:
            parts[-1].append(line)
    return [joined for part in parts if (joined := tidy("\n".join(part)).strip())]

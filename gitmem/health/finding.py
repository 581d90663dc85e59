"""What `git mem doctor` says: one thing that is well, that must be mended, or that deserves a look."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from shlex import quote

from gitmem.config import Env

OK, FIX, LOOK = "ok", "FIX", "look"


@dataclass(frozen=True, slots=True)
class Finding:
    """One row.

    Args:
        level: `ok`, `FIX` or `look`.
        code: stable name, for programs.
        area: what a person calls it.
        words: what is the case.
        mend: the line that mends it, mostly a command; empty when all is well.
        cards: ids that are meant.
    """

    level: str
    code: str
    area: str
    words: str
    mend: str = ""
    cards: tuple[str, ...] = ()


def spelt(path: Path, env: Env) -> str:
    """A path as a shell takes it, with `~` where that is safe."""
    text = str(path)
    if env.home and text.startswith(f"{env.home}/"):
        short = text[len(str(env.home)) + 1 :]
        if re.fullmatch(r"[A-Za-z0-9_./-]+", short):
            return f"~/{short}"
    return quote(text)


def count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def ago(span: timedelta) -> str:
    """`4 minutes ago`"""
    seconds = max(0, int(span.total_seconds()))
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{count(seconds // size, word)} ago"
    return "just now"

"""What a person sees: answers on stdout, everything else on stderr, colour and progress on a terminal only."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from shlex import quote
from typing import IO, Any

import click

from gitmem.errors import MemError


def error(problem: MemError) -> None:
    """`error: …`, the details indented, then the hints."""
    say(style("error:", "red", sys.stderr) + f" {problem.message}")
    for detail in getattr(problem, "details", ()):
        say(f"  {detail}")
    for hint in problem.hints:
        say(f"hint: {aimed(hint)}")


def usage(problem: click.UsageError) -> None:
    say(style("error:", "red", sys.stderr) + f" {problem.format_message().rstrip('.')}")
    if isinstance(problem, click.NoSuchOption):
        say("hint: a text that begins with `-` goes behind `--`")
    if problem.ctx is not None:
        say(f"hint: {problem.ctx.command_path} -h")


_aim = [""]
_COMMAND = re.compile(r"\bgit mem (?=[a-z])(?!(?:init|clone|demo|help|completion|uninstall)\b)")


def aim(repo: str | None) -> None:
    """From here on, printed commands act on the memory that `--repo` named on this command line."""
    _aim[0] = f"--repo {quote(os.path.abspath(os.path.expanduser(repo)))} " if repo else ""


def aimed(text: str) -> str:
    """A text of ours whose commands act on the memory that this one worked with."""
    return _COMMAND.sub(lambda match: match[0] + _aim[0], text) if _aim[0] else text


def answer(text: str) -> None:
    """The answer, as it is."""
    sys.stdout.write(text)
    sys.stdout.flush()


def answer_bytes(data: bytes) -> None:
    """An answer that need not be text, such as a path."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def as_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def say(text: str = "") -> None:
    """A line for the person, not part of the answer."""
    print(text, file=sys.stderr)


def colour_on(stream: IO[str]) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, colour: str, stream: IO[str] = sys.stdout) -> str:
    return click.style(text, fg=colour) if colour_on(stream) else text


def dim(text: str, stream: IO[str] = sys.stdout) -> str:
    return click.style(text, dim=True) if colour_on(stream) else text


def table(rows: list[tuple[str, ...]], indent: str = "") -> str:
    """Rows with their columns lined up; wide characters count twice. The last column runs free."""
    if not rows:
        return ""
    widths = [
        max(width(row[i]) for row in rows if i < len(row)) for i in range(max(len(row) for row in rows))
    ]
    lines = []
    for row in rows:
        cells = [
            cell + " " * (widths[i] - width(cell)) if i < len(row) - 1 else cell for i, cell in enumerate(row)
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines) + "\n"


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def progress(stream: IO[str] = sys.stderr) -> Callable[[str, int, int], None] | None:
    """A callback that shows `step done/total` on a terminal; None elsewhere."""
    if not colour_on(stream):
        # a terminal that knows no control sequences, or nobody who looks
        return None
    last = [0.0, ""]

    def show(step: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - last[0] < 0.1 and step == last[1]:  # type: ignore[operator]
            return
        last[0], last[1] = now, step
        end = "\n" if done >= total else ""
        stream.write(f"\r{step} {done}/{total}\x1b[K{end}")
        stream.flush()

    return show

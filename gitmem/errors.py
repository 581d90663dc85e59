"""The errors a user can meet: what is wrong, what to do, and the exit code.

Raised anywhere, worded once, and printed in one place (`gitmem.cli.output`).
"""

from __future__ import annotations

from collections.abc import Sequence


class MemError(Exception):
    """An error with a message, hints (mostly commands to run) and an exit code."""

    exit_code = 1

    def __init__(self, message: str, hints: Sequence[str] = (), details: Sequence[str] = ()):
        super().__init__(message)
        self.message = message
        self.hints = tuple(hints)
        self.details = tuple(details)


class Refused(MemError):
    """The request is understood and not carried out: nothing was written."""

    exit_code = 1


class Usage(MemError):
    """The command line makes no sense."""

    exit_code = 2


class Busy(MemError):
    """Somebody else is writing, or git is in the middle of an operation; trying again helps."""

    exit_code = 3


class NoMemory(MemError):
    """There is no memory where one was looked for."""

    exit_code = 128


class GitFailed(MemError):
    """Git itself failed; its own words are in the message."""

    exit_code = 128


class FormatError(MemError):
    """A file is not in its format. `line` counts from 1 and is 0 when the whole file is meant."""

    exit_code = 1

    def __init__(self, message: str, line: int = 0, hints: Sequence[str] = ()):
        super().__init__(message, hints)
        self.line = line

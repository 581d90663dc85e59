"""What a check found: one value, and the text a person reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SCHEMA, EVIDENCE, SUPERSEDES, APPEND_ONLY, SCOPE, SAFETY = (
    "schema", "evidence", "supersedes", "append-only", "scope", "safety",
)  # fmt: skip
NAMES = (SCHEMA, EVIDENCE, SUPERSEDES, APPEND_ONLY, SCOPE, SAFETY)


@dataclass(frozen=True, slots=True)
class Problem:
    """`line` counts from 1. `details` stand indented below the message. A warning does not refuse."""

    path: str
    line: int
    check: str
    message: str
    hint: str = ""
    details: tuple[str, ...] = ()
    severity: str = "error"

    @property
    def code(self) -> str:
        return self.check.upper()

    def as_dict(self) -> dict[str, object]:
        return {
            "path": printable(self.path),
            "line": self.line,
            "check": self.check,
            "severity": self.severity,
            "message": self.message,
            "details": list(self.details),
            "hint": self.hint,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The problems of one change or tree. `files`: how many files were judged."""

    problems: tuple[Problem, ...] = ()
    files: int = 0
    committing: bool = True

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def ok(self) -> bool:
        return not self.errors

    def render(self) -> str:
        """`path:line: CODE message`, details and hint below it, and a last line that counts."""
        lines = [line for problem in self.problems for line in render(problem)]
        if self.errors:
            bad = len({problem.path for problem in self.errors})
            count = f"{len(self.errors)} problem{'s' if len(self.errors) != 1 else ''}"
            tail = (
                "nothing committed; your files and the index are as they were"
                if self.committing
                else "see above"
            )
            lines.append(
                f"error: {count} in {bad} of {self.files} file{'s' if self.files != 1 else ''}, {tail}"
            )
            if self.committing:
                lines.append("hint: check again without committing: git mem check --staged")
        return "".join(line + "\n" for line in lines)


def render(problem: Problem) -> list[str]:
    word = "warning: " if problem.severity == "warning" else ""
    lines = [f"{printable(problem.path)}:{problem.line}: {problem.code} {word}{problem.message}"]
    lines.extend(f"    {detail}" for detail in problem.details)
    if problem.hint:
        lines.append(f"  hint: {problem.hint}")
    return lines


def github(problems: Iterable[Problem]) -> str:
    """Workflow commands that put each problem on its line of a pull request."""
    out = []
    for problem in problems:
        text = "\n".join([f"{problem.code} {problem.message}", *problem.details, problem.hint]).strip()
        escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        name = printable(problem.path).replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
        out.append(f"::{problem.severity} file={name},line={problem.line}::{escaped}\n")
    return "".join(out)


def printable(path: str) -> str:
    """A path as it may be printed: controls and undecodable bytes escaped."""
    return "".join(
        c
        if c.isprintable() and not 0xD800 <= ord(c) <= 0xDFFF
        else c.encode("unicode_escape", "surrogatepass").decode()
        for c in path
    )


def only(problems: Iterable[Problem], names: Sequence[str] | None) -> tuple[Problem, ...]:
    return tuple(p for p in problems if not names or p.check in names)

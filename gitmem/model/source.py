"""A source: the turns that cards cite, with their original numbers, in a file that never changes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitmem.errors import FormatError
from gitmem.model import frontmatter, when
from gitmem.model import schema as schemas
from gitmem.resources import schema

ROLES = ("user", "assistant", "tool", "document")
MAX_BYTES = 256 * 1024
_HEADER = re.compile(
    r"## ([1-9][0-9]{0,8}) (user|assistant|tool|document) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)\Z",
    re.ASCII,
)
PATH = re.compile(
    r"sources/(?P<scope>[a-z0-9-]+)/(?P<host>[a-z0-9-]+)/(?P<y>\d{4})/(?P<m>\d{2})/(?P<name>[a-z0-9][a-z0-9._-]*)\.md\Z"
)
_ESCAPED = re.compile(r"[#\\]|(?:<{7}|>{7})(?: |\r?\Z)")
_PART = re.compile(r"-p[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Turn:
    number: int
    role: str
    at: str
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    host: str
    session: str
    scope: str
    started: str
    kind: str
    turns: tuple[Turn, ...]

    def turn(self, number: int) -> Turn | None:
        return next((turn for turn in self.turns if turn.number == number), None)


def parse(data: bytes) -> Source:
    """Read a source's file.

    Raises:
        FormatError: with the line of what is not the format.
    """
    document = frontmatter.parse(data, MAX_BYTES)
    meta = schemas.typed(document.meta, schema("source"), schema("source"))
    if found := schemas.faults(meta, "source"):
        first = min(found, key=lambda fault: document.line(fault.path))
        raise FormatError(first.message, document.line(first.path), [first.hint] if first.hint else [])
    _exists(meta["started"], "`started`", document.line(("started",)))
    turns: list[Turn] = []
    lines: list[str] = []
    header: re.Match[str] | None = None

    def close() -> None:
        if header is not None:
            turns.append(Turn(int(header[1]), header[2], header[3], "\n".join(lines)))
            lines.clear()

    all_lines = document.body.removesuffix("\n").split("\n")
    for number, line in enumerate(all_lines, document.body_line):
        if line.startswith("#"):
            close()
            header = _HEADER.match(line)
            if header is None:
                raise FormatError(
                    f"`{line[:60]}` is no turn header",
                    number,
                    [
                        "a turn begins `## <n> <role> <time>`; a text line that begins with `#` gets a leading backslash"
                    ],
                )
            _exists(header[3], f"the time of turn {header[1]}", number)
            if turns and int(header[1]) <= turns[-1].number:
                raise FormatError(f"turn {header[1]} stands after turn {turns[-1].number}", number)
        elif header is None:
            if line.strip():
                raise FormatError("text stands before the first turn", number)
        else:
            lines.append(line[1:] if line.startswith("\\") else line)
    close()
    if not turns:
        raise FormatError("the source has no turn", document.body_line)
    return Source(**meta, turns=tuple(turns))


def _exists(time: str, name: str, line: int) -> None:
    try:
        when.parse(time)
    except ValueError as error:
        raise FormatError(f"{name} is `{time}`, a day that does not exist", line) from error


def dump(source: Source) -> bytes:
    """The bytes of a source's file; `parse(dump(source)) == source` for LF texts."""
    meta = [(key, getattr(source, key)) for key in ("host", "session", "scope", "started", "kind")]
    out: list[str] = []
    for turn in source.turns:
        out.append(f"## {turn.number} {turn.role} {turn.at}")
        # a pasted conflict marker would make the whole file unreadable, so it is kept from the line's start too
        out.extend("\\" + line if _ESCAPED.match(line) else line for line in turn.text.split("\n"))
    return frontmatter.dump(meta, "\n".join(out) + "\n")


def source_path(source: Source, name: str) -> str:
    """`sources/<scope>/<host>/<yyyy>/<mm>/<name>.md`"""
    return f"sources/{source.scope}/{source.host}/{source.started[:4]}/{source.started[5:7]}/{name}.md"


def told_in(path: str, source: Source) -> tuple[str, str]:
    """(host, name) by which a turn of this source is known for good, together with its number.

    A statement is no part of the session that it names: it counts its own turns, so its file's name stands for it.
    """
    name = path.rsplit("/", 1)[-1].removesuffix(".md")
    return source.host, name if source.kind == "statement" else source.session


def part_of(path: str) -> str:
    """The path without `-p2`, `-p3`, …: what several parts of one session or import have in common."""
    return _PART.sub("", path.removesuffix(".md"))


def path_faults(path: str, source: Source) -> list[str]:
    match = PATH.match(path)
    if not match:
        return ["the path is not `sources/<scope>/<host>/<yyyy>/<mm>/<name>.md`"]
    found = []
    if match["scope"] != source.scope:
        found.append(f"the path says scope `{match['scope']}`, the source `{source.scope}`")
    if match["host"] != source.host:
        found.append(f"the path says host `{match['host']}`, the source `{source.host}`")
    if (match["y"], match["m"]) != (source.started[:4], source.started[5:7]):
        found.append(f"the path says {match['y']}-{match['m']}, the source started {source.started[:7]}")
    return found

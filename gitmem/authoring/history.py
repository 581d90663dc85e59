"""What was written to the memory, from git's own history."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitmem.git.locate import Memory
from gitmem.model import ids

_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = _RECORD + _FIELD.join(
    (
        "%H", "%P", "%aI", "%ae",
        "%(trailers:key=Mem-Action,valueonly,separator=%x2C)",
        "%(trailers:key=Mem-Agent,key=Mem-Host,valueonly,separator=%x2C)",
        "%(trailers:key=Mem-Session,valueonly,separator=%x2C)",
        "%s", "",
    )
)  # fmt: skip
_CARD = re.compile(r"cards/([^/]+)/.*([0-9a-z]{10})\.md\Z")


@dataclass(frozen=True, slots=True)
class Write:
    """One commit of the memory. `action` as in its trailer, `by hand` for a plain `git commit`, `merged` for
    a merge of git.

    `at`: RFC 3339 with the writer's own offset; `cards` are the ids of the card files it touched, `scopes` theirs.
    """

    commit: str
    at: str
    email: str
    action: str
    agent: str | None
    session: str | None
    subject: str
    cards: tuple[str, ...]
    scopes: tuple[str, ...]
    other_files: tuple[str, ...]


def writes(memory: Memory, limit: int) -> list[Write]:
    """The newest `limit` commits of the memory, newest first."""
    if memory.tip is None:
        return []
    out = memory.git.run(
        "-c",
        "core.quotePath=true",
        "log",
        f"-{limit}",
        "--no-renames",
        "--name-only",
        f"--format={_FORMAT}",
        memory.ref,
        "--",
    ).text()
    return [_write(record) for record in out.split(_RECORD) if record]


def _write(record: str) -> Write:
    commit, parents, at, email, action, agent, session, subject, files = (record.split(_FIELD) + [""] * 9)[:9]
    paths = [line for line in files.split("\n") if line]
    found = [match for path in paths if (match := _CARD.match(path)) and ids.is_id(match[2])]
    return Write(
        commit,
        at,
        email,
        action or ("merged" if " " in parents else "by hand"),
        agent or None,
        session or None,
        subject,
        tuple(dict.fromkeys(match[2] for match in found)),
        tuple(sorted({match[1] for match in found})),
        tuple(path for path in paths if not path.startswith(("cards/", "sources/"))),
    )

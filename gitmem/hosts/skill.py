"""The skill that teaches an agent our commands, for the hosts that read `SKILL.md` files: one text for all of them.

A host puts the name of its session into the agent's environment or into the text itself, each in its own words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gitmem import resources
from gitmem.hosts import files, own_file
from gitmem.hosts.files import Plan
from gitmem.hosts.protocol import LOOK, OK, Finding

_SESSION = "${CLAUDE_SESSION_ID}"


def path(place: Path) -> Path:
    return place / "skills" / "git-mem" / "SKILL.md"


def data(session: str) -> bytes:
    """The file. `session`: what the agent writes for its session's name, e.g. `"$PI_SESSION_ID"`."""
    return resources.read_text("templates/claude-code/SKILL.md").replace(_SESSION, session).encode()


def plan(place: Path, new: bytes, note: dict[str, Any]) -> Plan:
    """Plan to write it.

    Raises:
        Refused: somebody else wrote or changed the file.
    """
    return own_file.write(path(place), new, files.read_bytes(path(place)), note.get("skill_sha256"))


def removal(place: Path, new: bytes, note: dict[str, Any]) -> tuple[Plan, tuple[Path, ...]]:
    """Plan to take it away; the second is it, if it was changed since and stays."""
    current = files.read_bytes(path(place))
    taken = own_file.remove(path(place), new, current, note.get("skill_sha256"))
    return taken, (path(place),) if current is not None and note and not taken else ()


def finding(host: str, file: Path, new: bytes, what: str = "skill") -> Finding:
    """Whether a file of ours stands as we would write it."""
    if files.read_bytes(file) == new:
        return Finding(OK, what, str(file))
    return Finding(LOOK, what, f"{file} is missing or not what git mem writes", f"git mem connect {host}")

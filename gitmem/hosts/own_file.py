"""A file of a host's folder that is ours as a whole: a skill, an extension."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gitmem.errors import Refused
from gitmem.hosts.files import FileWrite, Plan


def write(path: Path, new: bytes, current: bytes | None, written_sha256: str | None = None) -> Plan:
    """Plan the file.

    Args:
        current: what it holds now; None without a file.
        written_sha256: of what we last wrote there, if we did.

    Raises:
        Refused: somebody else wrote or changed the file.
    """
    if current == new:
        return ()
    if current is not None and sha256(current) != written_sha256:
        raise Refused(f"`{path}` is not what git mem wrote", [f"mv '{path}' '{path}.mine'", "connect again"])
    return (FileWrite(path, new),)


def remove(path: Path, new: bytes, current: bytes | None, written_sha256: str | None = None) -> Plan:
    """Plan to take the file away, with its folder if that is empty then; a file that was changed since stays."""
    if current is None or sha256(current) not in {written_sha256, sha256(new)}:
        return ()
    return (FileWrite(path, None, folders=(path.parent,)),)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

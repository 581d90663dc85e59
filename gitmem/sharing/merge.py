"""Merge two histories of a memory on their trees alone; no work tree is touched.

New files never conflict. Registry files merge by entry, briefs and cards that people edited by hand line by line. What no rule
allows is a stop with its reason, before anything is changed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.errors import FormatError
from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.sharing import registry_merge

Tree = Mapping[str, str]


@dataclass(slots=True)
class Merged:
    """What a merge changes on our side: path -> bytes, None deletes. `stops`: path -> why it cannot be merged."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    stops: dict[str, str] = field(default_factory=dict)


def tree_of(memory: Memory, commit: str) -> dict[str, str]:
    """Path -> blob of everything in a commit."""
    return {one.path: one.oid for one in objects.entries(memory.git, commit)}


def merge(
    base: Tree, ours: Tree, theirs: Tree, read: Callable[[str], bytes], lines: Callable[..., bytes | None]
) -> Merged:
    """What `theirs` brings to `ours`, seen from `base`.

    Args:
        read: a blob's bytes.
        lines: merges three texts line by line; None when both changed the same lines.
    """
    found = Merged()
    for path in sorted({*ours, *theirs}):
        before, mine, yours = base.get(path), ours.get(path), theirs.get(path)
        if yours in (before, mine):
            continue
        kept = path.startswith(("cards/", "sources/"))
        if kept and yours is None:
            found.stops[path] = "they deleted it, and a memory deletes nothing"
        elif path.startswith("sources/") and before is not None:
            found.stops[path] = "they changed it, and the words that cards quote never change"
        elif mine == before:
            found.files[path] = None if yours is None else read(yours)
        elif kept and mine is None:
            found.stops[path] = "it was deleted here, and a memory deletes nothing"
        elif mine is None or yours is None:
            found.stops[path] = "one side changed it, the other took it out"
        else:
            _both(path, before, mine, yours, read, lines, found)
    return found


def _both(
    path: str,
    before: str | None,
    mine: str,
    yours: str,
    read: Callable[[str], bytes],
    lines: Callable[..., bytes | None],
    found: Merged,
) -> None:
    """A file that both sides changed, or made."""
    texts = [read(one) if one else b"" for one in (before, mine, yours)]
    if path.startswith("registry/"):
        try:
            merged = registry_merge.merge(*(text.decode("utf-8") for text in texts))
        except registry_merge.Conflict as conflict:
            found.stops[path] = f"both sides changed `{conflict.where}`, each to something else"
        except (FormatError, UnicodeDecodeError):
            found.stops[path] = "one side of it cannot be read"
        else:
            found.files[path] = merged.encode()
        return
    if before is None and path.startswith(("cards/", "sources/")):
        found.stops[path] = "both sides made it, each with another content"
        return
    text = lines(*texts)
    if text is None:
        found.stops[path] = "both sides changed the same lines"
    else:
        found.files[path] = text


def by_lines(memory: Memory) -> Callable[[bytes, bytes, bytes], bytes | None]:
    """git's own three-way merge of texts."""

    def lines(before: bytes, mine: bytes, yours: bytes) -> bytes | None:
        with tempfile.TemporaryDirectory(prefix="git-mem-") as folder:
            files = []
            for name, data in (("mine", mine), ("before", before), ("yours", yours)):
                file = Path(folder) / name
                file.write_bytes(data)
                files.append(os.fspath(file))
            done = memory.git.run("merge-file", "-p", *files, check=False)
            return done.out if done.code == 0 else None

    return lines

"""Where the index lives, and what makes it unusable for this version. Nothing in it is ever unpickled from a clone."""

from __future__ import annotations

from pathlib import Path

# Raised whenever the layout, the columns, or what is stored in them changes: an index of another format is rebuilt.
FORMAT = 5


def folder(state: Path) -> Path:
    """The index folder of this format below the memory's local state."""
    return state / f"index-{FORMAT}"


def database(state: Path) -> Path:
    return folder(state) / "catalogue.sqlite3"


def words(state: Path) -> Path:
    return folder(state) / "words"


def vectors(state: Path, embedder: str) -> Path:
    safe = "".join(c if c.isalnum() or c in "-." else "-" for c in embedder)
    return folder(state) / f"vectors-{safe}.f32"


def anchors(state: Path, embedder: str, version: int) -> Path:
    return vectors(state, embedder).with_suffix(f".anchors-{version}")


def lock(state: Path) -> Path:
    return state / "index.lock"

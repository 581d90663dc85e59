"""Work that follows a hook without holding up git: the index is refreshed by a process of its own."""

from __future__ import annotations

from pathlib import Path

from gitmem import config, detach


def after_merge(cwd: Path) -> None:
    """Start the index refresh for the repository at `cwd` and return at once."""
    detach.index(cwd, config.from_process().vars)

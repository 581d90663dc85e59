"""One writer at a time: a file lock that the system drops with its process, so none is ever stale."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitmem.errors import Busy

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def held(path: Path, timeout_s: float, what: str) -> Iterator[int]:
    """Hold the lock file `path`, waiting at most `timeout_s` seconds (0: do not wait).

    Yields a file descriptor: a child process that is given it holds the lock too, also when we are killed before it ends.

    Raises:
        Busy: somebody else held it the whole time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        if not _take(handle, timeout_s):
            holder = _holder(path)
            raise Busy(f"{what} is busy{holder}", ["try again in a moment"])
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        yield handle
    finally:
        os.close(handle)


def taken(path: Path) -> bool:
    """Whether somebody holds the lock file `path` now; makes and changes nothing."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return False
    try:
        return not _try(handle)
    finally:
        os.close(handle)


def _take(handle: int, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    pause = 0.005
    while True:
        if _try(handle):
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, 0.1)


def _try(handle: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True


def _holder(path: Path) -> str:
    try:
        pid = path.read_text().strip()
    except OSError:
        return ""
    return f": process {pid} holds it" if pid else ""

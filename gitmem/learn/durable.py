"""Files that are whole or not there, also after a kill or a power cut."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

TEMPORARY = ".tmp"


def write_json(file: Path, value: Any, *, sync: bool = True) -> None:
    """Replace `file` by `value` as JSON, readable by its owner alone.

    Args:
        sync: it is on the disk before this returns; without, a power cut may take it back, whole.
    """
    folder(file.parent)
    fresh = file.with_name(f".{file.name}.{os.getpid()}{TEMPORARY}")
    data = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
                out.flush()
                if sync:
                    os.fsync(out.fileno())
            os.replace(fresh, file)
        except BaseException:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise
    finally:
        if sync:
            _sync(file.parent)


def read_json(file: Path) -> dict[str, Any] | None:
    """The object in `file`; None when it is not there or is none."""
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def folder(place: Path) -> None:
    """Make a folder that its owner alone may enter."""
    if not place.is_dir():
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        _sync(place.parent)


def sweep(place: Path) -> None:
    """Remove what a killed run left half written. Only for who holds the lock."""
    for file in place.rglob(f".*{TEMPORARY}"):
        file.unlink(missing_ok=True)


def _sync(place: Path) -> None:
    """Make a new name in a folder durable, where the system can."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        handle = os.open(place, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

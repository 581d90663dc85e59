"""Vectors of cards: one file per embedder, rows of unit length, appended and never moved.

A row is a slot; the catalogue says which card has which slot. float32, shape (slots, dim).
"""

from __future__ import annotations

import array
import os
from collections.abc import Sequence
from pathlib import Path


def append(file: Path, start: int, dim: int, values: array.array) -> None:
    """Write vectors from slot `start` on; what a killed builder left behind that slot is overwritten."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.lseek(handle, start * dim * 4, os.SEEK_SET)
        data = memoryview(values.tobytes())
        while data:
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)


def baseline(file: Path, dim: int, query: array.array, count: int) -> float | None:
    """The mean cosine of `query` to its `count` nearest vectors of `file`; None when there is no such file."""
    import numpy as np

    try:
        matrix = np.fromfile(file, dtype=np.float32)
    except OSError:
        return None
    if not len(matrix) or len(matrix) % dim:
        return None
    scores = np.sort(matrix.reshape(-1, dim) @ np.frombuffer(query, dtype=np.float32))
    return float(scores[-count:].mean())


def nearest(file: Path, dim: int, query: array.array, slots: Sequence[int] | None, count: int, limit: int) -> list[tuple[int, float]]:
    """The slots whose vectors are closest to `query` by cosine, best first, at most `limit`.

    Args:
        slots: only these; None: the first `count`.
        count: how many slots are in use.
    """
    import numpy as np

    try:
        have = file.stat().st_size // (dim * 4)
    except OSError:
        return []
    count = min(count, have)
    if count <= 0 or (slots is not None and not slots):
        return []
    matrix = np.memmap(file, dtype=np.float32, mode="r", shape=(count, dim))
    wanted = np.frombuffer(query, dtype=np.float32)
    if slots is None:
        scores = matrix @ wanted
        names = None
    else:
        names = np.array([slot for slot in slots if slot < count], dtype=np.int64)
        scores = matrix[names] @ wanted
    if len(scores) > limit:
        top = np.argpartition(-scores, limit - 1)[:limit]
    else:
        top = np.arange(len(scores))
    found = [(int(names[i]) if names is not None else int(i), float(scores[i])) for i in top]
    return sorted(found, key=lambda one: (-one[1], one[0]))

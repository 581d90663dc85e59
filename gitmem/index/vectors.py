"""Vectors of cards: one file per embedder, rows of unit length, appended and never moved.

A row is a slot; the catalogue says which card has which slot. float32, shape (slots, dim). Dot products are
SimSIMD's: it works on a mapped file as it is and imports in under a millisecond, where numpy takes fifty.
"""

from __future__ import annotations

import array
import heapq
import math
import mmap
import os
from collections.abc import Sequence
from io import FileIO
from pathlib import Path

# How far the length of a stored row may be from 1, and a cosine from its range, by rounding.
TOLERANCE = 1e-2
# Rows that are looked at in one go: so many are in memory at a time, however large the file.
BLOCK = 8192


class Damaged(Exception):
    """A file of vectors is not what was written; `file` must be built anew."""

    def __init__(self, file: Path):
        super().__init__(f"`{file.name}` is damaged")
        self.file = file


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


def nearest(
    file: Path, dim: int, query: array.array, slots: Sequence[int] | None, count: int, limit: int
) -> list[tuple[int, float]]:
    """The slots whose vectors are closest to `query` by cosine, best first, at most `limit`.

    Args:
        slots: only these; None: the first `count`.
        count: how many slots are in use.

    Raises:
        Damaged: the file holds something else than unit vectors; the rows that would be returned are looked at.
    """
    if count <= 0 or limit <= 0 or (slots is not None and not slots):
        return []
    try:
        handle = file.open("rb", buffering=0)
    except OSError:
        return []
    with handle:
        count = min(count, os.fstat(handle.fileno()).st_size // (dim * 4))
        best: list[tuple[float, int]] = []
        named = range(count) if slots is None else [slot for slot in slots if slot < count]
        for start in range(0, len(named), BLOCK):
            names = named[start : start + BLOCK]
            scores = (
                _side_by_side(query, handle, names, dim)
                if isinstance(names, range)
                else _one_by_one(query, handle, names, dim)
            )
            _in_range(file, scores)
            bar = best[-1][0] if len(best) == limit else -2.0
            best.extend((score, -name) for score, name in zip(scores, names, strict=True) if score >= bar)
            best = heapq.nlargest(limit, best)
        if not all(_is_unit(_row(handle, -name, dim)) for _, name in best):
            raise Damaged(file)
    return [(-name, score) for score, name in best]


def _side_by_side(query: array.array, handle: FileIO, names: range, dim: int) -> array.array:
    """Dot products of rows that follow on one another. None is copied, and none is held on to."""
    row = dim * 4
    # a mapping begins at a multiple of what the system says
    first = names.start * row // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
    last = names.stop * row
    with (
        mmap.mmap(handle.fileno(), last - first, access=mmap.ACCESS_READ, offset=first) as mapped,
        memoryview(mapped) as view,
        view[names.start * row - first :] as rows,
    ):
        return dots(query, rows, dim)


def _one_by_one(query: array.array, handle: FileIO, names: Sequence[int], dim: int) -> array.array:
    """Dot products of rows here and there. They are read: to map a page brings its neighbours into memory too."""
    return dots(query, b"".join(_row(handle, name, dim) for name in names), dim)


def _row(handle: FileIO, name: int, dim: int) -> bytes:
    handle.seek(name * dim * 4)
    return handle.read(dim * 4)


def sound(file: Path, dim: int, count: int) -> bool:
    """Whether each of the first `count` rows has the length 1; for builders and examinations, not for a prompt."""
    row = dim * 4
    try:
        data = file.read_bytes()[: count * row]
    except OSError:
        return not count
    if len(data) < count * row:
        return False
    try:
        import numpy
    except ImportError:
        return all(_is_unit(data[start : start + row]) for start in range(0, len(data), row))
    rows = numpy.frombuffer(data, dtype=numpy.float32).reshape(count, dim)
    with numpy.errstate(all="ignore"):
        squares = numpy.einsum("ij,ij->i", rows, rows, dtype=numpy.float64)
        # a comparison with what is no number is false
        return bool((numpy.abs(numpy.sqrt(squares) - 1.0) <= TOLERANCE).all())


def _is_unit(row: bytes) -> bool:
    from operator import mul

    values = array.array("f")
    values.frombytes(row)
    square = sum(map(mul, values, values))
    return math.isfinite(square) and abs(math.sqrt(square) - 1.0) <= TOLERANCE


def _in_range(file: Path, scores: array.array) -> None:
    """Two unit vectors have a cosine; what has none is no vector.

    Raises:
        Damaged: a score is no number, or none that a cosine can be.
    """
    # a sum is not finite when any of its parts is not
    if scores and not (
        math.isfinite(sum(scores)) and min(scores) >= -1.0 - TOLERANCE and max(scores) <= 1.0 + TOLERANCE
    ):
        raise Damaged(file)


def baseline(file: Path, dim: int, query: array.array, count: int) -> float | None:
    """The mean cosine of `query` to its `count` nearest vectors of `file`; None when there is no such file.

    Raises:
        Damaged: the file holds something else than unit vectors.
    """
    try:
        data = file.read_bytes()
    except OSError:
        return None
    if not data or len(data) % (dim * 4):
        return None
    scores = dots(query, data, dim)
    _in_range(file, scores)
    row = dim * 4
    top = heapq.nlargest(count, range(len(scores)), key=scores.__getitem__)
    if not all(_is_unit(data[i * row : (i + 1) * row]) for i in top):
        raise Damaged(file)
    return sum(scores[i] for i in top) / len(top)


def dots(query: array.array, rows: bytes | memoryview, dim: int) -> array.array:
    """Dot products of `query` with every row of float32 `rows`, as an array of doubles."""
    if not len(rows):
        return array.array("d")
    try:
        import simsimd
    except ImportError:
        # no wheel for this platform: slower by two orders of magnitude, and the same numbers
        return _plain_dots(query, rows, dim)
    with memoryview(rows) as flat, flat.cast("f", shape=[len(rows) // (dim * 4), dim]) as matrix:
        one = memoryview(query.tobytes()).cast("f", shape=[1, dim])
        out = array.array("d")
        out.frombytes(bytes(memoryview(simsimd.cdist(one, matrix, metric="dot"))))
        return out


def _plain_dots(query: array.array, rows: bytes | memoryview, dim: int) -> array.array:
    from operator import mul

    values = array.array("f")
    values.frombytes(bytes(rows))
    return array.array("d", (sum(map(mul, values[i : i + dim], query)) for i in range(0, len(values), dim)))

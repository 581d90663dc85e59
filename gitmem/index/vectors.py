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
from operator import mul
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
    file: Path,
    dim: int,
    queries: Sequence[array.array],
    slots: Sequence[int] | None,
    count: int,
    limit: int,
) -> list[list[tuple[int, float]]]:
    """For each query the slots whose vectors have the highest dot products with it, best first, at most `limit`.

    Args:
        queries: none longer than 1.
        slots: only these; None: the first `count`.
        count: how many slots are in use.

    Raises:
        Damaged: the file holds something else than unit vectors; the rows that would be returned are looked at.
    """
    nothing: list[list[tuple[int, float]]] = [[] for _ in queries]
    if count <= 0 or limit <= 0 or (slots is not None and not slots):
        return nothing
    try:
        handle = file.open("rb", buffering=0)
    except OSError:
        return nothing
    with handle:
        count = min(count, os.fstat(handle.fileno()).st_size // (dim * 4))
        best: list[list[tuple[float, int]]] = [[] for _ in queries]
        named = range(count) if slots is None else [slot for slot in slots if slot < count]
        for start in range(0, len(named), BLOCK):
            names = named[start : start + BLOCK]
            found = (
                _side_by_side(queries, handle, names, dim)
                if isinstance(names, range)
                else _one_by_one(queries, handle, names, dim)
            )
            for number, scores in enumerate(found):
                _in_range(file, scores)
                kept = best[number]
                bar = kept[-1][0] if len(kept) == limit else -2.0
                kept.extend((score, -name) for score, name in zip(scores, names, strict=True) if score >= bar)
                best[number] = heapq.nlargest(limit, kept)
        if not all(_is_unit(_row(handle, name, dim)) for name in {-name for one in best for _, name in one}):
            raise Damaged(file)
    return [[(-name, score) for score, name in one] for one in best]


def _side_by_side(
    queries: Sequence[array.array], handle: FileIO, names: range, dim: int
) -> list[array.array]:
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
        return dots(queries, rows, dim)


def _one_by_one(
    queries: Sequence[array.array], handle: FileIO, names: Sequence[int], dim: int
) -> list[array.array]:
    """Dot products of rows here and there. They are read: to map a page brings its neighbours into memory too."""
    return dots(queries, b"".join(_row(handle, name, dim) for name in names), dim)


def _row(handle: FileIO, name: int, dim: int) -> bytes:
    handle.seek(name * dim * 4)
    return handle.read(dim * 4)


def products(
    file: Path, dim: int, queries: Sequence[array.array], slots: Sequence[int]
) -> dict[int, tuple[float, ...]]:
    """Slot -> its dot product with each query, of those slots that the file has.

    Raises:
        Damaged: the file holds something else than unit vectors.
    """
    found: dict[int, list[float]] = {}
    for scores in nearest(file, dim, queries, slots, max(slots, default=-1) + 1, len(slots)):
        for slot, score in scores:
            found.setdefault(slot, []).append(score)
    return {slot: tuple(scores) for slot, scores in found.items()}


def sound(file: Path, dim: int, count: int, skip: int = 0) -> bool:
    """Whether each of `count` rows behind the first `skip` has the length 1; for builders and examinations, not for a prompt."""
    row = dim * 4
    try:
        data = file.read_bytes()[skip * row : (skip + count) * row]
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


def means(file: Path, dim: int, rows: int) -> array.array | None:
    """The means that stand before the anchors in their file, one after the other; None when there is no such file.

    Raises:
        Damaged: the rows are no means of unit vectors.
    """
    try:
        with file.open("rb") as handle:
            data = handle.read(rows * dim * 4)
    except OSError:
        return None
    if len(data) < rows * dim * 4:
        return None
    values = array.array("f")
    values.frombytes(data)
    for start in range(0, len(values), dim):
        row = values[start : start + dim]
        square = sum(map(mul, row, row))
        # the mean of unit vectors is shorter than they are; a comparison with what is no number is false
        if not 0.0 < square <= (1.0 + TOLERANCE) ** 2:
            raise Damaged(file)
    return values


def rows(file: Path, dim: int, queries: Sequence[array.array], skip: int = 0) -> list[tuple[float, ...]]:
    """The dot products of every vector of a small file behind the first `skip` with each query; empty when there is no such file.

    Raises:
        Damaged: the file holds something else than unit vectors.
    """
    try:
        data = file.read_bytes()[skip * dim * 4 :]
    except OSError:
        return []
    row = dim * 4
    if not data or len(data) % row:
        return []
    if not all(_is_unit(data[start : start + row]) for start in range(0, len(data), row)):
        raise Damaged(file)
    return list(zip(*dots(queries, data, dim), strict=True))


def dots(queries: Sequence[array.array], rows: bytes | memoryview, dim: int) -> list[array.array]:
    """For each query an array of doubles: its dot products with every row of float32 `rows`."""
    if not len(rows):
        return [array.array("d") for _ in queries]
    try:
        import simsimd
    except ImportError:
        # no wheel for this platform: slower by two orders of magnitude, and the same numbers
        return [_plain_dots(query, rows, dim) for query in queries]
    count = len(rows) // (dim * 4)
    packed = b"".join(query.tobytes() for query in queries)
    with memoryview(rows) as flat, flat.cast("f", shape=[count, dim]) as matrix:
        asked = memoryview(packed).cast("f", shape=[len(queries), dim])
        values = bytes(memoryview(simsimd.cdist(asked, matrix, metric="dot")))
    found = []
    for start in range(0, len(values), count * 8):
        one = array.array("d")
        one.frombytes(values[start : start + count * 8])
        found.append(one)
    return found


def _plain_dots(query: array.array, rows: bytes | memoryview, dim: int) -> array.array:
    values = array.array("f")
    values.frombytes(bytes(rows))
    return array.array("d", (sum(map(mul, values[i : i + dim], query)) for i in range(0, len(values), dim)))

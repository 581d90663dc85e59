"""Bring the index and the files of every work tree along: what is to go leaves them, all else stays as it is.

Decided by what an index holds and not by which commit it stood at, so it may be done twice.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gitmem.erasure.order import Order
from gitmem.erasure.roots import Checkout, checkouts
from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.git.run import Git

_ZERO = "0" * 40


def bring_along(memory: Memory, order: Order) -> None:
    """Every index and work tree of the repository."""
    for tree in checkouts(memory):
        git = tree.git(memory)
        if (tree.git_dir / "index").exists():
            _index(git, tree, order)
        if tree.root != tree.git_dir:
            _leftovers(tree.root, order)


def _index(git: Git, tree: Checkout, order: Order) -> None:
    """Entries of cards that go are taken out, those of sources and briefs rewritten; so are their untouched files."""
    listed = git.run("ls-files", "-s", "-t", "-z", "--full-name").out
    lines, sparse = [], []
    with contextlib.closing(objects.open_light(git)) as blobs:
        for record in listed.split(b"\0"):
            head, _, name = record.partition(b"\t")
            path = os.fsdecode(name)
            if not head or not (order.drops(path) or order.concerns(path)):
                continue
            tag, mode, oid, stage = head.decode().split(" ")
            data = None if order.drops(path) or mode == "160000" else _blob(blobs, oid)
            kept = None if data is None else order.rewritten(path, data)
            if mode == "160000" or (data is not None and kept == data):
                continue
            if data is None and not order.drops(path):
                continue  # its object is not here: nothing of ours to keep or to lose
            new = (
                git.run("hash-object", "-w", "--no-filters", "--stdin", input=kept).text()
                if kept is not None
                else None
            )
            lines.append(f"0 {_ZERO}\t{path}\0")
            if new is not None:
                lines.append(f"{mode} {new} {stage}\t{path}\0")
            if tag == "S" and new is not None:
                sparse.append(path)
            _file(git, tree.root / path, oid, kept)
    if lines:
        data = "".join(lines).encode("utf-8", "surrogateescape")
        git.run("update-index", "-z", "--index-info", input=data)
        if sparse:
            git.run(
                "update-index",
                "-z",
                "--skip-worktree",
                "--stdin",
                input="".join(f"{p}\0" for p in sparse).encode(),
            )
        git.run("update-index", "-q", "--refresh", check=False)


def _blob(blobs: objects.Objects, oid: str) -> bytes | None:
    try:
        return blobs.blob(oid)
    except KeyError:
        return None


def _file(git: Git, place: Path, oid: str, kept: bytes | None) -> None:
    """The file of an entry, where it still says what the index said. An edited card that goes is met in `_leftovers`."""
    if place.is_symlink() or not place.is_file():
        return
    if git.run("hash-object", "--", str(place)).text() != oid:
        return
    if kept is None:
        _remove(place)
    else:
        _put(place, kept)


def _leftovers(root: Path, order: Order) -> None:
    """Files that the index does not speak for: a card that was edited, unstaged or left behind by a killed run."""
    for folder in ("cards", "sources", "briefs"):
        top = root / folder
        if top.is_symlink():
            continue
        for place in sorted(top.rglob("*.md")):
            path = place.relative_to(root).as_posix()
            if place.is_symlink() or not place.is_file():
                continue
            if order.drops(path):
                _remove(place)
                continue
            data = place.read_bytes()
            kept = order.rewritten(path, data)
            if kept is None:
                _remove(place)
            elif kept != data:
                _put(place, kept)


def _put(place: Path, data: bytes) -> None:
    fresh = place.with_name(f".{place.name}.git-mem")
    fresh.write_bytes(data)
    fresh.replace(place)


def _remove(place: Path) -> None:
    """The file, and the folders that only it kept, as git removes them."""
    place.unlink(missing_ok=True)
    for folder in place.parents:
        if folder.name in ("cards", "sources"):
            break
        try:
            folder.rmdir()
        except OSError:
            break

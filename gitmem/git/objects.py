"""Read objects of a repository: trees, blobs, differences. Nothing here looks at a working tree.

`open_light` talks to `git cat-file --batch` and starts in a few milliseconds; `open_bulk` uses pygit2, whose
import costs more and whose reads in bulk cost less, and falls back where libgit2 cannot open a repository
(SHA-256, reftable, partial clones).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from gitmem.errors import GitFailed
from gitmem.git.run import Git

REGULAR = "100644"
# `git diff-tree` reads the whole index, which names every file of the memory, and needs nothing of it; one that is damaged would
# keep everybody from reading.
_WITHOUT_INDEX = {"GIT_INDEX_FILE": "/no-such-folder/index"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree. `mode` as git prints it; `path` with odd bytes as surrogates."""

    path: str
    mode: str
    oid: str


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs between two trees. `old` is None for an added path, `new` for a deleted one."""

    path: str
    old: Entry | None
    new: Entry | None


class Objects(Protocol):
    def blob(self, oid: str) -> bytes: ...

    def close(self) -> None: ...


def entries(git: Git, tree: str, *paths: str) -> list[Entry]:
    """Every file of a tree-ish, in git's order, below `paths` where given."""
    out = git.run("ls-tree", "-r", "-z", "--full-tree", tree, "--", *paths).out
    return [_entry(record) for record in out.split(b"\0") if record]


def _entry(record: bytes) -> Entry:
    head, _, path = record.partition(b"\t")
    mode, _, oid = head.decode("ascii").split(" ")
    return Entry(path.decode("utf-8", "surrogateescape"), mode, oid)


def changes(git: Git, old: str | None, new: str, *paths: str) -> list[Change]:
    """What differs from tree-ish `old` (None: the empty tree) to `new`; renames are a deletion and an addition."""
    if old is None:
        return [Change(entry.path, None, entry) for entry in entries(git, new, *paths)]
    out = git.run(
        "diff-tree", "-r", "-z", "--no-renames", "--raw", old, new, "--", *paths, env=_WITHOUT_INDEX
    ).out
    return raw_changes(out)


def raw_changes(out: bytes) -> list[Change]:
    """Read `git diff-* --raw -z --no-abbrev` output."""
    fields = out.split(b"\0")
    found = []
    for head, name in zip(fields[::2], fields[1::2], strict=False):
        if not head.startswith(b":"):
            continue
        old_mode, new_mode, old_oid, new_oid, _ = head[1:].decode("ascii").split(" ")
        path = name.decode("utf-8", "surrogateescape")
        found.append(
            Change(
                path,
                None if old_mode == "000000" else Entry(path, old_mode, old_oid),
                None if new_mode == "000000" else Entry(path, new_mode, new_oid),
            )
        )
    return found


class _Batch:
    """Blobs through one `git cat-file --batch` process."""

    def __init__(self, git: Git):
        self._process = subprocess.Popen(
            ["git", "cat-file", "--batch"],
            cwd=git.cwd,
            env=dict(git.env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def blob(self, oid: str) -> bytes:
        """The bytes of an object, also by a name such as `HEAD:path`.

        Raises:
            KeyError: no such object.
        """
        source, sink = self._process.stdin, self._process.stdout
        assert source is not None and sink is not None
        source.write(oid.encode("utf-8", "surrogateescape") + b"\n")
        source.flush()
        head = sink.readline()
        if not head:
            raise GitFailed("git cat-file ended early")
        words = head.split()
        if words[-1] in (b"missing", b"ambiguous"):
            raise KeyError(oid)
        size = int(words[-1])
        data = sink.read(size)
        sink.read(1)
        return data

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()


class _Pygit2:
    """Blobs through libgit2."""

    def __init__(self, repository: object):
        self._repository = repository

    def blob(self, oid: str) -> bytes:
        return self._repository[oid].data  # type: ignore[index]

    def close(self) -> None:
        self._repository.free()  # type: ignore[attr-defined]


def open_light(git: Git) -> Objects:
    return _Batch(git)


def open_bulk(git: Git, common_dir: str) -> Objects:
    """A reader for many objects."""
    if quarantined(git):
        return _Batch(git)
    try:
        import pygit2

        # No search upwards, and never from the environment: it may speak of another repository.
        return _Pygit2(pygit2.Repository(common_dir, pygit2.enums.RepositoryOpenFlag.NO_SEARCH))
    except Exception:
        # ImportError where pygit2 has no wheel, GitError for repository formats libgit2 cannot read
        return _Batch(git)


def quarantined(git: Git) -> bool:
    """Whether we are inside a push that is being received: its objects are seen through git's variables alone."""
    return "GIT_QUARANTINE_PATH" in git.env


class Blobs:
    """A mapping from object id to bytes over `Objects`, each read once."""

    def __init__(self, objects: Objects):
        self._objects = objects
        self._kept: dict[str, bytes] = {}

    def __getitem__(self, oid: str) -> bytes:
        if oid not in self._kept:
            self._kept[oid] = self._objects.blob(oid)
        return self._kept[oid]


def history(git: Git, ref: str, path: str) -> Iterator[str]:
    """Commits of `ref` that touched `path`, newest first."""
    yield from git.lines("rev-list", "--full-history", ref, "--", path)

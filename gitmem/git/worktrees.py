"""The work trees that stand on the memory's branch, and what git is in the middle of there."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from gitmem.git.locate import Memory

_SUM_BYTES = 20


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A work tree of the repository; `branch` is what it has checked out, or rebases."""

    root: Path
    git_dir: Path
    branch: str | None


def work_trees(memory: Memory) -> list[WorkTree]:
    """Work trees that have the memory's branch checked out, or are in the middle of rebasing it."""
    found: list[WorkTree] = []
    listing = memory.git.run("worktree", "list", "--porcelain", "-z", check=False)
    if listing.code != 0:  # git before 2.36 has no -z
        listing = memory.git.run("worktree", "list", "--porcelain")
        records = [record.split(b"\n") for record in listing.out.strip().split(b"\n\n")]
    else:
        records = [record.strip(b"\0").split(b"\0") for record in listing.out.split(b"\0\0")]
    for record in records:
        fields = dict(part.partition(b" ")[::2] for part in record if part)
        if b"worktree" not in fields or b"bare" in fields or b"prunable" in fields:
            continue
        root = Path(os.fsdecode(fields[b"worktree"]))
        git_dir = _git_dir(root)
        if git_dir is None and (git_dir := _main_elsewhere(memory, root)) is not None:
            root = memory.root
        if git_dir is None:
            continue
        ref = os.fsdecode(fields.get(b"branch", b""))
        for state in ("rebase-merge/head-name", "rebase-apply/head-name"):
            with contextlib.suppress(OSError):
                ref = ref or (git_dir / state).read_text().strip()
        if ref == memory.ref:
            found.append(WorkTree(root, git_dir, memory.branch))
    return found


def operation(git_dir: Path) -> str | None:
    """What git is in the middle of there: `merge`, `rebase`, `am`, `cherry-pick`, `revert`; else None."""
    for name, word in (
        ("MERGE_HEAD", "merge"),
        ("rebase-merge", "rebase"),
        ("rebase-apply/applying", "am"),
        ("rebase-apply", "rebase"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
    ):
        if (git_dir / name).exists():
            return word
    # between two commits of a series that stopped, only its list of what is left tells
    with contextlib.suppress(OSError):
        todo = (git_dir / "sequencer" / "todo").read_text(encoding="utf-8", errors="replace")
        return "revert" if todo.lstrip().startswith("revert") else "cherry-pick"
    return None


def index_damaged(git_dir: Path) -> bool:
    """Whether the index there is not what git wrote. git itself reads half of one as if it were whole."""
    try:
        data = (git_dir / "index").read_bytes()
    except OSError:
        return False
    body, told = data[:-_SUM_BYTES], data[-_SUM_BYTES:]
    # with `index.skipHash` git writes zeros
    return not body.startswith(b"DIRC") or (
        any(told) and hashlib.sha1(body, usedforsecurity=False).digest() != told
    )


def index_mend(root: Path, git_dir: Path) -> str:
    """The line that makes an index anew from the branch: the damaged one is kept, and no file is touched."""
    old = git_dir / "index"
    return f"mv {quote(str(old))} {quote(f'{old}.damaged')} && git -C {quote(str(root))} reset -q"


def _git_dir(root: Path) -> Path | None:
    dot = root / ".git"
    if dot.is_dir():
        return dot
    try:
        text = dot.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return None
    target = Path(text.removeprefix("gitdir: "))
    return target if target.is_absolute() else Path(os.path.normpath(root / target))


def _main_elsewhere(memory: Memory, listed: Path) -> Path | None:
    """The git directory of a main work tree that git lists by its git directory: a submodule, a separate git dir."""
    if listed == memory.common_dir and memory.git_dir == memory.common_dir and not memory.bare:
        return memory.git_dir
    return None

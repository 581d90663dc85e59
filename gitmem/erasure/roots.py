"""Everything in a repository that keeps a commit: refs, detached heads of work trees, stashes."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import Busy, Refused
from gitmem.git.locate import SEEN, Memory
from gitmem.git.run import Git
from gitmem.git.worktrees import index_damaged, index_mend, operation

STASH = "refs/stash"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A work tree on any branch or on none. `detached`: the commit its HEAD names itself, else None."""

    root: Path
    git_dir: Path
    detached: str | None

    def git(self, memory: Memory) -> Git:
        if self.root != self.git_dir:
            return Git(self.root, memory.git.env)
        return Git(self.git_dir, {**memory.git.env, "GIT_DIR": str(self.git_dir)})


def forget_sightings(memory: Memory) -> None:
    """Drop the notes of where remotes stood: rewritten, they would name commits that no remote ever had."""
    for name in memory.git.lines("for-each-ref", "--format=%(refname)", SEEN):
        memory.git.run("update-ref", "-d", name)


def git_dirs(memory: Memory) -> list[Path]:
    """The repository's own git directory and those of its linked work trees."""
    linked = memory.common_dir / "worktrees"
    return [memory.common_dir, *sorted(one for one in linked.glob("*") if (one / "HEAD").is_file())]


def checkouts(memory: Memory) -> list[Checkout]:
    """Every git directory with an index of its own; where the folder is bare or gone, `root` is the git directory."""
    found = []
    for place in git_dirs(memory):
        root = _root(memory, place)
        if root is None and place == memory.common_dir and not memory.bare:
            continue
        head = (place / "HEAD").read_text(encoding="utf-8", errors="surrogateescape").strip()
        found.append(Checkout(root or place, place, None if head.startswith("ref:") else head))
    return found


def _root(memory: Memory, place: Path) -> Path | None:
    if place != memory.common_dir:
        try:
            text = (place / "gitdir").read_text(encoding="utf-8", errors="surrogateescape").strip()
        except OSError:
            return None
        dot = Path(os.path.normpath(place / text))
        return dot.parent if dot.exists() else None
    if memory.bare:
        return None
    git = Git(place, memory.git.env)
    top = git.run("config", "core.worktree", check=False).text()
    if top:
        return Path(os.path.normpath(place / top))
    return place.parent if place.name == ".git" else memory.root


def refuse_when_unfit(memory: Memory) -> None:
    """
    Raises:
        Refused: history is not here as a whole, or kept in a form that is not known here.
        Busy: some work tree is in the middle of an operation, whose notes name commits that would go.
    """
    from shlex import quote

    place = quote(str(memory.root))
    if (memory.common_dir / "shallow").exists():
        raise Refused(
            "this clone holds only the newest part of history, nothing was forgotten",
            [f"git -C {place} fetch --unshallow", "or forget in a whole clone"],
        )
    if memory.setting("extensions.partialclone"):
        raise Refused(
            "this clone leaves objects on its remote, nothing was forgotten", ["forget in a whole clone"]
        )
    if (
        memory.setting("extensions.refstorage", "files") != "files"
        or memory.setting("extensions.objectformat", "sha1") != "sha1"
    ):
        raise Refused(
            "forgetting does not know reftable and SHA-256 repositories, nothing was forgotten",
            ["move the memory into an ordinary one: git init, then git fetch from this one"],
        )
    for place in git_dirs(memory):
        word = operation(place) or ("bisect" if (place / "BISECT_LOG").exists() else None)
        root = _root(memory, place) or place
        if word == "bisect":
            raise Busy(
                f"`{root}` is in the middle of a bisect, nothing was forgotten",
                [f"git -C {quote(str(root))} bisect reset"],
            )
        if word:
            raise Busy(
                f"`{root}` is in the middle of a {word}, nothing was forgotten",
                [f"git -C {quote(str(root))} {word} {way}" for way in ("--continue", "--abort")],
            )
        if index_damaged(place):
            raise Refused(
                f"the git index of `{root}` is damaged, nothing was forgotten",
                [index_mend(root, place)],
            )
        deadline = time.monotonic() + 2.0
        while (place / "index.lock").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        if (place / "index.lock").exists():
            raise Busy(
                f"git is busy in `{root}`: `{place / 'index.lock'}` is there, nothing was forgotten",
                ["if no git command runs there, delete that file and try again"],
            )


def refs(memory: Memory) -> dict[str, str]:
    """Every ref that is not symbolic, with the object it names; without the stash, whose list is its reflog."""
    found = {}
    for line in memory.git.lines("for-each-ref", "--format=%(refname) %(objectname) %(symref)"):
        name, oid, *symbolic = line.split(" ")
        if name != STASH and not any(symbolic):
            found[name] = oid
    return found


def stash_file(memory: Memory) -> Path:
    return memory.common_dir / "logs" / "refs" / "stash"


def stashes(memory: Memory) -> list[tuple[str, bytes]]:
    """The commits of the stash list, oldest first, each with what its line says behind the two ids."""
    try:
        lines = stash_file(memory).read_bytes().splitlines()
    except OSError:
        top = memory.git.run("rev-parse", "--verify", "-q", STASH, check=False).text()
        return [(top, b"git-mem <> 0 +0000\tstash")] if top else []
    return [(parts[1].decode(), parts[2]) for line in lines if len(parts := line.split(b" ", 2)) == 3]

"""Rewrite history beside the repository, then move every ref at once.

The new commits are made in a scratch repository that borrows the memory's objects: until the refs move, nothing has
happened, and a killed run leaves a folder to throw away. What is made from the same history by the same order has the
same ids on every computer, so a run that was killed halfway through moving makes the same again and goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gitmem.erasure import roots
from gitmem.erasure.order import Order
from gitmem.erasure.roots import Checkout
from gitmem.errors import Busy, GitFailed
from gitmem.git.locate import Memory
from gitmem.git.run import Git, failure

_ROOM = "erase-"
MARK = "erasing"
_HEADS, _STASHES = "refs/git-mem-erase/head/", "refs/git-mem-erase/stash/"
# A history of a hundred thousand commits takes minutes.
_TIMEOUT_S = 3600.0


@dataclass(frozen=True, slots=True)
class Moves:
    """What moves: ref -> (old, new); detached work trees; the stash list with its new commits, when one changed.

    `commits`: how many were rewritten.
    """

    refs: Mapping[str, tuple[str, str]]
    heads: tuple[tuple[Checkout, str], ...]
    stash: tuple[tuple[str, bytes], ...] | None
    commits: int


def prepare(memory: Memory, order: Order) -> Moves:
    """Make the new commits, and bring their objects into the repository; no ref has moved yet."""
    clear(memory)
    # of our own: a process that a killed run left behind may still write into that one's
    room = memory.state / f"{_ROOM}{os.getpid()}"
    scratch = room / "scratch.git"
    room.mkdir(parents=True, mode=0o700, exist_ok=True)
    (room / "order.json").write_text(json.dumps(order.as_json()), encoding="utf-8")
    memory.git.run("init", "-q", "--bare", "--template=", str(scratch))
    # nobody's hooks, wherever they are configured
    Git(scratch, memory.git.env).run("config", "core.hooksPath", os.devnull)
    (scratch / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (scratch / "objects" / "info" / "alternates").write_text(f"{memory.common_dir / 'objects'}\n")
    git = Git(scratch, memory.git.env)
    before = roots.refs(memory)
    commits = _commits(git, before)
    trees = [one for one in roots.checkouts(memory) if one.detached]
    stashes = roots.stashes(memory)
    wanted = {name: oid for name, oid in before.items() if name in commits}
    wanted.update({f"{_HEADS}{i}": tree.detached or "" for i, tree in enumerate(trees)})
    wanted.update({f"{_STASHES}{i}": oid for i, (oid, _) in enumerate(stashes)})
    if not wanted:
        return Moves({}, (), None, 0)
    _update(git, (f"create {name} {oid}" for name, oid in wanted.items()))
    _filter(git, room / "order.json")
    renamed = _renamed(scratch)
    _carry_notes(git, memory, before, renamed)
    after = {name: oid for name, oid in _names(git).items() if name in wanted}
    bring(scratch / "objects", memory.common_dir / "objects")
    made = [after[f"{_STASHES}{i}"] for i in range(len(stashes))]
    lines = tuple((new, order.words.cleaned(rest)) for new, (_, rest) in zip(made, stashes, strict=True))
    return Moves(
        {
            name: (before[name], after[name])
            for name in wanted
            if name in before and after[name] != before[name]
        },
        tuple(
            (tree, after[f"{_HEADS}{i}"])
            for i, tree in enumerate(trees)
            if after[f"{_HEADS}{i}"] != tree.detached
        ),
        lines if lines != tuple(stashes) or _torn(memory, lines) else None,
        len(renamed),
    )


def clear(memory: Memory) -> None:
    """Throw away what was made beside the repository, by this run and by those before it."""
    for room in memory.state.glob(f"{_ROOM}*"):
        shutil.rmtree(room, ignore_errors=True)


def move(memory: Memory, moves: Moves) -> bool:
    """Move everything; False when somebody moved a ref first (then all of it is to be made anew)."""
    mark = memory.state / MARK
    mark.touch(mode=0o600)
    try:
        lines = [f"update {name} {new} {old}" for name, (old, new) in moves.refs.items()]
        if lines and not _try_update(memory.git, lines):
            return False
        for tree, new in moves.heads:
            tree.git(memory).run("update-ref", "--no-deref", "HEAD", new, tree.detached or "")
        if moves.stash is not None:
            _write_stash(memory, moves.stash)
        return True
    finally:
        mark.unlink(missing_ok=True)


def _torn(memory: Memory, lines: tuple[tuple[str, bytes], ...]) -> bool:
    """Whether a run was killed between the list and its ref."""
    top = memory.git.run("rev-parse", "--verify", "-q", roots.STASH, check=False).text()
    return bool(lines) and lines[-1][0] != top


def _commits(git: Git, refs: Mapping[str, str]) -> set[str]:
    """The refs that lead to a commit; a ref to a bare file or tree is none of ours."""
    asked = "".join(f"{oid}^{{commit}}\n" for oid in refs.values()).encode()
    answers = git.run("cat-file", "--batch-check=%(objecttype)", input=asked).text().split("\n")
    return {name for name, answer in zip(refs, answers, strict=False) if answer == "commit"}


def _filter(git: Git, order: Path) -> None:
    import subprocess

    package = str(Path(__file__).resolve().parents[2])
    # the process imports this very gitmem, wherever it was started from, and nothing from its folder
    program = "import sys; sys.path.insert(0, sys.argv[1]); from gitmem.erasure.filter import main; sys.exit(main(sys.argv[2:]))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, package, str(order)],
        cwd=git.cwd,
        env=dict(git.env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_TIMEOUT_S,
    )
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip().split("\n")
        raise GitFailed(
            f"history could not be rewritten, nothing was changed: {words[-1]}",
            ["forgetting needs git 2.36 or newer", "pip install --upgrade git-filter-repo"],
        )


def _renamed(scratch: Path) -> dict[str, str]:
    """Old commit -> new commit, of those that changed."""
    file = scratch / "filter-repo" / "commit-map"
    pairs = [line.split() for line in file.read_text().splitlines()[1:]]
    return {old: new for old, new in pairs if old != new}


def _carry_notes(git: Git, memory: Memory, refs: Mapping[str, str], renamed: Mapping[str, str]) -> None:
    """Notes hang on the id of a commit: put them under the new one."""
    if not renamed:
        return
    identity = _identity(memory)
    for ref in [name for name in refs if name.startswith("refs/notes/")]:
        listed = git.run("notes", f"--ref={ref}", "list", check=False)
        noted = {line.split()[1] for line in listed.text().split("\n") if " " in line}
        moved = [(old, new) for old, new in renamed.items() if old in noted]
        if not moved:
            continue
        copies = "".join(f"{old} {new}\n" for old, new in moved).encode()
        git.run("notes", f"--ref={ref}", "copy", "--force", "--stdin", input=copies, env=identity)
        gone = "".join(f"{old}\n" for old, _ in moved).encode()
        git.run("notes", f"--ref={ref}", "remove", "--ignore-missing", "--stdin", input=gone, env=identity)


def _identity(memory: Memory) -> dict[str, str]:
    found = {}
    for role in ("AUTHOR", "COMMITTER"):
        for key, default in (("name", "git mem"), ("email", "git-mem@localhost")):
            found[f"GIT_{role}_{key.upper()}"] = memory.setting(f"user.{key}") or default
    return found


def _names(git: Git) -> dict[str, str]:
    lines = git.lines("for-each-ref", "--format=%(refname) %(objectname)")
    return dict(line.split(" ", 1) for line in lines)  # type: ignore[misc]


def bring(source: Path, target: Path) -> None:
    """Copy every new object, each whole or not at all; an index of a pack comes after its pack."""
    files = [file for file in source.rglob("*") if file.is_file() and file.parent.name != "info"]
    for file in sorted(files, key=lambda one: (one.suffix == ".idx", one)):
        place = target / file.relative_to(source)
        if place.exists():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_name(f"tmp_obj_{os.getpid()}")
        shutil.copyfile(file, fresh)
        os.chmod(fresh, 0o444)
        fresh.replace(place)


def _update(git: Git, lines: Iterable[str]) -> None:
    git.run("update-ref", "--stdin", input="".join(f"{line}\n" for line in lines).encode())


def _try_update(git: Git, lines: list[str]) -> bool:
    data = "".join(f"{line}\n" for line in lines).encode()
    done = git.run("update-ref", "--stdin", input=data, check=False)
    if done.code == 0:
        return True
    if b"but expected" in done.err or b"reference already exists" in done.err:
        return False
    if b"Unable to create" in done.err:
        raise Busy(
            "git is busy with a ref of the memory, nothing was forgotten yet", ["git mem forget --continue"]
        )
    raise failure(["update-ref"], done.err, done.code)


def _write_stash(memory: Memory, lines: Iterable[tuple[str, bytes]]) -> None:
    """The stash list is the reflog of its ref: the file first, then the ref; between the two nothing is lost."""
    before, out, last = "0" * 40, b"", ""
    for oid, rest in lines:
        out += f"{before} {oid} ".encode() + rest + b"\n"
        before = last = oid
    if not last:
        return
    file = roots.stash_file(memory)
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(".stash.git-mem")
    fresh.write_bytes(out)
    fresh.replace(file)
    # a ref that moves writes a line of its own, so it is put down as git puts it, beside the list
    ref = memory.common_dir / "refs" / "stash"
    ref.parent.mkdir(parents=True, exist_ok=True)
    fresh = ref.with_name(".stash.git-mem")
    fresh.write_text(last + "\n")
    fresh.replace(ref)

"""Write to the memory: one commit a call, on its branch, whole or not at all.

The commit is made by `git commit` itself (hooks, signing, identity) in a private git directory that shares
objects, refs, configuration and hooks with the memory but has its own HEAD, index and work tree. Its HEAD is
detached at the parent; then the branch moves from exactly that parent to the new commit. So what the person
staged, changed or is typing as a commit message is never in reach, it works on a bare repository and with
another branch checked out, and a writer killed at any moment leaves at most an unreachable commit. Work trees
that have the branch checked out receive the new files last; a note of what they are owed is made before the branch
moves and kept until they have it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from gitmem.errors import Busy, GitFailed, Refused
from gitmem.git import lock, objects
from gitmem.git.deliver import NOTE, note_debts, settle_debts
from gitmem.git.locate import Memory, refreshed
from gitmem.git.run import Git, failure
from gitmem.git.worktrees import WorkTree, operation, work_trees

LOCK_TIMEOUT_S = 30.0
# Signing and hooks may ask a person something, yet nothing may hold the lock for ever.
COMMIT_TIMEOUT_S = 300.0
MOVING = "moving"
# Names, in the private git directory, the tree that was judged and is being committed.
JUDGED = "judged"
# Which copy of the memory made a commit: a trailer, because a rewritten history keeps it and a clone does not inherit its name.
DEVICE, DEVICE_SETTING = "Mem-Device", "mem.device"
# Names, in the private git directory, the parent and the commit whose files its index holds.
HOLDS = "holds"
_LEFT_OUT = ("cards/", "sources/")
# An index of fewer bytes is read anew sooner than it is brought along; so it is with more files between two commits.
LARGE = 2_000_000
_FOLLOWED = 500
_ZERO = "0" * 40
_WHO_SIGNS = "git config --show-origin --get commit.gpgsign shows who asks for signatures"


@dataclass(frozen=True, slots=True)
class Written:
    """The commit that was made, and the work trees that could not be brought along yet."""

    commit: str
    parent: str | None
    behind: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """Files to add or change (path -> bytes; None deletes), and the commit's message with its trailers.

    Args:
        merges: a commit that becomes the second parent.
        judged: these files were judged, for this caller; the memory's own hooks need not judge the same tree again.
        approve: called with the commit before the branch moves to it; what it raises keeps the branch where it is.
    """

    files: Mapping[str, bytes | None]
    subject: str
    body: str = ""
    trailers: Sequence[tuple[str, str]] = ()
    merges: str | None = None
    judged: bool = False
    approve: Callable[[str], None] | None = None

    def message(self, device: str) -> str:
        parts = [self.subject]
        if self.body:
            parts.append(self.body.strip())
        parts.append("\n".join(f"{key}: {value}" for key, value in (*self.trailers, (DEVICE, device))))
        return "\n\n".join(parts) + "\n"


def write(
    memory: Memory,
    make: Callable[[Memory], Draft | None],
    timeout_s: float = LOCK_TIMEOUT_S,
    env: Mapping[str, str] | None = None,
) -> Written | None:
    """Commit what `make` returns for the memory as it is under the lock; None when it returns None.

    `make` is called again when the branch moved in between (a plain `git commit` by the person).

    Raises:
        Busy: another writer held the lock, or git is in the middle of an operation on the branch.
        Refused, GitFailed: a hook or git refused; nothing was changed.
    """
    with lock.held(memory.state / "write.lock", timeout_s, "the memory"):
        for _ in range(5):
            memory = refreshed(memory)
            trees = work_trees(memory)
            settle_debts(memory, trees)
            for tree in trees:
                _refuse_mid_operation(tree)
            draft = make(memory)
            if draft is None:
                return None
            commit = _commit(memory, draft, env or {})
            if draft.approve:
                draft.approve(commit)
            note_debts(memory, trees, draft.files)
            if _move(memory, commit, draft):
                return Written(commit, memory.tip, settle_debts(replace(memory, tip=commit), trees))
        raise Busy("the branch moves faster than this could be written", ["try again"])


def forward(memory: Memory, commit: str, why: str) -> Written | None:
    """Move the branch on to a commit that has its tip among its ancestors; None when it stands there, or is past it.

    Raises:
        Busy, Refused: as `write`; Refused also when the branch is no ancestor of `commit`.
    """
    with lock.held(memory.state / "write.lock", LOCK_TIMEOUT_S, "the memory"):
        for _ in range(5):
            memory = refreshed(memory)
            if memory.tip is not None and _leads(memory, commit, memory.tip):
                return None
            if memory.tip is not None and not _leads(memory, memory.tip, commit):
                raise Refused(f"`{memory.branch}` has commits that {commit[:7]} has not")
            trees = work_trees(memory)
            settle_debts(memory, trees)
            for tree in trees:
                _refuse_mid_operation(tree)
            note_debts(memory, trees, [one.path for one in objects.changes(memory.git, memory.tip, commit)])
            if _move(memory, commit, Draft({}, why)):
                return Written(commit, memory.tip, settle_debts(replace(memory, tip=commit), trees))
        raise Busy("the branch moves faster than this could be written", ["try again"])


def _leads(memory: Memory, older: str, newer: str) -> bool:
    return memory.git.run("merge-base", "--is-ancestor", older, newer, check=False).code == 0


def settle(memory: Memory) -> None:
    """Give work trees what a writer that was killed still owed them; nothing when there is none, or one is at work."""
    if not (memory.state / NOTE).exists():
        return
    try:
        with lock.held(memory.state / "write.lock", 0.0, "the memory"):
            memory = refreshed(memory)
            settle_debts(memory, work_trees(memory))
    except (Busy, OSError):
        return  # whoever holds the lock settles it; a disk that cannot be written keeps nobody from reading


def _refuse_mid_operation(tree: WorkTree) -> None:
    word = operation(tree.git_dir)
    if word:
        raise Busy(
            f"`{tree.root}` is in the middle of a {word}, nothing written",
            [f"git -C {quote(str(tree.root))} {word} {way}" for way in ("--continue", "--abort")],
        )
    index_lock = tree.git_dir / "index.lock"
    deadline = time.monotonic() + 2.0
    while index_lock.exists():
        if time.monotonic() > deadline:
            age = max(0, int(time.time() - _mtime(index_lock)))
            raise Busy(
                f"git is busy in `{tree.root}`: `{index_lock}` is {age} s old{_whose(index_lock)}, nothing written",
                ["if no git command runs there, delete that file and try again"],
            )
        time.sleep(0.02)


def _commit(memory: Memory, draft: Draft, env: Mapping[str, str]) -> str:
    """A commit of the draft on top of `memory.tip`, on no branch yet."""
    room = memory.state / "writer"
    # beside the git directory: inside it, tools take themselves for lost
    tree = memory.state / "draft"
    _furnish(memory, room)
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {room}\n")
    # a merge that called us says in GITHEAD_* what it merges, and this commit is none of it
    around = {key: value for key, value in memory.git.env.items() if not key.startswith("GITHEAD_")}
    git = Git(
        tree,
        {
            **around,
            "GIT_DIR": str(room),
            "GIT_COMMON_DIR": str(memory.common_dir),
            "GIT_WORK_TREE": str(tree),
            **_identity(memory),
            **env,
        },
    )
    try:
        _read_parent(git, room, memory.tip)
        _stage(git, draft.files)
        for path, data in draft.files.items():
            if data is not None:
                place = tree / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        if draft.judged:
            (room / JUDGED).write_text(git.run("write-tree").text() + "\n")
        if draft.merges:
            (room / "MERGE_HEAD").write_text(f"{draft.merges}\n")
        message = room / "message"
        message.write_text(draft.message(_device(memory)), encoding="utf-8")
        settings = [*_SPARSE, "-c", "core.commentChar=\x01", *_hooks_from_here(memory)]
        signs = memory.setting("commit.gpgsign") == "true"
        try:
            done = git.run(
                *settings,
                "commit",
                "-q",
                "--cleanup=verbatim",
                "--allow-empty",
                "-F",
                str(message),
                check=False,
                timeout_s=COMMIT_TIMEOUT_S,
            )
        except GitFailed as error:
            hint = _WHO_SIGNS if signs else "git mem hooks status shows the hooks that git runs"
            raise GitFailed(f"{error.message}, nothing written", error.hints or [hint]) from error
        if done.code != 0:
            raise _refusal(done.err, done.code, signs)
        commit = git.run("rev-parse", "--verify", "HEAD^{commit}").text()
        if memory.tip is not None:
            (room / HOLDS).write_text(f"{memory.tip} {commit}\n")
        return commit
    finally:
        shutil.rmtree(tree, ignore_errors=True)
        shutil.rmtree(room / "logs", ignore_errors=True)
        for name in ("message", "COMMIT_EDITMSG", JUDGED, *_MERGING):
            (room / name).unlink(missing_ok=True)


_MERGING = ("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE")
_SPARSE = ("-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false")


def _device(memory: Memory) -> str:
    """The random name of this copy of the memory, given by its first write. Hold the memory's lock."""
    found = memory.setting(DEVICE_SETTING)
    if not found:
        found = secrets.token_hex(4)
        memory.git.run("config", "--local", DEVICE_SETTING, found)
    return found


def _read_parent(git: Git, room: Path, tip: str | None) -> None:
    """The index at the parent, and its files but for cards and sources.

    Hooks and the files they see come from the commit being made, never from the person's work tree. Cards and
    sources are marked as left out on purpose, so that a hook that compares files with the index sees no deletion.
    An index that an earlier commit left is brought along: to read a large memory's trees takes longer than all else.
    """
    index, note = room / "index", room / HOLDS
    large = index.exists() and index.stat().st_size >= LARGE
    held = note.read_text().split() if large and note.exists() else []
    # whoever is killed from here on leaves an index that nobody trusts
    note.unlink(missing_ok=True)
    if tip is not None and len(held) == 2 and _brought_along(git, held[0], held[1], tip):
        return
    if tip is None:
        index.unlink(missing_ok=True)
        git.run("read-tree", "--empty")
        return
    read = (*_SPARSE, "read-tree", "--reset", "-u", tip)
    if git.run(*read, check=False).code != 0:
        index.unlink(missing_ok=True)
        git.run(*read)


def _brought_along(git: Git, before: str, commit: str, tip: str) -> bool:
    """Bring the index from `commit`, which was made on `before`, to `tip`; False when it has to be read anew."""
    try:
        staged = objects.changes(git, before, commit)
        changes = objects.changes(git, commit, tip) if commit != tip else []
        if len(staged) + len(changes) > _FOLLOWED:
            return False
        lines = [
            f"{change.new.mode} {change.new.oid}\t{change.path}\0"
            if change.new
            else f"0 {_ZERO}\t{change.path}\0"
            for change in changes
        ]
        if lines:
            git.run("update-index", "-z", "--index-info", input=_bytes(lines))
        now = {change.path: change.new for change in (*staged, *changes)}
        left_out = [f"{path}\0" for path, entry in now.items() if entry and path.startswith(_LEFT_OUT)]
        if left_out:
            git.run("update-index", "--skip-worktree", "-z", "--stdin", input=_bytes(left_out))
        top = git.run("ls-tree", "-z", "--name-only", tip).out.split(b"\0")
        names = [
            name.decode("utf-8", "surrogateescape") for name in top if name not in (b"", b"cards", b"sources")
        ]
        others = git.run("ls-tree", "-r", "-z", "--name-only", tip, "--", *names).out if names else b""
        git.run("checkout-index", "-f", "-q", "-z", "--stdin", input=others)
        return True
    except GitFailed:
        return False  # a commit that is gone, an index that cannot be read


def _bytes(lines: Sequence[str]) -> bytes:
    return "".join(lines).encode("utf-8", "surrogateescape")


def _identity(memory: Memory) -> dict[str, str]:
    """Who git says we are in the memory itself: a conditional include may ask for its branch or its git directory."""
    found = {}
    for role in ("AUTHOR", "COMMITTER"):
        words = memory.git.run("var", f"GIT_{role}_IDENT", check=False).text()
        match = re.fullmatch(r"(.+) <([^<>]+)> \d+ [+-]\d+", words)
        if match:
            found[f"GIT_{role}_NAME"], found[f"GIT_{role}_EMAIL"] = match[1], match[2]
    return found


def _hooks_from_here(memory: Memory) -> tuple[str, ...]:
    """A relative `core.hooksPath` counts from the work tree, and the commit is not made in that one."""
    setting = memory.setting("core.hookspath")
    if not setting or os.path.isabs(setting) or setting.startswith("~"):
        return ()
    return ("-c", f"core.hooksPath={memory.root / setting}")


def _furnish(memory: Memory, room: Path) -> None:
    """The private git directory, its HEAD at the parent; a half-made one is made anew."""
    room.mkdir(parents=True, exist_ok=True)
    (room / "commondir").write_text(str(memory.common_dir) + "\n")
    for name in ("index.lock", "HEAD.lock", JUDGED, *_MERGING):
        # ours alone, and we hold the memory's lock: whoever left it is dead
        (room / name).unlink(missing_ok=True)
    shutil.rmtree(room / "refs", ignore_errors=True)
    (room / "info").mkdir(exist_ok=True)
    (room / "info" / "sparse-checkout").write_text("/*\n!/cards/\n!/sources/\n")
    # a first commit needs an unborn branch; git keeps refs/worktree/ inside this private directory
    (room / "HEAD").write_text(f"{memory.tip}\n" if memory.tip else "ref: refs/worktree/draft\n")


def _stage(git: Git, files: Mapping[str, bytes | None]) -> None:
    lines = []
    added = [(path, data) for path, data in files.items() if data is not None]
    if added:
        oids = _store(git, [data for _, data in added])
        lines.extend(f"100644 {oid}\t{path}\0" for oid, (path, _) in zip(oids, added, strict=True))
    lines.extend(f"0 {_ZERO}\t{path}\0" for path, data in files.items() if data is None)
    git.run("update-index", "-z", "--add", "--index-info", input=_bytes(lines))


def _store(git: Git, blobs: Sequence[bytes]) -> list[str]:
    """Object ids of blobs, each stored as it is."""
    if len(blobs) == 1:
        return [git.run("hash-object", "-w", "--no-filters", "--stdin", input=blobs[0]).text()]
    stream = b"".join(
        b"blob\nmark :%d\ndata %d\n%s\n" % (i, len(data), data) for i, data in enumerate(blobs, 1)
    )
    marks = "".join(f"get-mark :{i}\n" for i in range(1, len(blobs) + 1))
    out = git.run("fast-import", "--quiet", "--force", input=stream + marks.encode() + b"done\n")
    return out.text().split("\n")


def _move(memory: Memory, commit: str, draft: Draft) -> bool:
    """Move the branch from the parent to the commit; False when somebody moved it first."""
    with announced(memory, memory.tip, commit):
        done = memory.git.run(
            "update-ref",
            "-m",
            f"commit: {draft.subject[:100]}",
            memory.ref,
            commit,
            memory.tip or _ZERO,
            check=False,
        )
    if done.code == 0:
        return True
    now = memory.git.run("rev-parse", "--verify", "-q", f"{memory.ref}^{{commit}}", check=False).text()
    if now != (memory.tip or ""):
        return False
    if b"Unable to create" in done.err or b"cannot lock ref" in done.err:
        time.sleep(0.05)
        return False
    raise failure(["update-ref"], done.err, done.code)


@contextmanager
def announced(memory: Memory, old: str | None, new: str) -> Iterator[None]:
    """Tell the memory's own `reference-transaction` hook that its branch moves from `old` to `new` by git mem itself.

    The commits were judged before, so the hook need not judge them again. Hold the memory's lock meanwhile. A note that a
    killed process leaves speaks of exactly that move, and so opens no other; of a first commit, which git tells as it
    tells a move from anywhere, there is none.
    """
    note = memory.state / MOVING
    if old is not None:
        note.write_text(f"{old} {new}\n")
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def _mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _whose(path: Path) -> str:
    """Whom a file belongs to, when that is not us."""
    if not hasattr(os, "getuid"):
        return ""  # Windows: a file has no such owner
    try:
        owner = path.owner() if path.stat().st_uid != os.getuid() else ""
    except (OSError, KeyError):
        return ""
    return f" and belongs to `{owner}`" if owner else ""


def _refusal(stderr: bytes, code: int, signs: bool) -> Exception:
    """A failed `git commit`: no identity, or a hook that said no (its words are kept)."""
    words = stderr.decode("utf-8", "replace").strip()
    if (
        "Please tell me who you are" in words
        or "empty ident name" in words
        or "unable to auto-detect email" in words
    ):
        return Refused(
            "git does not know who you are, nothing written",
            ['git config --global user.name "Your Name"', "git config --global user.email you@example.com"],
        )
    if signs and ("failed to sign" in words or "failed to write commit object" in words):
        return GitFailed(
            f"the commit could not be signed, nothing written: {words.splitlines()[0].removeprefix('error: ')}",
            [_WHO_SIGNS],
        )
    if any(line.startswith("fatal: ") for line in words.splitlines()):
        return failure(["commit"], stderr, code)
    return Refused("a commit hook refused, nothing written", details=words.splitlines()[-20:])

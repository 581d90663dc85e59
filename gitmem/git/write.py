"""Write to the memory: one commit a call, on its branch, whole or not at all.

The commit is made by `git commit` itself (hooks, signing, identity) in a private git directory that shares
objects, refs, configuration and hooks with the memory but has its own HEAD, index and work tree. Its HEAD is
detached at the parent; then the branch moves from exactly that parent to the new commit. So what the person
staged, changed or is typing as a commit message is never in reach, it works on a bare repository and with
another branch checked out, and a writer killed at any moment leaves at most an unreachable commit. Work trees
that have the branch checked out receive the new files last; a note of what they are owed is kept until then.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import Busy, GitFailed, Refused
from gitmem.git import lock, objects
from gitmem.git.locate import Memory, refreshed
from gitmem.git.run import Git, failure

LOCK_TIMEOUT_S = 30.0
_ZERO = "0" * 40


@dataclass(frozen=True, slots=True)
class Written:
    """The commit that was made, and the work trees that could not be brought along yet."""

    commit: str
    parent: str | None
    behind: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """Files to add or change (path -> bytes; None deletes), and the commit's message with its trailers."""

    files: Mapping[str, bytes | None]
    subject: str
    body: str = ""
    trailers: Sequence[tuple[str, str]] = ()

    def message(self) -> str:
        parts = [self.subject]
        if self.body:
            parts.append(self.body.strip())
        if self.trailers:
            parts.append("\n".join(f"{key}: {value}" for key, value in self.trailers))
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
            _settle_debts(memory, trees)
            for tree in trees:
                _refuse_mid_operation(memory, tree)
            draft = make(memory)
            if draft is None:
                return None
            commit = _commit(memory, draft, env or {})
            if _move(memory, commit, draft):
                return Written(commit, memory.tip, _bring_along(memory, trees, draft, commit))
        raise Busy("the branch moves faster than this could be written", ["try again"])


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
    """What git is in the middle of there: `merge`, `rebase`, `cherry-pick`, `revert`, `bisect`, `am`; else None."""
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
    return None


def _refuse_mid_operation(memory: Memory, tree: WorkTree) -> None:
    word = operation(tree.git_dir)
    if word:
        raise Busy(
            f"`{tree.root}` is in the middle of a {word}, nothing written",
            [f"git -C {tree.root} {word} --continue", f"git -C {tree.root} {word} --abort"],
        )
    index_lock = tree.git_dir / "index.lock"
    deadline = time.monotonic() + 2.0
    while index_lock.exists():
        if time.monotonic() > deadline:
            age = max(0, int(time.time() - _mtime(index_lock)))
            raise Busy(
                f"git is busy in `{tree.root}`: `{index_lock}` is {age} s old, nothing written",
                ["if no git command runs there, delete that file and try again"],
            )
        time.sleep(0.02)


def _commit(memory: Memory, draft: Draft, env: Mapping[str, str]) -> str:
    """A commit of the draft on top of `memory.tip`, on no branch yet."""
    room = memory.state / "writer"
    tree = room / "tree"
    _furnish(memory, room)
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    git = Git(tree, {**memory.git.env, "GIT_DIR": str(room), "GIT_COMMON_DIR": str(memory.common_dir), "GIT_WORK_TREE": str(tree), **env})
    try:
        index = room / "index"
        # Hooks and the files they see come from the commit being made, never from the person's work tree.
        if memory.tip is None:
            index.unlink(missing_ok=True)
            git.run("read-tree", "--empty")
        else:
            git.run("read-tree", "--reset", memory.tip)
        _stage(git, draft.files)
        for path, data in draft.files.items():
            if data is not None:
                place = tree / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        message = room / "message"
        message.write_text(draft.message(), encoding="utf-8")
        done = git.run("-c", "core.commentChar=\x01", "commit", "-q", "--cleanup=verbatim", "--allow-empty", "-F", str(message), check=False)
        if done.code != 0:
            raise _refusal(done.err, done.code)
        return git.run("rev-parse", "--verify", "HEAD^{commit}").text()
    finally:
        shutil.rmtree(tree, ignore_errors=True)
        shutil.rmtree(room / "logs", ignore_errors=True)
        for name in ("message", "COMMIT_EDITMSG"):
            (room / name).unlink(missing_ok=True)


def _furnish(memory: Memory, room: Path) -> None:
    """The private git directory, its HEAD at the parent; a half-made one is made anew."""
    room.mkdir(parents=True, exist_ok=True)
    (room / "commondir").write_text(str(memory.common_dir) + "\n")
    for name in ("index.lock", "HEAD.lock"):
        # ours alone, and we hold the memory's lock: whoever left it is dead
        (room / name).unlink(missing_ok=True)
    shutil.rmtree(room / "refs", ignore_errors=True)
    # a first commit needs an unborn branch; git keeps refs/worktree/ inside this private directory
    (room / "HEAD").write_text(f"{memory.tip}\n" if memory.tip else "ref: refs/worktree/draft\n")


def _stage(git: Git, files: Mapping[str, bytes | None]) -> None:
    lines = []
    added = [(path, data) for path, data in files.items() if data is not None]
    if added:
        oids = _store(git, [data for _, data in added])
        lines.extend(f"100644 {oid}\t{path}\0" for oid, (path, _) in zip(oids, added, strict=True))
    lines.extend(f"0 {_ZERO}\t{path}\0" for path, data in files.items() if data is None)
    git.run("update-index", "-z", "--add", "--index-info", input="".join(lines).encode())


def _store(git: Git, blobs: Sequence[bytes]) -> list[str]:
    """Object ids of blobs, each stored as it is."""
    if len(blobs) == 1:
        return [git.run("hash-object", "-w", "--no-filters", "--stdin", input=blobs[0]).text()]
    stream = b"".join(b"blob\nmark :%d\ndata %d\n%s\n" % (i, len(data), data) for i, data in enumerate(blobs, 1))
    marks = "".join(f"get-mark :{i}\n" for i in range(1, len(blobs) + 1))
    out = git.run("fast-import", "--quiet", "--force", input=stream + marks.encode() + b"done\n")
    return out.text().split("\n")


def _move(memory: Memory, commit: str, draft: Draft) -> bool:
    """Move the branch from the parent to the commit; False when somebody moved it first."""
    done = memory.git.run(
        "update-ref", "-m", f"commit: {draft.subject[:100]}", memory.ref, commit, memory.tip or _ZERO, check=False
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


def _bring_along(memory: Memory, trees: Sequence[WorkTree], draft: Draft, commit: str) -> tuple[Path, ...]:
    """Give the files to the work trees that have the branch checked out; those that could not take them."""
    if not trees:
        return ()
    debts = {str(tree.root): sorted(draft.files) for tree in trees}
    _note_debts(memory, debts, memory.tip)
    behind = []
    for tree in trees:
        if _deliver(tree, list(draft.files), memory.tip, commit, memory.git.env):
            debts.pop(str(tree.root))
        else:
            behind.append(tree.root)
    _note_debts(memory, debts, memory.tip)
    return tuple(behind)


def _deliver(tree: WorkTree, paths: Sequence[str], before: str | None, commit: str, env: Mapping[str, str]) -> bool:
    """Bring `paths` of a work tree and its index from commit `before` to `commit`, where they stand untouched.

    A path that the person staged or changed keeps its content; its index entry is left as it is.
    """
    git = Git(tree.root, env)
    old = _tree_blobs(git, before, paths)
    new = _tree_blobs(git, commit, paths)
    staged = _index_blobs(git, paths)
    lines = []
    with contextlib.closing(objects.open_light(git)) as blobs:
        for path in paths:
            line = _deliver_one(git, blobs, tree.root, path, old, new, staged)
            if line:
                lines.append(line)
    if not lines:
        return True
    deadline = time.monotonic() + 5.0
    while True:
        done = git.run("update-index", "-z", "--add", "--index-info", input="".join(lines).encode(), check=False)
        if done.code == 0:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)


def _deliver_one(
    git: Git,
    blobs: objects.Objects,
    root: Path,
    path: str,
    old: Mapping[str, str],
    new: Mapping[str, str],
    staged: Mapping[str, str],
) -> str | None:
    """Bring one path of a work tree along; the line its index is owed, None where it stays as it is."""
    if staged.get(path) == new.get(path) or staged.get(path) != old.get(path):
        return None
    place = root / path
    if old.get(path) is not None and _on_disk(git, place) not in (old[path], None):
        pass  # changed on disk: the file is the person's, the index follows the branch
    elif new.get(path) is None:
        place.unlink(missing_ok=True)
    elif old.get(path) is None and place.exists():
        pass
    else:
        _put(place, blobs.blob(new[path]))
    return f"100644 {new[path]}\t{path}\0" if path in new else f"0 {_ZERO}\t{path}\0"


def _settle_debts(memory: Memory, trees: Sequence[WorkTree]) -> None:
    """Deliver what a writer that died, or met a busy index, still owed."""
    note = memory.state / "owed.json"
    try:
        owed = json.loads(note.read_text())
        debts, before = dict(owed["paths"]), owed["before"]
    except (OSError, ValueError, KeyError, TypeError):
        note.unlink(missing_ok=True)
        return
    for tree in trees:
        paths = debts.get(str(tree.root))
        if paths and memory.tip and operation(tree.git_dir) is None:
            if _deliver(tree, paths, before, memory.tip, memory.git.env):
                debts.pop(str(tree.root))
    _note_debts(memory, {root: paths for root, paths in debts.items() if Path(root).is_dir()}, before)


def _note_debts(memory: Memory, debts: Mapping[str, Sequence[str]], before: str | None) -> None:
    note = memory.state / "owed.json"
    if not debts:
        note.unlink(missing_ok=True)
        return
    fresh = note.with_suffix(".tmp")
    fresh.write_text(json.dumps({"before": before, "paths": debts}))
    fresh.replace(note)


def _tree_blobs(git: Git, tree: str | None, paths: Sequence[str]) -> dict[str, str]:
    if tree is None:
        return {}
    out = git.run("ls-tree", "-r", "-z", "--full-tree", tree, "--", *_top(paths)).out
    found = {}
    wanted = set(paths)
    for record in out.split(b"\0"):
        head, _, name = record.partition(b"\t")
        path = os.fsdecode(name)
        if path in wanted:
            found[path] = head.split()[2].decode()
    return found


def _index_blobs(git: Git, paths: Sequence[str]) -> dict[str, str]:
    out = git.run("ls-files", "-s", "-z", "--full-name", "--", *_top(paths)).out
    found = {}
    wanted = set(paths)
    for record in out.split(b"\0"):
        head, _, name = record.partition(b"\t")
        path = os.fsdecode(name)
        if path in wanted:
            found[path] = head.split()[1].decode()
    return found


def _top(paths: Sequence[str]) -> list[str]:
    """Few enough pathspecs for one command line."""
    return list(paths) if len(paths) <= 200 else sorted({path.split("/", 1)[0] for path in paths})


def _on_disk(git: Git, place: Path) -> str | None:
    if not place.is_file():
        return None
    return git.run("hash-object", "--", str(place)).text()


def _put(place: Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_name(f".{place.name}.git-mem")
    fresh.write_bytes(data)
    fresh.replace(place)


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


def _mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _refusal(stderr: bytes, code: int) -> Exception:
    """A failed `git commit`: no identity, or a hook that said no (its words are kept)."""
    words = stderr.decode("utf-8", "replace").strip()
    if "Please tell me who you are" in words or "empty ident name" in words or "unable to auto-detect email" in words:
        return Refused(
            "git does not know who you are, nothing written",
            ['git config --global user.name "Your Name"', "git config --global user.email you@example.com"],
        )
    if "gpg failed" in words or "failed to write commit object" in words and "sign" in words:
        return GitFailed(f"the commit could not be signed: {words.splitlines()[0]}", ["git config --get commit.gpgsign shows who asks for it"])
    return Refused("a commit hook refused, nothing written", details=words.splitlines()[-20:])

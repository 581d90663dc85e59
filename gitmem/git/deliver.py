"""Give work trees the files of a commit that was made beside them, and keep a note of what they are still owed.

In: work trees, the commit their index stood at, the commit of the branch. What the person staged, changed or deleted
keeps its content. A writer that is killed leaves the note, and whoever comes next delivers.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.git.run import Git
from gitmem.git.worktrees import WorkTree, index_damaged, operation

NOTE = "owed.json"
_ZERO = "0" * 40


def settle_debts(memory: Memory, trees: Sequence[WorkTree]) -> tuple[Path, ...]:
    """Deliver what work trees are owed; those that could not take it now."""
    debts = _debts(memory)
    behind = []
    for tree in trees:
        owed = debts.get(str(tree.root))
        if not owed or not memory.tip:
            continue
        by_start: dict[str, list[str]] = {}
        for path, before in owed.items():
            by_start.setdefault(before, []).append(path)
        done = not (operation(tree.git_dir) or index_damaged(tree.git_dir)) and all(
            _deliver(tree, sorted(paths), before or None, memory.tip, memory.git.env)
            for before, paths in by_start.items()
        )
        if done:
            debts.pop(str(tree.root))
        else:
            behind.append(tree.root)
    _keep_debts(memory, {root: paths for root, paths in debts.items() if Path(root).is_dir()})
    return tuple(behind)


def note_debts(memory: Memory, trees: Sequence[WorkTree], files: Iterable[str]) -> None:
    """Note that the work trees get these files once the branch has moved; what is owed already stays owed."""
    if not trees:
        return
    debts = _debts(memory)
    paths = list(files)
    for tree in trees:
        owed = debts.setdefault(str(tree.root), {})
        for path in paths:
            owed.setdefault(path, memory.tip or "")
    _keep_debts(memory, debts)


def _debts(memory: Memory) -> dict[str, dict[str, str]]:
    """Root of a work tree -> path -> the commit that its index stands at for this path (empty: before the first)."""
    try:
        found = json.loads((memory.state / NOTE).read_text(encoding="utf-8"))
        return {
            str(root): {str(path): str(before) for path, before in paths.items()}
            for root, paths in found.items()
        }
    except (OSError, ValueError, AttributeError):
        return {}


def _keep_debts(memory: Memory, debts: Mapping[str, Mapping[str, str]]) -> None:
    note = memory.state / NOTE
    if not debts:
        note.unlink(missing_ok=True)
        return
    fresh = note.with_suffix(".tmp")
    fresh.write_text(json.dumps(debts), encoding="utf-8")
    fresh.replace(note)


def _deliver(
    tree: WorkTree, paths: Sequence[str], before: str | None, commit: str, env: Mapping[str, str]
) -> bool:
    """Bring `paths` of a work tree and its index from commit `before` to `commit`, where they stand untouched.

    A path that the person staged or changed keeps its content; its index entry is left as it is.
    """
    git = Git(tree.root, env)
    old = _tree_blobs(git, before, paths)
    new = _tree_blobs(git, commit, paths)
    staged, left_out = _index_blobs(git, paths)
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
        done = git.run(
            "update-index", "-z", "--add", "--index-info", input="".join(lines).encode(), check=False
        )
        if done.code == 0:
            break
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    if left_out:
        # a sparse checkout leaves these files out on purpose, and a fresh entry has forgotten it
        git.run(
            "update-index",
            "-z",
            "--skip-worktree",
            "--stdin",
            input="".join(f"{path}\0" for path in left_out).encode(),
            check=False,
        )
    # entries made of ids alone know no file times, and git would take the files for possibly changed
    git.run("add", "--refresh", "--", *_top(paths), check=False)
    return True


def _deliver_one(
    git: Git,
    blobs: objects.Objects,
    root: Path,
    path: str,
    old: Mapping[str, str],
    new: Mapping[str, str],
    staged: Mapping[str, str],
) -> str | None:
    """Bring one path of a work tree along; the line its index is owed, None where it stays as it is.

    An index that is at the new state already may have been made anew (`git reset`): the file is owed all the same.
    """
    there = staged.get(path) == new.get(path)
    if not there and staged.get(path) != old.get(path):
        return None
    place = root / path
    if _behind_link(root, place) or _on_disk(git, place) != old.get(path):
        pass  # changed, made or deleted on disk: the file is the person's, the index follows the branch
    elif path in new:
        _put(place, blobs.blob(new[path]))
    elif not there:
        place.unlink(missing_ok=True)
    if there:
        return None
    return f"100644 {new[path]}\t{path}\0" if path in new else f"0 {_ZERO}\t{path}\0"


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


def _index_blobs(git: Git, paths: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """What the index holds of `paths`, and those of them that a sparse checkout leaves out of the work tree."""
    out = git.run("ls-files", "-s", "-t", "-z", "--full-name", "--", *_top(paths)).out
    found, left_out = {}, []
    wanted = set(paths)
    for record in out.split(b"\0"):
        head, _, name = record.partition(b"\t")
        path = os.fsdecode(name)
        if path in wanted:
            tag, _, oid, _ = head.decode().split(" ")
            found[path] = oid
            if tag == "S":
                left_out.append(path)
    return found, left_out


def _top(paths: Sequence[str]) -> list[str]:
    """Few enough pathspecs for one command line."""
    return list(paths) if len(paths) <= 200 else sorted({path.split("/", 1)[0] for path in paths})


def _on_disk(git: Git, place: Path) -> str | None:
    """The blob that git would make of a file; None where nothing stands, and no id for anything but a file."""
    if not os.path.lexists(place):
        return None
    if place.is_symlink() or not place.is_file():
        return "no file"
    return git.run("hash-object", "--", str(place)).text()


def _behind_link(root: Path, place: Path) -> bool:
    """Whether a folder on the way to `place` is a link, which git does not write through either."""
    return any(
        parent.is_symlink() for parent in place.parents if parent != root and parent.is_relative_to(root)
    )


def _put(place: Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_name(f".{place.name}.git-mem")
    fresh.write_bytes(data)
    fresh.replace(place)

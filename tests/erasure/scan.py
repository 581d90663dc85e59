"""Look for bytes in everything that a repository keeps, packed or not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path


def git(cwd: Path, *args: str, check: bool = True, input: str | None = None, **env: str) -> str:
    done = subprocess.run(
        ["git", *args], cwd=cwd, capture_output=True, text=True, input=input, env={**os.environ, **env}
    )
    assert not check or done.returncode == 0, (args, done.stdout, done.stderr)
    return done.stdout


def holding(root: Path, *words: str) -> list[str]:
    """Where any of these words stands: raw objects, every file of the git directory, every file of the work tree."""
    needles = [form for word in words for form in _forms(word)]
    found = [name for name, data in _objects(root) if any(needle in data for needle in needles)]
    common = Path(git(root, "rev-parse", "--path-format=absolute", "--git-common-dir").strip())
    for top in {root, common}:
        for file in sorted(top.rglob("*")):
            if file.is_file() and not file.is_symlink():
                data = file.read_bytes()
                if any(needle in data or needle in os.fsencode(file.name) for needle in needles):
                    found.append(str(file))
    return found


def _objects(root: Path) -> Iterator[tuple[str, bytes]]:
    """Every object that is there, reachable or not, as `kind id` and its bytes."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch"]
    data = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        oid, kind, size = data[at:end].decode().split()
        yield f"{kind} {oid}", data[end + 1 : end + 1 + int(size)]
        at = end + 2 + int(size)


def _forms(word: str) -> set[bytes]:
    """A word as text, and as its ASCII letters with other signs as JSON writes them."""
    import json

    return {word.encode(), json.dumps(word)[1:-1].encode()}


def clean(root: Path) -> None:
    """Git finds nothing wrong, nor do the checks."""
    git(root, "fsck", "--full", "--strict", "--no-dangling")
    from gitmem import judge
    from tests.conftest import open_memory

    memory = open_memory(root)
    report = judge.check_tree(memory.git, memory.tip)
    assert report.ok, report.render()
    report = judge.check_range(
        root, git(root, "rev-list", "--max-parents=0", memory.ref).split()[0], memory.ref
    )
    assert report.ok, report.render()

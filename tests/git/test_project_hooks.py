"""`git mem` called by the hooks of somebody's project: the memory gets what it was told, the project nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.git.test_write import git, status

COMMANDS = (
    'add "The hook {name} writes here"',
    "status",
    "doctor",
    "check --staged",
    "recall --lexical what does the hook write",
    "index",
    "list",
    "init",
    "hooks install",
)


@pytest.fixture
def project(home: Path) -> Path:
    """A linked worktree of a project, with a tracked file, a staged one, a changed one and an untracked one."""
    git(home, "init", "-q", "project")
    project = home / "project"
    for name in ("code.py", "staged.py", "changed.py"):
        (project / name).write_text("pass\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    git(project, "remote", "add", "origin", str(home / "origin.git"))
    git(home, "init", "-q", "--bare", "origin.git")
    linked = home / "linked"
    git(project, "worktree", "add", "-q", "-b", "side", str(linked))
    (linked / "staged.py").write_text("staged\n")
    git(linked, "add", "staged.py")
    (linked / "changed.py").write_text("changed\n")
    (linked / "secret.env").write_text("TOKEN=1\n")
    return linked


def _hook(project: Path, name: str) -> Path:
    log = project.parent / "said"
    place = project.parent / "project/.git/hooks" / name
    place.parent.mkdir(exist_ok=True)
    lines = [
        f'PYTHONPATH="{ROOT}" "{sys.executable}" -m gitmem {command.format(name=name)} >>"{log}" 2>&1 </dev/null; echo "code $?" >>"{log}"'
        for command in COMMANDS
    ]
    place.write_text("\n".join(["#!/bin/sh", *lines, "exit 0", ""]))
    place.chmod(0o755)
    return log


@pytest.mark.parametrize(
    ("hook", "way", "committed"),
    [
        ("pre-commit", ("commit", "-q", "-m", "x"), {"staged.py"}),
        ("pre-commit", ("commit", "-q", "-a", "-m", "x"), {"staged.py", "changed.py"}),
        ("pre-commit", ("commit", "-q", "-m", "x", "changed.py"), {"changed.py"}),
        ("prepare-commit-msg", ("commit", "-q", "-m", "x"), {"staged.py"}),
        ("commit-msg", ("commit", "-q", "-m", "x"), {"staged.py"}),
        ("post-commit", ("commit", "-q", "-m", "x"), {"staged.py"}),
        ("post-checkout", ("checkout", "-q", "--detach"), set()),
        ("pre-push", ("push", "-q", "origin", "side"), set()),
    ],
)  # fmt: skip
def test_a_projects_hook_writes_into_the_memory_and_nothing_into_the_project(
    memory, project, home, hook, way, committed
):
    log = _hook(project, hook)
    head, tip = git(project, "rev-parse", "HEAD"), git(memory.root, "rev-parse", "main").strip()
    hooks = sorted(path.name for path in (home / "project/.git/hooks").iterdir())
    git(project, *way, GIT_AUTHOR_NAME="Some Body", GIT_AUTHOR_EMAIL="some@example.com")
    codes = [line for line in log.read_text().splitlines() if line.startswith("code ")]
    # the doctor finds that there is no `git-mem` on PATH
    assert codes == [f"code {int(one == 'doctor')}" for one in COMMANDS], log.read_text()
    subjects = git(memory.root, "log", "--format=%s|%ae", f"{tip}..main").splitlines()
    assert subjects == [f"mem(preference): The hook {hook} writes here|you@example.com"]
    assert status(memory.root) == ""
    changed = git(project, "diff", "--name-only", head.strip(), "HEAD").split()
    assert set(changed) == committed
    assert sorted(git(project, "ls-files").split()) == ["changed.py", "code.py", "staged.py"]
    assert "?? secret.env" in status(project)
    assert sorted(path.name for path in (home / "project/.git/hooks").iterdir()) == hooks
    assert not (home / "project/.git/git-mem").exists()
    assert git(project, "config", "--get", "mem.branch", check=False) == ""
    assert git(project, "fsck", "--no-dangling") == ""

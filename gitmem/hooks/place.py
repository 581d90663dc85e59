"""The memory's hooks, with what git's configuration says about hooks here."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from shlex import quote

from gitmem.git.locate import Memory
from gitmem.hooks import elsewhere, install


def hooks_path(memory: Memory) -> tuple[str | None, str | None]:
    """`core.hooksPath` with `~` resolved, and the scope it is set in."""
    found = memory.git.run("config", "--show-scope", "--type=path", "--get", "core.hooksPath", check=False)
    if found.code != 0:
        return None, None
    scope, _, value = found.text().partition("\t")
    return value, scope


def install_into(memory: Memory) -> install.InstallReport:
    setting, scope = hooks_path(memory)
    return install.install(memory.common_dir, setting, sys.executable, hooks_path_scope=scope)


def states(memory: Memory) -> list[install.HookState]:
    setting, _ = hooks_path(memory)
    return install.inspect(memory.common_dir, setting, worktree=None if memory.bare else memory.root)


def states_by_tree(memory: Memory) -> list[tuple[Path, list[install.HookState], str]]:
    """Each work tree with its hooks, and the command that undoes a `core.hooksPath` that leads elsewhere; else empty.

    The setting may differ from one work tree to the next, and a relative one is another folder in each.
    """
    found = []
    for line in memory.git.lines("worktree", "list", "--porcelain"):
        word, _, path = line.partition(" ")
        tree = Path(path)
        if word != "worktree" or not (tree / ".git").exists():
            continue
        here = replace(memory, root=tree, git=replace(memory.git, cwd=tree))
        setting, scope = hooks_path(here)
        aside = ""
        if elsewhere.points_elsewhere(memory.common_dir / "hooks", setting):
            _, hints = elsewhere.hooks_path(memory.common_dir, setting or "", scope)
            aside = hints[0].partition(": ")[2]
            if scope == "worktree":
                aside = aside.replace("git config", f"git -C {quote(str(tree))} config", 1)
        found.append((tree, install.inspect(memory.common_dir, setting, worktree=tree), aside))
    return found

"""The memory's hooks, with what git's configuration says about hooks here."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from shlex import quote

from gitmem.errors import Refused
from gitmem.git.locate import MARK, Memory, refreshed
from gitmem.hooks import elsewhere, install

# What was asked for beyond the usual hooks, kept in the repository's own configuration.
_STRICT, _SERVER = "mem.strict", "mem.server"


def hooks_path(memory: Memory) -> tuple[str | None, str | None]:
    """`core.hooksPath` with `~` resolved, and the scope it is set in."""
    found = memory.git.run("config", "--show-scope", "--type=path", "--get", "core.hooksPath", check=False)
    if found.code != 0:
        return None, None
    scope, _, value = found.text().partition("\t")
    return value, scope


def install_into(memory: Memory, strict: bool = False) -> install.InstallReport:
    """Put in the hooks that this repository shall have; once `strict`, it stays so until they are taken out."""
    if strict:
        memory.git.run("config", "--local", _STRICT, "true")
    setting, scope = hooks_path(memory)
    return install.install(
        memory.common_dir, setting, sys.executable, names=names(memory), hooks_path_scope=scope
    )


def install_on_server(memory: Memory, branch: str | None) -> tuple[install.InstallReport, str]:
    """Put in `pre-receive`, which judges every push to `branch`; and the name of that branch.

    Raises:
        Refused: it is no bare repository, or it is not plain which branch is the memory.
    """
    if not memory.bare:
        raise Refused(
            f"`{memory.root}` has a work tree: nobody pushes there, so there is nothing to judge",
            ["git mem hooks install --strict", "for a server: git init --bare DIR, then the same there"],
        )
    chosen = branch or memory.setting("mem.branch") or _only_memory(memory)
    memory.git.run("config", "--local", "mem.branch", chosen)
    memory.git.run("config", "--local", _SERVER, "true")
    setting, scope = hooks_path(memory)
    report = install.install(
        memory.common_dir, setting, sys.executable, names=(install.SERVER,), hooks_path_scope=scope
    )
    return report, chosen


def uninstall_from(memory: Memory) -> tuple[install.HookChange, ...]:
    """Take our hooks out again, and the wish for more than the usual ones."""
    changes = install.uninstall(memory.common_dir)
    for key in (_STRICT, _SERVER):
        memory.git.run("config", "--local", "--unset-all", key, check=False)
    return changes


def names(memory: Memory) -> tuple[str, ...]:
    """The hooks that this repository shall have."""
    asked = refreshed(memory)
    if asked.setting(_SERVER) == "true":
        return (install.SERVER,)
    return (*install.HOOKS, install.STRICT) if asked.setting(_STRICT) == "true" else install.HOOKS


def states(memory: Memory) -> list[install.HookState]:
    setting, _ = hooks_path(memory)
    worktree = None if memory.bare else memory.root
    return install.inspect(memory.common_dir, setting, worktree=worktree, names=names(memory))


def _only_memory(memory: Memory) -> str:
    """The one branch that holds a memory; `main` in a repository where nothing was pushed yet."""
    git = memory.git
    branches = git.lines("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/")
    holding = [
        name for name in branches if git.run("cat-file", "-e", f"{name}:{MARK}", check=False).code == 0
    ]
    if len(holding) > 1 and memory.branch not in holding:
        raise Refused(
            f"which branch is the memory? {', '.join(holding)} hold one",
            ["git mem --repo DIR hooks install --server --branch NAME"],
        )
    return holding[0] if len(holding) == 1 else memory.branch


def states_by_tree(memory: Memory) -> list[tuple[Path, list[install.HookState], str]]:
    """Each work tree with its hooks, and the command that undoes a `core.hooksPath` that leads elsewhere; else empty.

    The setting may differ from one work tree to the next, and a relative one is another folder in each.
    """
    found = []
    wanted = names(memory)
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
        seen = install.inspect(memory.common_dir, setting, worktree=tree, names=wanted)
        found.append((tree, seen, aside))
    return found

"""The memory's hooks, with what git's configuration says about hooks here."""

from __future__ import annotations

import sys

from gitmem.git.locate import Memory
from gitmem.hooks import install


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

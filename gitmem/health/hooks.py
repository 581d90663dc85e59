"""Do the memory's own git hooks run in every work tree?

In: what was seen of each hook, by work tree, and what `core.hooksPath` means there. Out: findings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from gitmem.config import Env
from gitmem.health.finding import FIX, OK, Finding, spelt

INSTALL = "git mem hooks install"


class Seen(Protocol):
    """One hook as it stands where git looks for it."""

    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def ok(self) -> bool: ...


def findings(env: Env, trees: Mapping[Path, Sequence[Seen]], aside: Mapping[Path, str]) -> list[Finding]:
    """One row for every kind of fault.

    Args:
        trees: work tree -> its hooks.
        aside: work tree -> the command that makes git look in the repository's own folder again, where
            `core.hooksPath` sends it elsewhere.
    """
    good = sum(all(one.ok for one in hooks) for hooks in trees.values())
    if good == len(trees):
        return (
            [
                Finding(
                    OK,
                    "hooks",
                    "memory",
                    f"hooks run in {f'{good} of {good} worktrees' if good != 1 else '1 worktree'}",
                )
            ]
            if trees
            else []
        )
    found: list[Finding] = []
    own: dict[str, tuple[Seen, list[str]]] = {}
    for tree, hooks in trees.items():
        bad = [one for one in hooks if not one.ok]
        if bad and tree in aside:
            words = f"core.hooksPath keeps git from running ours in {spelt(tree, env)}"
            found.append(Finding(FIX, "hooks-elsewhere", "hooks", words, aside[tree]))
            continue
        for one in bad:
            # all work trees share one folder: the same fault is told once
            names = own.setdefault(f"{one.state} {one.detail}", (one, []))[1]
            if one.name not in names:
                names.append(one.name)
    for one, names in own.values():
        why = f" ({one.detail})" if one.detail and not one.detail.startswith("chmod") else ""
        word = "not ours" if one.state == "foreign only" else one.state
        code = "hooks-" + one.state.split(" only")[0].replace(" ", "-")
        found.append(Finding(FIX, code, "hooks", f"{', '.join(names)}: {word}{why}", INSTALL))
    return found

"""When git looks for hooks outside the repository's own folder: how to tell, and what to advise.

Nothing is written here. The other folder often serves many repositories, so its owner decides about it.
"""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote

# The line goes near the top of a shell script in the other folder; without our hooks it does nothing.
CHAIN_MARK = 'git_mem="$(git rev-parse --git-common-dir)/hooks/'
_CHAIN = CHAIN_MARK + '${0##*/}"; [ ! -x "$git_mem" ] || "$git_mem" "$@" || exit $?'
# Only pre-push gets input from git, and the script below the line wants to read it too.
_CHAIN_PUSH = CHAIN_MARK + (
    'pre-push"; refs=$(mktemp) && cat >"$refs"; '
    '[ ! -x "$git_mem" ] || "$git_mem" "$@" <"$refs" || { code=$?; rm -f "$refs"; exit $code; }; '
    'exec <"$refs"; rm -f "$refs"'
)


def chain_line(name: str) -> str:
    """The shell line that makes the hook `name` of another folder run the repository's own one first."""
    return _CHAIN_PUSH if name == "pre-push" else _CHAIN


def points_elsewhere(own: Path, setting: str | None) -> bool:
    """Whether `core.hooksPath` keeps git from the folder `own`.

    A relative setting is another folder in each worktree and cannot serve them all; an empty one means none.
    """
    return setting is not None and not (os.path.isabs(setting) and same(Path(setting), own))


def same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def hooks_path(git_common_dir: Path, setting: str, scope: str | None) -> tuple[str, tuple[str, ...]]:
    """What a foreign `core.hooksPath` means, and how to let git run our hooks all the same.

    Args:
        scope: where the value is set, in the words of `git config --show-scope`; None when unknown.

    Returns:
        One sentence, and hints: set it aside for this repository, or call our hooks from over there.
    """
    own = git_common_dir / "hooks"
    config = f"git --git-dir={quote(str(git_common_dir))} config --local"
    if scope == "worktree":
        aside = "git config --worktree --unset-all core.hooksPath"
    elif scope == "local":
        aside = f"{config} --unset-all core.hooksPath"
    else:
        aside = f"{config} core.hooksPath {quote(str(own))}"
    hints = [f"to run this repository's own hooks: {aside}"]
    if setting not in ("", os.devnull):
        hints += [
            f"to run both, after the #! line of each hook there but pre-push: {_CHAIN}",
            f"and after the #! line of pre-push there: {_CHAIN_PUSH}",
        ]
    return f"core.hooksPath is `{setting}`, so git does not run the hooks of `{own}`", tuple(hints)


def linked_folder(hooks: Path) -> tuple[str, tuple[str, ...]]:
    """The same two for a hooks folder that is a link, often to one that other repositories share."""
    link, own = quote(str(hooks)), quote(f"{hooks}.own")
    return f"`{hooks}` is a link to `{os.path.realpath(hooks)}`, and git mem does not write through it", (
        f"to give this repository a copy of its own: cp -RL {link} {own} && rm {link} && mv {own} {link}",
        "then: git mem hooks install",
    )

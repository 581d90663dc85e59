"""Git itself: its version, who it thinks we are, and how much lies about unpacked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gitmem.config import Env
from gitmem.context import Context, author_email
from gitmem.errors import MemError, Refused
from gitmem.git.run import clean
from gitmem.git.worktrees import index_damaged, index_mend, work_trees
from gitmem.health.finding import FIX, LOOK, Finding, spelt

OLDEST = (2, 31)
# Where git's own automatic clean-up begins when `gc.auto` says nothing.
LOOSE = 6700
WHO = 'git config --global user.name "Your Name" && git config --global user.email you@example.com'


def version(env: Env) -> Iterator[Finding]:
    """Needs no memory."""
    try:
        words = clean(env.cwd if env.cwd.is_dir() else Path("/"), env.vars).run("version").text()
    except MemError as error:
        yield Finding(FIX, "git-missing", "git", error.message, "install git 2.31 or newer")
        return
    found = re.search(r"(\d+)\.(\d+)", words)
    if found and (int(found[1]), int(found[2])) < OLDEST:
        yield Finding(FIX, "git-old", "git", f"{words} is too old", "install git 2.31 or newer")


def findings(context: Context) -> Iterator[Finding]:
    try:
        author_email(context.memory)
    except Refused as error:
        yield Finding(FIX, "git-identity", "git", error.message, WHO)
    for tree in work_trees(context.memory):
        if index_damaged(tree.git_dir):
            where = spelt(tree.root, context.env)
            words = f"the index of {where} is damaged: files there do not follow, and what git says of them is wrong"
            yield Finding(FIX, "git-index", "git", words, index_mend(tree.root, tree.git_dir))
    counted = dict(line.split(": ", 1) for line in context.memory.git.lines("count-objects", "-v"))
    loose = int(counted.get("count", "0"))
    if loose > _limit(context):
        words = f"{loose} objects lie loose, which makes everything slower"
        yield Finding(
            LOOK, "loose-objects", "git", words, f"git -C {spelt(context.memory.root, context.env)} gc"
        )


def _limit(context: Context) -> int:
    try:
        return int(context.memory.setting("gc.auto") or 0) or LOOSE
    except ValueError:
        return LOOSE

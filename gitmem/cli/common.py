"""What commands share: the context, options, and small words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Any

import click

from gitmem import config, context, detach
from gitmem.cli import arguments, output
from gitmem.config import Env
from gitmem.context import Context
from gitmem.errors import MemError, Usage
from gitmem.git.locate import Memory

# What they do needs nothing to be finished, and they must answer also where something cannot be.
_LOOKERS = arguments.READERS | {"status", "path", "profile", "off", "check", "doctor", "hooks", "inbox"}

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON; its schema is in schemas/")


def open_context(
    ctx: click.Context,
    agent: str | None = None,
    profile: str | None = None,
    now: str | None = None,
    unfinished: str = "finish",
) -> Context:
    """The memory and the caller of this command line.

    A forgetting that was killed is finished first, unless the command only looks something up (then it is told) or
    says `leave`.
    """
    repo = (ctx.obj or {}).get("repo")
    found = context.build(config.from_process(), repo, agent, profile, moment(now) if now else None)
    if unfinished == "leave" or not _begun(found):
        return found
    from gitmem.erasure.unfinished import unfinished as left

    command = _command(ctx)
    if command in _LOOKERS:
        for one in left(found) if command in arguments.READERS else ():
            output.say(output.aimed(f"note: {one.area} {one.words}: {one.mend}"))
        return found
    from gitmem.erasure import accept, erase

    dropped = [one for one in left(found) if not one.owed]
    if erase.resume(found) or accept.resume(found):
        output.say("note: finished a forgetting that was interrupted")
        detach.index(found.memory.root, found.memory.git.env)
    for one in dropped:
        output.say(output.aimed(f"note: {one.area} {one.words}: {one.mend}"))
    return context.build(config.from_process(), repo, agent, profile, found.now)


def _begun(found: Context) -> bool:
    return any((found.memory.state / name).exists() for name in ("forget.json", "accepting"))


def _command(ctx: click.Context) -> str:
    while ctx.parent is not None and ctx.parent.parent is not None:
        ctx = ctx.parent
    return ctx.info_name or ""


def moment(text: str) -> datetime:
    """`--now`: an RFC 3339 time or a date, in the local zone."""
    from gitmem.model import when

    try:
        return when.parse(text).astimezone()
    except ValueError:
        raise Usage(f"`{text}` is no time", ["2026-11-30, or 2026-11-30T09:00:00Z"]) from None


def project_here(found: Context, cwd: Path | None = None) -> str | None:
    """The registered project of a folder."""
    from gitmem.whereabouts import project_of_folder

    return project_of_folder(cwd or found.env.cwd, found.memory, found.registry)


def day(stamp: str) -> str:
    """The local day of a UTC stamp."""
    from gitmem.model import when

    return when.parse(stamp).astimezone().date().isoformat()


def days_old(stamp: str, now: datetime) -> str:
    from gitmem.model import when

    days = (now.date() - when.parse(stamp).astimezone(now.tzinfo).date()).days
    return "today" if days <= 0 else f"{days} day{'s' if days != 1 else ''} old"


def home(path: Path | str, env_home: Path | None) -> str:
    """A path with the home folder as `~`."""
    text = str(path)
    if env_home and (text == str(env_home) or text.startswith(str(env_home) + "/")):
        return "~" + text[len(str(env_home)) :]
    return text


def examples(*lines: str) -> str:
    """A help text's examples, kept as they are."""
    return "Examples:\n\n\b\n" + "\n".join(f"  {line}" for line in lines)


def standard_input(lenient: bool = False) -> str:
    """Everything on standard input, as text.

    Raises:
        Usage: it is not UTF-8; with `lenient` such bytes become U+FFFD.
    """
    data = sys.stdin.buffer.read()
    try:
        text = data.decode("utf-8", "replace" if lenient else "strict")
    except UnicodeDecodeError as error:
        raise Usage(f"standard input is not UTF-8 at byte {error.start}", ["iconv -t UTF-8"]) from None
    return text.replace("\r\n", "\n")


def note_branch(found: Context) -> None:
    """After a write: say so when the memory's branch is not the one whose files lie there."""
    memory = found.memory
    if memory.bare:
        return
    head = memory.git.run("symbolic-ref", "-q", "--short", "HEAD", check=False).text()
    if head != memory.branch:
        what = f"`{head}` is" if head else "a single commit is"
        output.say(
            f"note: this went to `{memory.branch}`, which is not checked out in "
            f"{home(memory.root, found.env.home)}: {what}"
        )


def behind_words(found: Context, root: Path) -> str:
    """Why the files of a work tree do not follow yet, and when they do."""
    from gitmem.git.worktrees import index_damaged, work_trees

    where = home(root, found.env.home)
    if any(tree.root == root and index_damaged(tree.git_dir) for tree in work_trees(found.memory)):
        return output.aimed(f"the git index of {where} is damaged, its files do not follow: git mem doctor")
    return f"git is busy in {where}; its files follow with the next write"


def note_other_memory(memory: Memory, env: Env) -> None:
    """Say so when the folder we stand in is another memory than the one this command is about."""
    from gitmem.git import locate

    try:
        here = locate.here(env)
    except MemError:
        return
    if here is not None and here.registry_tree is not None and here.common_dir != memory.common_dir:
        output.say(
            f"note: this is about {home(memory.root, env.home)}; the folder here is another memory, "
            f"for which: git mem --repo {quote(str(here.root))} …"
        )


def options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several option decorators as one."""

    def apply(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply

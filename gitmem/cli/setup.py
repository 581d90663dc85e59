"""init: make a memory, say what was done, what there is to take in, and what comes next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gitmem import config
from gitmem.authoring import init as making
from gitmem.authoring.init import Made
from gitmem.authoring.projects import project_id, surroundings
from gitmem.cli import output
from gitmem.cli.common import examples, home, json_option
from gitmem.config import Env
from gitmem.errors import MemError, Usage
from gitmem.health.finding import spelt
from gitmem.hooks.install import STRICT, InstallReport
from gitmem.hosts import connect
from gitmem.imports.find import Found

_NOTES = ("claude-code", "codex", "hermes", "openclaw")


@click.command(
    epilog=examples(
        "git mem init",
        "git mem init ~/notes/memory",
        "git mem init --strict",
        "git mem init --no-hooks --json",
        "git mem --repo ~/second init",
    )
)
@click.argument("folder", required=False, metavar="[DIR]")
@click.option("--branch", metavar="NAME", help="The branch that is the memory (main)")
@click.option(
    "--no-hooks",
    is_flag=True,
    help="Put in no commit hooks; cards are still checked before git mem writes them",
)
@click.option(
    "--strict", is_flag=True, help="Let git refuse every move of the branch that does not pass the checks"
)
@json_option
@click.pass_context
def init(
    ctx: click.Context, folder: str | None, branch: str | None, no_hooks: bool, strict: bool, as_json: bool
) -> None:
    """Make a memory in DIR, which is ~/memory unless you say otherwise.

    It becomes the one that git mem finds everywhere, unless another one is. The project you are in is not touched.
    A folder that is a memory already stays as it is and gets the commit hooks it lacks.
    """
    from gitmem.hooks.place import install_into

    if strict and no_hooks:
        raise Usage("--strict and --no-hooks exclude one another")
    env = config.from_process()
    place = making.place_for(env, folder or (ctx.obj or {}).get("repo") or env.repo)
    made = making.init(env, place, branch)
    hooks = None if no_hooks else install_into(made.memory, strict)
    found = found_here(env, made)
    here = surroundings(env.cwd, made.memory)
    if as_json:
        output.as_json(_as_json(made, hooks, found, here))
        return
    output.answer(made_text(env, made, hooks, here is not None))
    for line in hook_notes(hooks):
        output.say(line)
    for line in found_lines(env, found, here, new=made.written is not None):
        output.say(line)


def made_text(env: Env, made: Made, hooks: InstallReport | None, in_project: bool) -> str:
    """What was done."""
    place, typed = home(made.memory.root, env.home), spelt(made.memory.root, env)
    if made.written is None:
        first = f"{place} is a memory already; nothing was written to it"
    else:
        first = f"Made a memory in {place}" + (" (this project was not touched)" if in_project else "")
    checks = checks_words(hooks)
    default = {
        "set": f"git config --global mem.repo {typed}",
        "same": f"this one (git config --global mem.repo {typed})",
        "other": f"stays {home(made.other or '', env.home)}; to use this one: git config --global mem.repo {typed}",
        "failed": f"could not be set; do it by hand: git config --global mem.repo {typed}",
    }[made.default]
    return f"{first}\n  checks    {checks}\n  default   {default}\n"


def checks_words(hooks: InstallReport | None) -> str:
    """What the memory's hooks do now."""
    if hooks is None:
        return "no commit hooks; git mem hooks install puts them in"
    if not hooks.active:
        return "commit hooks are in, but git does not run them here"
    strict = any(change.name == STRICT for change in hooks.changes)
    return "commit hooks are in; a bad card cannot be committed" + (
        ", and strict: the branch moves only by what passes" if strict else ""
    )


def hook_notes(hooks: InstallReport | None) -> list[str]:
    """Why git will not run a hook, and what helps."""
    if hooks is None or hooks.active:
        return []
    left = [
        f"note: {change.name}: {change.note}"
        for change in hooks.changes
        if change.action == "left alone" and change.note != hooks.elsewhere
    ]
    return [
        *([f"note: {hooks.elsewhere}"] if hooks.elsewhere else []),
        *left,
        *(f"hint: {hint}" for hint in hooks.hints),
    ]


def found_here(env: Env, made: Made) -> list[Found]:
    """What there is to import; looking must never make `init` fail."""
    from gitmem.imports import find

    if env.home is None:
        return []
    inside = env.cwd == made.memory.root or made.memory.root in env.cwd.parents
    try:
        return find.found(env.home, None if inside else env.cwd, env.vars)
    except (MemError, OSError, ValueError):
        return []


def found_lines(env: Env, found: list[Found], here: tuple[Path, list[str]] | None, new: bool) -> list[str]:
    """What was found on this computer, and what to do next."""
    rows = [row for kind in _NOTES if (row := _notes(kind, found))]
    known = {kind for kind, _ in rows}
    hosts = [host for host in connect.CONNECTABLE if connect.found(None, env, host).folder is not None]
    rows.extend((name, "no notes of its own") for name in hosts if name not in known)
    rows.extend((one.kind, _other(env, one)) for one in found if one.kind not in _NOTES)
    if here is not None:
        rows.append(
            ("this folder", f"{here[1][0] if here[1] else home(here[0], env.home)}, not yet a project")
        )
    lines = ["", "Found on this computer", *output.table(rows, "  ").splitlines()] if rows else []
    return [*lines, *_next(found, hosts, here)] if new else []


def _next(found: list[Found], hosts: list[str], here: tuple[Path, list[str]] | None) -> list[str]:
    notes = sum(one.count for one in found)
    rows = []
    if here is not None:
        rows.append(("git mem project add", f"this folder becomes `{project_id(here[0].name) or 'project'}`"))
    if notes:
        rows.append(
            ("git mem import --dry-run", f"what the {notes} note{'s' if notes != 1 else ''} would become")
        )
    if hosts:
        rows.append(
            (
                f"git mem connect {' '.join(hosts)}",
                f"let {'it' if len(hosts) == 1 else 'them'} read and write it",
            )
        )
    if not notes:
        rows.append(('git mem add "…"', "remember something"))
    return ["", "Next", *output.table(rows, "  ").splitlines()]


def _notes(kind: str, found: list[Found]) -> tuple[str, str] | None:
    """`3 projects, 41 notes of its own`"""
    mine = [one for one in found if one.kind == kind]
    if not mine:
        return None
    unread = [one.note for one in mine if not one.count]
    count = sum(one.count for one in mine)
    projects = len({one.folder or one.path for one in mine if one.count}) if kind == "claude-code" else 0
    parts = [f"{projects} project{'s' if projects != 1 else ''}"] if projects else []
    parts.append(f"{count} note{'s' if count != 1 else ''} of its own") if count else None
    return kind, ", ".join([*parts, *unread[:1]])


def _other(env: Env, one: Found) -> str:
    if not one.count:
        return one.note
    what = "record" if one.kind == "decisions" else "note"
    where = (
        f"in {one.path.name}"
        if one.note == "this folder" and one.kind == "decisions"
        else f"in {one.note}"
        if one.note == "this folder"
        else one.note
    )
    return f"{one.count} {what}{'s' if one.count != 1 else ''} {where}".rstrip()


def _as_json(
    made: Made, hooks: InstallReport | None, found: list[Found], here: tuple[Path, list[str]] | None
) -> dict[str, Any]:
    return {
        "memory": str(made.memory.root),
        "branch": made.memory.branch,
        "created": made.written is not None,
        "commit": made.memory.tip,
        "default": made.default,
        "default_is": made.other,
        "hooks": [{"name": one.name, "action": one.action, "note": one.note} for one in hooks.changes]
        if hooks
        else [],
        "hooks_run": bool(hooks and hooks.active),
        "found": [
            {
                "kind": one.kind,
                "path": str(one.path),
                "count": one.count,
                "note": one.note,
                "folder": str(one.folder) if one.folder else None,
            }
            for one in found
        ],
        "here": {"folder": str(here[0]), "remotes": here[1]} if here else None,
    }

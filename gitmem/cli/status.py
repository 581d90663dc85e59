"""status, bare `git mem`, path: which memory this is and how it stands."""

from __future__ import annotations

from typing import Any

import click

from gitmem.cli import output
from gitmem.cli.common import examples, home, json_option, open_context, project_here
from gitmem.cli.standing import ago, collect, listed
from gitmem.context import Context
from gitmem.errors import NoMemory
from gitmem.model import ids, when

_SHOWN = 5


@click.command(epilog=examples("git mem status", "git mem status --json"))
@json_option
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """Say which memory this is, whether it is sound, who is connected, and what is new since yesterday."""
    context = open_context(ctx)
    found = collect(context)
    if as_json:
        output.as_json(found)
    else:
        output.answer(status_text(context, found))


def bare(ctx: click.Context) -> None:
    """`git mem` alone: the status of the memory, or how to begin where there is none."""
    try:
        context = open_context(ctx)
    except NoMemory as none:
        output.answer(ctx.get_help() + "\n\nTo begin:\n\n  git mem init\n")
        output.say(f"note: {none.message}")
        return
    output.answer(status_text(context, collect(context)))


def status_text(context: Context, found: dict[str, Any]) -> str:
    at_home = context.env.home
    rows = [
        (
            "memory",
            f"{home(found['memory'], at_home)} on `{found['branch']}`, {_count(found['live'], 'live card')} of {found['cards']}",
        )
    ]
    rows.append(("checks", _hooks(found["hooks"])))
    if found["invalid"]:
        rows.append(
            ("", f"{_count(len(found['invalid']), 'card')} left out because of faults: git mem check --all")
        )
    rows.append(("index", _index(found["index"])))
    for number, one in enumerate(found["agents"]):
        rows.append(
            ("agents" if number == 0 else "", f"{one['id']:<12} {one['profile']:<9} {_last(one, context)}")
        )
    if not found["agents"]:
        rows.append(("agents", "none yet: git mem connect"))
    active = [one["id"] for one in found["projects"] if one["status"] == "active"]
    archived = [one["id"] for one in found["projects"] if one["status"] != "active"]
    rows.append(
        (
            "projects",
            (", ".join(active) or "none yet: git mem project add")
            + (f"; archived {', '.join(archived)}" if archived else ""),
        )
    )
    here = project_here(context)
    if here is not None and context.caller.reads(here):
        rows.append(("here", f"`{here}`"))
    rows.extend(
        ("off" if number == 0 else "", line) for number, line in enumerate(off_lines(context, found["off"]))
    )
    new = found["new"]
    rows.append(("new", f"{_count(len(new), 'card')} since yesterday" if new else "nothing since yesterday"))
    rows.extend(
        ("", f"{ids.short(one['id'])}  {one['scope']:<10}  {one['conclusion']}") for one in new[:_SHOWN]
    )
    if len(new) > _SHOWN:
        rows.append(("", f"and {len(new) - _SHOWN} more: git mem log"))
    return output.table(rows)


def off_lines(context: Context, off: dict[str, Any]) -> list[str]:
    """What is switched off, in words; empty: everything is on."""
    lines = []
    if off["environment"]:
        lines.append("everything, in this shell: GIT_MEM_OFF is set")
    if off["until"]:
        lines.append(
            f"everything until {when.parse(off['until']).astimezone():%Y-%m-%d %H:%M}: git mem off --end"
        )
    if off["only"]:
        lines.append("everywhere but in " + listed(home(one, context.env.home) for one in off["only"]))
    if off["folders"]:
        lines.append("in " + listed(home(one, context.env.home) for one in off["folders"]))
    return lines


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _hooks(hooks: list[dict[str, Any]]) -> str:
    bad = [one for one in hooks if not one["ok"]]
    if not bad:
        return "commit hooks are in"
    if len(bad) == len(hooks) and all(one["state"] == "missing" for one in bad):
        return "commit hooks are missing: git mem hooks install"
    return "; ".join(f"{one['name']} {one['state']}" for one in bad) + ": git mem hooks status"


def _index(index: dict[str, Any]) -> str:
    if index["embedder"] == "none":
        what = f"{index['words']} of {index['cards']} cards by words"
        return what + (
            f"; the embedder `{index['wanted']}` is not installed"
            if index["wanted"] not in ("none", "")
            else ""
        )
    whole = index["words"] == index["cards"] == index["vectors"]
    if whole:
        return f"up to date, {_count(index['cards'], 'card')} ({index['embedder']}, offline)"
    return f"{index['words']} by words and {index['vectors']} with vectors, of {index['cards']} ({index['embedder']}): git mem index"


def _last(agent: dict[str, Any], context: Context) -> str:
    if agent["status"] != "active":
        return agent["status"]
    if agent["answered"]:
        return f"answered {ago(agent['answered'], context.now)}"
    return (
        f"asked {ago(agent['asked'], context.now)}, not answered yet"
        if agent["asked"]
        else "never asked on this computer"
    )


@click.command(epilog=examples("git mem path", 'cd "$(git mem path)"'))
@click.pass_context
def path(ctx: click.Context) -> None:
    """Print the folder of the memory."""
    output.answer(f"{open_context(ctx).memory.root}\n")

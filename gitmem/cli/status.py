"""status, bare `git mem`, path: which memory this is and how it stands."""

from __future__ import annotations

import os
from typing import Any

import click

from gitmem.cli import output
from gitmem.cli.common import examples, home, json_option, note_other_memory, open_context, project_here
from gitmem.cli.standing import ago, collect, listed
from gitmem.context import Context
from gitmem.errors import NoMemory
from gitmem.git.locate import CREATE
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
        note_other_memory(context.memory, context.env)


def bare(ctx: click.Context) -> None:
    """`git mem` alone: the status of the memory, or how to begin where there is none."""
    try:
        context = open_context(ctx)
    except NoMemory as none:
        if none.hints and none.hints[0] != CREATE:
            raise
        output.answer(ctx.get_help() + "\n\nTo begin:\n\n  git mem init\n")
        output.say(f"note: {none.message}")
        return
    output.answer(status_text(context, collect(context)))
    note_other_memory(context.memory, context.env)


def status_text(context: Context, found: dict[str, Any]) -> str:
    at_home = context.env.home
    rows = [
        (
            "memory",
            f"{home(found['memory'], at_home)} on `{found['branch']}`, {_count(found['live'], 'live card')} of {found['cards']}",
        )
    ]
    rows.append(("checks", output.aimed(_hooks(found["hooks"]))))
    if found["invalid"]:
        rows.append(
            (
                "",
                output.aimed(
                    f"{_count(len(found['invalid']), 'card')} left out because of faults: git mem check --all"
                ),
            )
        )
    rows.extend(
        ("interrupted", output.aimed(f"{one['what']}: {one['finish']}")) for one in found["unfinished"]
    )
    rows.append(("index", output.aimed(_index(context, found["index"]))))
    for number, one in enumerate(found["agents"]):
        rows.append(
            ("agents" if number == 0 else "", f"{one['id']:<12} {one['profile']:<9} {_last(one, context)}")
        )
    if not found["agents"]:
        rows.append(("agents", output.aimed("none yet: git mem connect")))
    active = [one["id"] for one in found["projects"] if one["status"] == "active"]
    archived = [one["id"] for one in found["projects"] if one["status"] != "active"]
    rows.append(
        (
            "projects",
            (", ".join(active) or output.aimed("none yet: git mem project add"))
            + (f"; archived {', '.join(archived)}" if archived else ""),
        )
    )
    here = project_here(context)
    if here is not None and context.caller.reads(here):
        rows.append(("here", f"`{here}`"))
    rows.extend(
        ("off" if number == 0 else "", output.aimed(line))
        for number, line in enumerate(off_lines(context, found["off"]))
    )
    rows.append(("learning", output.aimed(_learning(context, found["learning"]))))
    if found["sync"] is not None:
        rows.append(("sync", output.aimed(_sync(context, found["sync"]))))
    new = found["new"]
    rows.append(("new", f"{_count(len(new), 'card')} since yesterday" if new else "nothing since yesterday"))
    rows.extend(
        ("", f"{ids.short(one['id'])}  {one['scope']:<10}  {one['conclusion']}") for one in new[:_SHOWN]
    )
    if len(new) > _SHOWN:
        rows.append(("", output.aimed(f"and {len(new) - _SHOWN} more: git mem log")))
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
        strict = any(one["name"] == "reference-transaction" for one in hooks)
        return "commit hooks are in" + (", strict: every move of the branch is judged" if strict else "")
    if len(bad) == len(hooks) and all(one["state"] == "missing" for one in bad):
        return "commit hooks are missing: git mem hooks install"
    return "; ".join(f"{one['name']} {one['state']}" for one in bad) + ": git mem hooks status"


def _index(context: Context, index: dict[str, Any]) -> str:
    """As `doctor` tells it."""
    from gitmem.health import index as health
    from gitmem.index.coverage import Coverage

    covered = Coverage(index["cards"], index["words"], index["vectors"], index["embedder"])
    _, words, mend = health.told(covered, health.building(context))
    if index["embedder"] == "none" and index["wanted"] not in ("none", ""):
        words += f"; the embedder `{index['wanted']}` is not installed"
    return words + (f": {mend}" if mend else "")


def _learning(context: Context, found: dict[str, Any]) -> str:
    wait = f"; {_count(found['waiting'], 'session')} not read yet" if found["waiting"] else ""
    if not found["agreed"]:
        return ("off" if found["agreed"] is False else "sessions are only captured, on this computer") + (
            f"{wait}: git mem learn" if wait else ""
        )
    if found["reader"] is None:
        return f"on, and nobody reads{wait}: git mem doctor"
    return (f"last run {ago(found['last'], context.now)}" if found["last"] else "on, has not run yet") + wait


def _sync(context: Context, found: dict[str, Any]) -> str:
    if found["failed"]:
        return f"the last sync stopped: {found['failed']}: git mem doctor"
    if found["refused"]:
        return f"{found['remote']} did not take the last push: git mem doctor"
    if not found["last"]:
        return f"never with {found['remote']}: git mem sync"
    return f"with {found['remote']} {ago(found['last'], context.now)}" + (
        f"; {_count(found['ahead'], 'commit')} to give" if found["ahead"] else ""
    )


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
    # a folder's name need not be text
    output.answer_bytes(os.fsencode(open_context(ctx).memory.root) + b"\n")

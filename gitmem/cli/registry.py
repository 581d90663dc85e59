"""Commands for the registry: projects and agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gitmem.authoring import projects as registry
from gitmem.cli import output
from gitmem.cli.common import examples, home, json_option, note_branch, open_context
from gitmem.cli.standing import ago
from gitmem.context import Context
from gitmem.errors import Usage
from gitmem.git.write import Written
from gitmem.model.registry import Agent


@click.group()
def project() -> None:
    """Register projects: places whose cards are heard there and nowhere else."""


@project.command(
    "add",
    epilog=examples(
        "git mem project add",
        "git mem project add web --alias website --path ~/src/web",
        "git mem project add atlas --remote git@example.com:me/atlas.git",
    ),
)
@click.argument("id", required=False)
@click.option("--name", metavar="NAME", help="What people call it")
@click.option("--alias", "aliases", multiple=True, metavar="NAME", help="Another name that prompts use")
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="A folder of it on this computer (not committed)",
)
@click.option(
    "--remote", "remotes", multiple=True, metavar="URL", help="A git remote of it, the same on every computer"
)
@click.pass_context
def add_project(
    ctx: click.Context,
    id: str | None,
    name: str | None,
    aliases: tuple[str, ...],
    paths: tuple[Path, ...],
    remotes: tuple[str, ...],
) -> None:
    """Register project ID, or add to it. Without ID: the repository you are in."""
    context = open_context(ctx)
    entry, written, folders = registry.add_project(
        context, id, name, aliases, [_from(context, path) for path in paths], remotes
    )
    output.answer(entry.id + "\n")
    _report(context, f"project `{entry.id}`", written)
    rows = [
        ("name", entry.name if entry.name != entry.id else ""),
        ("aliases", ", ".join(entry.aliases)),
        ("remotes", ", ".join(entry.remotes)),
    ]
    rows.append(("folders", ", ".join(home(one, context.env.home) for one in folders)))
    for line in output.table([row for row in rows if row[1]], "  ").splitlines():
        output.say(line)


@project.command("list", epilog=examples("git mem project list", "git mem project list --json"))
@json_option
@click.pass_context
def list_projects(ctx: click.Context, as_json: bool) -> None:
    """List projects with their aliases, remotes, and folders on this computer."""
    from gitmem.whereabouts import folders

    context = open_context(ctx)
    places = folders(context.memory)
    found = [one for one in context.registry.projects.values() if context.caller.reads(one.id)]
    rows = [
        {
            "id": one.id,
            "name": one.name,
            "aliases": list(one.aliases),
            "remotes": list(one.remotes),
            "status": one.status,
            "folders": places.get(one.id, []),
        }
        for one in found
    ]
    if as_json:
        output.as_json({"projects": rows})
        return
    for row in rows:
        row["where"] = ", ".join([*(home(one, context.env.home) for one in row["folders"]), *row["remotes"]])
    output.answer(
        output.table(
            [
                (
                    r["id"],
                    r["name"] if r["name"] != r["id"] else "",
                    ", ".join(r["aliases"]),
                    "" if r["status"] == "active" else r["status"],
                    r["where"],
                )
                for r in rows
            ]
        )
    )
    if not rows:
        output.say("no projects yet; git mem project add registers the repository you are in")


@project.command("archive", epilog=examples("git mem project archive thesis"))
@click.argument("id")
@click.pass_context
def archive(ctx: click.Context, id: str) -> None:
    """Set project ID aside: its cards stay and are no longer recalled."""
    context = open_context(ctx)
    _report(context, f"project `{id}` is archived", registry.set_status(context, id, "archived"))


@project.command("unarchive", epilog=examples("git mem project unarchive thesis"))
@click.argument("id")
@click.pass_context
def unarchive(ctx: click.Context, id: str) -> None:
    """Take project ID out of the archive: its cards are recalled again."""
    context = open_context(ctx)
    _report(context, f"project `{id}` is active", registry.set_status(context, id, "active"))


@click.group()
def agent() -> None:
    """Register agents: who may read and write which scopes, and how much they hear."""


@agent.command(
    "add",
    epilog=examples(
        "git mem agent add codex --profile working",
        "git mem agent add mail --profile personal --read personal --write personal",
        "git mem agent add codex --renew",
    ),
)
@click.argument("name")
@click.option(
    "--profile",
    metavar="P",
    help="What it hears: full, working or personal (git mem profile); a known agent keeps its own",
)
@click.option(
    "--read",
    "read",
    metavar="SCOPE,...",
    help="What it may read: global, personal, projects, all, project ids (global,projects)",
)
@click.option(
    "--write", "write", metavar="SCOPE,...", help="What it may write, in the same words (global,projects)"
)
@click.option("--renew", is_flag=True, help="Make a new token; the old one no longer counts")
@click.pass_context
def add_agent(
    ctx: click.Context, name: str, profile: str | None, read: str | None, write: str | None, renew: bool
) -> None:
    """Register agent NAME, or change it. Prints its token, once; only a hash of it is kept.

    The agent shows who it is by GIT_MEM_AGENT and GIT_MEM_TOKEN.
    """
    context = open_context(ctx)
    known = context.registry.agents.get(name)
    profile = profile or (known.profile if known else None)
    if profile is None:
        raise Usage(
            f"what may `{name}` hear?",
            [f"git mem agent add {name} --profile {one}" for one in context.registry.profiles],
        )
    entry, token, written = registry.add_agent(context, name, profile, _scopes(read), _scopes(write), renew)
    if token:
        output.answer(token + "\n")
    _report(context, f"agent `{entry.id}`, profile `{entry.profile}`", written)
    output.say(f"  reads     {', '.join(entry.read)}")
    output.say(f"  writes    {', '.join(entry.write)}")
    if token:
        output.say(
            f"  identity  GIT_MEM_AGENT={entry.id} GIT_MEM_TOKEN=… (the line on stdout; it is not shown again)"
        )
    else:
        output.say(f"  identity  its token stays; a new one: git mem agent add {entry.id} --renew")


@agent.command("list", epilog=examples("git mem agent list", "git mem agent list --json"))
@json_option
@click.pass_context
def list_agents(ctx: click.Context, as_json: bool) -> None:
    """List agents with their profiles, their rights, and when each was last answered here."""
    from gitmem.cli.standing import agents

    context = open_context(ctx)
    heard = {one["id"]: one for one in agents(context)}
    rows = [_agent_json(one, heard[one.id]["answered"]) for one in context.agents()]
    if as_json:
        output.as_json({"agents": rows})
        return
    cells = []
    for row in rows:
        last = f"answered {ago(row['answered'], context.now)}" if row["answered"] else ""
        cells.append(
            (
                row["id"],
                row["profile"],
                f"reads {', '.join(row['read'])}",
                f"writes {', '.join(row['write'])}",
                last if row["status"] == "active" else row["status"],
            )
        )
    output.answer(output.table(cells))
    if not cells:
        output.say("no agents yet; git mem connect registers those of your hosts")


@agent.command("revoke", epilog=examples("git mem agent revoke codex"))
@click.argument("name")
@click.pass_context
def revoke(ctx: click.Context, name: str) -> None:
    """Take NAME's rights away: it no longer reads or writes. Its cards stay."""
    context = open_context(ctx)
    _report(context, f"agent `{name}` is revoked", registry.revoke_agent(context, name))


def _agent_json(one: Agent, answered: str | None) -> dict[str, Any]:
    return {
        "id": one.id,
        "profile": one.profile,
        "read": list(one.read),
        "write": list(one.write),
        "status": one.status,
        "token": bool(one.token_sha256),
        "answered": answered,
    }


def _scopes(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


def _from(context: Context, path: Path) -> Path:
    """A folder as typed, counted from the working directory."""
    return context.env.cwd / path.expanduser()


def _report(context: Context, what: str, written: Written | None) -> None:
    if written is None:
        output.say(f"{what}: already so, nothing written")
        return
    output.say(f"{what}, commit {written.commit[:7]}")
    note_branch(context)

"""profile: what each kind of agent hears."""

from __future__ import annotations

from typing import Any

import click

from gitmem.cli import output
from gitmem.cli.common import examples, json_option, open_context
from gitmem.cli.standing import listed
from gitmem.context import Context
from gitmem.errors import Refused
from gitmem.model.registry import Profile

# What each field of a profile means, in the order they are shown.
FIELDS = {
    "trigger": "when it may speak: every turn, or the first turn, a change of project, a phrase that points at memory",
    "scopes": "which scopes it hears",
    "projects": "the project of the place, or all of them",
    "project_from": "where the project is read from: the working directory, the prompt",
    "global_types": "which global cards",
    "level": "l0: the conclusion; l0+l1: with the opening of the body",
    "max_items": "cards in one answer",
    "max_bytes": "bytes in one answer, every byte counted",
    "threshold": "how relevant a card must be, 0 to 1",
    "threshold_cross": "the same where card and prompt share no script",
    "support": "share of the prompt's rare words that the card must hold",
    "brief_bytes": "bytes at the start of a session",
    "also": "who hears it too: sub-agents of a host, scripts that run one",
}


@click.group(
    invoke_without_command=True,
    epilog=examples("git mem profile", "git mem profile show working", "git mem profile --json"),
)
@json_option
@click.pass_context
def profile(ctx: click.Context, as_json: bool) -> None:
    """Show what each kind of agent hears. The values stand in registry/profiles.yaml."""
    if ctx.invoked_subcommand is None:
        _profiles(open_context(ctx), as_json)


@profile.command("list", epilog=examples("git mem profile list"))
@json_option
@click.pass_context
def list_profiles(ctx: click.Context, as_json: bool) -> None:
    """Show all profiles side by side."""
    _profiles(open_context(ctx), as_json)


@profile.command("show", epilog=examples("git mem profile show working"))
@click.argument("name")
@json_option
@click.pass_context
def show_profile(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show one profile, each field with what it means."""
    context = open_context(ctx)
    found = context.registry.profiles.get(name)
    if found is None:
        raise Refused(f"no profile `{name}`", [f"profiles are {listed(sorted(context.registry.profiles))}"])
    if as_json:
        output.as_json({"profiles": [_profile_json(found)]})
        return
    output.answer(output.table([(field, _value(found, field), meaning) for field, meaning in FIELDS.items()]))
    output.say("to change a value: registry/profiles.yaml in the memory, then commit")


def _profiles(context: Context, as_json: bool) -> None:
    found = list(context.registry.profiles.values())
    if as_json:
        output.as_json({"profiles": [_profile_json(one) for one in found]})
        return
    used = [
        (
            "agents",
            *(
                ", ".join(a.id for a in context.agents() if a.profile == one.name and a.status == "active")
                or "-"
                for one in found
            ),
        )
    ]
    output.answer(
        output.table(
            [
                ("", *(one.name for one in found)),
                *((field, *(_value(one, field) for one in found)) for field in FIELDS),
                *used,
            ]
        )
    )


def _value(one: Profile, field: str) -> str:
    value = getattr(one, field)
    if isinstance(value, tuple):
        return ", ".join(value).replace("_", " ") or "-"
    return "all" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def _profile_json(one: Profile) -> dict[str, Any]:
    values = {field: getattr(one, field) for field in FIELDS}
    return {
        "name": one.name,
        **{field: list(value) if isinstance(value, tuple) else value for field, value in values.items()},
    }

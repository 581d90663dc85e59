"""log: what was written to the memory, and what was recalled from it on this computer."""

from __future__ import annotations

from typing import Any

import click

from gitmem.authoring import history
from gitmem.authoring.history import Write
from gitmem.cli import output
from gitmem.cli.common import examples, json_option, open_context
from gitmem.context import Context
from gitmem.model import ids, when
from gitmem.model.layers import shorten


@click.command(epilog=examples("git mem log", "git mem log -n 50 --json", "git mem log --recalls"))
@click.option(
    "-n", "number", type=click.IntRange(1), default=20, metavar="N", help="How many, newest first (20)"
)
@click.option(
    "--recalls", is_flag=True, help="What was recalled on this computer, instead of what was written"
)
@json_option
@click.pass_context
def log(ctx: click.Context, number: int, recalls: bool, as_json: bool) -> None:
    """Show what was written to the memory, by whom; or what was recalled from it."""
    context = open_context(ctx)
    if recalls:
        entries = _recalls(context)[:number]
        if as_json:
            output.as_json({"recalls": entries})
        else:
            output.answer(output.table([_recall_row(one) for one in entries]))
            if not entries:
                output.say("nothing was recalled on this computer yet")
        return
    found = [
        one
        for one in history.writes(context.memory, number if context.caller.person else 20 * number)
        if _readable(context, one)
    ][:number]
    if as_json:
        output.as_json({"writes": [_write_json(one) for one in found]})
    else:
        output.answer(output.table([_write_row(one) for one in found]))
        if not found:
            output.say("nothing was written yet")


def _readable(context: Context, one: Write) -> bool:
    """Agents see the writes of their scopes; a subject quotes its card."""
    if context.caller.person:
        return True
    return all(context.caller.reads(scope) for scope in one.scopes) and (
        bool(one.scopes) or one.action == "registry"
    )


# Trailers speak the memory's own words; a person reads plain ones.
_PLAIN = {"registry": "settings", "merge": "confirm", "promote": "learn"}


def _write_row(one: Write) -> tuple[str, ...]:
    cards = ids.short(one.cards[0]) if one.cards else ""
    more = f" +{len(one.cards) - 1}" if len(one.cards) > 1 else ""
    said = one.subject.split(": ", 1)[1] if one.subject.startswith(("mem(", "mem: ")) else one.subject
    scopes = ", ".join(one.scopes) if len(one.scopes) <= 2 else f"{len(one.scopes)} scopes"
    return (
        one.commit[:7],
        _minute(one.at),
        _PLAIN.get(one.action, one.action),
        scopes,
        one.agent or "you",
        cards + more,
        said,
    )


def _write_json(one: Write) -> dict[str, Any]:
    return {
        "commit": one.commit,
        "at": when.stamp(when.parse(one.at)),
        "action": one.action,
        "scopes": list(one.scopes),
        "cards": list(one.cards),
        "files": list(one.other_files),
        "agent": one.agent,
        "email": one.email,
        "session": one.session,
        "subject": one.subject,
    }


def _recalls(context: Context) -> list[dict[str, Any]]:
    """Entries of the local log, newest first, each with every field; agents see their own."""
    from gitmem.recall.log import entries

    fields: dict[str, Any] = {
        "at": "", "event": "recall", "agent": None, "profile": None, "project": None, "session": None, "automatic": False,
        "fired": None, "trigger": None, "said": [], "best": None, "bytes": None, "degraded": [], "ms": None, "prompt": "",
    }  # fmt: skip
    found = [
        {key: entry.get(key, usual) for key, usual in fields.items()}
        for entry in entries(context.memory.state)
        if entry.get("prompt") is not None
    ]
    if not context.caller.person:
        found = [one for one in found if one["agent"] == context.caller.name]
    return found[::-1]


def _recall_row(one: dict[str, Any]) -> tuple[str, ...]:
    said = ", ".join(ids.short(str(card)) for card in one["said"])
    fate = said or (one["trigger"] if one["fired"] is False else "nothing said") or ""
    return (
        _minute(one["at"]),
        one["event"],
        one["agent"] or "you",
        one["project"] or "",
        fate,
        shorten(" ".join(str(one["prompt"]).split()), 80),
    )


def _minute(at: str) -> str:
    try:
        return f"{when.parse(at).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return at

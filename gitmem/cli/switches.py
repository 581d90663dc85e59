"""off: switch recall off, here, for a while, or everywhere but in some folders."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import timedelta

import click

from gitmem.cli import output
from gitmem.cli.common import examples, json_option, open_context
from gitmem.cli.standing import switched_off
from gitmem.cli.status import off_lines
from gitmem.context import Context
from gitmem.errors import Refused, Usage
from gitmem.model import when
from gitmem.recall import switches
from gitmem.recall.switches import Switches

_SPAN = re.compile(r"(\d{1,5})\s*(m|min|minutes?|h|hours?|d|days?)\Z")


@click.command(
    epilog=examples(
        "git mem off",
        "git mem off --here",
        "git mem off --for 2h",
        "git mem off --only ~/work --only ~/notes",
        "git mem off --end",
    )
)
@click.option("--here", is_flag=True, help="Off in this folder and below it")
@click.option("--for", "span", metavar="TIME", help="Off everywhere for a while: 30m, 2h, 1d")
@click.option("--only", multiple=True, metavar="DIR", help="On in these folders alone")
@click.option("--end", is_flag=True, help="Everything on again; with --here, this folder alone")
@json_option
@click.pass_context
def off(
    ctx: click.Context, here: bool, span: str | None, only: tuple[str, ...], end: bool, as_json: bool
) -> None:
    """Switch recall off, here or for a while. Nothing is said and nothing is noted where it is off.

    Without an option: what is off now. One session: start it with GIT_MEM_OFF=1, or say "off the record" in it.
    """
    context = open_context(ctx)
    before = switches.load(context.memory.state)
    after = _changed(context, before, here, span, only, end)
    if after != before:
        _people_only(context)
        switches.save(context.memory.state, after)
    state = switched_off(context)
    if as_json:
        output.as_json(state)
        return
    for one in after.only if only else ():
        if not os.path.isdir(one):
            output.say(f"note: there is no folder `{one}`")
    lines = off_lines(context, state)
    output.answer("".join(f"off  {line}\n" for line in lines) or "nothing is switched off\n")


def _changed(
    context: Context, before: Switches, here: bool, span: str | None, only: tuple[str, ...], end: bool
) -> Switches:
    """The switches as the options ask for them."""
    if end and (span or only):
        raise Usage("--end goes with --here alone", ["git mem off --end"])
    folder = os.path.normpath(context.env.cwd)
    if end and here:
        around = [one for one in before.folders if folder == one or folder.startswith(one.rstrip("/") + "/")]
        if not around:
            raise Refused(f"`{folder}` is not switched off", ["git mem off shows what is"])
        return replace(before, folders=tuple(one for one in before.folders if one not in around))
    if end:
        return Switches()
    after = before
    if here:
        after = replace(after, folders=tuple(dict.fromkeys([*after.folders, folder])))
    if span:
        after = replace(after, until=when.stamp(context.now + _length(span)))
    if only:
        after = replace(
            after, only=tuple(os.path.normpath(context.env.cwd / os.path.expanduser(one)) for one in only)
        )
    return after


def _length(text: str) -> timedelta:
    found = _SPAN.match(text.strip().lower())
    if not found or int(found[1]) == 0:
        raise Usage(f"`{text}` is no length of time", ["--for 30m, --for 2h, --for 1d"])
    return timedelta(**{{"m": "minutes", "h": "hours", "d": "days"}[found[2][0]]: int(found[1])})


def _people_only(context: Context) -> None:
    if not context.caller.person:
        raise Refused(f"`{context.caller.name}` may not switch recall off or on: that is for people")

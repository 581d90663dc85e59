"""inbox: what learning has not finished, and what it dropped."""

from __future__ import annotations

from typing import Any

import click

from gitmem.cli import output
from gitmem.cli.common import day, examples, home, json_option, open_context
from gitmem.context import Context
from gitmem.learn import run
from gitmem.learn.candidate import DROPPED, UNMATCHED, WAITING
from gitmem.learn.desk import Desk
from gitmem.learn.work import Work
from gitmem.model.layers import shorten

_SHOWN = 30


@click.command(epilog=examples("git mem inbox", "git mem inbox --dropped"))
@click.option("--dropped", is_flag=True, help="What was not kept, the newest first, and why")
@json_option
@click.pass_context
def inbox(ctx: click.Context, dropped: bool, as_json: bool) -> None:
    """Say what waits for a model or a project. It asks nothing of you: it empties itself, and drops what is too old."""
    context = open_context(ctx)
    with run.desk(context) as table:
        found = _gone(table) if dropped else _waiting(table)
    found = [one for one in found if _readable(context, one)]
    if as_json:
        output.as_json({"dropped" if dropped else "waiting": found})
        return
    if not found:
        output.answer("nothing was dropped\n" if dropped else "nothing waits\n")
        return
    rows = [_dropped_row(one) if dropped else _waiting_row(context, one) for one in found[:_SHOWN]]
    output.answer(output.table(rows))
    if len(found) > _SHOWN:
        output.say(f"and {len(found) - _SHOWN} more: --json")


def _readable(context: Context, one: dict[str, Any]) -> bool:
    scope = one["scope"] or "personal"
    return context.caller.person or context.caller.reads(scope)


def _waiting(table: Desk) -> list[dict[str, Any]]:
    """A row a conversation: for what it waits."""
    unread: dict[str, int] = {}
    for piece in table.pieces(rested=False):
        unread[piece.held.work.key] = unread.get(piece.held.work.key, 0) + 1
    found = []
    for held in table.held:
        record = held.work
        states = [
            ("model", unread.get(record.key, 0), record.trouble.why or "not read yet"),
            ("review", len(record.open()), _judging(record)),
            (
                "project",
                sum(one.fate == WAITING for one in record.candidates),
                "facts of a folder that is no project",
            ),
        ]
        found += [
            {
                "for": what, "count": count, "why": why, "host": record.host, "session": record.session, "scope": held.digest.project,
                "folder": held.digest.cwd, "since": held.digest.last, "again": record.trouble.not_before or None,
            }
            for what, count, why in states
            if count
        ]  # fmt: skip
    return found


def _judging(record: Work) -> str:
    whys = dict.fromkeys(str(one.extra["waits"]) for _, one in record.open() if "waits" in one.extra)
    return "facts to be judged" + (f": {'; '.join(whys)}" if whys else "")


def _gone(table: Desk) -> list[dict[str, Any]]:
    found = [
        {
            "kind": one.kind or one.fate, "why": one.why, "conclusion": one.conclusion, "quote": one.quote, "scope": one.scope or held.digest.project,
            "host": held.work.host, "session": held.work.session, "said": one.at or held.digest.last,
        }
        for held in table.held
        for one in held.work.candidates
        if one.fate in (DROPPED, UNMATCHED)
    ]  # fmt: skip
    found += [
        {
            "kind": "gave up", "why": held.work.gave_up_why, "conclusion": "the conversation; git mem learn --again asks once more", "quote": "",
            "scope": held.digest.project, "host": held.work.host, "session": held.work.session, "said": held.digest.last,
        }
        for held in table.held
        if held.work.gave_up
    ]  # fmt: skip
    return sorted(found, key=lambda one: one["said"], reverse=True)


def _waiting_row(context: Context, one: dict[str, Any]) -> tuple[str, ...]:
    words = one["why"] + (f"; again after {one['again'][:16].replace('T', ' ')} UTC" if one["again"] else "")
    if one["for"] == "project":
        words = f"git mem project add in {home(one['folder'] or '', context.env.home)}"
    return (one["for"], str(one["count"]), one["host"], one["session"][:8], day(one["since"]), words)


def _dropped_row(one: dict[str, Any]) -> tuple[str, ...]:
    return (
        day(one["said"]),
        one["kind"],
        one["host"],
        shorten(one["conclusion"], 90),
        f"({shorten(one['why'], 90)})" if one["why"] else "",
    )

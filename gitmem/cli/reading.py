"""Commands that read cards: show and list."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click

from gitmem.authoring.commit import cards_now
from gitmem.cli import output
from gitmem.cli.common import day, examples, json_option, open_context
from gitmem.cli.telling import broken_json, broken_text, last_day, row_json, story_json, story_text, visible
from gitmem.context import Context
from gitmem.errors import Refused, Usage
from gitmem.index.catalogue import Catalogue
from gitmem.model import ids, live, when
from gitmem.recall import story
from gitmem.recall.story import Broken, Story

EXPIRING_DAYS = 14


@click.command(epilog=examples("git mem show r4j8", "git mem show r4j8 k3v9 --json"))
@click.argument("ids_", nargs=-1, required=True, metavar="ID...")
@json_option
@click.pass_context
def show(ctx: click.Context, ids_: tuple[str, ...], as_json: bool) -> None:
    """Show cards whole: what they say, the words they came from, their chain, who has heard them.

    ID is any unique beginning of a card's id. Cards that no longer hold are shown too, marked as what they are.
    """
    context = open_context(ctx)
    catalogue = cards_now(context)
    try:
        found = [_find(context, catalogue, one, ids_) for one in ids_]
        if as_json:
            output.as_json(
                {"cards": [broken_json(one) if isinstance(one, Broken) else story_json(one) for one in found]}
            )
            return
        texts = [
            broken_text(context, one) if isinstance(one, Broken) else story_text(context, one, typed)
            for one, typed in zip(found, ids_, strict=True)
        ]
    finally:
        catalogue.close()
    output.answer("\n".join(texts))


@click.command(
    "list",
    epilog=examples(
        "git mem list",
        "git mem list --type decision --scope thesis",
        "git mem list --expiring",
        "git mem list --all --json",
    ),
)
@click.option("--type", "type_", metavar="TYPE", help="Only cards of this type")
@click.option("--scope", metavar="SCOPE", help="Only cards of global, personal or a project")
@click.option(
    "--expiring",
    is_flag=True,
    help=f"Only those that run out within {EXPIRING_DAYS} days, the first to go on top",
)
@click.option(
    "--all", "all_", is_flag=True, help="Also those that no longer hold, and those that fail the checks"
)
@json_option
@click.pass_context
def list_cards(
    ctx: click.Context, type_: str | None, scope: str | None, expiring: bool, all_: bool, as_json: bool
) -> None:
    """List cards, newest first."""
    context = open_context(ctx)
    _known(context, type_, scope)
    catalogue = cards_now(context)
    try:
        rows = _rows(context, catalogue, type_, scope, expiring, all_)
        left_out = _left_out(context, catalogue, scope) if all_ and not type_ and not expiring else []
    finally:
        catalogue.close()
    if as_json:
        output.as_json(
            {
                "cards": rows,
                "invalid": [
                    {"id": one.id, "path": one.path, "line": one.line, "message": one.message}
                    for one in left_out
                ],
            }
        )
        return
    cells = [
        (
            ids.short(row["id"]),
            row["type"] or "",
            row["scope"],
            day(row["recorded"]),
            visible(row["conclusion"]) + _remark(row, expiring),
        )
        for row in rows
    ]
    cells.extend(
        (ids.short(one.id), "invalid", one.path.split("/")[1], "", f"{one.message} (not recalled)")
        for one in left_out
    )
    output.answer(output.table(cells))
    if not cells:
        output.say(
            "nothing runs out soon"
            if expiring
            else "no cards"
            if type_ or scope or all_
            else 'no cards yet; git mem add "…" writes one'
        )


def _known(context: Context, type_: str | None, scope: str | None) -> None:
    registry = context.registry
    if type_ is not None and type_ not in registry.types:
        raise Refused(f"unknown type `{type_}`", [f"types are {', '.join(registry.types)}"])
    if scope is not None and not registry.is_scope(scope):
        raise Refused(f"no project `{scope}`", ["git mem project list"])
    if scope is not None and not context.caller.reads(scope):
        raise Refused(f"`{context.caller.name}` may not read `{scope}`")


def _rows(
    context: Context, catalogue: Catalogue, type_: str | None, scope: str | None, expiring: bool, all_: bool
) -> list[dict[str, Any]]:
    where, values = "kind = 'card'", []
    for column, value in (("type", type_), ("scope", scope)):
        if value is not None:
            where += f" AND {column} = ?"
            values.append(value)
    limit = context.now + timedelta(days=EXPIRING_DAYS)
    rows = []
    for item in catalogue.items(where, values, "created DESC, id"):
        if not context.caller.reads(item.scope):
            continue
        status = live.status(catalogue, item.id, context.registry, context.now)
        if not status.live and not (all_ and not expiring):
            continue
        facts = catalogue.facts(item.id)
        ends = live.ends_at(catalogue, facts, context.registry, context.now) if facts else None
        if expiring and (ends is None or ends > limit):
            continue
        rows.append(row_json(item, status, when.stamp(ends) if ends else None))
    return sorted(rows, key=lambda row: row["ends"]) if expiring else rows


def _remark(row: dict[str, Any], expiring: bool) -> str:
    if expiring:
        return f"  (until {last_day(row['ends'])})"
    if row["status"] == "live":
        return "  (unquoted)" if row["unquoted"] else ""
    by = f" by {', '.join(ids.short(one) for one in row['by'])}" if row["by"] else ""
    return f"  ({row['status']}{by})"


def _left_out(context: Context, catalogue: Catalogue, scope: str | None) -> list[Broken]:
    found = story.broken(catalogue, "")
    return [one for one in found if context.caller.reads(_folder(one)) and scope in (None, _folder(one))]


def _folder(one: Broken) -> str:
    """The scope of a card that cannot be trusted to name it: its folder."""
    return one.path.split("/")[1]


def told(context: Context, text: str) -> tuple[str, dict[str, Any]]:
    """The card an id names, as `show` prints it and as its `--json` has it."""
    catalogue = cards_now(context)
    try:
        one = _find(context, catalogue, text, (text,))
        if isinstance(one, Broken):
            return broken_text(context, one), broken_json(one)
        return story_text(context, one, text), story_json(one)
    finally:
        catalogue.close()


def _find(context: Context, catalogue: Catalogue, text: str, all_words: tuple[str, ...]) -> Story | Broken:
    """The one card an id names, as far as the caller may read it."""
    prefix = ids.normal_prefix(text)
    found = (
        [item for item in catalogue.by_prefix(prefix) if context.caller.reads(item.scope)] if prefix else []
    )
    chosen = [item for item in found if item.kind == "card"] or found
    if len(chosen) == 1:
        return story.tell(context, catalogue, chosen[0])
    if chosen:
        raise Refused(
            f"`{text}` fits {len(chosen)} cards",
            ["type one more character"],
            [f"{one.id}  {one.l0}" for one in chosen[:6]],
        )
    invalid = (
        [one for one in story.broken(catalogue, prefix) if context.caller.reads(_folder(one))]
        if prefix
        else []
    )
    if len(invalid) == 1:
        return invalid[0]
    if len(all_words) > 1 or prefix is None:
        words = " ".join(all_words)
        raise Usage(f"`{words}` is no card id", [f'git mem search "{words}"'])
    raise Refused(f"no card `{text}`", [f"git mem search {text}", "git mem list"])

"""Commands that read cards: show and list."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from typing import Any

import click

from gitmem.authoring.commit import cards_now
from gitmem.cli import output
from gitmem.cli.common import day, days_old, examples, json_option, open_context
from gitmem.context import Context
from gitmem.errors import Refused, Usage
from gitmem.index.catalogue import Catalogue, Item
from gitmem.model import ids, live, when
from gitmem.model.layers import shorten
from gitmem.recall import story
from gitmem.recall.story import Broken, Link, Said, Story

EXPIRING_DAYS = 14
_L0_COLUMNS = 56
_QUOTE_BYTES = 160


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
            output.as_json({"cards": [_broken_json(one) if isinstance(one, Broken) else story_json(one) for one in found]})
            return
        texts = [
            _broken_text(context, one) if isinstance(one, Broken) else story_text(context, one, typed)
            for one, typed in zip(found, ids_, strict=True)
        ]
    finally:
        catalogue.close()
    output.answer("\n".join(texts))


@click.command(
    "list", epilog=examples("git mem list", "git mem list --type decision --scope thesis", "git mem list --expiring", "git mem list --all --json")
)
@click.option("--type", "type_", metavar="TYPE", help="Only cards of this type")
@click.option("--scope", metavar="SCOPE", help="Only cards of global, personal or a project")
@click.option("--expiring", is_flag=True, help=f"Only those that run out within {EXPIRING_DAYS} days, the first to go on top")
@click.option("--all", "all_", is_flag=True, help="Also those that no longer hold, and those that fail the checks")
@json_option
@click.pass_context
def list_cards(ctx: click.Context, type_: str | None, scope: str | None, expiring: bool, all_: bool, as_json: bool) -> None:
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
        output.as_json({"cards": rows, "invalid": [{"id": one.id, "path": one.path, "line": one.line, "message": one.message} for one in left_out]})
        return
    cells = [
        (ids.short(row["id"]), row["type"] or "", row["scope"], day(row["recorded"]), visible(row["conclusion"]) + _remark(row, expiring))
        for row in rows
    ]
    cells.extend((ids.short(one.id), "invalid", one.path.split("/")[1], "", f"{one.message} (not recalled)") for one in left_out)
    output.answer(output.table(cells))
    if not cells:
        output.say("nothing runs out soon" if expiring else "no cards" if type_ or scope or all_ else 'no cards yet; git mem add "…" writes one')


def _known(context: Context, type_: str | None, scope: str | None) -> None:
    registry = context.registry
    if type_ is not None and type_ not in registry.types:
        raise Refused(f"unknown type `{type_}`", [f"types are {', '.join(registry.types)}"])
    if scope is not None and not registry.is_scope(scope):
        raise Refused(f"no project `{scope}`", ["git mem project list"])
    if scope is not None and not context.caller.reads(scope):
        raise Refused(f"`{context.caller.name}` may not read `{scope}`")


def _rows(context: Context, catalogue: Catalogue, type_: str | None, scope: str | None, expiring: bool, all_: bool) -> list[dict[str, Any]]:
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
        rows.append(_row(item, status, when.stamp(ends) if ends else None))
    return sorted(rows, key=lambda row: row["ends"]) if expiring else rows


def _row(item: Item, status: live.Status, ends: str | None) -> dict[str, Any]:
    return {
        "id": item.id,
        "type": item.type,
        "scope": item.scope,
        "conclusion": item.l0,
        "recorded": item.created,
        "valid_from": item.valid_from,
        "ends": ends,
        "status": status.word,
        "by": list(status.by),
        "author": item.author,
        "unquoted": item.unquoted,
        "path": item.path,
    }


def _remark(row: dict[str, Any], expiring: bool) -> str:
    if expiring:
        return f"  (until {_last_day(row['ends'])})"
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


def _find(context: Context, catalogue: Catalogue, text: str, all_words: tuple[str, ...]) -> Story | Broken:
    """The one card an id names, as far as the caller may read it."""
    prefix = ids.normal_prefix(text)
    found = [item for item in catalogue.by_prefix(prefix) if context.caller.reads(item.scope)] if prefix else []
    chosen = [item for item in found if item.kind == "card"] or found
    if len(chosen) == 1:
        return story.tell(context, catalogue, chosen[0])
    if chosen:
        raise Refused(f"`{text}` fits {len(chosen)} cards", ["type one more character"], [f"{one.id}  {one.l0}" for one in chosen[:6]])
    invalid = [one for one in story.broken(catalogue, prefix) if context.caller.reads(_folder(one))] if prefix else []
    if len(invalid) == 1:
        return invalid[0]
    if len(all_words) > 1 or prefix is None:
        words = " ".join(all_words)
        raise Usage(f"`{words}` is no card id", [f'git mem search "{words}"'])
    raise Refused(f"no card `{text}`", [f"git mem search {text}", "git mem list"])


def story_text(context: Context, told: Story, typed: str) -> str:
    """A card as a person reads it."""
    item, card = told.item, told.card
    user = "you" if context.caller.person else "the user"
    lines = [f"{item.id}   {_what(told)}, {_state(told)}, recorded {day(item.created)}, {days_old(item.created, context.now)}"]
    if item.kind == "card":
        lines.append(visible(item.l0))
    lines.extend(f"{'says again' if item.kind == 'confirmation' else 'takes back'}  {ids.short(one.id)}  {visible(one.l0)}" for one in told.targets)
    if card.body.strip() and card.body.strip() != item.l0:
        lines.extend(["", *visible(card.body).strip("\n").split("\n")])
    lines.append("")
    if len(told.chain) > 1:
        lines.extend(["chain, oldest first", *_chain(told.chain, user)])
    elif told.chain[0].said:
        lines.extend(f"{'said' if n == 0 else '':<11}{_words(one, user)}" for n, one in enumerate(told.chain[0].said))
    elif item.kind == "card":
        lines.append(f"{'unquoted':<11}written by hand by {card.author}, without words to show for it")
    lines.extend(f"{label:<11}{text}" for label, text in _facts(told) if text)
    shown = typed if 4 <= len(typed) <= ids.SHORT and item.id.startswith(typed) else ids.short(item.id)
    lines.append(f"{'next':<11}{_next(told, shown)}")
    return "\n".join(lines) + "\n"


def _what(told: Story) -> str:
    name = {"card": told.item.type or "card", "confirmation": "confirmation", "retraction": "retraction"}[told.item.kind]
    return f"{name} in `{told.item.scope}`"


def _state(told: Story) -> str:
    word, by = told.status.word, ", ".join(ids.short(one) for one in told.status.by)
    if told.item.kind != "card":
        return f"{word} by {by}" if by else "counts"
    if told.set_aside:
        return "live, but set aside for " + ", ".join(ids.short(one) for one in told.instead)
    if word == "expired" and told.ends:
        return f"expired after {_last_day(when.stamp(told.ends))}"
    if word == "not yet":
        return f"not yet valid, from {day(told.card.valid_from or told.card.created)}"
    if word == "archived":
        return "set aside with its archived project"
    return f"{word} by {by}" if by else word


def _chain(chain: tuple[Link, ...], user: str) -> list[str]:
    column = max(min(output.width(visible(link.l0)), _L0_COLUMNS) for link in chain)
    lines = []
    for link in chain:
        l0 = visible(link.l0)
        until = f"{day(link.since)} to {day(link.until)}" if link.until else f"since {day(link.since)}"
        ended = f", {link.status.word}" if link.status.word in ("retracted", "expired") else ""
        lines.append(f"  {ids.short(link.id)}  {l0}{' ' * max(0, column - output.width(l0))}   {until}{ended}")
        lines.extend(f"           {_words(one, user)}" for one in link.said)
    return lines


def _words(said: Said, user: str) -> str:
    """Who said it to whom, and the words. `user`: what the person is called, `you` only to themselves."""
    quote = shorten(" ".join(visible(said.quote).split()), _QUOTE_BYTES)
    if said.kind == "import":
        who = "imported"
    elif said.role == "user":
        who = user if said.host == "git-mem" else f"{user} to {said.host}"
        who += f", as {said.reported_by} tells" if said.reported_by else ""
    else:
        who = said.host if said.role == "assistant" else f"{said.role} in {said.host}"
    return f"{who}: “{quote}”"


def _facts(told: Story) -> list[tuple[str, str]]:
    card = told.card
    return [
        ("also", "; ".join(visible(one) for one in card.also)),
        ("tags", ", ".join(card.tags)),
        ("until", _last_day(when.stamp(told.ends)) if told.ends and told.status.live else ""),
        ("confirmed", _confirmed(told)),
        ("recalled", _heard(told)),
        ("file", told.item.path),
    ]


def _confirmed(told: Story) -> str:
    if not told.confirmed:
        return ""
    number = len(told.confirmed)
    times = {1: "once", 2: "twice"}.get(number, f"{number} times")
    last = told.confirmed[-1]
    return f"{times}, {'last ' if number > 1 else ''}{day(last.at)}, {f'from {last.by}' if last.by else 'by you'}"


def _heard(told: Story) -> str:
    if told.item.kind != "card":
        return ""
    total = sum(told.heard.values())
    if not total:
        return "not yet on this computer"
    return f"{'once' if total == 1 else f'{total} times'} since: " + ", ".join(f"{agent} {times}" for agent, times in told.heard.items())


def _next(told: Story, shown: str) -> str:
    word = told.status.word
    if told.item.kind != "card":
        return "    ".join([*(f"git mem show {ids.short(one.id)}" for one in told.targets[:2]), *([f"git mem retract {shown}"] if word != "retracted" else [])])
    if word == "retracted":
        return f"git mem retract {ids.short(told.status.by[0])}  (takes the retraction back: the card holds again)"
    if word == "superseded":
        return "    ".join(f"git mem show {ids.short(one)}" for one in (told.instead or told.status.by)[:3])
    if word == "archived":
        return f"git mem project unarchive {told.item.scope}"
    if word == "expired":
        return f"git mem confirm {shown}    git mem supersede {shown} \"…\""
    return f'git mem supersede {shown} "…"    git mem retract {shown}    git mem confirm {shown}'


def _broken_text(context: Context, one: Broken) -> str:
    data = context.memory.git.run("cat-file", "blob", one.blob, check=False).out
    text = visible(data.decode("utf-8", "replace")).rstrip("\n")
    return (
        f"{one.id}   invalid, not recalled\n{one.path}:{one.line}: {one.message}\n\n{text}\n\n"
        f"{'file':<11}{one.path}\n{'next':<11}git mem check --all\n"
    )


def story_json(told: Story) -> dict[str, Any]:
    """A card for programs; its schema is `schemas/answers/show.json`."""
    card = told.card
    return {
        **_row(told.item, told.status, when.stamp(told.ends) if told.ends else None),
        "kind": told.item.kind,
        "body": card.body,
        "also": list(card.also),
        "tags": list(card.tags),
        "targets": [one.id for one in told.targets],
        "instead": list(told.instead),
        "set_aside": told.set_aside,
        "chain": [_link_json(link) for link in told.chain],
        "confirmations": [{"id": one.id, "at": one.at, "by": one.by} for one in told.confirmed],
        "recalled": told.heard,
    }


def _link_json(link: Link) -> dict[str, Any]:
    return {
        "id": link.id,
        "conclusion": link.l0,
        "since": link.since,
        "until": link.until,
        "status": link.status.word,
        "by": list(link.status.by),
        "words": [
            {"role": one.role, "host": one.host, "kind": one.kind, "at": one.at, "quote": one.quote, "reported_by": one.reported_by, "source": one.source, "turn": one.turn}
            for one in link.said
        ],
    }


def _broken_json(one: Broken) -> dict[str, Any]:
    return {"id": one.id, "kind": "invalid", "path": one.path, "line": one.line, "message": one.message}


def _last_day(stamp: str) -> str:
    """The last local day on which something holds that ends at `stamp`."""
    return (when.parse(stamp) - timedelta(seconds=1)).astimezone().date().isoformat()


def visible(text: str) -> str:
    """Text without what a terminal would obey or a reader not see."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf"))

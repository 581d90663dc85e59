"""A card's story in words for a person, and as a value for programs."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from typing import Any

from gitmem.cli import output
from gitmem.cli.common import day, days_old
from gitmem.context import Context
from gitmem.index.catalogue import Item
from gitmem.model import ids, live, when
from gitmem.model.layers import shorten
from gitmem.recall.story import Broken, Link, Said, Story

_L0_COLUMNS = 56
_QUOTE_BYTES = 160


def row_json(item: Item, status: live.Status, ends: str | None) -> dict[str, Any]:
    """A card in a list, for programs. `ends`: when it runs out."""
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


def story_text(context: Context, told: Story, typed: str) -> str:
    """A card as a person reads it."""
    item, card = told.item, told.card
    user = "you" if context.caller.person else "the user"
    lines = [
        f"{item.id}   {_what(told)}, {_state(told)}, recorded {day(item.created)}, {days_old(item.created, context.now)}"
    ]
    if item.kind == "card":
        lines.append(visible(item.l0))
    lines.extend(
        f"{'says again' if item.kind == 'confirmation' else 'takes back'}  {ids.short(one.id)}  {visible(one.l0)}"
        for one in told.targets
    )
    if card.body.strip() and card.body.strip() != item.l0:
        lines.extend(["", *visible(card.body).strip("\n").split("\n")])
    lines.append("")
    if len(told.chain) > 1:
        lines.extend(["chain, oldest first", *_chain(told.chain, user)])
    elif told.chain[0].said:
        lines.extend(
            f"{'said' if n == 0 else '':<11}{_words(one, user)}" for n, one in enumerate(told.chain[0].said)
        )
    elif item.kind == "card":
        lines.append(f"{'unquoted':<11}written by hand by {card.author}, without words to show for it")
    lines.extend(f"{label:<11}{text}" for label, text in _facts(told) if text)
    shown = typed if 4 <= len(typed) <= ids.SHORT and item.id.startswith(typed) else ids.short(item.id)
    lines.append(f"{'next':<11}{_next(told, shown)}")
    return "\n".join(lines) + "\n"


def _what(told: Story) -> str:
    name = {"card": told.item.type or "card", "confirmation": "confirmation", "retraction": "retraction"}[
        told.item.kind
    ]
    return f"{name} in `{told.item.scope}`"


def _state(told: Story) -> str:
    word, by = told.status.word, ", ".join(ids.short(one) for one in told.status.by)
    if told.item.kind != "card":
        return f"{word} by {by}" if by else "counts"
    if told.set_aside:
        return "live, but set aside for " + ", ".join(ids.short(one) for one in told.instead)
    if word == "expired" and told.ends:
        return f"expired after {last_day(when.stamp(told.ends))}"
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
        lines.append(
            f"  {ids.short(link.id)}  {l0}{' ' * max(0, column - output.width(l0))}   {until}{ended}"
        )
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
        ("until", last_day(when.stamp(told.ends)) if told.ends and told.status.live else ""),
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
    return f"{'once' if total == 1 else f'{total} times'} since: " + ", ".join(
        f"{agent} {times}" for agent, times in told.heard.items()
    )


def _next(told: Story, shown: str) -> str:
    word = told.status.word
    if told.item.kind != "card":
        return "    ".join(
            [
                *(f"git mem show {ids.short(one.id)}" for one in told.targets[:2]),
                *([f"git mem retract {shown}"] if word != "retracted" else []),
            ]
        )
    if word == "retracted":
        return f"git mem retract {ids.short(told.status.by[0])}  (takes the retraction back: the card holds again)"
    if word == "superseded":
        return "    ".join(f"git mem show {ids.short(one)}" for one in (told.instead or told.status.by)[:3])
    if word == "archived":
        return f"git mem project unarchive {told.item.scope}"
    if word == "expired":
        return f'git mem confirm {shown}    git mem supersede {shown} "…"'
    return f'git mem supersede {shown} "…"    git mem retract {shown}    git mem confirm {shown}'


def broken_text(context: Context, one: Broken) -> str:
    """A card that fails the checks: its fault, and the file as it is."""
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
        **row_json(told.item, told.status, when.stamp(told.ends) if told.ends else None),
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
            {
                "role": one.role,
                "host": one.host,
                "kind": one.kind,
                "at": one.at,
                "quote": one.quote,
                "reported_by": one.reported_by,
                "source": one.source,
                "turn": one.turn,
            }
            for one in link.said
        ],
    }


def broken_json(one: Broken) -> dict[str, Any]:
    return {"id": one.id, "kind": "invalid", "path": one.path, "line": one.line, "message": one.message}


def last_day(stamp: str) -> str:
    """The last local day on which something holds that ends at `stamp`."""
    return (when.parse(stamp) - timedelta(seconds=1)).astimezone().date().isoformat()


def visible(text: str) -> str:
    """Text without what a terminal would obey or a reader not see."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf"))

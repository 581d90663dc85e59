"""Consolidate: groups of live cards that resemble one another, what a model says of them, and the commit of a yes.

Cards never change: of two that say the same the clearer one is confirmed with the words of the other, and the other is taken
back, naming it. Nothing is written before a person applies it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.authoring.cards import as_card
from gitmem.authoring.commit import Change, cards_now, commit
from gitmem.context import Context, author_email
from gitmem.errors import Refused
from gitmem.git.write import Written
from gitmem.index.analyse import tokens
from gitmem.index.catalogue import Catalogue, Item
from gitmem.learn import order
from gitmem.learn.distil import fenced
from gitmem.learn.order import Order
from gitmem.model import card as cards
from gitmem.model import ids, live, when
from gitmem.model import schema as schemas
from gitmem.model.card import Card

# So much of their words two cards share before anybody is asked about them.
SHARED = 0.3
GROUP = 6
GROUPS = 10
UNTOUCHED = ("rule", "task")


@dataclass(frozen=True, slots=True)
class Proposal:
    """`action`: merge, supersede or retract; `cards` go, `keep` stays for them (None: nothing does)."""

    action: str
    scope: str
    cards: tuple[Item, ...]
    keep: Item | None
    reason: str


@dataclass(frozen=True, slots=True)
class Question:
    """An order about some groups of one scope; `numbers`: the cards by the numbers they have in it."""

    order: Order
    scope: str
    numbers: Mapping[int, Item]


def questions(context: Context, scopes: Sequence[str]) -> list[Question]:
    """What there is to ask, a scope at a time."""
    catalogue = cards_now(context)
    try:
        found: list[Question] = []
        for scope in scopes:
            groups = _groups(context, catalogue, scope)
            for first in range(0, len(groups), GROUPS):
                found.append(_question(scope, groups[first : first + GROUPS]))
        return found
    finally:
        catalogue.close()


def _groups(context: Context, catalogue: Catalogue, scope: str) -> list[list[Item]]:
    """Cards that share many words, together; people's cards without quoted words stay out of it."""
    items = [
        item
        for item in catalogue.items("scope = ? AND kind = 'card' AND fault IS NULL", (scope,), "created, id")
        if item.type not in UNTOUCHED
        and not item.unquoted
        and live.status(catalogue, item.id, context.registry, context.now).live
    ]
    words = [frozenset(tokens(" \n".join((item.l0, *item.also)))) for item in items]
    holders: dict[str, list[int]] = {}
    leader = list(range(len(items)))

    def lead(at: int) -> int:
        while leader[at] != at:
            at = leader[at]
        return at

    for at, own in enumerate(words):
        for other in {one for word in own for one in holders.get(word, ())[-200:]}:
            theirs = words[other]
            if len(own & theirs) / (len(own | theirs) or 1) >= SHARED:
                leader[lead(at)] = lead(other)
        for word in own:
            holders.setdefault(word, []).append(at)
    groups: dict[int, list[Item]] = {}
    for at, item in enumerate(items):
        groups.setdefault(lead(at), []).append(item)
    return [
        members[first : first + GROUP]
        for members in groups.values()
        for first in range(0, len(members), GROUP)
        if len(members[first : first + GROUP]) > 1
    ]


def _question(scope: str, groups: Sequence[Sequence[Item]]) -> Question:
    numbers: dict[int, Item] = {}
    told = []
    for at, group in enumerate(groups, 1):
        lines = [f"# group {at}"]
        for item in group:
            number = len(numbers) + 1
            numbers[number] = item
            lines.append(
                f"{number}. {item.type}, {(item.valid_from or item.created)[:10]}, by {item.author}: {item.l0}"
            )
            lines += [f"   {line}" for line in item.l1.split("\n") if line.strip()]
        told.append("\n".join(lines))
    content = f"Scope: `{scope}`. Look at each group by itself.\n\n{fenced('cards', chr(10).join(told))}"
    return Question(
        order.make(order.CONSOLIDATE, scope, content, f"{scope}, {len(numbers)} cards"), scope, numbers
    )


def proposals(answer: Mapping[str, Any], question: Question) -> list[Proposal]:
    """What of an answer stands: cards by the numbers that were given, each of them spoken of once.

    Raises:
        ValueError: it is no answer at all.
    """
    listed = answer.get("proposals")
    if not isinstance(listed, list):
        raise ValueError("the answer has no list `proposals`")
    found: list[Proposal] = []
    spoken: set[int] = set()
    for entry in listed:
        if schemas.faults({"proposals": [entry]}, f"learn/{order.CONSOLIDATE}"):
            continue
        go = list(dict.fromkeys(entry["cards"]))
        keep = question.numbers.get(entry["keep"])
        named = {*go, entry["keep"]} - {0}
        if not go or entry["keep"] in go or not named <= set(question.numbers) or named & spoken:
            continue
        if (entry["action"] == "retract") != (keep is None):
            continue
        spoken |= named
        found.append(
            Proposal(
                entry["action"], question.scope, tuple(question.numbers[one] for one in go), keep,
                " ".join(entry["reason"].split())[:200],
            )
        )  # fmt: skip
    return found


def apply(context: Context, chosen: Sequence[Proposal]) -> tuple[Written, list[str]]:
    """Write proposals that a person said yes to, in one commit; the ids of the new cards.

    Raises:
        Refused: an agent asks, or a card is no longer live.
    """
    if not context.caller.person:
        raise Refused("consolidating is for people", ["git mem consolidate shows what there would be to do"])
    made: list[str] = []

    def make(here: Context) -> Change:
        catalogue = cards_now(here)
        try:
            written = [card for one in chosen for card in _written(here, catalogue, one)]
        finally:
            catalogue.close()
        made[:] = [card.id for card in written]
        files = {cards.card_path(card): cards.dump(card) for card in written}
        gone = sum(len(one.cards) for one in chosen)
        return Change(files, f"mem: consolidated {gone} card{'s' if gone != 1 else ''}", "retract", made)

    done = commit(context, make)
    assert done is not None
    return done[0], made


def _written(context: Context, catalogue: Catalogue, one: Proposal) -> list[Card]:
    stamp = when.stamp(context.utc())
    author = author_email(context.memory)
    for item in (*one.cards, *((one.keep,) if one.keep else ())):
        if not live.status(catalogue, item.id, context.registry, context.now).live:
            raise Refused(f"`{ids.short(item.id)}` is no longer live", ["git mem consolidate asks anew"])
    reason = one.reason
    found = []
    if one.keep is not None:
        verb = "says the same" if one.action == "merge" else "holds now"
        reason = f"`{ids.short(one.keep.id)}` {verb}: {one.keep.l0}"
    if one.action == "merge" and one.keep is not None:
        for item in one.cards:
            card = as_card(context, item)
            if item.type == one.keep.type and card.evidence:
                found.append(
                    Card(
                        id=ids.new_id(context.random_bits), scope=one.scope, created=stamp, author=author, type=item.type,
                        evidence=card.evidence, corroborates=(one.keep.id,), valid_from=card.valid_from,
                    )
                )  # fmt: skip
    found.append(
        Card(
            id=ids.new_id(context.random_bits), scope=one.scope, created=stamp, author=author,
            retracts=tuple(item.id for item in one.cards), body=f"{reason}\n",
        )
    )  # fmt: skip
    return found

"""Write cards: add, supersede, confirm, retract. Each is one commit, or nothing and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gitmem.authoring.commit import Change, cards_now, commit
from gitmem.context import Context, author_email
from gitmem.errors import Refused, Usage
from gitmem.git.write import Written
from gitmem.identity import Caller
from gitmem.index import place, scan, words
from gitmem.index.analyse import tokens
from gitmem.index.catalogue import Catalogue, Item
from gitmem.index.query import query_terms
from gitmem.index.refresh import folded
from gitmem.model import card as cards
from gitmem.model import ids, live, when
from gitmem.model import source as sources
from gitmem.model.card import Card, Evidence
from gitmem.model.layers import shorten
from gitmem.model.registry import covers

NEAR = 0.7
# As many ids as `schemas/card.json` lets one edge name.
MAX_TARGETS = 50
USER_ONLY = ("preference", "convention", "habit")


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody asks to be remembered. `type`, `scope` None: the defaults of the place."""

    conclusion: str
    type: str | None = None
    scope: str | None = None
    body: str = ""
    also: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    quote: str | None = None
    session: str | None = None
    expires: str | None = None
    force: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The card that was written, or the one that already says it (`written` None)."""

    card: Card
    written: Written | None
    similar: tuple[Item, ...] = ()


class TooClose(Refused):
    """A near duplicate: a correction must never vanish as one."""

    def __init__(self, item: Item, conclusion: str):
        quoted = conclusion.replace('"', '\\"')
        super().__init__(
            f"too close to `{ids.short(item.id)}`, nothing written",
            [
                f'if it replaces that card: git mem supersede {ids.short(item.id)} "{quoted}"',
                "if both hold: repeat with --force",
                f"if it says the same again: git mem confirm {ids.short(item.id)}",
            ],
            [f"stored   {item.l0}", f"yours    {conclusion}"],
        )
        self.item = item


def add(context: Context, wish: Wish, project: str | None) -> Done:
    """Write one card. `project`: the registered project we stand in, for the defaults.

    Raises:
        TooClose: a live card of this scope says nearly the same.
        Refused, Usage, ChecksFailed: nothing was written.
    """
    if not " ".join(wish.conclusion.split()):
        raise Usage("there is nothing to remember", ['git mem add "Use pnpm here, never npm"'])
    _ahead(wish.expires, context)
    _whole((wish.conclusion, wish.body, wish.quote or "", wish.session or "", *wish.also, *wish.tags))
    if not context.caller.person and wish.session is None and context.env.session:
        wish = replace(wish, session=context.env.session)
    if wish.quote is not None and not wish.session and not context.caller.person:
        raise Usage(
            "--quote needs the session it was said in", ['git mem add "…" --quote "their words" --session ID']
        )
    result: list[Done] = []

    def make(here: Context) -> Change | None:
        catalogue = cards_now(here)
        try:
            replaced = [resolve(catalogue, one, here.caller) for one in wish.supersedes]
            card, source, path = _compose(here, wish, project, replaced)
            if not replaced and not wish.force:
                twin = _duplicate(here, catalogue, card)
                if twin is not None:
                    result[:] = [Done(as_card(here, twin), None)]
                    return None
            similar = _similar(here, catalogue, card, exclude={one.id for one in replaced})
            if similar and similar[0][0] >= NEAR and not wish.force and not replaced:
                raise TooClose(similar[0][1], card.conclusion or "")
            result[:] = [Done(card, None, tuple(item for value, item in similar if value >= 0.5))]
            action = "supersede" if replaced else "add"
            files = {
                path: sources.dump(source),
                cards.card_path(card, cards.slug(card.conclusion or "")): cards.dump(card),
            }
            return Change(files, f"mem({card.type}): {card.conclusion}", action, [card.id], wish.session)
        finally:
            catalogue.close()

    done = commit(context, make)
    return Done(result[0].card, done[0] if done else None, result[0].similar)


def _ahead(expires: str | None, context: Context) -> None:
    """Refuse a card that nobody would ever hear."""
    if expires not in (None, "never") and when.end_of(expires) <= context.now:
        raise Usage(
            f"`{expires}` is over, and nobody would hear the card",
            ["a day that lasts until its end in UTC: --expires 2027-01-31", "or --expires never"],
        )


def _whole(texts: Sequence[str]) -> None:
    """Refuse what cannot be written in UTF-8: halves of characters, from bytes that were none."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            shown = shorten(" ".join(text.encode("utf-8", "replace").decode().split()), 60)
            raise Usage(f"`{shown}` has bytes that are not UTF-8, nothing written") from None


def _compose(
    context: Context, wish: Wish, project: str | None, replaced: Sequence[Item]
) -> tuple[Card, sources.Source, str]:
    """The card, the source of its words, and the source's path."""
    caller, registry = context.caller, context.registry
    conclusion = " ".join(wish.conclusion.split())
    if len(conclusion.encode()) > cards.MAX_CONCLUSION_BYTES:
        raise Refused(
            f"the conclusion has {len(conclusion.encode())} bytes, more than {cards.MAX_CONCLUSION_BYTES}",
            ['say it in one line, the rest with: git mem add "in short" -m "at length"'],
        )
    scope, type_ = wish.scope, wish.type
    if replaced:
        if scope and any(scope != one.scope for one in replaced):
            raise Refused(f"a correction stays in the scope of its card, `{replaced[0].scope}`")
        scope, type_ = replaced[0].scope, type_ or replaced[0].type
    scope = scope or project or "global"
    if not registry.is_scope(scope):
        raise Refused(f"no project `{scope}`", [f"git mem project add {scope}", "git mem project list"])
    speaks_for_user = caller.person or wish.quote is not None
    type_ = type_ or ("habit" if scope == "personal" else _default_type(scope, speaks_for_user))
    if type_ not in registry.types:
        raise Refused(f"unknown type `{type_}`", [f"types are {', '.join(registry.types)}"])
    if not covers(caller.write, scope):
        raise Refused(f"`{caller.name}` may not write in `{scope}`")
    if not speaks_for_user and (type_ in USER_ONLY or scope in ("global", "personal")):
        what = f"a {type_}" if type_ in USER_ONLY else f"a card of `{scope}`"
        raise Refused(
            f"{what} needs the user's own words",
            [
                'git mem add "…" --quote "their exact words" --session ID',
                *([f"or as a fact of its project: --type fact --scope {project}"] if project else []),
            ],
        )
    stamp = when.stamp(context.utc())
    card_id = ids.new_id(context.random_bits)
    author = author_email(context.memory) if caller.person else caller.name
    host = "git-mem" if caller.person else _host_name(caller.name)
    said = wish.quote if wish.quote is not None else conclusion
    role = "user" if speaks_for_user else "assistant"
    source = sources.Source(
        host,
        wish.session or f"statement-{card_id}",
        scope,
        stamp,
        "statement",
        (sources.Turn(1, role, stamp, said),),
    )
    path = sources.source_path(
        source, f"{stamp[:10].replace('-', '')}-{stamp[11:19].replace(':', '')}-{card_id}"
    )
    reported = caller.name if wish.quote is not None and not caller.person else None
    card = Card(
        id=card_id,
        scope=scope,
        created=stamp,
        author=author,
        type=type_,
        conclusion=conclusion,
        body=_body(wish.body),
        also=tuple(" ".join(one.split()) for one in wish.also),
        evidence=(Evidence(path, 1, role, said, reported),),
        supersedes=tuple(one.id for one in replaced),
        expires=wish.expires,
        tags=wish.tags,
        session=wish.session,
    )
    return card, source, path


def supersede(context: Context, targets: Sequence[str], wish: Wish) -> Done:
    """Replace cards by a new one; they stay in history."""
    return add(context, replace(wish, supersedes=tuple(targets), force=True), None)


def confirm(context: Context, target: str) -> tuple[Done, Item]:
    """Say a card again: its lifetime starts anew. The words shown are recorded as the caller's statement."""
    result: list[tuple[Card, Item]] = []

    def make(here: Context) -> Change:
        catalogue = cards_now(here)
        try:
            item = _follow(here, catalogue, resolve(catalogue, target, here.caller))
            stamp = when.stamp(here.utc())
            card_id = ids.new_id(here.random_bits)
            caller = here.caller
            role = "user" if caller.person else "assistant"
            source = sources.Source(
                "git-mem" if caller.person else _host_name(caller.name), f"statement-{card_id}", item.scope, stamp, "statement",
                (sources.Turn(1, role, stamp, item.l0),),
            )  # fmt: skip
            path = sources.source_path(
                source, f"{stamp[:10].replace('-', '')}-{stamp[11:19].replace(':', '')}-{card_id}"
            )
            card = Card(
                id=card_id, scope=item.scope, created=stamp, author=author_email(here.memory) if caller.person else caller.name,
                type=item.type, evidence=(Evidence(path, 1, role, item.l0),), corroborates=(item.id,),
            )  # fmt: skip
            result[:] = [(card, item)]
            files = {path: sources.dump(source), cards.card_path(card): cards.dump(card)}
            return Change(files, f"mem({item.type}): confirmed: {item.l0}", "merge", [card.id])
        finally:
            catalogue.close()

    done = commit(context, make)
    assert done is not None
    return Done(result[0][0], done[0]), result[0][1]


def _follow(context: Context, catalogue: Catalogue, item: Item) -> Item:
    """The live card that still says exactly this."""
    state = live.status(catalogue, item.id, context.registry, context.now)
    if state.live or state.word in ("expired", "not yet", "archived"):
        return item
    if state.word == "superseded":
        successors = [found for by in state.by if (found := catalogue.by_id(by)) is not None]
        same = next((one for one in successors if one.l0 == item.l0), None)
        if same is not None:
            return _follow(context, catalogue, same)
        by = state.by[0]
        raise Refused(
            f"`{ids.short(item.id)}` was superseded and its successor says something else",
            [f"git mem show {ids.short(by)}", f"git mem confirm {ids.short(by)}"],
        )
    raise Refused(f"`{ids.short(item.id)}` is {state.word}", [f"git mem show {ids.short(item.id)}"])


def retract(
    context: Context, targets: Sequence[str], reason: str, action: str = "retract"
) -> tuple[list[Card], Written]:
    """Take cards back; they stay in history. A retraction for every scope and 50 cards, all in one commit."""
    _whole((reason,))
    result: list[Card] = []

    def make(here: Context) -> Change:
        catalogue = cards_now(here)
        try:
            facts = [_any_card(catalogue, target, here.caller) for target in targets]
            change, made = retraction(here, facts, reason, action)
            result[:] = made
            return change
        finally:
            catalogue.close()

    done = commit(context, make)
    assert done is not None
    return result, done[0]


def retraction(
    context: Context, facts: Sequence[live.Facts], reason: str, action: str
) -> tuple[Change, list[Card]]:
    """The change that retracts cards; one retraction names at most `MAX_TARGETS` of one scope."""
    stamp = when.stamp(context.utc())
    author = author_email(context.memory) if context.caller.person else context.caller.name
    made = []
    for scope in sorted({one.scope for one in facts}):
        if not covers(context.caller.write, scope):
            raise Refused(f"`{context.caller.name}` may not write in `{scope}`")
        targets = tuple(dict.fromkeys(one.id for one in facts if one.scope == scope))
        made.extend(
            Card(
                id=ids.new_id(context.random_bits),
                scope=scope,
                created=stamp,
                author=author,
                retracts=targets[first : first + MAX_TARGETS],
                body=_body(reason),
            )
            for first in range(0, len(targets), MAX_TARGETS)
        )
    files = {cards.card_path(card): cards.dump(card) for card in made}
    what = (
        facts[0].l0
        or f"the {('confirmation' if facts[0].targets('corroborates') else 'retraction')} {ids.short(facts[0].id)}"
    )
    subject = f"mem: {action}: {what}" + (f" and {len(facts) - 1} more" if len(facts) > 1 else "")
    return Change(files, subject, action, [card.id for card in made]), made


def resolve(catalogue: Catalogue, text: str, caller: Caller | None = None) -> Item:
    """The card that an id or a unique prefix names, of those that `caller` may read (None: of all).

    Raises:
        Refused: none, or several.
    """
    prefix = ids.normal_prefix(text)
    found = catalogue.by_prefix(prefix) if prefix else []
    found = [item for item in found if caller is None or caller.reads(item.scope)]
    cards_only = [item for item in found if item.kind == "card"] or found
    if len(cards_only) == 1:
        return cards_only[0]
    if not cards_only:
        hint = f"git mem search {text}" if prefix is None else "git mem list"
        raise Refused(f"no card `{text}`", [hint])
    raise Refused(
        f"`{text}` fits {len(cards_only)} cards",
        ["type one more character"],
        [f"{item.id}  {item.l0}" for item in cards_only[:6]],
    )


def _any_card(catalogue: Catalogue, text: str, caller: Caller) -> live.Facts:
    facts = catalogue.facts(resolve(catalogue, text, caller).id)
    assert facts is not None
    return facts


def _duplicate(context: Context, catalogue: Catalogue, card: Card) -> Item | None:
    """A live card that says exactly this, in this scope and type."""
    rows = catalogue.items(
        "fold = ? AND scope = ? AND type = ? AND kind = 'card'",
        (folded(card.conclusion or ""), card.scope, card.type),
    )
    return next(
        (item for item in rows if live.status(catalogue, item.id, context.registry, context.now).live), None
    )


def _similar(
    context: Context, catalogue: Catalogue, card: Card, exclude: set[str]
) -> list[tuple[float, Item]]:
    """Live cards of this scope that share most words with a new one, closest first."""
    own = set(tokens(card.conclusion or ""))
    found: list[tuple[float, Item]] = []
    if not own:
        return found
    rows = [one.row for one in scan.unworded(catalogue, [card.scope])]
    index = words.open_for_reading(place.words(context.memory.state))
    if index is not None:
        try:
            hits = index.search(
                query_terms(card.conclusion or ""), [card.scope], 12, max(1, catalogue.count("kind = 'card'"))
            ).hits
        finally:
            index.close()
        rows.extend(hit.row for hit in hits)
    for row in dict.fromkeys(rows):
        item = catalogue.item(row)
        if item is None or item.id in exclude or item.scope != card.scope:
            continue
        theirs = set(tokens(item.l0))
        value = len(own & theirs) / len(own | theirs) if theirs else 0.0
        if value >= 0.5 and live.status(catalogue, item.id, context.registry, context.now).live:
            found.append((value, item))
    return sorted(found, key=lambda pair: (-pair[0], pair[1].id))


def as_card(context: Context, item: Item) -> Card:
    return cards.parse(context.memory.git.run("cat-file", "blob", item.blob).out)


def _default_type(scope: str, speaks_for_user: bool) -> str:
    if not speaks_for_user:
        return "fact"
    return "preference" if scope == "global" else "convention"


def _host_name(name: str) -> str:
    return (
        "".join(c if c.isascii() and (c.isalnum() or c == "-") else "-" for c in name.lower()).strip("-")
        or "agent"
    )


def _body(text: str) -> str:
    text = text.replace("\r\n", "\n").strip("\n")
    return text + "\n" if text else ""


def looks_like_file(conclusion: str, cwd: Path) -> bool:
    """Whether somebody typed the name of a file that is there instead of a sentence."""
    text = conclusion.strip()
    if not text or len(text) > 200 or "\n" in text:
        return False
    try:
        return " " not in text and (cwd / text).is_file()
    except (OSError, ValueError):
        return False

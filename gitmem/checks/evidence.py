"""Evidence: the quote stands in its source, in the turn and role it names, and carries what the card claims."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from gitmem.checks.problem import EVIDENCE, Problem
from gitmem.errors import FormatError
from gitmem.model import fold
from gitmem.model import source as sources
from gitmem.model.card import Card, Evidence
from gitmem.model.frontmatter import Document
from gitmem.model.layers import shorten

ASSISTANT_MAY = frozenset({"fact", "decision", "result", "pitfall", "task"})
USER_ONLY = frozenset({"preference", "convention", "habit"})


def judge(
    path: str, card: Card, document: Document, read_source: Callable[[str], bytes | None]
) -> tuple[list[Problem], frozenset[str]]:
    """The problems of a card's evidence, and the kinds of the sources it cites."""
    problems: list[Problem] = []
    kinds: set[str] = set()
    carried: set[str] = set()
    for number, item in enumerate(card.evidence):
        where = ("evidence", number)
        found, kind = _one(path, card, item, document, where, read_source)
        problems.extend(found)
        if kind is None or any(p.severity == "error" for p in found):
            continue
        kinds.add(kind)
        # what a person imports is that person's word
        carried.add("user" if item.role == "document" and kind == "import" else item.role)
    if not problems:
        problems.extend(_carries(path, card, carried, document))
    return problems, frozenset(kinds)


@lru_cache(maxsize=8)
def _parsed(data: bytes) -> sources.Source:
    """Many cards of one import or session cite one source: it is read once."""
    return sources.parse(data)


def _one(
    path: str,
    card: Card,
    item: Evidence,
    document: Document,
    where: tuple,
    read_source: Callable[[str], bytes | None],
) -> tuple[list[Problem], str | None]:
    line = document.line

    def problem(key: str, message: str, hint: str = "", details: tuple[str, ...] = ()) -> list[Problem]:
        return [Problem(path, line((*where, key)), EVIDENCE, message, hint, details)]

    data = read_source(item.source)
    if data is None:
        return problem(
            "source",
            f"card `{card.id}` cites `{item.source}`, which is not there",
            "add the source file to the commit, or drop the citation",
        ), None
    try:
        source = _parsed(data)
    except FormatError as error:
        return problem("source", f"`{item.source}`:{error.line} cannot be read: {error.message}"), None
    if source.scope != card.scope:
        return problem(
            "source",
            f"the card is of `{card.scope}`, its source of `{source.scope}`",
            "a card cites only sources of its own scope",
        ), None
    turn = source.turn(item.turn)
    if turn is None:
        has = ", ".join(str(one.number) for one in source.turns[:12])
        return problem("turn", f"`{item.source}` has no turn {item.turn}", f"it has {has}"), None
    span = fold.find(item.quote, turn.text)
    if span is None:
        return problem(
            "quote",
            "the quote is not in its source",
            "copy the words as they stand, or drop this evidence",
            _difference(item, turn, source),
        ), None
    if not fold.long_enough(item.quote, turn.text):
        return problem(
            "quote",
            f"the quote `{item.quote}` says too little",
            "quote at least 8 letters (a Chinese character counts as two), or the whole turn",
        ), None
    if turn.role != item.role:
        return problem(
            "role",
            f"turn {turn.number} was said by `{turn.role}`, the card claims `{item.role}`",
            f"role: {turn.role}",
        ), None
    if (turn.role == "document") != (source.kind == "import"):
        return problem("role", f"a source of kind `{source.kind}` has no turn of role `{turn.role}`"), None
    return [], source.kind


def _difference(item: Evidence, turn: sources.Turn, source: sources.Source) -> tuple[str, ...]:
    where = next((one for one in source.turns if fold.find(item.quote, one.text)), None)
    label = f"turn {turn.number}  {turn.role}"
    if where is not None:
        return (f"the words stand in turn {where.number} ({where.role}), not in turn {turn.number}",)
    near = fold.nearest(item.quote, turn.text)
    lines = [f"card    quote: {shorten(_flat(item.quote), 160)}"]
    shown = near.near if near and near.near else turn.text
    lines.append(f"{label}: {shorten(_flat(_around(turn.text, shown)), 200)}")
    if near:
        quote_char = f"`{near.quote_char}` here" if near.quote_char else "the quote ends here"
        text_char = f"`{near.text_char}` there" if near.text_char else "the turn ends there"
        lines.append(f"differs at character {near.at}: {quote_char}, {text_char}")
    return tuple(lines)


def _around(text: str, near: str) -> str:
    """The line of `text` that the near passage stands in."""
    at = text.find(near)
    if at < 0:
        return near
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at + len(near))
    return text[start : end if end >= 0 else len(text)]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _carries(path: str, card: Card, carried: set[str], document: Document) -> list[Problem]:
    """Whether the words are strong enough for what the card says."""
    if card.retracts:
        return []
    if not card.evidence:
        if "@" in card.author:
            return []
        return [
            Problem(
                path,
                document.line(("author",)),
                EVIDENCE,
                f"the card has no evidence, and its author `{card.author}` is no person",
                "quote the words it came from, or let a person write it under their e-mail",
            )
        ]
    if "user" in carried:
        return []
    line = document.line(("evidence",))
    heard = " and ".join(f"`{role}`" for role in sorted(carried)) or "nobody"
    if carried <= {"tool"}:
        return [
            Problem(
                path, line, EVIDENCE, "a tool's output supports nothing", "quote the user or the assistant"
            )
        ]
    if card.type in USER_ONLY or card.scope in ("global", "personal"):
        what = f"a {card.type}" if card.type in USER_ONLY else f"a card of `{card.scope}`"
        return [
            Problem(
                path,
                line,
                EVIDENCE,
                f"{what} needs the user's own words, and only {heard} is quoted",
                'quote the user: git mem add "…" --quote "their words" --session ID',
            )
        ]
    if card.type not in ASSISTANT_MAY:
        return [Problem(path, line, EVIDENCE, f"an assistant's words do not carry a `{card.type}`")]
    return []

"""Review: open candidates of one scope beside the cards most like them, a model's verdicts, and what the rules let stand.

What was asked is kept in `<state>/learning/asked.json`, one order a scope, so that an answer may come hours later, and
from anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gitmem.learn import durable, order, rules, unwanted, work
from gitmem.learn.candidate import FORGET, OPEN, UNMATCHED, Candidate
from gitmem.learn.digest import Digest
from gitmem.learn.distil import fenced
from gitmem.learn.order import Order
from gitmem.learn.rules import Against, Unclear
from gitmem.learn.similar import Known, Shelf
from gitmem.learn.turns import TOOL, USER, Turn
from gitmem.learn.work import Work
from gitmem.model import fold, when
from gitmem.model import schema as schemas
from gitmem.model.layers import shorten

# Candidates of one order.
BATCH = 8
_AROUND_CHARS = 500
_BESIDE_BYTES = 240
MAX_TRIES = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate in an order: whose it is, and the numbers of the cards that are like it."""

    work: str
    number: int
    near: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """What one review order is about. Candidates are numbered from 1, the cards after them."""

    order: Order
    rows: tuple[Row, ...]
    cards: Mapping[int, Known]


def batch(scope: str, chosen: Sequence[tuple[Work, Digest, int, Candidate]], shelf: Shelf) -> Batch:
    """The order about some candidates of a scope, oldest first."""
    numbers: dict[str, int] = {}
    cards: dict[int, Known] = {}
    rows: list[Row] = []
    told: list[str] = []
    for place, (owner, digest, number, one) in enumerate(chosen, 1):
        near = []
        for known in shelf.like(scope, " \n".join((one.conclusion, *one.also)), one.type):
            at = numbers.setdefault(known.id, len(chosen) + len(numbers) + 1)
            cards[at] = known
            near.append(at)
        rows.append(Row(owner.key, number, tuple(near)))
        told.append(_told(place, one, digest, near))
    listed = [
        f"{at}. {known.type}, {known.said_at[:10]}, {_said_by(known)}: {known.l0}"
        for at, known in sorted(cards.items())
    ]
    body = "# Candidates\n\n" + "\n\n".join(told) + "\n\n# Cards\n\n" + ("\n".join(listed) or "none")
    head = (
        f"Scope: `{scope}`. {len(rows)} candidate{'s' if len(rows) > 1 else ''}, in the order in which they were said. A verdict may name the "
        "cards listed for its candidate, and earlier candidates by their number where you promote them."
    )
    content = f"{head}\n\n{fenced('candidates', body)}"
    subject = f"{scope}, {len(rows)} candidate{'s' if len(rows) > 1 else ''}"
    return Batch(order.make(order.REVIEW, scope, content, subject), tuple(rows), cards)


def _told(place: int, one: Candidate, digest: Digest, near: Sequence[int]) -> str:
    turn = next((turn for turn in digest.turns if turn.number == one.turn), None)
    lines = [f"## candidate {place}"]
    if one.action == FORGET:
        lines.append(f"request to forget: {one.conclusion}")
    else:
        lines.append(f"{one.type}: {one.conclusion}")
        lines += [f"also: {text}" for text in one.also]
        lines += [f"detail: {' '.join(one.detail.split())}"] if one.detail else []
    who = "the person" if one.role == "user" else "the agent"
    lines.append(f"words of {who}, {one.at[:10]}, to {digest.host}: “{' '.join(one.quote.split())}”")
    if turn is not None:
        lines += [f"around them: {around}"] if (around := _around(turn.text, one.quote)) else []
        before, after = _beside(digest, turn)
        lines += [f"said before: {_brief(before)}"] if before else []
        lines += [f"said next: {_brief(after)}"] if after else []
    lines.append(f"cards like it: {', '.join(map(str, near)) or 'none'}")
    return "\n".join(lines)


def _beside(digest: Digest, turn: Turn) -> tuple[Turn | None, Turn | None]:
    """What was said before a turn, by whom ever, and what the person said next: what a word stands for, and whether it was settled."""
    told = [one for one in (*digest.context, *digest.turns) if one.role != TOOL]
    at = told.index(turn)
    return (told[at - 1] if at else None), next((one for one in told[at + 1 :] if one.role == USER), None)


def _brief(turn: Turn) -> str:
    return f"({turn.role}) {shorten(' '.join(turn.text.split()), _BESIDE_BYTES)}"


def _around(text: str, quote: str) -> str:
    """What stands before and after the words in their turn; nothing where they are all of it."""
    span = fold.find(quote, text)
    if span is None:
        return ""
    start, end = max(0, span[0] - _AROUND_CHARS // 2), min(len(text), span[1] + _AROUND_CHARS // 2)
    piece = " ".join(text[start:end].split())
    if len(piece) <= len(" ".join(quote.split())) + 2:
        return ""
    return ("… " if start else "") + piece + (" …" if end < len(text) else "")


def _said_by(known: Known) -> str:
    return (
        "said by the person"
        if known.strength >= 5
        else "found by an agent"
        if known.strength <= 2
        else "imported"
    )


def judge(
    answer: Mapping[str, Any], asked: Batch, candidates: Sequence[Candidate], take, now: datetime
) -> None:  # type: ignore[no-untyped-def]
    """Go through the verdicts in the order of the candidates.

    Args:
        candidates: those of the rows; their fates are set.
        take: called with a row, its candidate and the decision that stands; gives the card it will be, or None.

    Raises:
        ValueError: it is no answer at all.
    """
    verdicts = answer.get("verdicts")
    if not isinstance(verdicts, list):
        raise ValueError("the answer has no list `verdicts`")
    said: dict[int, list[Mapping[str, Any]]] = {}
    for entry in verdicts:
        if isinstance(entry, dict) and not schemas.faults({"verdicts": [entry]}, f"learn/{order.REVIEW}"):
            said.setdefault(entry["candidate"], []).append(entry)
    fresh: dict[int, Known | None] = {}
    for number, (row, one) in enumerate(zip(asked.rows, candidates, strict=True), 1):
        if one.fate != OPEN:
            continue
        found = said.get(number, [])
        if len({(entry["verdict"], tuple(entry["cards"])) for entry in found}) != 1:
            unclear(one, "no verdict" if not found else "two verdicts", now)
            continue
        entry = found[0]
        if entry["verdict"] == rules.REJECT or (
            entry["kind"] != "lasting" and entry["verdict"] == rules.PROMOTE
        ):
            _rejected(one, entry)
            continue
        try:
            targets = _targets(entry["cards"], row, number, asked.cards, fresh)
            decision = rules.decide(one, entry["verdict"], targets)
        except Unclear as slip:
            unclear(one, str(slip), now)
            continue
        except Against as against:
            one.drop(against.kind, str(against))
            if one.action == FORGET and against.kind == "nothing matched":
                one.fate = UNMATCHED
            continue
        fresh[number] = take(row, one, decision)


def unclear(one: Candidate, why: str, now: datetime) -> None:
    """It is asked about again, a few times; what comes within a pause after the last try is no further one."""
    one.extra["waits"] = why
    until = one.extra.get("counted_until")
    if until and when.parse(until) > now:
        return
    one.tries += 1
    one.extra["counted_until"] = when.stamp(now + work.pause(one.tries))
    if one.tries >= MAX_TRIES:
        one.drop("no verdict", f"{why}, {one.tries} times")


def _rejected(one: Candidate, entry: Mapping[str, Any]) -> None:
    kind = unwanted.KINDS.get(entry["kind"], "rejected")
    one.drop(kind, " ".join(entry["reason"].split())[:200])
    if one.action == FORGET:
        one.fate, one.kind = UNMATCHED, "nothing matched"


def _targets(
    numbers: Sequence[int], row: Row, own: int, cards: Mapping[int, Known], fresh: Mapping[int, Known | None]
) -> list[Known]:
    """The cards that a verdict names, by the numbers that were given to it and no others."""
    found: dict[str, Known] = {}
    for number in numbers:
        if number in row.near:
            known: Known | None = cards[number]
        elif number in fresh and number < own:
            known = fresh[number]
        else:
            raise Unclear(f"{number} is none of the numbers it was given")
        if known is None:
            raise Unclear(f"candidate {number} is no card")
        found[known.id] = known
    return list(found.values())


def place(state: Path) -> Path:
    return work.folder(state) / "asked.json"


def asked(state: Path) -> dict[str, Batch]:
    """The orders that wait for an answer, by scope."""
    value = durable.read_json(place(state)) or {}
    found = {}
    try:
        for scope, one in value.items():
            rows = tuple(Row(row["work"], row["number"], tuple(row["near"])) for row in one["rows"])
            cards = {int(number): Known(**known) for number, known in one["cards"].items()}
            found[scope] = Batch(Order(**one["order"]), rows, cards)
    except (TypeError, KeyError, ValueError, AttributeError):
        return {}
    return found


def remember(state: Path, batches: Mapping[str, Batch]) -> None:
    if batches:
        durable.write_json(place(state), {scope: asdict(one) for scope, one in batches.items()})
    else:
        place(state).unlink(missing_ok=True)


def still_open(one: Batch, works: Mapping[str, Work]) -> bool:
    """Whether any candidate of an order still waits for its verdict."""
    return any(
        row.work in works
        and row.number < len(works[row.work].candidates)
        and works[row.work].candidates[row.number].fate == OPEN
        for row in one.rows
    )

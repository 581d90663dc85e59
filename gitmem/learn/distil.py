"""Distil: from a digest to what a model is asked, and from its answer to candidates."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.learn import order, screen
from gitmem.learn.candidate import FACT, FORGET, HERE, Candidate
from gitmem.learn.digest import WAITING, Digest
from gitmem.learn.order import Order
from gitmem.learn.turns import ASSISTANT, TOOL, USER, Turn
from gitmem.model import schema as schemas
from gitmem.model.registry import Registry

# One order's words, in characters: small enough for one reply of a small model.
SLICE_CHARS = 24_000
_SHOWN = {USER: 6_000, ASSISTANT: 2_500, TOOL: 200}
_EARLIER_CHARS = 600
_EARLIER_TYPED = 3
MAX_FACTS = 12


def slices(digest: Digest) -> list[tuple[tuple[Turn, ...], tuple[Turn, ...]]]:
    """The digest's new turns in pieces that one order can hold, each with the turns before it; cut at typed turns."""
    pieces: list[list[Turn]] = [[]]
    size = 0
    for turn in digest.turns:
        length = min(len(turn.text), _SHOWN[turn.role]) + 40
        if pieces[-1] and size + length > SLICE_CHARS and turn.role == USER:
            pieces.append([])
            size = 0
        pieces[-1].append(turn)
        size += length
    found, before = [], list(digest.context)
    for piece in pieces:
        found.append((tuple(_earlier(before)), tuple(piece)))
        before += piece
    return [(earlier, piece) for earlier, piece in found if any(turn.role == USER for turn in piece)]


def _earlier(turns: Sequence[Turn]) -> list[Turn]:
    told = [turn for turn in turns if turn.role != TOOL]
    typed = [at for at, turn in enumerate(told) if turn.role == USER][-_EARLIER_TYPED:]
    return told[typed[0] :] if typed else []


def scopes(digest: Digest, registry: Registry) -> list[str]:
    """What facts of a conversation may be about: its project first."""
    own = digest.project if digest.project in registry.projects else None
    here = [own] if own else [HERE] if digest.state == WAITING else []
    return [*here, "global", "personal"]


def orders(digest: Digest, registry: Registry) -> list[Order]:
    """The orders of a digest, one a slice, in order."""
    allowed = scopes(digest, registry)
    found = []
    parts = slices(digest)
    for number, (earlier, turns) in enumerate(parts, 1):
        of = f", piece {number} of {len(parts)}" if len(parts) > 1 else ""
        place = f"in `{digest.cwd}`" if digest.cwd else "in no folder"
        head = [
            f"Scopes you may use: {', '.join(_named(one, registry) for one in allowed)}.",
            f"The conversation: {digest.host}, begun {digest.started[:10]}, {place}{of}.",
        ]
        body: list[str] = []
        if earlier:
            body.append("# earlier, for understanding only\n")
            body += [_told(turn, _EARLIER_CHARS, numbered=False) for turn in earlier]
            body.append("# the turns\n")
        body += [_told(turn, _SHOWN[turn.role]) for turn in turns]
        content = "\n".join(head) + "\n\n" + fenced("conversation", "\n".join(body))
        subject = f"{digest.host} {digest.session[:13]}{of}"
        found.append(order.make(order.DISTIL, _order_scope(allowed), content, subject))
    return found


def _order_scope(allowed: Sequence[str]) -> str:
    """The scope whose words stand in an order about a conversation; of no project: only who reads everything gets it."""
    return allowed[0] if allowed[0] not in (HERE, "global") else "personal"


def _named(scope: str, registry: Registry) -> str:
    if scope == HERE:
        return f"`{HERE}` (the project of this folder)"
    if scope in registry.projects:
        return f"`{scope}` (the project, {registry.projects[scope].name})"
    return f"`{scope}`"


def fenced(what: str, text: str) -> str:
    """Data between two lines that the data cannot hold: they name its own hash."""
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"BEGIN {what} {mark}\n{text.rstrip()}\nEND {what} {mark}"


def _told(turn: Turn, most: int, numbered: bool = True) -> str:
    """A turn; its text is set in, so that nothing in it passes for the next turn's head."""
    text = turn.text
    if len(text) > most:
        head = most * 2 // 3
        text = f"{text[:head]}\n[… {len(text) - most} characters left out …]\n{text[-(most - head) :]}"
    head = f"## {turn.number} {turn.role} {turn.at[:16]}" if numbered else f"({turn.role})"
    return head + "\n" + "\n".join("  " + line for line in text.split("\n")) + "\n"


def candidates(answer: Mapping[str, Any], digest: Digest, piece: int, registry: Registry) -> list[Candidate]:
    """What a model answered, judged one by one: what does not hold is dropped with the reason, the rest stays open.

    Args:
        piece: which slice was asked about, from 0: only its turns can be quoted.

    Raises:
        ValueError: it is no answer at all.
    """
    facts, forget = answer.get("facts"), answer.get("forget", [])
    if not isinstance(facts, list) or not isinstance(forget, list):
        raise ValueError("the answer has no list `facts`")
    turns = {turn.number: turn for turn in slices(digest)[piece][1]}
    allowed = scopes(digest, registry)
    found: list[Candidate] = []
    for number, (action, entry) in enumerate(
        [*((FACT, entry) for entry in facts), *((FORGET, entry) for entry in forget)]
    ):
        one = _candidate(action, entry, turns)
        if not one.kind and number >= MAX_FACTS and action == FACT:
            one.drop("too many", f"more than {MAX_FACTS} facts in one answer")
        if not one.kind:
            screen.judge(one, turns, digest, allowed, registry, found)
        found.append(one)
    return found


def _candidate(action: str, entry: Any, turns: Mapping[int, Turn]) -> Candidate:
    # what a hasty model leaves out, and nothing hangs on
    if isinstance(entry, dict) and action == FACT:
        entry = {"also": [], "detail": "", **entry}
    whole = {"facts": [entry], "forget": []} if action == FACT else {"facts": [], "forget": [entry]}
    faults = schemas.faults(whole, f"learn/{order.DISTIL}")
    if faults:
        said = entry.get("conclusion", entry.get("what", "")) if isinstance(entry, dict) else ""
        broken = Candidate(action, str(said)[:300], "", "", 0.0, 0, "", "", "")
        broken.drop("not in the form", faults[0].message if faults else "not an object")
        return broken
    said = " ".join(str(entry.get("conclusion", entry.get("what", ""))).split())
    turn = turns.get(entry["turn"])
    return Candidate(
        action=action,
        conclusion=said,
        type=entry.get("type", ""),
        scope=entry["scope"],
        confidence=float(entry.get("confidence", 1.0)),
        turn=entry["turn"],
        role=entry.get("role", USER),
        quote=entry["quote"].strip(),
        at=turn.at if turn else "",
        also=tuple(dict.fromkeys(text for one in entry.get("also", ()) if (text := " ".join(one.split()))))[
            :4
        ],
        detail=entry.get("detail", "").strip(),
        extra={"kind": entry.get("kind", "lasting")},
    )

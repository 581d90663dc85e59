"""The pre-screen: what code alone can say of a candidate, before a model judges it. Nothing here asks anybody."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gitmem.checks import safety
from gitmem.checks.evidence import ASSISTANT_MAY, USER_ONLY
from gitmem.index.analyse import tokens
from gitmem.learn import asks, unwanted
from gitmem.learn.candidate import FACT, HERE, WAITING, Candidate
from gitmem.learn.digest import Digest
from gitmem.learn.turns import TOOL, USER, Turn
from gitmem.model import fold
from gitmem.model.card import MAX_CONCLUSION_BYTES
from gitmem.model.layers import shorten
from gitmem.model.registry import PEOPLE, Registry

MIN_CONFIDENCE = 0.6
# Two conclusions of one answer that share so many of their words say the same.
SAME_WORDS = 0.7
MAX_DETAIL_BYTES = 1200
_NEAR_CHARS = 400
_NUMBER = re.compile(r"\d[\d.,:]*\d")


def judge(
    one: Candidate,
    turns: Mapping[int, Turn],
    digest: Digest,
    allowed: Sequence[str],
    registry: Registry,
    before: Sequence[Candidate],
) -> None:
    """Drop a candidate that cannot be memory, with the reason; or leave it open, or waiting for its project."""
    reason = (
        _erased(one, registry)
        or _words(one, turns)
        or _place(one, allowed)
        or (_claims(one, digest, registry) if one.action == FACT else _request(one))
        or _harm(one, turns)
        or _again(one, before)
    )
    if reason:
        one.drop(*reason)
    elif one.scope == HERE:
        one.fate = WAITING


Reason = tuple[str, str] | None


def _words(one: Candidate, turns: Mapping[int, Turn]) -> Reason:
    """The quote stands in its turn, and the role it claims said it."""
    turn = turns.get(one.turn)
    if turn is None:
        return "quote not found", f"there is no turn {one.turn} to quote"
    if turn.role == TOOL:
        return "weak words", "a tool's output supports nothing"
    if turn.role != one.role:
        return "weak words", f"turn {turn.number} was said by the {turn.role}, not by the {one.role}"
    if fold.find(one.quote, turn.text) is None:
        return "quote not found", f"`{shorten(one.quote, 80)}` is not in turn {turn.number}"
    if not fold.long_enough(one.quote, turn.text):
        return "weak words", f"`{one.quote}` says too little"
    return None


def _erased(one: Candidate, registry: Registry) -> Reason:
    """What a person had erased is not learned again, whoever says it."""
    if any(registry.tombstones.knows(text) for text in (one.conclusion, one.quote, *one.also)):
        return "forgotten", "these words were forgotten"
    return None


def _place(one: Candidate, allowed: Sequence[str]) -> Reason:
    if one.scope not in allowed:
        return "wrong scope", f"`{shorten(one.scope, 40)}` is none of {', '.join(allowed)}"
    return None


def _claims(one: Candidate, digest: Digest, registry: Registry) -> Reason:
    """What the words can carry, and whether it is of a kind that is ever kept."""
    label = one.extra.get("kind", "lasting")
    if label != "lasting":
        return unwanted.KINDS[label], "as the model says itself"
    rule = registry.types.get(one.type)
    if rule is None or rule.writers == PEOPLE:
        return "wrong type", f"no agent writes a `{one.type}`"
    if rule.scopes == "personal" and one.scope != "personal":
        return "wrong scope", f"a `{one.type}` belongs in `personal`"
    if one.role != USER:
        if one.type in USER_ONLY or one.scope in ("global", "personal"):
            return "weak words", f"a `{one.type}` of `{one.scope}` needs the user's own words"
        if one.type not in ASSISTANT_MAY:
            return "weak words", f"an agent's words do not carry a `{one.type}`"
    if one.confidence < MIN_CONFIDENCE:
        return "unsure", f"confidence {one.confidence:g}"
    if not any(char.isalpha() for char in one.conclusion):
        return "not in the form", "the conclusion has no words"
    if len(one.conclusion.encode()) > MAX_CONCLUSION_BYTES:
        return "not in the form", f"the conclusion has more than {MAX_CONCLUSION_BYTES} bytes"
    if len(one.detail.encode()) > MAX_DETAIL_BYTES:
        one.detail = ""
    said = fold.fold("\n".join(turn.text for turn in (*digest.context, *digest.turns))).text
    if made_up := [figure for figure in _figures(one) if figure not in said]:
        return "unsaid", f"nobody said {made_up[0]}"
    names = frozenset(
        name.casefold() for project in registry.projects.values() for name in (project.name, *project.aliases)
    )
    kind = unwanted.kind(one.conclusion, one.quote, one.type, one.role, names)
    return (kind, "by its words") if kind else None


def _figures(one: Candidate) -> list[str]:
    return _NUMBER.findall(fold.fold(f"{one.conclusion}\n{one.detail}").text)


def _request(one: Candidate) -> Reason:
    if not asks.to_forget(one.quote):
        return "weak words", "the words do not ask that anything be forgotten"
    return None


def _harm(one: Candidate, turns: Mapping[int, Turn]) -> Reason:
    """What may not be committed: instructions to a model, secrets, hidden characters."""
    turn = turns[one.turn].text
    own = [one.conclusion, one.detail, one.quote, *one.also]
    # a turn may hold a paste; what stands around instructions to a model is somebody else's as well
    for text, kind in [
        *((text, "card") for text in own),
        (_around(one.quote, turn), "card"),
        (turn, "source"),
    ]:
        for found in safety.scan(text, kind=kind):
            if found.severity == "error":
                return "secret" if "secret" in found.what else "unsafe", found.what
    if any("[secret: " in text for text in own):
        return "secret", "what is quoted was a secret"
    return None


def _around(quote: str, text: str) -> str:
    """The words with what stands before and after them, in whole lines."""
    span = fold.find(quote, text)
    if span is None:
        return quote
    start = text.rfind("\n", 0, max(0, span[0] - _NEAR_CHARS)) + 1
    end = text.find("\n", span[1] + _NEAR_CHARS)
    return text[start : end if end >= 0 else len(text)]


def _again(one: Candidate, before: Sequence[Candidate]) -> Reason:
    """Whether another fact of the answer says nearly the same: of two the one that was said last stays."""
    own = set(tokens(one.conclusion))
    for other in before:
        if other.kind or other.action != one.action or other.scope != one.scope:
            continue
        theirs = set(tokens(other.conclusion))
        if own == theirs or (own and len(own & theirs) / len(own | theirs) >= SAME_WORDS):
            if one.turn <= other.turn:
                return "said already", "another fact of this answer says it"
            other.drop("said already", f"turn {one.turn} says it later")
    return None

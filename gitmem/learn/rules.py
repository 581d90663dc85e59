"""What code holds against a verdict, whatever the model says. Values in, values out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.checks.evidence import ASSISTANT_MAY
from gitmem.index.refresh import folded
from gitmem.learn.candidate import FORGET, Candidate
from gitmem.learn.similar import Known
from gitmem.learn.turns import USER
from gitmem.model import live

PROMOTE, MERGE, SUPERSEDE, RETRACT, REJECT = "promote", "merge", "supersede", "retract", "reject"


class Against(Exception):
    """A verdict that does not stand. `kind`: in a word or two, for the summary; the message says why."""

    def __init__(self, kind: str, why: str):
        super().__init__(why)
        self.kind = kind


class Unclear(Against):
    """A verdict that does not say what shall happen: its cards are none, too many, or none that it was given. A slip, and so
    asked again."""

    def __init__(self, why: str):
        super().__init__("no verdict", why)


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a candidate. `targets`: the cards that it confirms, replaces or takes back."""

    action: str
    targets: tuple[Known, ...] = ()


def decide(one: Candidate, verdict: str, targets: Sequence[Known]) -> Decision:
    """Hold a verdict against the rules.

    Raises:
        Against: it does not stand; Unclear: it says too little to be held against them.
    """
    if any(target.scope != one.scope for target in targets):
        raise Against("wrong scope", "a card changes only cards of its own scope")
    if one.action == FORGET:
        if verdict != RETRACT:
            raise Against(
                "nothing matched", "a request to forget is met by taking a card back, or by nothing"
            )
        return Decision(RETRACT, _retracted(one, targets))
    match verdict:
        case "promote":
            return Decision(PROMOTE)
        case "merge":
            return _merge(one, targets)
        case "supersede":
            return _supersede(one, targets)
        case "retract":
            raise Against("no grounds", "the words do not ask that anything be forgotten")
    raise Against("rejected", f"`{verdict}` is no verdict")


def _merge(one: Candidate, targets: Sequence[Known]) -> Decision:
    if len(targets) != 1:
        raise Unclear("a confirmation names one card")
    target = targets[0]
    if one.role != USER and (target.type not in ASSISTANT_MAY or target.scope in ("global", "personal")):
        raise Against("weak words", f"an agent's words confirm no `{target.type}` of `{target.scope}`")
    if target.type == "task" and one.type != "task":
        raise Against("wrong type", "only the next state of a piece of work speaks of it")
    return Decision(MERGE, (target,))


def _supersede(one: Candidate, targets: Sequence[Known]) -> Decision:
    """The user's own words, or evidence at least as strong; in any case newer."""
    if not targets:
        raise Unclear("a correction names what it corrects")
    own = live.strength(one.role, False)
    for target in targets:
        if (one.type == "task") != (target.type == "task"):
            raise Against("wrong type", f"a `{one.type}` does not replace a `{target.type}`")
        if target.type == "rule":
            raise Against("wrong type", "only people change a rule")
        if _time(one.at) < _time(target.said_at):
            raise Against("older", f"it was said before `{target.l0}`")
        if one.type != "task" and one.role != USER and own < max(target.strength, live.ASSISTANT):
            raise Against("no grounds", "an agent's words do not replace a person's")
    if len(targets) == 1 and folded(targets[0].l0) == folded(one.conclusion) and one.type != "task":
        return _merge(one, targets)
    return Decision(SUPERSEDE, tuple(targets))


def _retracted(one: Candidate, targets: Sequence[Known]) -> tuple[Known, ...]:
    if not targets:
        raise Against("nothing matched", "no card says it")
    if one.role != USER:
        raise Against("weak words", "only a person asks that something be forgotten")
    for target in targets:
        if target.type == "rule":
            raise Against("wrong type", "only people take a rule back")
        if _time(one.at) < _time(target.said_at):
            raise Against("older", f"it was said before `{target.l0}`")
    return tuple(targets)


def _time(text: str) -> str:
    """Times of one form compare as text: to the second, and a bare day as its beginning."""
    return (text[:19] if "T" in text else f"{text}T00:00:00").removesuffix("Z")

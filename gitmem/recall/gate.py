"""Stage 4: what is not worth saying is dropped, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitmem.index.analyse import tokens
from gitmem.index.catalogue import Item
from gitmem.model.registry import Profile
from gitmem.recall import trace as t
from gitmem.recall.retrieve import Candidate
from gitmem.recall.scope import Scope

SAME = 0.8


@dataclass(frozen=True, slots=True)
class Passed:
    item: Item
    relevance: float


def gate(
    candidates: list[Candidate],
    profile: Profile,
    scope: Scope,
    shown: frozenset[str],
    cards: int,
    overridden: Mapping[str, str],
) -> tuple[list[Passed], list[t.Candidate]]:
    """The candidates that may be said, best first, and what became of each.

    `cards`: how many there were to choose from. `overridden`: global card -> the live card that overrides it in
    the project of the turn. Order: relevance, then importance, then id. A card of the project that the turn is in, or that the prompt names, weighs a little more.
    """
    scored = []
    for one in candidates:
        here = one.item.scope in (scope.project, scope.raised)
        value = one.relevance(here, cards)
        scored.append((value, one))
    scored.sort(key=lambda pair: (-pair[0], -pair[1].item.importance, pair[1].item.id))
    passed: list[Passed] = []
    fates: list[t.Candidate] = []
    for value, one in scored:
        fate, why = _fate(one, value, profile, scope, shown)
        if fate == t.SAID and (
            other := overridden.get(one.item.id) or _shadowed(one.item, scored, scope.project)
        ):
            fate, why = t.SHADOWED, f"`{other}` says it for this project"
        if fate == t.SAID:
            passed.append(Passed(one.item, value))
        fates.append(
            t.Candidate(
                one.item.id,
                one.item.l0,
                one.item.scope,
                one.words_rank,
                one.vectors_rank,
                value,
                one.support,
                fate,
                why,
            )
        )
    return passed, fates


def _fate(
    one: Candidate, value: float, profile: Profile, scope: Scope, shown: frozenset[str]
) -> tuple[str, str]:
    item = one.item
    if not scope.holds(item.scope, item.type):
        return t.QUIET, f"a {item.type} of {item.scope} is not for `{profile.name}`"
    if item.id in shown:
        return t.SHOWN, "already said in this session"
    bar = max(profile.threshold, profile.threshold_cross) if one.crossing else profile.threshold
    if value < bar:
        return t.QUIET, f"below {bar:.2f}" + (" across languages" if one.crossing else "")
    if profile.level == "l0" and not one.crossing and one.support < profile.support:
        if one.support == 0:
            return t.QUIET, "shares no word with the prompt"
        return t.QUIET, f"shares too little with the prompt: {one.support:.2f} of {profile.support:.2f}"
    if item.unquoted and profile.level == "l0":
        return t.QUIET, "unquoted cards are not said by similarity here"
    return t.SAID, ""


def _shadowed(item: Item, scored: list[tuple[float, Candidate]], project: str | None) -> str | None:
    """A card of the turn's own project that says nearly what a global card says."""
    if item.scope != "global" or project is None:
        return None
    own = set(tokens(item.l0))
    for _, other in scored:
        if other.item.scope == project:
            theirs = set(tokens(other.item.l0))
            if own and theirs and len(own & theirs) / len(own | theirs) >= SAME:
                return other.item.id
    return None

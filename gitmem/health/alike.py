"""Pairs of live cards that say nearly the same, or the same with another number or a negation.

In: cards' ids, scopes and conclusions. Out: pairs. Only words are compared, so the second kind is a suspicion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gitmem.index import background
from gitmem.index.analyse import tokens

# Shared share of all words (Jaccard), as `add` asks of a near duplicate; and of what is left without numbers and
# negations, for a contradiction.
NEAR, SUBJECT = 0.7, 0.8
_PLAIN_NO = (
    "no",
    "not",
    "never",
    "without",
    "avoid",
    "dont",
    "cannot",
    "cant",
    "wont",
    "nor",
    "neither",
    "nothing",
)
_NO = frozenset((*_PLAIN_NO, "stop", "forbid", "forbidden", "disallow", "disabl"))
_ZH_NO = frozenset("不别勿没無无非禁")
_COLOURS = frozenset(
    (
        "red",
        "green",
        "blue",
        "yellow",
        "black",
        "white",
        "orang",
        "purpl",
        "violet",
        "grey",
        "gray",
        "pink",
        "brown",
        "teal",
        "cyan",
        "magenta",
    )
)
_ZH_COLOURS = frozenset("红绿蓝黄黑白橙紫灰粉棕青")
MAX_SHARERS = 200
# A card at odds with more others is one of a series ("row 1 …, row 2 …") and contradicts none of them.
MAX_ODDS = 2


@dataclass(frozen=True, slots=True)
class Words:
    """A conclusion cut up. `subject`: what it is about, without negations, numbers and words of every second text."""

    id: str
    scope: str
    all: frozenset[str]
    subject: frozenset[str]
    numbers: frozenset[str]
    negated: bool
    colours: frozenset[str]


def words_of(card_id: str, scope: str, conclusion: str) -> Words:
    found = frozenset(tokens(conclusion))
    numbers = frozenset(one for one in found if any(c.isdigit() for c in one))
    no = frozenset(one for one in found if one in _NO or not _ZH_NO.isdisjoint(one))
    shades = frozenset(one for one in found if one in _COLOURS or not _ZH_COLOURS.isdisjoint(one))
    colours = (shades & _COLOURS) | (frozenset("".join(shades)) & _ZH_COLOURS)
    subject = frozenset(one for one in found - numbers - no - shades if not background.is_stop(one))
    return Words(card_id, scope, found, subject, numbers, bool(no), colours)


def pairs(cards: Iterable[Words]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """`(alike, at odds)`, pairs of ids of one scope; each pair once and in one list only."""
    alike: list[tuple[str, str]] = []
    odds: list[tuple[str, str]] = []
    scopes: dict[str, list[Words]] = {}
    for one in cards:
        scopes.setdefault(one.scope, []).append(one)
    for members in scopes.values():
        for a, b in _candidates(members):
            if at_odds(a, b):
                odds.append((a.id, b.id))
            elif share(a.all, b.all) >= NEAR:
                alike.append((a.id, b.id))
    often = Counter(one for pair in odds for one in pair)
    odds = [pair for pair in odds if max(often[one] for one in pair) <= MAX_ODDS]
    return sorted(alike), sorted(odds)


def at_odds(a: Words, b: Words) -> bool:
    """The same subject, and just one thing is said otherwise: a number, a colour, or whether it is so at all."""
    if not a.subject or not b.subject or share(a.subject, b.subject) < SUBJECT:
        return False
    signs = [a.negated != b.negated, a.numbers != b.numbers, a.colours != b.colours]
    if signs.count(True) != 1:
        return False
    return signs[0] or _one_other(a.numbers, b.numbers) or _one_other(a.colours, b.colours)


def _one_other(a: frozenset[str], b: frozenset[str]) -> bool:
    return len(a - b) == 1 == len(b - a)


def share(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


def _candidates(members: Sequence[Words]) -> Iterable[tuple[Words, Words]]:
    """Pairs that may pass: they share one of the rarer words of both.

    Two sets that share s of their union share a word among the rarest len - ceil(s * len) + 1 of each (prefix
    filtering; Chaudhuri, Ganti, Kaushik, ICDE 2006, doi:10.1109/ICDE.2006.9).
    """
    df = Counter(word for one in members for word in one.subject)
    holders: dict[str, list[int]] = {}
    for number, one in enumerate(members):
        rare = sorted(one.subject, key=lambda word: (df[word], word))
        # the looser of the two bounds, as a near duplicate may differ in its subject too
        kept = rare[: len(rare) - int(0.5 * len(rare)) + 1]
        seen: set[int] = set()
        for word in kept:
            for other in holders.get(word, ())[-MAX_SHARERS:]:
                if other not in seen:
                    seen.add(other)
                    yield members[other], one
        for word in kept:
            holders.setdefault(word, []).append(number)

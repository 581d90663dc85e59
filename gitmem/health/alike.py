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
MAX_SHARERS = 200


@dataclass(frozen=True, slots=True)
class Words:
    """A conclusion cut up. `subject`: what it is about, without negations, numbers and words of every second text."""

    id: str
    scope: str
    all: frozenset[str]
    subject: frozenset[str]
    numbers: frozenset[str]
    negated: bool


def words_of(card_id: str, scope: str, conclusion: str) -> Words:
    found = frozenset(tokens(conclusion))
    numbers = frozenset(one for one in found if any(c.isdigit() for c in one))
    no = frozenset(one for one in found if one in _NO or not _ZH_NO.isdisjoint(one))
    subject = frozenset(one for one in found - numbers - no if not background.is_stop(one))
    return Words(card_id, scope, found, subject, numbers, bool(no))


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
    return sorted(alike), sorted(odds)


def at_odds(a: Words, b: Words) -> bool:
    """The same subject, and one negates it or gives it another number."""
    if share(a.subject, b.subject) < SUBJECT:
        return False
    other_number = (
        bool(a.numbers and b.numbers)
        and a.numbers != b.numbers
        and not (a.numbers < b.numbers or b.numbers < a.numbers)
    )
    return a.negated != b.negated or other_number


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

"""A reader in the model's place: it knows a few facts by their words, and finds them in an order as a model would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gitmem.learn import order
from gitmem.learn.order import Order
from gitmem.learn.ways import Reply

_TURN = re.compile(r"^## (\d+) (user|assistant|tool) \S+\n((?:  .*\n?)*)", re.M)
_CANDIDATE = re.compile(
    r"^## candidate (\d+)\n(request to forget|\w+): (.*)\n(?:.*\n)*?cards like it: (.*)$", re.M
)
_CARD = re.compile(r"^(\d+)\. (\w+), [^:]*: (.*)$", re.M)


@dataclass
class Fact:
    """Words, and what a reader makes of them. `replaces`, `says_again`: what a card holds that it corrects, or confirms."""

    quote: str
    conclusion: str
    type: str = "convention"
    scope: str = "shop"
    role: str = "user"
    confidence: float = 0.9
    kind: str = "lasting"
    also: tuple[str, ...] = ()
    detail: str = ""
    replaces: str = ""
    says_again: str = ""
    forget: bool = False
    changed: dict[str, Any] = field(default_factory=dict)

    def entry(self, turn: int) -> dict[str, Any]:
        if self.forget:
            return {
                "what": self.conclusion,
                "scope": self.scope,
                "turn": turn,
                "quote": self.quote,
                **self.changed,
            }
        plain = {
            "conclusion": self.conclusion, "also": list(self.also), "detail": self.detail, "type": self.type, "scope": self.scope,
            "kind": self.kind, "confidence": self.confidence, "turn": turn, "role": self.role, "quote": self.quote,
        }  # fmt: skip
        return {**plain, **self.changed}


class Reader:
    """A way to a model that needs none. `orders`: what it was asked, in order."""

    name = "reader-1"

    def __init__(
        self, *facts: Fact, verdicts: Callable[[Order, dict[str, Any]], dict[str, Any]] | None = None
    ):
        self.facts = list(facts)
        self.orders: list[Order] = []
        self.verdicts = verdicts

    def ask(self, asked: Order) -> Reply:
        self.orders.append(asked)
        return Reply(json.dumps(self.answer(asked), ensure_ascii=False), tokens=100, usd=0.01)

    def answer(self, asked: Order) -> dict[str, Any]:
        if asked.kind == order.DISTIL:
            return self._distil(asked.content)
        answer = self._review(asked.content)
        return self.verdicts(asked, answer) if self.verdicts else answer

    def _distil(self, content: str) -> dict[str, Any]:
        turns = [(int(number), role, _set_back(text)) for number, role, text in _TURN.findall(content)]
        found: dict[str, list[Any]] = {"facts": [], "forget": []}
        for fact in self.facts:
            # whatever a misbehaving one changes, it found the turn by words that are there
            words = fact.changed.get("found_by", fact.quote)
            at = next((number for number, role, text in turns if words in text and role != "tool"), None)
            if at is not None:
                entry = {key: value for key, value in fact.entry(at).items() if key != "found_by"}
                found["forget" if fact.forget else "facts"].append(entry)
        return found

    def _review(self, content: str) -> dict[str, Any]:
        cards = {int(number): text for number, _, text in _CARD.findall(content)}
        verdicts = []
        earlier: dict[int, str] = {}
        for number, what, said, near in _CANDIDATE.findall(content):
            fact = next(one for one in self.facts if one.conclusion == said)
            listed = {int(one): cards[int(one)] for one in near.split(", ") if one != "none"} | earlier
            verdict, named = "promote", []
            for word, part in (("supersede", fact.replaces), ("merge", fact.says_again)):
                if part and (hit := [one for one, text in listed.items() if part in text]):
                    verdict, named = word, hit[:1]
            if what == "request to forget":
                named = [one for one, text in listed.items() if fact.replaces and fact.replaces in text]
                verdict = "retract" if named else "reject"
            verdicts.append(
                {
                    "candidate": int(number),
                    "verdict": verdict,
                    "cards": named,
                    "kind": "lasting",
                    "reason": "as told",
                }
            )
            if verdict in ("promote", "supersede"):
                earlier[int(number)] = said
        return {"verdicts": verdicts}


def _set_back(text: str) -> str:
    return "\n".join(line[2:] for line in text.split("\n"))


def of_text(text: str, facts: list[Fact]) -> str:
    """The answer to an order as a command gets it."""
    kind = order.DISTIL if "\nScopes you may use: " in text else order.REVIEW
    content = text[text.index("BEGIN ") :]
    return json.dumps(Reader(*facts).answer(Order("x", kind, "", "", content, "")), ensure_ascii=False)

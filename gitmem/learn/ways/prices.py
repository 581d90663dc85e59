"""What Anthropic's models cost, in USD per million tokens, as its price page said in November 2026.

A model that is not listed counts as the dearest one: the cap may stop a run too early, and never too late.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """Input, output, writing the prompt cache for five minutes, reading it."""

    input: float
    output: float
    write: float
    read: float


# By the beginning of the model's name; the longest that fits holds.
PRICES = {
    "claude-haiku-5-5": Price(0.10, 0.50, 0.125, 0.01),
    "claude-haiku-4-5": Price(1.0, 5.0, 1.25, 0.10),
    "claude-sonnet-5-5": Price(2.0, 10.0, 2.5, 0.10),
    "claude-sonnet-5": Price(2.0, 10.0, 2.5, 0.20),
    "claude-sonnet-4": Price(3.0, 15.0, 3.75, 0.30),
    "claude-opus-5-5": Price(4.0, 20.0, 5.0, 0.20),
    "claude-opus-5": Price(5.0, 25.0, 6.25, 0.50),
    "claude-opus-4": Price(5.0, 25.0, 6.25, 0.50),
    "claude-fable-5": Price(10.0, 50.0, 12.5, 1.0),
    "claude-mythos-5": Price(10.0, 50.0, 12.5, 1.0),
}
DEAREST = Price(15.0, 75.0, 18.75, 1.5)
# A token of English is about four characters, of Chinese about one; three is on the safe side of what is usual.
CHARS_A_TOKEN = 3


def of(model: str) -> Price:
    """A model's price."""
    names = [name for name in PRICES if model.startswith(name)]
    return PRICES[max(names, key=len)] if names else DEAREST


def tokens(text: str) -> int:
    """An upper estimate of a text's tokens: what is not ASCII counts one each."""
    wide = sum(not char.isascii() for char in text)
    return wide + (len(text) - wide) // CHARS_A_TOKEN + 1

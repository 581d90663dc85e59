"""Card ids: 10 characters of lower-case Crockford base32, unpredictable."""

from __future__ import annotations

from collections.abc import Callable

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 10
SHORT = 7
_DECODE = str.maketrans("ilo", "110")


def new_id(random_bits: Callable[[int], int]) -> str:
    """Draw an id from `random_bits(n)`, which returns an integer of n random bits.

    An all-digit id would read as a number or a date, so the first character is a letter.
    """
    first = ALPHABET[10 + random_bits(16) % 22]
    bits = random_bits(5 * (LENGTH - 1))
    return first + "".join(ALPHABET[(bits >> (5 * i)) & 31] for i in range(LENGTH - 1))


def is_id(text: str) -> bool:
    return len(text) == LENGTH and all(c in ALPHABET for c in text)


def normal_prefix(text: str) -> str | None:
    """The id prefix a person typed, Crockford's look-alikes resolved; None when it cannot be one."""
    folded = text.strip().strip("`").lower().translate(_DECODE)
    if 3 <= len(folded) <= LENGTH and all(c in ALPHABET for c in folded):
        return folded
    return None


def short(card_id: str) -> str:
    return card_id[:SHORT]

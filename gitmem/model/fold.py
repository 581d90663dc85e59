"""When a quote stands in a text: one small fold on both sides, and nothing beyond it.

The fold removes zero-width characters, makes a run of white space one space (none beside a CJK
character), pairs full- and half-width forms, and makes all single quotation marks one sign and all
double ones another. Case counts. Unicode's NFKC is deliberately not used: it would make `1²` equal `12`.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_ZERO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\ufeff")
_SINGLE = frozenset("'‘’‚‛＇‹›")
_DOUBLE = frozenset('"“”„‟＂「」『』«»〝〞〟｢｣')
_HALF_KANA = range(0xFF61, 0xFFA0)
_VOICED = {0xFF9E: "\u3099", 0xFF9F: "\u309a"}
MIN_UNITS = 8


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text, and for each of its characters where it began and ended in the original."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@lru_cache(maxsize=4096)
def is_cjk(char: str) -> bool:
    code = ord(char)
    return (
        0x2E80 <= code <= 0x9FFF
        or 0xAC00 <= code <= 0xD7AF
        or 0xF900 <= code <= 0xFAFF
        or 0xFE30 <= code <= 0xFE4F
        or 0x20000 <= code <= 0x3FFFF
    )


def fold(text: str) -> Folded:
    """Fold `text`; offsets count characters of the original."""
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def put(char: str, start: int, end: int) -> None:
        out.append(char)
        starts.append(start)
        ends.append(end)

    space_at: int | None = None
    last_cjk = False
    for i, char in enumerate(text):
        if char in _ZERO_WIDTH:
            continue
        if char.isspace():
            if space_at is None:
                space_at = i
            continue
        code = ord(char)
        if code in _VOICED and out and _compose(out[-1], _VOICED[code]):
            out[-1] = _compose(out[-1], _VOICED[code])
            ends[-1] = i + 1
            space_at = None
            continue
        if char in _DOUBLE:
            char = '"'
        elif char in _SINGLE:
            char = "'"
        elif 0xFF01 <= code <= 0xFF5E:
            char = chr(code - 0xFEE0)
        elif code in _HALF_KANA:
            char = unicodedata.normalize("NFKC", char)
        # decided on the folded character, so that a full-width form and its pair are treated alike
        cjk = is_cjk(char)
        if space_at is not None:
            if out and not last_cjk and not cjk:
                put(" ", space_at, i)
            space_at = None
        put(char, i, i + 1)
        last_cjk = cjk
    return Folded("".join(out), tuple(starts), tuple(ends))


def _compose(base: str, mark: str) -> str:
    joined = unicodedata.normalize("NFC", base + mark)
    return joined if len(joined) == 1 else ""


def units(text: str) -> int:
    """How much a quote says: a CJK character counts 2, a letter or digit 1, anything else 0."""
    total = 0
    for char in fold(text).text:
        if char.isalnum():
            total += 2 if is_cjk(char) else 1
    return total


def find(quote: str, text: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text` under the fold, as a span of the original; None when it does not.

    A match may not begin or end inside a character of the fold, and case counts.
    """
    needle = fold(quote).text
    if not needle:
        return None
    hay = fold(text)
    at = hay.text.find(needle)
    if at < 0:
        return None
    return hay.starts[at], hay.ends[at + len(needle) - 1]


def long_enough(quote: str, text: str) -> bool:
    """At least 8 units, unless the quote is the whole of its turn."""
    return units(quote) >= MIN_UNITS or fold(quote).text == fold(text).text


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a quote leaves the text: the closest place, and the two characters there."""

    at: int
    quote_char: str
    text_char: str
    near: str


def nearest(quote: str, text: str) -> Difference | None:
    """The first difference between the quote and the passage of `text` most like it."""
    import difflib

    needle, hay = fold(quote).text, fold(text)
    if not needle or not hay.text:
        return None
    # the time grows with the product of the two, so a long quote is placed by its beginning
    matcher = difflib.SequenceMatcher(None, hay.text[:20000], needle[:500], autojunk=False)
    block = matcher.find_longest_match()
    if block.size < 2:
        return None
    start = max(0, block.a - block.b)
    window = hay.text[start : start + len(needle)]
    shared = next((i for i, (a, b) in enumerate(zip(window, needle, strict=False)) if a != b), None)
    if shared is None:
        shared = min(len(window), len(needle))
    first, last = hay.starts[start], hay.ends[min(start + len(needle), len(hay.text)) - 1]
    return Difference(
        at=shared + 1,
        quote_char=needle[shared] if shared < len(needle) else "",
        text_char=window[shared] if shared < len(window) else "",
        near=text[first:last],
    )

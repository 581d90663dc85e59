"""The layers of a card, by rule: L0 the conclusion, L1 the opening of the body, L2 the body in chunks."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.model.card import Card

L1_BYTES = 600
CHUNK_BYTES = 1500
_HEADING = re.compile(r"^#{1,6}\s")
# a full stop ends a sentence before white space only, so that `3.11` and `node.js` hold together
_END = re.compile(r"(?:[。！？…]+[”’」』）)]*|[.!?]+[\"'”’)\]]*(?=\s|$))")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|Dr|Mr|Ms|No|St|approx|[A-Z])\.$")
_LIST_NUMBER = re.compile(r"\s*[0-9]{1,3}\.\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def l0(card: Card) -> str:
    """The conclusion, or the body's first sentence."""
    return card.conclusion if card.conclusion is not None else first_sentence(card.body)


def l1(card: Card) -> str:
    """The body up to its first heading, cut at a sentence end within 600 bytes, without repeating L0."""
    head = _opening(card.body)
    first = l0(card)
    plain = " ".join(head.split())
    if card.conclusion is None and plain.startswith(first):
        plain = plain[len(first) :].strip()
    else:
        sentences = [s for s in split_sentences(plain) if s.strip()]
        while sentences and _same(sentences[0], first):
            sentences.pop(0)
        plain = "".join(sentences).strip()
    return cut(plain, L1_BYTES)


def l2(card: Card) -> list[str]:
    """The whole body in chunks, a new one at every heading, long ones cut at line ends."""
    chunks: list[str] = []
    current: list[str] = []
    fence = ""

    def close() -> None:
        text = "\n".join(current).strip()
        if text:
            chunks.append(text)
        current.clear()

    size = 0
    for line in card.body.split("\n"):
        fence = _fence(line, fence)
        if (not fence and _HEADING.match(line)) or size + _size(line) > CHUNK_BYTES:
            close()
            size = 0
        current.append(line)
        size += _size(line) + 1
    close()
    return chunks


def first_sentence(text: str) -> str:
    """The first sentence of a text's opening, Chinese or English, as one line."""
    plain = " ".join(_opening(text).split())
    return split_sentences(plain)[0].strip() if plain else ""


def split_sentences(text: str) -> list[str]:
    """Sentences with the white space behind them; joined they are `text`."""
    out: list[str] = []
    start = 0
    for match in _END.finditer(text):
        # only the last characters: the whole sentence again and again would make long texts slow
        before = text[max(start, match.end() - 10) : match.end()]
        if _ABBREVIATION.search(before) or _LIST_NUMBER.match(before) or _inside_code(text, match.start()):
            continue
        end = match.end()
        while end < len(text) and text[end].isspace():
            end += 1
        out.append(text[start:end])
        start = end
    if start < len(text):
        out.append(text[start:])
    return out


def cut(text: str, max_bytes: int) -> str:
    """`text` if it fits, else its longest run of whole sentences that does; empty when not even one fits."""
    if _size(text) <= max_bytes:
        return text
    kept = ""
    for sentence in split_sentences(text):
        if _size((kept + sentence).rstrip()) > max_bytes:
            break
        kept += sentence
    return kept.rstrip()


def shorten(text: str, max_bytes: int) -> str:
    """`text` in at most `max_bytes` bytes, cut between characters and marked with `…`."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= max_bytes:
        return text
    kept = data[: max(0, max_bytes - 3)].decode("utf-8", "ignore").rstrip()
    return kept + "…"


def _size(text: str) -> int:
    """Bytes in UTF-8; halves of characters, which come from bytes that are none, count too."""
    return len(text.encode("utf-8", "surrogatepass"))


def _opening(body: str) -> str:
    """The lines above the first heading; a `#` inside a code fence is none."""
    lines: list[str] = []
    fence = ""
    for line in body.split("\n"):
        fence = _fence(line, fence)
        if not fence and _HEADING.match(line):
            if any(kept.strip() for kept in lines):
                break
            continue
        lines.append(line)
    return "\n".join(lines).strip()


def _fence(line: str, fence: str) -> str:
    """The code fence that is open after `line`, given the one open before it; empty for none."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    closes = mark[1].startswith(fence) and not line[mark.end() :].strip()
    return "" if closes else fence


def _same(a: str, b: str) -> bool:
    return _letters(a) == _letters(b)


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def _inside_code(text: str, at: int) -> bool:
    return text.count("`", 0, at) % 2 == 1

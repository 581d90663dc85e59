"""The words that are to go, and how they are found again: in files, in messages of commits, in lines of a log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from gitmem.model import fold

GONE = "[forgotten]"
# So much of a text is looked for in one-line messages, where git and we cut it: bytes, whole characters.
_HEAD_BYTES = 24
# Less than this stands in honest texts by chance.
MIN_UNITS = 16
# A cheap look before the slow one: without white space and marks, wide and narrow letters alike, quotes left out.
_THIN = {
    **dict.fromkeys(
        map(ord, "'‘’‚‛＇‹›\"“”„‟＂「」『』«»〝〞〟｢｣\u200b\u200c\u200d\u2060\ufeff\uff9e\uff9f\u3099\u309a")
    ),
    **dict.fromkeys(code for code in range(0x3001) if chr(code).isspace()),
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if code not in (0xFF02, 0xFF07)},
}


@dataclass(frozen=True, slots=True)
class Words:
    """`texts`: conclusions, other wordings and quotes, longest first. `telling`: those long enough that finding one
    elsewhere is no chance."""

    texts: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Words:
        kept = sorted({text.strip() for text in texts} - {""}, key=lambda text: (-len(text), text))
        return cls(tuple(kept), tuple(text for text in kept if fold.units(text) >= MIN_UNITS))

    def stand_in(self, text: str) -> bool:
        """Whether a telling one is part of `text`, up to the fold of quotes."""
        thin = text.translate(_THIN)
        return any(one.translate(_THIN) in thin and fold.find(one, text) is not None for one in self.telling)

    def taken_out(self, data: bytes) -> bytes:
        """`data` with every telling one, as it stands, replaced."""
        for text in self.telling:
            data = data.replace(text.encode("utf-8", "surrogateescape"), GONE.encode())
        return data

    def cleaned(self, message: bytes) -> bytes:
        """A message in which every line ends where one of them begins."""
        heads = [_head(text) for text in self.texts]
        lines = []
        for line in message.split(b"\n"):
            at = min((found for head in heads if (found := line.find(head)) >= 0), default=-1)
            lines.append(line if at < 0 else line[:at] + GONE.encode())
        return b"\n".join(lines)

    def marks(self) -> list[bytes]:
        """What a local file that holds one of them holds for certain: its beginning, as text or inside JSON."""
        found = []
        for text in self.texts:
            head = _head(text).decode("utf-8", "replace")
            if fold.units(head) < 8:
                continue
            found += [head, json.dumps(head)[1:-1], json.dumps(head, ensure_ascii=False)[1:-1]]
            if text in self.telling:
                found += [text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
        return list(dict.fromkeys(one.encode("utf-8", "surrogatepass") for one in found))


def _head(text: str) -> bytes:
    """The beginning of a text's first line, at most 24 bytes of whole characters."""
    out = b""
    for char in text.split("\n", 1)[0]:
        one = char.encode("utf-8", "surrogatepass")
        if len(out) + len(one) > _HEAD_BYTES:
            break
        out += one
    return out.rstrip() or text.encode("utf-8", "surrogatepass")[:_HEAD_BYTES]

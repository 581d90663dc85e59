"""What is to be erased, as one value: what the filter, the index of a work tree and the local files are held against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from gitmem.erasure.words import Words
from gitmem.errors import FormatError
from gitmem.model import source as sources
from gitmem.model.card import id_of_path
from gitmem.model.registry import Tombstones

# Where words that are to go are taken out of the middle of a file.
_OURS = ("cards/", "briefs/", "sources/")


@dataclass(frozen=True, slots=True)
class Order:
    """Cards and turns that go, and their words.

    Args:
        turns: (host, session, number).
        keep_shared: what other cards also say stays with them; else these words go out of every card and brief.
    """

    cards: frozenset[str]
    turns: frozenset[tuple[str, str, int]]
    words: Words
    keep_shared: bool = False

    @classmethod
    def by(cls, tombstones: Tombstones, texts: Iterable[str] = (), keep_shared: bool = False) -> Order:
        return cls(tombstones.cards, tombstones.turns, Words.of(texts), keep_shared)

    def with_words(self, texts: Iterable[str]) -> Order:
        return replace(self, words=Words.of([*self.words.texts, *texts]))

    def drops(self, path: str) -> bool:
        """Whether a file goes as a whole, by its name."""
        return path.startswith("cards/") and id_of_path(path) in self.cards

    def rewritten(self, path: str, data: bytes) -> bytes | None:
        """What stays of a file of the memory, or of a note; None when nothing does."""
        if path.startswith("sources/"):
            kept = self.source(path, data)
            if kept is None or kept != data:
                return kept
        return data if self.keep_shared else self.words.taken_out(data)

    def concerns(self, path: str) -> bool:
        return path.startswith(_OURS)

    def source(self, path: str, data: bytes) -> bytes | None:
        """A source without the turns that go; None when it had no other. One that cannot be read stays as it is."""
        name = path.rsplit("/", 1)[-1].removesuffix(".md")
        if not any(told_in == name or told_in.encode() in data for _, told_in, _ in self.turns):
            return data
        try:
            source = sources.parse(data)
        except FormatError:
            return data
        told_in = sources.told_in(path, source)
        kept = tuple(turn for turn in source.turns if (*told_in, turn.number) not in self.turns)
        if len(kept) == len(source.turns):
            return data
        return sources.dump(replace(source, turns=kept)) if kept else None

    def as_json(self) -> dict[str, Any]:
        return {
            "cards": sorted(self.cards),
            "turns": sorted(map(list, self.turns)),
            "words": list(self.words.texts),
            "keep_shared": self.keep_shared,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Order:
        return cls(
            frozenset(value["cards"]),
            frozenset((host, session, number) for host, session, number in value["turns"]),
            Words.of(value["words"]),
            bool(value["keep_shared"]),
        )

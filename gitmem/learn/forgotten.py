"""What a person had erased is not taken in again: forgotten turns are dropped before a digest is made."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.learn.digest import masked, shortened
from gitmem.learn.turns import Turn
from gitmem.model.registry import Tombstones


def kept(
    turns: Sequence[Turn], host: str, sessions: Sequence[str], tombstones: Tombstones
) -> tuple[Turn, ...]:
    """The turns that were not forgotten, by their place in the session or (in a copy of it) by their words."""
    return tuple(turn for turn in turns if not _is_forgotten(turn, host, sessions, tombstones))


def title(text: str | None, gone: Sequence[Turn]) -> str | None:
    """A session's title; None where it was made of words that are gone."""
    start = (text or "").rstrip(" .…")[:24]
    return None if start and any(start in turn.text for turn in gone) else text


def _is_forgotten(turn: Turn, host: str, sessions: Sequence[str], tombstones: Tombstones) -> bool:
    if any((host, session, turn.number) in tombstones.turns for session in sessions):
        return True
    # a source holds a turn as its digest did: secrets masked, a long paste shortened
    return bool(tombstones.hashes) and (
        tombstones.knows(turn.text) or tombstones.knows(shortened(masked(turn.text)))
    )

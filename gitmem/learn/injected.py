"""Take out what memory itself put into a conversation, so that it does not learn from itself. Text in, text out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from gitmem.learn.turns import TOOL, Turn
from gitmem.recall import session as sessions

_BLOCK = re.compile(r"<memory-context>\s.*?</memory-context>", re.DOTALL)
_BLANK = re.compile(r"\n[ \t]*\n")
# Beyond this many paragraphs a text is a paste, and only whole ones are compared.
_MAX_PARAGRAPHS = 60


def strip(text: str, known: Collection[str]) -> str:
    """A text without blocks of ours: by their tag, and by the fingerprint of what this session was told.

    Args:
        known: fingerprints (`gitmem.recall.session.fingerprint`) of every text the session was given. Hosts put them
            before or after typed words, a blank line between.
    """
    text = _BLOCK.sub("", text).strip()
    if not known or not text:
        return text
    if sessions.fingerprint(text) in known:
        return ""
    breaks = list(_BLANK.finditer(text))[:_MAX_PARAGRAPHS]
    for gap in breaks:
        if sessions.fingerprint(text[: gap.start()]) in known:
            return strip(text[gap.end() :], known)
        if sessions.fingerprint(text[gap.end() :]) in known:
            return text[: gap.start()].strip()
    return text


def cleaned(turns: Iterable[Turn], known: Collection[str]) -> tuple[Turn, ...]:
    """Turns without blocks of ours; one that held nothing else is gone."""
    kept = (turn if turn.role == TOOL else replace(turn, text=strip(turn.text, known)) for turn in turns)
    return tuple(turn for turn in kept if turn.text)

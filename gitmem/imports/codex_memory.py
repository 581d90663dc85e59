"""Codex' own memory: the bullets of `MEMORY.md`, one entry each. And OpenClaw's, which has the same shape at heart.

Codex' file is written by a model, so headings drift: a section counts by the words in its heading. Lists of files and
keywords are bookkeeping. `applies_to: cwd=…` says which folder a task group is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gitmem.imports import lenient
from gitmem.imports.blocks import Block, blocks
from gitmem.imports.entry import Entry, LeftOut, Reading, conclude, make, numbered, says_something

ScopeOf = Callable[[str], str | None]
_CWD = re.compile(r"\bcwd=([^;\n]+)")
_BACK = re.compile(r"(?:\s*\[Task[^\]]*\])+\s*$")
_SKIP = re.compile(r"rollout|keyword|summary|what's in memory", re.IGNORECASE)
_TYPES = (
    (re.compile(r"preference|偏好", re.IGNORECASE), "preference"),
    (re.compile(r"fail|pitfall|do differently|gotcha", re.IGNORECASE), "pitfall"),
)
_ACTIVE = re.compile(r"^(?:\d{4}-\d{2}-\d{2}\s+)?(?:active|current)\s*[:：]\s*", re.IGNORECASE)
_DATED = re.compile(r"^memory/\d{4}-\d{2}-\d{2}[^/]*\.md$")


def read_codex(files: Mapping[str, bytes], scope_of: ScopeOf | None = None) -> Reading:
    """Entries of `MEMORY.md`, and the user's preferences of `memory_summary.md`.

    Args:
        files: name below the memories folder -> content.
        scope_of: the scope of a working directory; None where it is no known project.
    """
    found = Reading()
    for name in ("MEMORY.md", "memory_summary.md"):
        if name in files:
            text = files[name].decode("utf-8", "replace").removeprefix("v1\n")
            found += _codex(name, text, scope_of or (lambda _: None))
    return _once(found)


def _codex(name: str, text: str, scope_of: ScopeOf) -> Reading:
    entries: list[Entry] = []
    left_out: list[LeftOut] = []
    taken: set[str] = set()
    folder: str | None = None
    group = None
    for block in blocks(text):
        top = block.trail[0] if block.trail else ""
        if top != group:
            group, folder = top, None
        if not block.bullet:
            if at := _CWD.search(block.text):
                folder = at[1].strip()
            continue
        if name == "memory_summary.md" and "preference" not in " ".join(block.trail).lower():
            continue
        if any(_SKIP.search(title) for title in block.trail[1:]):
            continue
        said = _BACK.sub("", block.text)
        if not says_something(said):
            continue
        key = numbered(name, said, taken)
        scope = scope_of(folder) if folder else None
        if folder and scope is None:
            left_out.append(LeftOut(key, f"no project holds `{folder}`: {said[:60]}"))
            continue
        entries.append(make(key, said, tags=block.trail, type=_type(block), scope=scope))
    return Reading(tuple(entries), tuple(left_out))


def read_openclaw(files: Mapping[str, bytes]) -> Reading:
    """Entries of `MEMORY.md`, `USER.md` and the dated notes of a workspace.

    Copies of other hosts' memories below `memory/imports/` and raw excerpts of sessions are left out: the first
    would come twice, the others are no facts.
    """
    entries: list[Entry] = []
    left_out: list[LeftOut] = []
    for name, data in sorted(files.items()):
        if name not in ("MEMORY.md", "USER.md") and not _DATED.match(name):
            continue
        text = lenient.split(data.decode("utf-8", "replace"))[1]
        if _DATED.match(name) and re.search(
            r"^\*{0,2}(?:user|assistant)\*{0,2}:", text, re.IGNORECASE | re.MULTILINE
        ):
            left_out.append(LeftOut(name, "an excerpt of a session, no notes"))
            continue
        taken: set[str] = set()
        for block in blocks(text):
            if (not block.bullet and name != "MEMORY.md") or not says_something(block.text):
                continue
            if re.search(r"\bsuperseded\b", block.text, re.IGNORECASE) and name == "USER.md":
                left_out.append(LeftOut(name, f"superseded there: {block.text[:60]}"))
                continue
            entries.append(_openclaw(name, block, numbered(name, block.text, taken)))
    return _once(Reading(tuple(entries), tuple(left_out)))


def _openclaw(name: str, block: Block, key: str) -> Entry:
    """A dated note tells what was done that day; what stands in `USER.md` holds everywhere."""
    if name == "USER.md":
        said = conclude(_ACTIVE.sub("", block.text))[0]
        return make(
            key,
            block.text,
            conclusion=said,
            body=_ACTIVE.sub("", block.text),
            tags=block.trail,
            type="preference",
            scope="global",
        )
    if _DATED.match(name):
        return make(key, block.text, tags=block.trail, type="result", valid_from=name[len("memory/") :][:10])
    return make(key, block.text, tags=block.trail, type=_type(block))


def _type(block: Block) -> str:
    nearest = next(iter(reversed(block.trail)), "")
    return next((type_ for words, type_ in _TYPES if words.search(nearest)), "fact")


def _once(found: Reading) -> Reading:
    """The same words in two files are one memory; the first file has them."""
    kept: dict[str, Entry] = {}
    for entry in found.entries:
        kept.setdefault(" ".join(entry.document_text.split()).casefold(), entry)
    return Reading(tuple(kept.values()), found.left_out)

"""Claude Code's auto memory: a folder of topic files with an index `MEMORY.md`.

Two shapes of frontmatter are in use: `type` at the top level, and below `metadata`. Both may be missing or be no
YAML. An index line may point to no file, and a file may have no index line.

A file's `description` is what it says in short, so it is the conclusion; without one, the first sentence is. What
its writer calls `user` and `feedback` are the person's own wishes: preferences. `project` and `reference` are
facts, and so is everything else. What is about the user holds everywhere, the rest in the folder's project.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gitmem.imports import lenient
from gitmem.imports.blocks import blocks
from gitmem.imports.entry import Entry, LeftOut, Reading, make, numbered, one_line, says_something

INDEX = "MEMORY.md"
TYPES = {"user": "preference", "feedback": "preference", "project": "fact", "reference": "fact"}
_LINK = re.compile(r"\[([^\]]+)\]\(<?([^)>\s]+\.md)>?\)[ \t]*(?:(?:—|–|--|-|:|：)[ \t]*)?(.*)", re.DOTALL)
_SLUG = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*\Z")


def read(files: Mapping[str, bytes], folder: str = "") -> Reading:
    """Entries of one memory folder.

    Args:
        files: name below the folder -> content; only `.md` files count.
        folder: a short name of the folder, so that equal file names of two folders stay apart.
    """
    prefix = f"{folder}/" if folder else ""
    index, loose = _index(files.get(INDEX, b""))
    entries: list[Entry] = []
    left_out: list[LeftOut] = []
    for name, data in sorted(files.items()):
        if name == INDEX or not name.endswith(".md"):
            continue
        found = topic(prefix + name, data, *index.get(name, ("", "")))
        if isinstance(found, Entry):
            entries.append(found)
        else:
            left_out.append(found)
    for name in sorted(set(index) - set(files)):
        left_out.append(
            LeftOut(prefix + name, f"the index names it, and there is no such file: {index[name][0]}")
        )
    taken: set[str] = set()
    for text, trail in loose:
        entries.append(make(numbered(prefix + INDEX, text, taken), text, tags=trail))
    return Reading(tuple(entries), tuple(left_out))


def topic(key: str, data: bytes, title: str = "", hook: str = "") -> Entry | LeftOut:
    """One topic file. `title` and `hook`: what its index line says."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return LeftOut(key, "it is not UTF-8")
    meta, body = lenient.split(text)
    body = body.strip("\n")
    nested = meta.get("metadata")
    inner: dict[str, object] = nested if isinstance(nested, dict) else {}
    kind = lenient.text_of(meta, "type") or lenient.text_of(inner, "type")
    said = lenient.text_of(meta, "description") or lenient.text_of(inner, "description")
    if not said and not says_something(body):
        said = hook
    if not said and not says_something(body):
        return LeftOut(key, "it says nothing")
    names = (title, lenient.text_of(meta, "name"), lenient.text_of(meta, "title"))
    also = tuple(dict.fromkeys(name for name in map(one_line, names) if _worth(name, said)))
    document = f"{said}\n\n{body}".strip() if said and said not in one_line(body) else body
    return make(
        key,
        document,
        conclusion=said or None,
        body=body if said else None,
        type=TYPES.get(kind.lower(), "fact"),
        scope="global" if kind.lower() == "user" else None,
        also=also,
    )


def _worth(name: str, said: str) -> bool:
    """A name that adds words: no slug, not what the conclusion says anyway."""
    return bool(name) and not _SLUG.match(name) and name != said and len(name.encode()) <= 200


def _index(data: bytes) -> tuple[dict[str, tuple[str, str]], list[tuple[str, tuple[str, ...]]]]:
    """`file -> (title, hook)`, and the bullets and paragraphs of the index that are memories themselves."""
    text = lenient.split(data.decode("utf-8", "replace"))[1]
    named: dict[str, tuple[str, str]] = {}
    loose: list[tuple[str, tuple[str, ...]]] = []
    for block in blocks(text):
        links = [match for line in block.text.split("\n") if (match := _LINK.search(line))]
        for match in links:
            named.setdefault(match[2].removeprefix("./"), (one_line(match[1]), one_line(match[3])))
        if not links and block.bullet and says_something(block.text):
            loose.append((block.text, block.trail))
    return named, loose

"""Put our hooks into the text of a host's JSON settings, and take them out again.

In: the text (None: there is no such file) and what we write. Out: new text and a journal. Nothing here touches
the disk. The journal tells how to undo: it holds places in the written text and white space, never the person's
own settings, which may carry keys and tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from gitmem.errors import Refused
from gitmem.hosts.hook_groups import Spec
from gitmem.hosts.json_edit import Splice, insert, inverse, remove, splice
from gitmem.hosts.json_read import SPACE, parse


class Journal(TypedDict):
    """How to undo a connect. Plain JSON; keep it until `disconnect`."""

    version: int
    sha256: str  # of the written text, UTF-8
    created: bool  # there was no file
    blank: str | None  # the whole former text where it was white space only
    existed: dict[str, str]  # "", "hooks", "hooks/<event>" as far as there -> white space of an empty one
    undo: list[list[Any]]  # [start, end, text], one after the other, positions in characters


@dataclass(frozen=True, slots=True)
class Edited:
    text: str
    journal: Journal | None  # None: connected already, by whom is not known


def connect(spec: Spec, text: str | None, journal: Journal | None = None) -> Edited:
    """Add our hook to every event that has none.

    Args:
        text: the settings as they are, byte order mark and line ends included; None without a file.
        journal: of an earlier connect that was not undone, so that undoing goes back behind both.

    Raises:
        Refused: malformed settings, naming line and column; or a `hooks` of another shape.
    """
    old = text or ""
    missing = [event for event in spec.timeouts_s if event not in connected(spec, text)]
    if not missing:
        return Edited(old, journal)
    new, undo = old, []
    for event in missing:
        edits = insert(new, ("hooks", event), spec.group(event))
        undo = _listed(inverse(new, edits)) + undo
        new = splice(new, edits)
    _same_but_ours(spec, old, new)
    created, blank, existed = text is None, old if text is not None and _is_blank(old) else None, _there(old)
    if journal:
        existed = {path: inside for path, inside in existed.items() if path in journal["existed"]}
        created, blank = journal["created"], journal["blank"]
        if journal["sha256"] == _sha256(old):
            existed, undo = journal["existed"], undo + journal["undo"]
    return Edited(
        new,
        Journal(version=1, sha256=_sha256(new), created=created, blank=blank, existed=existed, undo=undo),
    )


def disconnect(spec: Spec, text: str | None, journal: Journal | None = None) -> str | None:
    """Take our hooks out.

    Returns:
        The settings as they were before `connect`, byte for byte, if they were not changed since; else
        the present ones without our hooks and without what was made to hold them. None: there is
        nothing left to keep in a file that we made.

    Raises:
        Refused: malformed settings, naming line and column.
    """
    if text is None:
        return None
    if journal and journal["sha256"] == _sha256(text):
        for start, end, former in journal["undo"]:
            text = text[:start] + former + text[end:]
    elif _is_blank(text):
        return text
    existed = journal["existed"] if journal else {}
    before = text
    while not _is_blank(text) and (path := next(spec.our_places(parse(text)), None)):
        text = _take_out(text, path, existed)
    if not _is_blank(text):
        _same_but_ours(spec, before, text)
    if journal and _is_empty(text):
        return None if journal["created"] else text if journal["blank"] is None else journal["blank"]
    return text


def connected(spec: Spec, text: str | None) -> set[str]:
    """The events under which our hook stands, wherever it was moved and whatever its timeout.

    Raises:
        Refused: malformed settings, naming line and column.
    """
    if text is None or _is_blank(text):
        return set()
    hooks = parse(text).root.get("hooks")
    events = {item.key for item in hooks.items if item.key} if hooks else set()
    return {event for event in events if spec.runs_in(hooks.get(event))}  # type: ignore[union-attr, arg-type]


def is_true(text: str | None, key: str) -> bool:
    """Whether the settings say `true` under a key of their top level."""
    if text is None or _is_blank(text):
        return False
    node = parse(text).root.get(key)
    return node is not None and node.value is True


def counted(spec: Spec, text: str | None) -> str:
    count = len(connected(spec, text))
    return f"{count} hook{'' if count == 1 else 's'}"


def _take_out(text: str, path: tuple[int, ...], existed: Mapping[str, str]) -> str:
    """Cut one hook, then upwards whatever is empty without it and was not there before us."""
    doc = parse(text)
    event = f"hooks/{doc.root.items[path[0]].node.items[path[1]].key}"
    doc = parse(splice(text, remove(doc, path)))
    shell = doc.at(path[:3])
    # A group with anything else in it (a key or a comment of the person's own) stays.
    only_frame = {item.key for item in shell.items} <= {"matcher", "hooks"}
    if not (only_frame and doc.is_bare(doc.at(path[:4])) and not doc.comments_in(shell.start, shell.end)):
        return doc.text
    doc = parse(splice(doc.text, remove(doc, path[:3], existed.get(event, ""))))
    for depth, name, outer in ((2, event, "hooks"), (1, "hooks", "")):
        siblings = [item.key for item in doc.at(path[: depth - 1]).items]
        # Without the last of two equal keys the hidden one would come to life.
        is_twin = siblings.count(siblings[path[depth - 1]]) > 1
        if name in existed or is_twin or not doc.is_bare(doc.at(path[:depth])):
            break
        doc = parse(splice(doc.text, remove(doc, path[:depth], existed.get(outer, ""))))
    return doc.text


def _there(text: str) -> dict[str, str]:
    """Which of the containers that we may need exist, with the white space inside the empty ones."""
    if _is_blank(text):
        return {}
    root = parse(text).root
    nodes = {"": root}
    if hooks := root.get("hooks"):
        nodes |= {"hooks": hooks, **{f"hooks/{item.key}": item.node for item in hooks.items}}
    inside = {name: text[n.start + 1 : n.end - 1] for name, n in nodes.items()}
    return {name: blank if _is_blank(blank) else "" for name, blank in inside.items()}


def _same_but_ours(spec: Spec, before: str, after: str) -> None:
    """The last guard before anything is written: all that is not ours must read the same.

    Raises:
        Refused: it does not.
    """
    first, second = ({} if _is_blank(text) else spec.others(parse(text).root) for text in (before, after))
    if first != second:
        raise Refused("cannot edit these settings without changing something else", ["edit them by hand"])


def _is_blank(text: str) -> bool:
    return not text.strip(SPACE + "\ufeff")


def _is_empty(text: str) -> bool:
    """White space, or an object with nothing inside and nothing around it."""
    if _is_blank(text):
        return True
    doc = parse(text)
    return doc.root.kind == "object" and not doc.root.items and not doc.comments


def _listed(edits: Sequence[Splice]) -> list[list[Any]]:
    """Edits of one text as steps to take one after the other: the last place first."""
    return [[e.start, e.end, e.new] for e in sorted(edits, key=lambda e: e.start, reverse=True)]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

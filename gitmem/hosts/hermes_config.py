"""Put our hooks into the text of Hermes' `config.yaml`, and take them out again.

In: the text (None: there is no such file). Out: new text and a journal, which holds places in the written text and
white space, never the person's own settings. Nothing here touches the disk.

Source: Hermes' shell hooks: `hooks: {<event>: [{command, timeout}]}`, timeout in seconds; the command is split into
words and runs without a shell. `on_session_start` is left out: it comes right before the first `pre_llm_call`, what it
answers is thrown away, and Hermes asks the person once for every event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitmem.errors import Refused
from gitmem.hosts import own_file
from gitmem.hosts.hook_groups import says_us
from gitmem.hosts.hook_settings import Edited, Journal
from gitmem.hosts.json_edit import inverse, splice
from gitmem.hosts.yaml_edit import at, insert, remove, same
from gitmem.hosts.yaml_read import Document, parse

HOST = "hermes"
COMMAND = f"git mem hook {HOST}"
EVENTS = ("pre_llm_call", "on_session_finalize")
TIMEOUT_S = 5
ENTRY = {"command": COMMAND, "timeout": TIMEOUT_S}
_TRUE = ("1", "true", "yes", "on")


def connect(text: str | None, journal: Journal | None = None) -> Edited:
    """Add our hook to every event that has none.

    Args:
        journal: of an earlier connect that was not undone, so that undoing goes back behind both.

    Raises:
        Refused: malformed text, naming line and column; a `hooks` of another shape; a list that others share.
    """
    old = text or ""
    missing = [event for event in EVENTS if event not in connected(text)]
    if not missing:
        return Edited(old, journal)
    new, undo = old, []
    for event in missing:
        edits = insert(new, ("hooks", event), ENTRY)
        back = sorted(inverse(new, edits), key=lambda edit: (edit.start, edit.end), reverse=True)
        undo = [[edit.start, edit.end, edit.new] for edit in back] + undo
        new = splice(new, edits)
    _same_but_ours(old, new)
    created, existed = text is None, _there(old)
    blank = old if text is not None and not old.strip("\ufeff \t\r\n") else None
    if journal:
        existed = {name: empty for name, empty in existed.items() if name in journal["existed"]}
        created, blank = journal["created"], journal["blank"]
        if journal["sha256"] == _sha256(old):
            existed, undo = journal["existed"], undo + journal["undo"]
    return Edited(
        new, Journal(version=1, sha256=_sha256(new), created=created, blank=blank, existed=existed, undo=undo)
    )


def disconnect(text: str | None, journal: Journal | None = None) -> str | None:
    """Take our hooks out.

    Returns:
        The text as it was before `connect`, byte for byte, if it was not changed since; else the present one
        without our hooks and without what was made to hold them. None: nothing is left in a file that we made.

    Raises:
        Refused: malformed text, naming line and column; or an entry that cannot be cut out by itself.
    """
    if text is None:
        return None
    before = text
    if journal and journal["sha256"] == _sha256(text):
        for start, end, former in journal["undo"]:
            text = text[:start] + former + text[end:]
    existed = journal["existed"] if journal else {}
    while trail := next(_ours(parse(text)), None):
        text = _take_out(parse(text), trail, existed)
    _same_but_ours(before, text)
    if journal and journal["created"] and not text.strip("\ufeff \t\r\n"):
        return None
    if journal and journal["blank"] is not None and not text.strip("\ufeff \t\r\n"):
        return journal["blank"]
    return text


def connected(text: str | None) -> set[str]:
    """The events under which our hook stands, whatever its timeout.

    Raises:
        Refused: malformed text, naming line and column.
    """
    value = parse(text or "").value
    hooks = value.get("hooks") if isinstance(value, dict) else None
    if not isinstance(hooks, dict):
        return set()
    return {
        event for event, entries in hooks.items() if isinstance(entries, list) and any(map(runs_us, entries))
    }


def accepts_all(text: str | None) -> bool:
    """Whether the person told Hermes to run every hook without asking (`hooks_auto_accept`)."""
    value = parse(text or "").value
    said = value.get("hooks_auto_accept") if isinstance(value, dict) else None
    return said is True or (isinstance(said, str) and means_yes(said))


def means_yes(word: str) -> bool:
    return word.strip().lower() in _TRUE


def runs_us(entry: Any) -> bool:
    return (
        isinstance(entry, dict) and isinstance(entry.get("command"), str) and says_us(HOST, entry["command"])
    )


def others(value: Any) -> Any:
    """The plain values without our hooks and without empty lists of hooks and an empty `hooks`."""
    if not isinstance(value, dict):
        return value or {}
    hooks = value.get("hooks")
    if isinstance(hooks, dict):
        kept = {
            event: [entry for entry in entries if not runs_us(entry)]
            if isinstance(entries, list)
            else entries
            for event, entries in hooks.items()
        }
        hooks = {event: entries for event, entries in kept.items() if entries not in (None, [], {})}
    rest = {key: inner for key, inner in value.items() if key != "hooks"}
    return {**rest, "hooks": hooks} if hooks else rest


def _ours(doc: Document) -> Iterator[tuple[int, int, int]]:
    """Where our hooks stand, as member positions from the root, also under a key that a second one hides."""
    for h, (key, hooks) in enumerate(doc.root.pairs if doc.root else ()):
        for e, (_, entries) in enumerate(hooks.pairs if key.text == "hooks" else ()):
            for i, entry in enumerate(entries.items):
                command = entry.get("command")
                if command and command[1].text and says_us(HOST, command[1].text):
                    yield h, e, i


def _take_out(doc: Document, trail: tuple[int, ...], existed: Mapping[str, str]) -> str:
    """Cut one hook, and with it whatever would be empty without it and was not there before us."""
    hooks = at(doc, trail[:1])
    event = f"hooks/{hooks.pairs[trail[1]][0].text}"
    depth = 3
    for name in (event, "hooks"):
        holder = at(doc, trail[: depth - 1])
        siblings = [key.text for key, _ in at(doc, trail[: depth - 2]).pairs]
        # without the last of two equal keys the hidden one would come to life
        is_twin = siblings.count(siblings[trail[depth - 2]]) > 1
        if len(holder.parts) > 1 or name in existed or is_twin:
            break
        depth -= 1
    holder_name = (None, "", "hooks", event)[depth]
    return splice(doc.text, remove(doc, trail[:depth], existed.get(holder_name or "", "")))


def _there(text: str) -> dict[str, str]:
    """Which of the places that we may need exist, and what stands for each when it holds nothing."""
    doc = parse(text)
    hooks = doc.root.get("hooks") if doc.root else None
    if hooks is None:
        return {}
    places = {"hooks": hooks, **{f"hooks/{key.text}": (key, value) for key, value in hooks[1].pairs}}
    return {name: _when_empty(doc, pair) for name, pair in places.items()}


def _when_empty(doc: Document, pair: tuple[Any, Any]) -> str:
    value = pair[1]
    if value.parts:
        return "{}" if value.kind == "map" else "[]"
    return doc.text[value.start : value.end].strip() if "\n" not in doc.text[value.start : value.end] else ""


def _same_but_ours(before: str, after: str) -> None:
    """The last guard before anything is written: all that is not ours must read the same.

    Raises:
        Refused: it does not.
    """
    if not same(others(parse(before).value), others(parse(after).value)):
        raise Refused("cannot edit `config.yaml` without changing something else", ["edit it by hand"])


def _sha256(text: str) -> str:
    return own_file.sha256(text.encode())

"""Pi's session files: JSON lines in, one conversation out.

Source: pi-mono, `packages/coding-agent` (session-manager, messages, agent-session), and real files of versions 1 and 3. Entries
form a tree; the branch that ends in the last entry is the conversation, the others were left. A fork's file begins with
the parent's entries, which keep their ids and times: what is older than the file is the parent's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from gitmem.learn.readers.lines import Lines, blocks_text, items, mapping, name_of, stamp, text_of
from gitmem.learn.readers.talk import Talk
from gitmem.learn.turns import Conversation

HOST = "pi"
_SKILL = re.compile(r'<skill name="[^"]*" location="[^"]*">\n.*?\n</skill>(?:\n\n|\Z)', re.DOTALL)
_ANSWERS = {"stop": True, "toolUse": False, "error": False, "aborted": False}


def read(source: Iterable[bytes], name: str = "") -> Conversation:
    """The conversation in a session file.

    Args:
        source: the file's lines as bytes.
        name: the file's name without its ending, used only where the file does not say which session it is.
    """
    lines = Lines(source)
    header: dict[str, Any] = {}
    entries: list[dict[str, Any]] = []
    for record in lines:
        if record.get("type") == "session":
            header = header or record
        else:
            entries.append(record)
    entries = _once(entries)
    branch = _branch(entries)
    began = stamp(header.get("timestamp"))
    origin = name_of(header.get("parentSession")) or name_of(header.get("branchedFrom"))
    talk = Talk()
    own: list[str] = [began]
    for index, entry in enumerate(entries):
        at = stamp(entry.get("timestamp")) or stamp(_seconds(mapping(entry.get("message")).get("timestamp")))
        talk.copying = bool(origin and at and at < began)
        talk.aside = index not in branch
        if not talk.copying:
            own.append(at)
        _tell(entry, talk, at)
    own = sorted(filter(None, own))
    titles = [name_of(one.get("name")) for one in entries if one.get("type") == "session_info"]
    cwd = name_of(header.get("cwd"))
    return Conversation(
        host=HOST,
        session=name_of(header.get("id")) or name.rsplit("_", 1)[-1],
        cwd=cwd,
        started=own[0] if own else "",
        last=own[-1] if own else "",
        turns=talk.turns(),
        title=titles[-1] if titles else None,
        parent=PurePath(origin).stem.rsplit("_", 1)[-1] if origin else None,
        tool_errors=talk.tool_errors,
        compactions=talk.compactions,
        before=talk.turns(copied=True),
        complete=talk.complete and not lines.cut,
        cut=lines.cut,
        marked=lines.marked,
        undone=talk.undone(),
        aborted=talk.aborted,
        shell_lines=talk.shell_lines,
        folders=(cwd,) if cwd else (),
        unreadable=lines.unreadable,
    )


def _once(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    seen: set[str] = set()
    found = []
    for entry in entries:
        key = name_of(entry.get("id"))
        if key is None or key not in seen:
            found.append(entry)
        if key is not None:
            seen.add(key)
    return found


def _branch(entries: list[dict[str, Any]]) -> set[int]:
    """Indices of the entries from the last one up to the root; all of them where they have no ids (version 1)."""
    place = {found: index for index, one in enumerate(entries) if (found := name_of(one.get("id")))}
    if not place:
        return set(range(len(entries)))
    found: set[int] = set()
    at: int | None = max(place.values())
    while at is not None and at not in found:
        found.add(at)
        parent = name_of(entries[at].get("parentId"))
        at = place.get(parent) if parent else None
    return found


def _tell(entry: dict[str, Any], talk: Talk, at: str) -> None:
    if entry.get("type") == "compaction":
        talk.compactions += not (talk.copying or talk.aside)
    if entry.get("type") != "message":
        return
    message = mapping(entry.get("message"))
    role = message.get("role")
    if role == "user":
        text = blocks_text(message.get("content"), "text")
        talk.user(_SKILL.sub("", text, count=1) if text.startswith("<skill ") else text, at)
    elif role == "assistant":
        _assistant(message, talk, at, text_of(entry.get("id")) or at)
    elif role == "toolResult" and message.get("isError") is True:
        talk.fails(text_of(message.get("toolCallId")), blocks_text(message.get("content"), "text"))
    elif role == "bashExecution":
        talk.shell_lines += not (talk.copying or talk.aside)


def _assistant(message: dict[str, Any], talk: Talk, at: str, group: str) -> None:
    """A reply's texts and calls; one that failed or was interrupted is no answer, and may be followed by another."""
    why = text_of(message.get("stopReason"))
    for block in items(message.get("content")):
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text":
            talk.says(text_of(block.get("text")), at, final=_ANSWERS.get(why), group=group)
        elif block.get("type") == "toolCall":
            talk.calls(text_of(block.get("name")), text_of(block.get("id")), at)
    if why == "aborted" and not talk.aside:
        talk.abort()


def _seconds(milliseconds: Any) -> float | None:
    return milliseconds / 1000 if isinstance(milliseconds, (int, float)) else None

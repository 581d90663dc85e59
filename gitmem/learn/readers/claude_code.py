"""Claude Code's transcripts: JSON lines in, one conversation out.

Source: real transcripts of 2.1.63 to 2.1.226; the documentation calls the format internal. Unknown records and fields
are normal. What counts as typed:

- a `user` record without a tool's result, not meta, not a summary, not a sub-agent's, sent by a person;
- a prompt typed while the model worked, which is an `attachment` of type `queued_command` and no `user` record;
- what follows the name of a slash command, unless the command is one of the host's own that sets something up
  (`/model sonnet`): the arguments of a skill or of a command of the person's are words to the model.

Rewinding leaves the old prompt in the file, beside the new one under one parent: the old one is taken back. Two
terminals on one session make such siblings too, and there both go on: both are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from gitmem.learn.readers.lines import Lines, blocks_text, items, mapping, name_of, stamp, text_of
from gitmem.learn.readers.talk import Talk
from gitmem.learn.turns import Conversation

HOST = "claude-code"
_MESSAGES = ("user", "assistant", "attachment", "system")
_BY_PEOPLE = ("typed", "queued", "suggestion_accepted")
_INTERRUPTED = "[Request interrupted by user"
_NOT_TYPED = (
    "<local-command-caveat>", "<local-command-stdout>", "<local-command-stderr>", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
    "<task-notification>", "<cross-session-message", _INTERRUPTED, "Caveat:",
    "This session is being continued from a previous conversation",
)  # fmt: skip
_COMMAND = ("<command-name>", "<command-message>", "<command-args>")
_COMMAND_NAME = re.compile(r"<command-name>\s*/?(.*?)\s*</command-name>", re.DOTALL)
_COMMAND_ARGS = re.compile(r"<command-args>(.*)</command-args>", re.DOTALL)
# The host's own commands, whose arguments set something up and say nothing to the model.
_HOST_COMMANDS = frozenset(
    {
        "add-dir", "agents", "allowed-tools", "bashes", "branch", "clear", "color", "compact", "config", "context", "cost", "doctor",
        "effort", "exit", "export", "fast", "fork", "help", "hooks", "ide", "install-github-app", "login", "logout", "mcp", "memory",
        "model", "output-style", "permissions", "plugin", "privacy-settings", "rename", "resume", "rewind", "sandbox", "status",
        "statusline", "tag", "tasks", "terminal-setup", "theme", "usage", "vim",
    }
)  # fmt: skip
# Blocks that the host or an editor puts around or between typed words.
_BLOCKS = re.compile(
    r"<(system-reminder|ide_[a-z_]+|user-prompt-submit-hook)>.*?</\1>|<local-command-caveat>.*?</local-command-caveat>",
    re.DOTALL,
)
_REFUSED = (
    "Permission to use ", "The user doesn't want to proceed with this tool use", "The user doesn't want to take this action",
    "[Request interrupted by user",
)  # fmt: skip


def read(source: Iterable[bytes], name: str = "") -> Conversation:
    """The conversation in a transcript.

    Args:
        source: the file's lines as bytes.
        name: the file's name without its ending; usually the session's.
    """
    lines = Lines(source)
    records = list(_once(lines))
    messages = [one for one in records if one.get("type") in _MESSAGES]
    own = [one for one in messages if one.get("isSidechain") is not True]
    sidechain = bool(messages) and not any(one.get("type") in ("user", "assistant") for one in own)
    sidechain = sidechain and any(one.get("isSidechain") is True for one in messages)
    talk = Talk()
    _tell(messages if sidechain else own, talk, sidechain)
    times = sorted(filter(None, (stamp(one.get("timestamp")) for one in records)))
    forked = next((mapping(one.get("forkedFrom")) for one in own if one.get("forkedFrom")), {})
    cwds = list(dict.fromkeys(filter(None, (name_of(one.get("cwd")) for one in messages))))
    return Conversation(
        host=HOST,
        session=_session(records, name, sidechain),
        cwd=cwds[0] if cwds else None,
        git_branch=next(filter(None, map(_branch, messages)), None),
        started=times[0] if times else "",
        last=times[-1] if times else "",
        turns=talk.turns(),
        title=_title(records),
        parent=name_of(forked.get("sessionId")),
        tool_errors=talk.tool_errors,
        compactions=talk.compactions,
        sidechain=sidechain,
        before=talk.turns(copied=True),
        complete=talk.complete and not lines.cut,
        cut=lines.cut,
        marked=lines.marked,
        undone=talk.undone(),
        aborted=talk.aborted,
        shell_lines=talk.shell_lines,
        folders=tuple(cwds),
        agent_id=next(filter(None, (name_of(one.get("agentId")) for one in messages)), None) if sidechain else None,
        unreadable=lines.unreadable,
    )  # fmt: skip


def _once(lines: Lines) -> Iterator[dict[str, Any]]:
    """Each record once: a resume writes some of them again."""
    seen: set[str] = set()
    for record in lines:
        uuid = name_of(record.get("uuid"))
        if uuid is not None:
            if uuid in seen:
                continue
            seen.add(uuid)
        yield record


def _tell(records: list[dict[str, Any]], talk: Talk, sidechain: bool) -> None:
    left = set() if sidechain else _left(records)
    queued: list[str] = []
    for index, record in enumerate(records):
        at = stamp(record.get("timestamp"))
        talk.copying, talk.aside = bool(record.get("forkedFrom")), index in left
        kind = record["type"]
        if kind == "system":
            talk.compactions += record.get("subtype") == "compact_boundary" and not talk.copying
        elif kind == "attachment":
            text = "" if sidechain else _queued(record)
            talk.user(text, at, queued=True)
            if text:
                queued.append(text)
        elif kind == "assistant":
            _assistant(record, talk, at)
        elif _results(record):
            _failures(record, talk)
        elif not sidechain:
            raw = blocks_text(mapping(record.get("message")).get("content"), "text")
            if raw.lstrip().startswith(_INTERRUPTED):
                talk.abort()
            talk.shell_lines += raw.lstrip().startswith("<bash-input>")
            text = _typed(record)
            # a queued prompt that was delivered as an attachment may come once more as a record of its own
            if text and record.get("promptSource") == "queued" and text in queued:
                queued.remove(text)
            else:
                talk.user(text, at)


def _typed(record: dict[str, Any]) -> str:
    """What the person typed in a `user` record; "" when somebody else wrote it."""
    if record.get("type") != "user" or _results(record):
        return ""
    if any(
        record.get(flag) is True
        for flag in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isSidechain")
    ):
        return ""
    how = record.get("promptSource")
    if how is None:
        # old versions note nothing; there the way in tells a program from a person
        if text_of(record.get("entrypoint")).startswith("sdk-"):
            return ""
    elif how not in _BY_PEOPLE:
        return ""
    if _origin(record) not in (None, "human"):
        return ""
    content = mapping(record.get("message")).get("content")
    parts = [blocks_text([block], "text") for block in content] if isinstance(content, list) else [content]
    return "\n".join(filter(None, (_words(text_of(part)) for part in parts)))


def _words(text: str) -> str:
    """A text without what the host put into it."""
    text = text.strip()
    if text.startswith(_COMMAND):
        name, args = _COMMAND_NAME.search(text), _COMMAND_ARGS.search(text)
        if args is None or (name is not None and name[1].split(" ")[0] in _HOST_COMMANDS):
            return ""
        return args[1].strip()
    if text.startswith(_NOT_TYPED):
        return ""
    return _BLOCKS.sub("", text).strip()


def _queued(record: dict[str, Any]) -> str:
    """A prompt that was typed while the model worked, and reached it."""
    attachment = mapping(record.get("attachment"))
    if attachment.get("type") != "queued_command" or attachment.get("commandMode") not in (None, "prompt"):
        return ""
    if attachment.get("isMeta") is True or record.get("isMeta") is True:
        return ""
    if _origin(attachment) not in (None, "human") or text_of(record.get("entrypoint")).startswith("sdk-"):
        return ""
    return _words(blocks_text(attachment.get("prompt"), "text"))


def _origin(record: dict[str, Any]) -> Any:
    origin = record.get("origin")
    return origin.get("kind") if isinstance(origin, dict) else origin


def _assistant(record: dict[str, Any], talk: Talk, at: str) -> None:
    message = mapping(record.get("message"))
    if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") is True:
        return
    why = message.get("stop_reason")
    # without a reason (streaming, older versions) the place decides: see Talk
    final = None if why is None else why != "tool_use"
    group = text_of(message.get("id"))
    for block in items(message.get("content")):
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text":
            talk.says(text_of(block.get("text")), at, final=final, group=group)
        elif block.get("type") == "tool_use":
            talk.calls(text_of(block.get("name")), text_of(block.get("id")), at)


def _results(record: dict[str, Any]) -> list[dict[str, Any]]:
    content = mapping(record.get("message")).get("content")
    return [one for one in items(content) if isinstance(one, dict) and one.get("type") == "tool_result"]


def _failures(record: dict[str, Any], talk: Talk) -> None:
    for result in _results(record):
        output = blocks_text(result.get("content"), "text")
        refused = record.get("toolDenialKind") or output.lstrip().startswith(_REFUSED)
        if result.get("is_error") is True and not refused:
            talk.fails(text_of(result.get("tool_use_id")), output)


def _left(records: list[dict[str, Any]]) -> set[int]:
    """Indices of the records on branches that a rewind left.

    A typed record is left when a later one was typed under the same parent and nothing below the former comes after
    the latter.
    """
    children: dict[str | None, list[int]] = {}
    place: dict[str, int] = {}
    for index, record in enumerate(records):
        parent = name_of(record.get("parentUuid")) or name_of(record.get("logicalParentUuid"))
        children.setdefault(parent, []).append(index)
        if uuid := name_of(record.get("uuid")):
            place[uuid] = index
    left: set[int] = set()
    for siblings in children.values():
        typed = [
            index
            for index in siblings
            if records[index].get("promptSource") != "queued" and _typed(records[index])
        ]
        for older, newer in pairwise(typed):
            below = _below(older, records, children)
            # a fork that begins without a parent goes on all the same
            copied = bool(records[older].get("forkedFrom")) == bool(records[newer].get("forkedFrom"))
            if copied and max(below) < newer:
                left |= below
    return left


def _below(top: int, records: list[dict[str, Any]], children: dict[str | None, list[int]]) -> set[int]:
    found: set[int] = set()
    waiting = [top]
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            uuid = name_of(records[index].get("uuid"))
            waiting.extend(children.get(uuid, ()) if uuid else ())
    return found


def _session(records: list[dict[str, Any]], name: str, sidechain: bool) -> str:
    """The file's own session: a fork's or resumed file may begin with records of another."""
    ids = [found for one in records if (found := name_of(one.get("sessionId")))]
    if sidechain or not name:
        return ids[0] if ids else name
    return name if name in ids or not ids else ids[-1]


def _title(records: list[dict[str, Any]]) -> str | None:
    """The person's title before the model's; the last one counts."""
    for key in ("customTitle", "aiTitle"):
        if found := [title for one in records if (title := name_of(one.get(key)))]:
            return found[-1]
    return None


def _branch(record: dict[str, Any]) -> str | None:
    branch = name_of(record.get("gitBranch"))
    return None if branch == "HEAD" else branch

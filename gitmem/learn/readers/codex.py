"""Codex' rollout files: JSON lines in, one conversation out.

Source: codex-rs (rollout, protocol) and real files of 0.60 to 0.154. Typed words are `event_msg` / `user_message`; the same
text stands again as a `response_item`, which is what the model saw, injected texts included. A file that has no such
event is read by its `response_item`s, without those that Codex wrote itself.

A fork and a sub-agent begin with the parent's records, stamped anew: from the second `session_meta`, or from the start of a
fork, up to the first task that began after the session did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from gitmem.learn.readers.lines import Lines, blocks_text, items, mapping, name_of, stamp, text_of
from gitmem.learn.readers.talk import Talk
from gitmem.learn.turns import Conversation

HOST = "codex"
_IDE = "## My request for Codex:"
_NOT_TYPED = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions for", "<INSTRUCTIONS>", "<turn_aborted>",
    "<subagent_notification>", "<skill>", "<user_shell_command>", "<hook_prompt", "<permissions instructions>",
)  # fmt: skip
_NOT_TYPED_KINDS = ("user_instructions", "environment_context")
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)\s*$", re.MULTILINE)
_HEAD_CHARS = 600
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def read(source: Iterable[bytes], name: str = "") -> Conversation:
    """The conversation in a rollout file.

    Args:
        source: the file's lines as bytes.
        name: the file's name without its ending, used only where the file does not say which session it is.
    """
    lines = Lines(source)
    records = [(record, mapping(record.get("payload"))) for record in lines]
    meta = next((payload for record, payload in records if record.get("type") == "session_meta"), {})
    sidechain = isinstance(meta.get("source"), dict) or meta.get("thread_source") == "subagent"
    copied = _copied(records, meta)
    talk = Talk()
    _tell(records, copied, talk, sidechain)
    times = [
        stamp(record.get("timestamp")) for (record, _), old in zip(records, copied, strict=True) if not old
    ]
    times = sorted(filter(None, [*times, stamp(meta.get("timestamp"))]))
    folders = [name_of(meta.get("cwd"))]
    folders += [
        name_of(payload.get("cwd"))
        for (record, payload), old in zip(records, copied, strict=True)
        if record.get("type") == "turn_context" and not old
    ]
    git = mapping(meta.get("git"))
    return Conversation(
        host=HOST,
        session=name_of(meta.get("id")) or name[-36:],
        cwd=name_of(meta.get("cwd")),
        git_branch=name_of(git.get("branch")),
        started=times[0] if times else "",
        last=times[-1] if times else "",
        turns=talk.turns(),
        parent=name_of(meta.get("forked_from_id")) or name_of(meta.get("parent_thread_id")) or _spawner(meta),
        tool_errors=talk.tool_errors,
        compactions=talk.compactions,
        sidechain=sidechain,
        before=() if sidechain else talk.turns(copied=True),
        complete=talk.complete and not lines.cut,
        cut=lines.cut,
        marked=lines.marked,
        undone=talk.undone(),
        aborted=talk.aborted,
        folders=tuple(dict.fromkeys(filter(None, folders))),
        remote=name_of(git.get("repository_url")),
        agent_id=name_of(meta.get("agent_nickname")) if sidechain else None,
        unreadable=lines.unreadable,
    )


def _spawner(meta: dict[str, Any]) -> str | None:
    spawn = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    return name_of(spawn.get("parent_thread_id"))


def _copied(records: list[tuple[dict[str, Any], dict[str, Any]]], meta: dict[str, Any]) -> list[bool]:
    """For each record whether it is the parent's."""
    own = name_of(meta.get("id"))
    began = stamp(meta.get("timestamp"))
    tasks = any(payload.get("type") == "task_started" for _, payload in records)
    copying, copied_at = False, began
    found = []
    for record, payload in records:
        at = stamp(record.get("timestamp"))
        if record.get("type") == "session_meta":
            foreign = name_of(payload.get("id")) != own
            if foreign or (payload is meta and name_of(meta.get("forked_from_id"))):
                copying, copied_at = True, max(at, began)
            found.append(foreign)
            continue
        if copying:
            if tasks:
                # `started_at` is the task's own time, in whole seconds, and is copied as it was
                started = stamp(payload.get("started_at")) or at
                copying = not (payload.get("type") == "task_started" and started[:19] >= began[:19])
            else:
                copying = at[:19] <= copied_at[:19]
        found.append(copying)
    return found


def _tell(
    records: list[tuple[dict[str, Any], dict[str, Any]]], copied: list[bool], talk: Talk, sidechain: bool
) -> None:
    events = any(
        record.get("type") == "event_msg" and payload.get("type") == "user_message"
        for record, payload in records
    )
    seen: set[tuple[str, str, str]] = set()
    in_task = working = False
    for (record, payload), old in zip(records, copied, strict=True):
        at = stamp(record.get("timestamp"))
        talk.copying = old
        kind, what = record.get("type"), text_of(payload.get("type"))
        if kind == "compacted":
            talk.compactions += not old
        elif kind == "event_msg":
            text = text_of(payload.get("message"))
            if what in ("user_message", "agent_message"):
                # a copy has the time of the copying, where every record has the same
                if not old and (what, at, text) in seen:
                    continue
                seen.add((what, at, text))
            if what == "user_message" and not sidechain:
                words = "" if payload.get("kind") in _NOT_TYPED_KINDS else _typed(text)
                talk.user(words, at, queued=in_task and working)
                working = working or bool(words)
            elif what == "agent_message":
                phase = payload.get("phase")
                talk.says(text, at, final=None if phase is None else phase == "final_answer")
            elif what in ("task_started", "task_complete", "turn_aborted"):
                in_task, working = what == "task_started", False
                if what == "task_complete":
                    talk.concludes(text_of(payload.get("last_agent_message")), at)
                elif what == "turn_aborted":
                    talk.abort()
            elif what == "thread_rolled_back":
                turns = payload.get("num_turns")
                talk.roll_back(turns if isinstance(turns, int) else 0)
            else:
                _flagged(what, payload, talk)
        elif kind == "response_item":
            if what in _CALLS:
                talk.calls(name_of(payload.get("name")) or what, text_of(payload.get("call_id")), at)
            elif what in _OUTPUTS:
                output = _output(payload.get("output"))
                if output is not None:
                    talk.fails(text_of(payload.get("call_id")), output)
            elif what == "message" and not events:
                _message(payload, talk, at, sidechain)


def _message(payload: dict[str, Any], talk: Talk, at: str, sidechain: bool) -> None:
    """What the model saw or said, in a file without events."""
    if payload.get("role") == "assistant":
        phase = payload.get("phase")
        final = None if phase is None else phase == "final_answer"
        talk.says(blocks_text(payload.get("content"), "output_text"), at, final=final)
    elif payload.get("role") == "user" and not sidechain:
        parts = [blocks_text([part], "input_text") for part in items(payload.get("content"))]
        talk.user("\n".join(filter(None, map(_typed, parts))), at)


def _typed(text: str) -> str:
    """What the person typed, without what an editor put before it; "" for a text of Codex' own."""
    text = text.strip()
    if text.startswith(_NOT_TYPED):
        return ""
    before, mark, typed = text.partition(_IDE)
    return typed.strip() if mark and (not before or before.endswith("\n")) else text


def _output(output: Any) -> str | None:
    """The output of a call that failed; None of one that did not. Only its head counts: the rest is the program's."""
    if isinstance(output, dict):
        text = text_of(output.get("content")) or text_of(output.get("output"))
        return text if output.get("success") is False else _output(text)
    text = blocks_text(output, "input_text", "output_text", "text")
    if text.startswith("{"):
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            whole = None
        code = mapping(mapping(whole).get("metadata")).get("exit_code")
        if isinstance(code, int):
            return text_of(mapping(whole).get("output")) or f"exit code {code}" if code else None
    head = re.split(r"^Output:", text[:_HEAD_CHARS], maxsplit=1, flags=re.MULTILINE)[0]
    found = _EXIT.search(head)
    if (found and int(found[1]) != 0) or text.startswith("failed to parse function arguments"):
        return text
    return None


def _flagged(what: str, payload: dict[str, Any], talk: Talk) -> None:
    """Events that say themselves whether a call failed."""
    call = text_of(payload.get("call_id"))
    if what == "patch_apply_end" and payload.get("success") is False:
        talk.fails(call, text_of(payload.get("stderr")))
    elif what == "mcp_tool_call_end":
        result = mapping(payload.get("result"))
        inner = mapping(result.get("Ok"))
        if "Err" in result or inner.get("isError") is True or inner.get("is_error") is True:
            talk.fails(call, text_of(result.get("Err")) or blocks_text(inner.get("content"), "text"))

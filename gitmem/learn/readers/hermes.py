"""Hermes' state.db: SQLite in, one conversation a session out.

Source: hermes-agent's `hermes_state_common.py` (schema 30) and `context_compressor.py`. Columns only get added, so those
that are there are asked for. Rows are read by id: `active=1 OR compacted=1` is what stands, the rest was undone. Compaction
in place writes the rows it keeps a second time, with their time; compaction by rotation ends the session and goes on in
a child, which `continues` says.

The database is opened read-only. In a folder that cannot be written SQLite cannot open one in WAL mode; a copy is read.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gitmem.learn import marker
from gitmem.learn.readers.lines import blocks_text, items, mapping, name_of, stamp, text_of
from gitmem.learn.readers.talk import Talk
from gitmem.learn.turns import Conversation

if TYPE_CHECKING:
    import sqlite3

HOST = "hermes"
# Who typed nothing: other agents, timers, a board's workers.
_NOT_PEOPLE = ("subagent", "tool", "cron", "kanban", "batch")
_DELIBERATE = frozenset(
    {
        "user_exit", "cli_close", "new_session", "session_reset", "session_switch", "idle", "daily", "suspended",
        "resume_pending_expired", "compression", "branched",
    }
)  # fmt: skip
_SESSION = (
    "id", "source", "model_config", "parent_session_id", "started_at", "ended_at", "end_reason", "cwd", "git_branch",
    "git_repo_root", "title", "last_activity_at",
)  # fmt: skip
_MESSAGE = (
    "id", "role", "content", "tool_calls", "tool_call_id", "tool_name", "timestamp", "finish_reason", "observed",
    "_compressed_summary", "active", "compacted", "display_kind",
)  # fmt: skip
_JSON = "\0json:"
_NOT_TYPED = ("Review the conversation above and ", "[IMPORTANT: Background process", "[ASYNC DELEGATION")
_SUMMARY = ("[CONTEXT COMPACTION — REFERENCE ONLY]", "[CONTEXT SUMMARY]:")
_AFTER = re.compile(r"--- END OF CONTEXT SUMMARY — [^\n]*? ---\s*")
_PRIOR = re.compile(
    r"\[PRIOR CONTEXT — for reference only; not a new message\](.*?)\[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW\]",
    re.DOTALL,
)
_SKILL = "[IMPORTANT: The user has invoked the "
_WITH = "The user has provided the following instruction alongside the skill invocation: "
_NOTE = "\n\n[Runtime note:"
_WRAPPED = re.compile(r"\s*<untrusted_tool_result\b[^>]*>(.*)</untrusted_tool_result>\s*\Z", re.DOTALL)
_BUSY_S = 3.0


@dataclass(frozen=True, slots=True)
class Listed:
    """A session of the database, before its messages are read.

    Args:
        root: the first session of the conversation that it goes on with; its own id where it is the first.
        seen: its newest message and how many there are.
    """

    id: str
    root: str
    last: str
    seen: tuple[int, int]


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    """The database, read-only, as of one moment.

    Raises:
        OSError: it cannot be opened, or it is none of Hermes'.
    """
    import sqlite3

    with tempfile.TemporaryDirectory(prefix="git-mem-") as spare:
        try:
            found = _connect(file)
        except sqlite3.Error:
            try:
                found = _connect(_copied(file, Path(spare)))
            except sqlite3.Error as error:
                raise OSError(f"{error}: {file}") from error
        with closing(found):
            try:
                found.execute("BEGIN")
                yield found
            except sqlite3.Error as error:
                raise OSError(f"{error}: {file}") from error


def _connect(file: Path) -> sqlite3.Connection:
    import sqlite3

    found = sqlite3.connect(
        f"file:{quote(str(file.absolute()))}?mode=ro", uri=True, timeout=_BUSY_S, isolation_level=None
    )
    try:
        found.text_factory = lambda data: data.decode("utf-8", "replace")
        found.row_factory = sqlite3.Row
        for table in ("sessions", "messages"):
            found.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
    except sqlite3.Error:
        found.close()
        raise
    return found


def _copied(file: Path, folder: Path) -> Path:
    for name in (file.name, f"{file.name}-wal"):
        if (file.parent / name).exists():
            shutil.copyfile(file.parent / name, folder / name)
    return folder / file.name


def sessions(database: sqlite3.Connection) -> list[Listed]:
    """Every session with its newest time, oldest first."""
    rows = _rows(database, "sessions", _SESSION, "ORDER BY started_at, id")
    known = {str(row["id"]): row for row in rows}
    newest = {
        str(row[0]): (stamp(row[1]), row[2], row[3])
        for row in database.execute(
            "SELECT session_id, MAX(timestamp), MAX(id), COUNT(*) FROM messages GROUP BY session_id"
        )
    }
    roots: dict[str, str] = {}
    continued: set[str] = set()
    found = []
    for name, row in known.items():
        parent = name_of(row["parent_session_id"])
        # a conversation goes on in one session; a second child of the same parent is one of its own
        if parent in roots and parent not in continued and _continues(row, known):
            roots[name] = roots[parent]
            continued.add(parent)
        else:
            roots[name] = name
        message = newest.get(name, ("", 0, 0))
        last = max(message[0], stamp(row["last_activity_at"]), stamp(row["started_at"]))
        found.append(Listed(name, roots[name], last, (message[1], message[2])))
    return found


def read(database: sqlite3.Connection, wanted: Iterable[str] | None = None) -> Iterator[Conversation]:
    """The conversations of the sessions `wanted`, or of all, in order of their start."""
    rows = _rows(database, "sessions", _SESSION, "ORDER BY started_at, id")
    known = {str(row["id"]): row for row in rows}
    chosen = known if wanted is None else set(wanted)
    for name, row in known.items():
        if name in chosen:
            messages = _rows(database, "messages", _MESSAGE, "WHERE session_id = ? ORDER BY id", name)
            yield _conversation(row, messages, known)


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    return {row["name"] for row in database.execute(f"PRAGMA table_info({table})")}


def _rows(
    database: sqlite3.Connection, table: str, names: Iterable[str], rest: str, *values: str
) -> list[dict[str, Any]]:
    """Rows by column; a column that is not there is None in each."""
    there = _columns(database, table)
    names = list(names)
    asked = ", ".join(name for name in names if name in there)
    found = database.execute(f"SELECT {asked} FROM {table} {rest}", values)
    return [{name: row[name] if name in there else None for name in names} for row in found]


def _conversation(
    session: dict[str, Any], rows: list[dict[str, Any]], known: dict[str, dict[str, Any]]
) -> Conversation:
    parent = name_of(session["parent_session_id"])
    marks = _object(session["model_config"])
    delegated = parent is not None and marks.get("_delegate_from") == parent
    sidechain = session["source"] in _NOT_PEOPLE or delegated
    talk = Talk()
    _tell(rows, talk, sidechain)
    times = [found for row in rows if (found := stamp(row["timestamp"]))]
    last = max([*times, stamp(session["last_activity_at"]), stamp(session["started_at"])], default="")
    # the counterpart of a half line: the process died while it wrote a call
    cut = bool(rows) and session["ended_at"] is None and _broken(rows[-1]["tool_calls"])
    folders = list(dict.fromkeys(filter(None, (name_of(session["cwd"]), name_of(session["git_repo_root"])))))
    return Conversation(
        host=HOST,
        session=str(session["id"]),
        cwd=folders[0] if folders else None,
        git_branch=name_of(session["git_branch"]),
        started=stamp(session["started_at"]) or (times[0] if times else ""),
        last=last,
        turns=talk.turns(),
        title=name_of(session["title"]),
        parent=parent,
        tool_errors=talk.tool_errors,
        compactions=talk.compactions,
        ended=True if session["ended_at"] is not None and session["end_reason"] in _DELIBERATE else None,
        sidechain=sidechain,
        continues=_continues(session, known),
        complete=talk.complete and not cut,
        cut=cut,
        marked=any(marker.holds(text_of(row["content"])) for row in rows),
        undone=talk.undone(),
        folders=tuple(folders),
        unreadable=sum(_broken(row["tool_calls"]) for row in rows),
    )


def _continues(session: dict[str, Any], known: dict[str, dict[str, Any]]) -> bool:
    """Whether it is its parent after a compaction. A mark counts only when it names the parent: they are inherited."""
    parent = name_of(session["parent_session_id"])
    if parent is None or parent not in known or known[parent]["end_reason"] != "compression":
        return False
    marks = _object(session["model_config"])
    return parent not in (marks.get("_delegate_from"), marks.get("_branched_from"), marks.get("_reset_from"))


def _tell(rows: list[dict[str, Any]], talk: Talk, sidechain: bool) -> None:
    seen: set[tuple[str, str, Any]] = set()
    said: set[str] = set()
    for row in rows:
        role, content = text_of(row["role"]), _decoded(row["content"])
        at = stamp(row["timestamp"])
        once = (role, text_of(row["content"]) + text_of(row["tool_calls"]), row["timestamp"])
        if once in seen:
            continue
        seen.add(once)
        # a table from before compaction in place has neither column, and all of it stands
        talk.aside = row["active"] == 0 and not row["compacted"]
        if role == "user":
            summary = bool(row["_compressed_summary"]) or content.startswith(_SUMMARY)
            talk.compactions += summary and not talk.aside
            if sidechain or row["observed"] or row["display_kind"] == "hidden":
                continue
            for text in _carried(content) if summary or _PRIOR.search(content) else [_typed(content)]:
                # what a summary carries may have been said in a row of its own
                if not (summary and text in said):
                    talk.user(text, at)
                    said.add(text)
        elif role == "assistant":
            calls = items(_parsed(row["tool_calls"]))
            broken = _broken(row["tool_calls"])
            final = False if calls or broken else True if row["finish_reason"] == "stop" else None
            talk.says(content, at, final=final)
            for call in filter(None, map(mapping, calls)):
                name = text_of(mapping(call.get("function")).get("name")) or text_of(call.get("name"))
                talk.calls(name, text_of(call.get("id")) or text_of(call.get("call_id")), at)
        elif role == "tool" and (error := _error(content)) is not None:
            talk.fails(text_of(row["tool_call_id"]) or f"row {row['id']}", error)


def _carried(content: str) -> list[str]:
    """The person's words in a row that carries a summary: before it between its marks, or after its end."""
    found = [match.strip() for match in _PRIOR.findall(content)]
    after = _AFTER.split(content)
    found.extend(_typed(after[-1]) for _ in after[1:2])
    return [one for one in found if one]


def _typed(content: str) -> str:
    """What the person typed; "" for a message that Hermes wrote itself."""
    text = content.strip()
    if text.startswith((*_NOT_TYPED, *_SUMMARY)):
        return ""
    if text.startswith(_SKILL):
        return text.partition(_WITH)[2].partition(_NOTE)[0].strip()
    return text


def _decoded(content: Any) -> str:
    """A message's text; one with images is a list of parts behind a mark."""
    text = text_of(content)
    if not text.startswith(_JSON):
        return text
    return blocks_text(_parsed(text[len(_JSON) :]), "text", "input_text")


def _error(content: str) -> str | None:
    """What a tool's result says of its failure; None when it tells of none."""
    if wrapped := _WRAPPED.match(content):
        inner = wrapped[1]
        content = inner[inner.find("{") : inner.rfind("}") + 1]
    result = mapping(_parsed(content))
    code, error = result.get("exit_code"), result.get("error")
    if error or (isinstance(code, int) and code != 0):
        return f"{error or ''}\n{text_of(result.get('output'))}\nexit code {code}"
    return None


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) and text else None
    except (ValueError, RecursionError):
        return None


def _object(text: Any) -> dict[str, Any]:
    return mapping(_parsed(text))


def _broken(calls: Any) -> bool:
    return (
        isinstance(calls, str) and bool(calls.strip()) and _parsed(calls) is None and calls.strip() != "null"
    )

"""Small sessions in each host's own form, made up record by record. A bakery's web shop; nobody in it exists."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

DAY = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
NOW = DAY + timedelta(days=2)
CWD = "/srv/ovens/shop"


def iso(seconds: float) -> str:
    """`seconds` after nine o'clock, as hosts write it."""
    return (DAY + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def dump(records: list[Any]) -> bytes:
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in records)


class Claude:
    """A transcript of Claude Code; each call adds a record under the one before."""

    def __init__(
        self, session: str = "aaaaaaaa-0000-4000-8000-000000000001", start: float = 0, cwd: str = CWD
    ):
        self.session, self.at, self.cwd = session, start, cwd
        self.records: list[dict[str, Any]] = []
        self.parent: str | None = None
        self.count = 0

    def add(self, kind: str, **fields: Any) -> str:
        self.at += 10
        self.count += 1
        uuid = f"{self.session[:8]}-{self.count:04}"
        common = {
            "parentUuid": self.parent, "isSidechain": False, "type": kind, "uuid": uuid, "timestamp": iso(self.at),
            "userType": "external", "entrypoint": "cli", "cwd": self.cwd, "sessionId": self.session,
            "version": "2.1.226", "gitBranch": "main",
        }  # fmt: skip
        self.records.append({**common, **fields})
        self.parent = uuid
        return uuid

    def book(self, kind: str, **fields: Any) -> None:
        self.records.append({"type": kind, **fields, "sessionId": self.session})

    def user(self, content: Any, **fields: Any) -> str:
        plain = {"origin": {"kind": "human"}, "promptSource": "typed", "permissionMode": "default"}
        return self.add("user", message={"role": "user", "content": content}, **{**plain, **fields})

    def host(self, content: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def says(self, text: str, stop: str | None = "end_turn", **message: Any) -> str:
        return self._reply([{"type": "text", "text": text}], stop, **message)

    def calls(self, name: str, call: str, stop: str | None = "tool_use") -> str:
        return self._reply([{"type": "tool_use", "id": call, "name": name, "input": {}}], stop)

    def _reply(self, content: list[Any], stop: str | None, **message: Any) -> str:
        whole = {
            "id": f"msg_{self.count}",
            "role": "assistant",
            "model": "m-1",
            "content": content,
            "stop_reason": stop,
        }
        return self.add("assistant", message={**whole, **message})

    def result(self, call: str, text: str, error: bool | None = None, **fields: Any) -> str:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": text}
        if error is not None:
            block["is_error"] = error
        return self.host([block], **fields)

    def queued(self, prompt: str, **attachment: Any) -> str:
        plain = {
            "type": "queued_command",
            "prompt": prompt,
            "commandMode": "prompt",
            "origin": {"kind": "human"},
        }
        return self.add("attachment", attachment={**plain, **attachment})

    def talk(self, *prompts: str) -> Claude:
        for prompt in prompts:
            self.user(prompt)
            self.says(f"Done: {prompt}")
        return self

    def bytes(self) -> bytes:
        return dump(self.records)

    def put(self, home: Path, name: str | None = None) -> Path:
        return put(
            home / ".claude" / "projects" / "-srv-ovens-shop" / f"{name or self.session}.jsonl", self.bytes()
        )


class Codex:
    """A rollout of Codex."""

    def __init__(self, session: str = "01a1f778-0000-7000-8000-000000000001", start: float = 0, **meta: Any):
        self.session, self.at = session, start
        self.records: list[dict[str, Any]] = []
        self.meta(session, **meta)

    def meta(self, session: str, **fields: Any) -> None:
        plain = {
            "id": session, "timestamp": iso(self.at), "cwd": CWD, "originator": "codex-tui", "cli_version": "0.137.0",
            "source": "cli", "git": {"branch": "main", "repository_url": "git@git.example.org:ovens/shop.git"},
        }  # fmt: skip
        self.add("session_meta", **{**plain, **fields})

    def add(self, kind: str, **payload: Any) -> None:
        self.at += 1
        self.records.append({"timestamp": iso(self.at), "type": kind, "payload": payload})

    def event(self, kind: str, **payload: Any) -> None:
        self.add("event_msg", type=kind, **payload)

    def item(self, role: str, *texts: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": text} for text in texts]
        self.add("response_item", type="message", role=role, content=content)

    def user(self, text: str) -> None:
        self.item("user", text)
        self.event("user_message", message=text, images=[])

    def says(self, text: str, phase: str | None = "final_answer") -> None:
        self.event("agent_message", message=text, **({"phase": phase} if phase else {}))
        self.item("assistant", text)

    def begins(self) -> None:
        self.event(
            "task_started", turn_id="t", started_at=int((DAY + timedelta(seconds=self.at + 1)).timestamp())
        )

    def ends(self, last: str | None) -> None:
        self.event("task_complete", turn_id="t", last_agent_message=last)

    def tool(self, call: str, output: Any, name: str = "exec_command", kind: str = "function_call") -> None:
        self.add("response_item", type=kind, name=name, arguments="{}", call_id=call)
        self.add("response_item", type=f"{kind}_output", call_id=call, output=output)

    def talk(self, *prompts: str) -> Codex:
        for prompt in prompts:
            self.begins()
            self.user(prompt)
            self.says(f"Done: {prompt}")
            self.ends(f"Done: {prompt}")
        return self

    def bytes(self) -> bytes:
        return dump(self.records)

    def put(self, home: Path) -> Path:
        return put(
            home / ".codex" / "sessions" / "2026" / "11" / "20" / f"rollout-x-{self.session}.jsonl",
            self.bytes(),
        )


class Pi:
    """A session file of Pi."""

    def __init__(
        self, session: str = "19647900-0000-4000-8000-000000000001", start: float = 0, **header: Any
    ):
        self.session, self.at, self.count = session, start, 0
        plain = {"type": "session", "version": 3, "id": session, "timestamp": iso(start), "cwd": CWD}
        self.records: list[dict[str, Any]] = [{**plain, **header}]
        self.parent: str | None = None

    def add(self, kind: str, **fields: Any) -> str:
        self.at += 10
        self.count += 1
        name = f"{self.session[:4]}{self.count:04}"
        self.records.append(
            {"type": kind, "id": name, "parentId": self.parent, "timestamp": iso(self.at), **fields}
        )
        self.parent = name
        return name

    def message(self, role: str, **fields: Any) -> str:
        return self.add("message", message={"role": role, **fields})

    def user(self, content: Any) -> str:
        return self.message("user", content=content)

    def says(self, text: str, stop: str = "stop") -> str:
        return self.message("assistant", content=[{"type": "text", "text": text}], stopReason=stop)

    def calls(self, name: str, call: str) -> str:
        block = {"type": "toolCall", "id": call, "name": name, "arguments": {}}
        return self.message("assistant", content=[block], stopReason="toolUse")

    def talk(self, *prompts: str) -> Pi:
        for prompt in prompts:
            self.user([{"type": "text", "text": prompt}])
            self.says(f"Done: {prompt}")
        return self

    def bytes(self) -> bytes:
        return dump(self.records)

    def put(self, home: Path) -> Path:
        folder = home / ".pi" / "agent" / "sessions" / "--srv-ovens-shop--"
        return put(folder / f"2026-11-20T09-00-00-000Z_{self.session}.jsonl", self.bytes())


class Hermes:
    """A state.db of Hermes; `columns` are left out as in an old one."""

    def __init__(self, file: Path, without: tuple[str, ...] = ()):
        file.parent.mkdir(parents=True, exist_ok=True)
        self.file = file
        self.database = sqlite3.connect(file, isolation_level=None)
        self.database.execute("PRAGMA journal_mode=WAL")
        session = [
            "id TEXT PRIMARY KEY", "source TEXT", "model_config TEXT", "parent_session_id TEXT", "started_at REAL", "ended_at REAL",
            "end_reason TEXT", "cwd TEXT", "git_branch TEXT", "git_repo_root TEXT", "title TEXT", "last_activity_at REAL",
        ]  # fmt: skip
        message = [
            "id INTEGER PRIMARY KEY", "session_id TEXT", "role TEXT", "content TEXT", "tool_calls TEXT", "tool_call_id TEXT",
            "tool_name TEXT", "timestamp REAL", "finish_reason TEXT", "observed INTEGER DEFAULT 0",
            "_compressed_summary INTEGER DEFAULT 0", "active INTEGER DEFAULT 1", "compacted INTEGER DEFAULT 0", "api_content TEXT",
            "display_kind TEXT",
        ]  # fmt: skip
        for table, columns in (("sessions", session), ("messages", message)):
            kept = ", ".join(one for one in columns if one.split()[0] not in without)
            self.database.execute(f"CREATE TABLE {table} ({kept})")
        self.at = DAY.timestamp()

    def session(self, name: str, **values: Any) -> str:
        plain = {"id": name, "source": "cli", "started_at": self.at, "cwd": CWD, **values}
        self._insert("sessions", plain)
        return name

    def row(self, session: str, role: str, content: str | None, **values: Any) -> float:
        self.at += 5
        self._insert(
            "messages",
            {"session_id": session, "role": role, "content": content, "timestamp": self.at, **values},
        )
        return self.at

    def talk(self, session: str, *prompts: str) -> None:
        for prompt in prompts:
            self.row(session, "user", prompt)
            self.row(session, "assistant", f"Done: {prompt}", finish_reason="stop")

    def close(self) -> Path:
        self.database.close()
        return self.file

    def _insert(self, table: str, values: dict[str, Any]) -> None:
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        self.database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(values.values()))


def put(file: Path, data: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file

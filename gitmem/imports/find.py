"""What there is to import on this computer: memories of hosts, and instruction files of a folder. Nothing is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import MemError
from gitmem.imports import kinds

_HEAD_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Found:
    """One memory to import.

    Args:
        count: its entries; 0 when it cannot be read, and then `note` says why.
        folder: the working directory it is about, where that is known; its project is the default scope.
    """

    kind: str
    path: Path
    count: int
    note: str = ""
    folder: Path | None = None


def found(home: Path, cwd: Path | None, env: Mapping[str, str]) -> list[Found]:
    """Everything that `git mem import` knows how to read, hosts first, then the folder around `cwd`.

    Args:
        env: the process's variables; they say where hosts keep their files.
    """
    out: list[Found] = []
    claude = _folder(env, "CLAUDE_CONFIG_DIR", home / ".claude")
    codex = _folder(env, "CODEX_HOME", home / ".codex")
    hermes = _folder(env, "HERMES_HOME", home / ".hermes")
    openclaw = _folder(env, "OPENCLAW_STATE_DIR", home / ".openclaw")
    workspace = _folder(env, "OPENCLAW_WORKSPACE_DIR", openclaw / "workspace")
    for memory, folder in _claude_memories(claude):
        note = f"about {_short(folder, home)}" if folder else "which folder it is about is not known"
        out.append(_count("claude-code", memory, home, note, folder))
    out.append(_count("claude-md", claude, home, "for every project"))
    out.append(_count("codex", codex / "memories", home))
    out.append(_count("agents-md", codex, home, "for every project"))
    out.append(_count("hermes", hermes / "memories", home))
    out.extend(
        _count("hermes", path, home, f"profile {path.parent.name}")
        for path in sorted((hermes / "profiles").glob("*/memories"))
    )
    out.append(_count("openclaw", workspace, home))
    top = _top(cwd) if cwd is not None else None
    if top is not None and top not in (home, claude):
        out.append(_count("claude-md", top, home, "this folder", top))
        out.append(_count("agents-md", top, home, "this folder", top))
        out.extend(_count("decisions", path, home, "this folder", top) for path in _records(top))
    return [one for one in out if one.count or one.note.startswith("cannot")]


def _count(kind: str, path: Path, home: Path, note: str = "", folder: Path | None = None) -> Found:
    if not path.exists():
        return Found(kind, path, 0, "", folder)
    try:
        reading = kinds.read(kind, path, home=home, scope_of=lambda _: "global")
    except (MemError, OSError) as error:
        return Found(kind, path, 0, f"cannot be read: {getattr(error, 'message', error)}", folder)
    return Found(kind, path, len(reading.entries), note, folder)


def _folder(env: Mapping[str, str], name: str, default: Path) -> Path:
    return Path(env[name]).expanduser() if env.get(name) else default


def _claude_memories(claude: Path) -> Iterator[tuple[Path, Path | None]]:
    """Memory folders of Claude Code with the working directory each belongs to."""
    moved = _moved_memory(claude)
    if moved is not None and moved.is_dir():
        yield moved, None
    for memory in sorted((claude / "projects").glob("*/memory")):
        if memory.is_dir():
            yield memory, working_directory(memory.parent)


def _moved_memory(claude: Path) -> Path | None:
    try:
        value = json.loads((claude / "settings.json").read_text(encoding="utf-8")).get("autoMemoryDirectory")
    except (OSError, ValueError, AttributeError):
        return None
    return Path(value).expanduser() if isinstance(value, str) and value else None


def working_directory(project: Path) -> Path | None:
    """The directory of a folder below `~/.claude/projects`, as its transcripts name it.

    The folder's name alone does not tell: every character that is no ASCII letter or digit became `-`.
    """
    fallback = None
    transcripts = sorted(project.glob("*.jsonl"), key=lambda path: path.name)
    for transcript in transcripts[:20]:
        for cwd in _directories(transcript):
            if encoded(cwd) == project.name:
                return Path(cwd)
            fallback = fallback or Path(cwd)
    return fallback


def encoded(directory: str) -> str:
    """The name Claude Code gives a directory's folder (long ones are cut and hashed by it, and are not matched)."""
    return re.sub(r"[^A-Za-z0-9]", "-", directory)


def _directories(transcript: Path) -> Iterator[str]:
    try:
        with transcript.open("rb") as file:
            lines = file.read(_HEAD_BYTES).split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            cwd = json.loads(line).get("cwd")
        except (ValueError, AttributeError):
            continue
        if isinstance(cwd, str) and cwd:
            yield cwd
            return


def _top(cwd: Path) -> Path:
    """The repository's top folder around `cwd`, else `cwd`."""
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)


def _records(top: Path) -> list[Path]:
    """Folders where decision records usually lie."""
    names = (
        "docs/adr",
        "docs/adrs",
        "docs/decisions",
        "docs/architecture/decisions",
        "doc/adr",
        "adr",
        "decisions",
    )
    return [path for name in names if (path := top / name).is_dir()]


def _short(path: Path, home: Path) -> str:
    try:
        return f"~/{path.relative_to(home).as_posix()}"
    except ValueError:
        return str(path)

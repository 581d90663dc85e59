"""Where the hosts keep their sessions on this computer, and how to open one. Paths only; nothing is judged here."""

from __future__ import annotations

import importlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HOSTS = ("claude-code", "codex", "hermes", "pi")


@dataclass(frozen=True, slots=True)
class File:
    """A file with a session, or with all of them (Hermes). `mtime_ns`: nanoseconds since 1970."""

    path: Path
    size: int
    mtime_ns: int


def place(host: str, home: Path, variables: Mapping[str, str]) -> Path:
    """The host's own folder, there or not."""
    chosen = {
        "claude-code": ("CLAUDE_CONFIG_DIR", ".claude"),
        "codex": ("CODEX_HOME", ".codex"),
        "hermes": ("HERMES_HOME", ".hermes"),
        "pi": ("PI_CODING_AGENT_DIR", ".pi/agent"),
    }[host]
    named = variables.get(chosen[0], "")
    if named == "~" or named.startswith("~/"):
        return home / named[2:]
    if not named and host == "hermes" and os.name == "nt" and variables.get("LOCALAPPDATA"):
        return Path(variables["LOCALAPPDATA"]) / "hermes"
    return Path(named) if named else home / chosen[1]


def files(host: str, home: Path, variables: Mapping[str, str], also: Iterable[Path] = ()) -> list[File]:
    """The host's files, each once.

    Args:
        also: files that its hooks named; a session may lie in any place.
    """
    top = place(host, home, variables)
    found: list[Path] = []
    if host == "claude-code":
        # the folders beside a session's file hold its sub-agents
        found = [*top.glob("projects/*/*.jsonl")]
    elif host == "codex":
        for pattern in ("sessions/**/rollout-*.jsonl", "archived_sessions/*.jsonl"):
            found += [*top.glob(pattern), *top.glob(f"{pattern}.zst")]
    elif host == "hermes":
        found = [top / "state.db", *top.glob("profiles/*/state.db")]
    elif host == "pi":
        moved = variables.get("PI_CODING_AGENT_SESSION_DIR")
        for folder in (top / "sessions", *([Path(moved)] if moved else [])):
            found += [*folder.glob("*.jsonl"), *folder.glob("*/*.jsonl")]
    if host != "hermes":
        found += [path for path in also if path.suffix in (".jsonl", ".zst")]
    out: dict[str, File] = {}
    for path in sorted(found):
        try:
            kept = path.stat()
        except OSError:
            continue
        if stat.S_ISREG(kept.st_mode) and kept.st_size:
            out.setdefault(os.path.realpath(path), File(path, kept.st_size, kept.st_mtime_ns))
    return list(out.values())


@contextmanager
def lines(path: Path) -> Iterator[Iterable[bytes]]:
    """The lines of a file as bytes, each up to its LF.

    Raises:
        OSError: it cannot be read, or it is compressed and nothing here can unpack it.
    """
    if path.suffix != ".zst":
        with path.open("rb") as file:
            yield file
        return
    unpack = _zstd()
    if unpack is None:
        raise OSError("compressed, and no module here unpacks it (pip install zstandard)")
    with path.open("rb") as packed:
        yield _split(unpack(packed))


def _zstd():  # type: ignore[no-untyped-def]
    """A function from a packed file to a readable one: python's own from 3.14 on, else `zstandard`."""
    try:
        own = importlib.import_module("compression.zstd")
        return own.ZstdFile
    except ImportError:
        pass
    try:
        return importlib.import_module("zstandard").ZstdDecompressor().stream_reader
    except ImportError:
        return None


def _split(stream) -> Iterator[bytes]:  # type: ignore[no-untyped-def]
    rest = b""
    try:
        while piece := stream.read(1 << 20):
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield line + b"\n"
    except OSError:
        raise
    except Exception as error:  # each library has an error of its own for a damaged file
        raise OSError(f"cannot be unpacked: {error}") from error
    if rest:
        yield rest


def open_sessions(top: Path) -> set[str]:
    """Sessions of Claude Code that a living process has open."""
    found = set()
    for file in (top / "sessions").glob("*.json"):
        try:
            value = json.loads(file.read_bytes())
            pid, session = value["pid"], value["sessionId"]
        except (OSError, ValueError, TypeError, KeyError):
            continue
        if isinstance(pid, int) and isinstance(session, str) and _lives(pid):
            found.add(session)
    return found


def _lives(pid: int) -> bool:
    # on Windows `os.kill` would end the process
    if os.name == "nt" or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def sub_agents(session: Path) -> int:
    """How many files of sub-agents lie beside a session's file of Claude Code."""
    return sum(1 for _ in session.with_suffix("").glob("subagents/**/agent-*.jsonl"))

"""The registry of a commit as values, compiled once per registry tree so that recall needs no YAML."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.git.locate import Memory
from gitmem.git.run import Git
from gitmem.model.registry import Registry, build

if TYPE_CHECKING:
    from gitmem.git import objects

FILES = ("memory", "projects", "profiles", "agents", "types", "forgotten")
_COMPILED = 2


def current(memory: Memory) -> Registry:
    """The registry at the memory's tip; from the compiled copy when there is one.

    Problems of registry files are ignored here (a faulty file counts as its last good version) and
    reported by `git mem check` and `doctor`.
    """
    if memory.registry_tree is None:
        return build({"memory": {"format": 1, "embedder": "none"}})
    cache = memory.state / "registry" / f"{memory.registry_tree}-{_COMPILED}.json"
    try:
        kept = json.loads(cache.read_text(encoding="utf-8"))
        return build(kept["files"], frozenset(kept["known_authors"]))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    files, known = _read(memory.git, memory.tip or memory.ref)
    _keep(cache, {"files": files, "known_authors": sorted(known)})
    return build(files, known)


def at(git: Git, commit: str) -> Registry:
    """The registry of any commit or tree that holds one."""
    files, known = _read(git, commit)
    return build(files, known)


def from_entries(read_path: Any) -> Registry:
    """The registry of a tree given as `read_path(path) -> bytes | None`, faulty files left out."""
    files: dict[str, Any] = {}
    for name in FILES:
        data = read_path(f"registry/{name}.yaml")
        value = _good(name, data) if data is not None else None
        if value is not None:
            files[name] = value
    files.setdefault("memory", {"format": 1, "embedder": "none"})
    return build(files)


def _read(git: Git, commit: str) -> tuple[dict[str, Any], frozenset[str]]:
    from gitmem.git import objects

    reader = objects.open_light(git)
    try:
        files: dict[str, Any] = {}
        for name in FILES:
            value = _good(name, _blob(reader, f"{commit}:registry/{name}.yaml"))
            if value is None:
                value = _last_good(git, reader, commit, name)
            if value is not None:
                files[name] = value
        files.setdefault("memory", {"format": 1, "embedder": "none"})
        return files, _ever(git, reader, commit)
    finally:
        reader.close()


def _good(name: str, data: bytes | None) -> dict[str, Any] | None:
    from gitmem.checks import registry_files

    if data is None:
        return {} if name != "memory" else None
    value, faults = registry_files.read(name, data)
    return None if faults else value


def _last_good(git: Git, reader: objects.Objects, commit: str, name: str) -> dict[str, Any] | None:
    from gitmem.git import objects

    path = f"registry/{name}.yaml"
    for earlier in objects.history(git, commit, path) if _is_commit(git, commit) else ():
        value = _good(name, _blob(reader, f"{earlier}:{path}"))
        if value is not None:
            return value
    return None


def _ever(git: Git, reader: objects.Objects, commit: str) -> frozenset[str]:
    """Agents that were ever registered: cards of theirs stay theirs."""
    from gitmem.git import objects

    found: set[str] = set()
    if not _is_commit(git, commit):
        return frozenset()
    for earlier in objects.history(git, commit, "registry/agents.yaml"):
        data = _blob(reader, f"{earlier}:registry/agents.yaml")
        found.update((_good("agents", data) or {}) if data is not None else ())
    return frozenset(found)


def _is_commit(git: Git, name: str) -> bool:
    return git.run("rev-parse", "--verify", "-q", f"{name}^{{commit}}", check=False).code == 0


def _blob(reader: objects.Objects, name: str) -> bytes | None:
    try:
        return reader.blob(name)
    except KeyError:
        return None


def _keep(cache: Path, value: dict[str, Any]) -> None:
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        fresh = cache.with_suffix(f".{os.getpid()}.tmp")
        fresh.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        fresh.replace(cache)
        for old in cache.parent.glob("*.json"):
            if old != cache:
                old.unlink(missing_ok=True)
    except OSError:
        return  # a full or read-only disk costs speed, not the answer

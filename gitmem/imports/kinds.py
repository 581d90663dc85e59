"""The kinds of memory that can be imported, and one way to read them all. Paths in, entries out."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from pathlib import Path

from gitmem.errors import Refused, Usage
from gitmem.imports.entry import Reading, short_digest

KINDS = {
    "claude-code": "Claude Code's auto memory (a folder `memory/` below `~/.claude/projects/`)",
    "claude-md": "CLAUDE.md with its imports, CLAUDE.local.md and `.claude/rules/`",
    "agents-md": "AGENTS.md",
    "codex": "Codex' memories (`~/.codex/memories/`)",
    "hermes": "Hermes' MEMORY.md and USER.md (`~/.hermes/memories/`)",
    "openclaw": "OpenClaw's workspace memory (`~/.openclaw/workspace/`)",
    "decisions": "decision records: JSON, JSON lines, or a folder of Markdown files",
    "jsonl": "cards as JSON lines",
}
# rules that people wrote for agents
INSTRUCTIONS = frozenset({"claude-md", "agents-md"})
_PLAIN_FOLDERS = frozenset(
    {"adr", "adrs", "decisions", "decision-records", "docs", "doc", "architecture", "rfcs"}
)


def read(
    kind: str,
    path: Path,
    *,
    home: Path | None = None,
    as_rule: bool = False,
    project: str | None = None,
    scope_of: Callable[[str], str | None] | None = None,
) -> Reading:
    """The entries at `path`.

    Args:
        home: where `~/` in an instruction file leads.
        as_rule: instruction files as rules.
        project: the project of Markdown decision records; None: they take the scope the import is given.
        scope_of: the scope of a working directory that a memory names.

    Raises:
        Usage: no such kind, or `--as rule` for what holds no instructions.
        Refused: there is nothing to read at `path`.
        FormatError: the file is not what its kind says.
    """
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, 1)
        raise Usage(
            f"unknown kind `{kind}`",
            [f"did you mean `{near[0]}`?" if near else f"kinds are {', '.join(KINDS)}"],
        )
    if as_rule and kind not in INSTRUCTIONS:
        raise Usage(
            f"`{kind}` holds no rules",
            [f"only {' and '.join(sorted(INSTRUCTIONS))} can be imported as rules"],
        )
    if not path.exists():
        raise Refused(f"there is nothing at `{path}`", ["git mem import lists what is on this computer"])
    return _READERS[kind](path, home, as_rule, project, scope_of)


def _claude_code(path: Path, *_: object) -> Reading:
    from gitmem.imports import claude_memory

    folder = path if path.is_dir() else path.parent
    names = folder.rglob("*.md") if path.is_dir() else [path]
    return claude_memory.read(_files(folder, names), short_digest(folder.absolute().parent.name, 6))


def _claude_md(path: Path, home: Path | None, as_rule: bool, *_: object) -> Reading:
    from gitmem.imports import instructions

    return instructions.read_claude(path, home, as_rule)


def _agents_md(path: Path, home: Path | None, as_rule: bool, *_: object) -> Reading:
    from gitmem.imports import instructions

    return instructions.read_agents(path, home, as_rule)


def _codex(
    path: Path, home: object, as_rule: object, project: object, scope_of: Callable[[str], str | None] | None
) -> Reading:
    from gitmem.imports import codex_memory

    folder = path if path.is_dir() else path.parent
    return codex_memory.read_codex(
        _files(folder, [path] if path.is_file() else folder.glob("*.md")), scope_of
    )


def _hermes(path: Path, *_: object) -> Reading:
    from gitmem.imports import hermes

    folder = path if path.is_dir() else path.parent
    return hermes.read(_files(folder, [path] if path.is_file() else [folder / name for name in hermes.FILES]))


def _openclaw(path: Path, *_: object) -> Reading:
    from gitmem.imports import codex_memory

    folder = path if path.is_dir() else path.parent
    names = (
        [path]
        if path.is_file()
        else [folder / "MEMORY.md", folder / "USER.md", *(folder / "memory").glob("*.md")]
    )
    return codex_memory.read_openclaw(_files(folder, names))


def _decisions(path: Path, home: object, as_rule: object, project: str | None, *_: object) -> Reading:
    from gitmem.imports import decisions

    if path.is_dir():
        return decisions.read_markdown(_files(path, path.rglob("*.md")), project)
    if path.suffix.lower() in (".md", ".markdown"):
        return decisions.read_markdown(_files(path.parent, [path]), project)
    return decisions.read_json(path.read_bytes(), path.name)


def _jsonl(path: Path, *_: object) -> Reading:
    from gitmem.imports import jsonl

    return jsonl.read(path.read_bytes(), path.name)


def folder_project(path: Path) -> str:
    """The name of the project that a folder of decision records belongs to: the first folder above that is not called `docs/adr`."""
    for folder in (path.absolute(), *path.absolute().parents):
        if folder.name.lower() not in _PLAIN_FOLDERS:
            return folder.name
    return path.absolute().name


def _files(folder: Path, paths: Iterable[Path]) -> dict[str, bytes]:
    """Content by name below `folder`; what is no file, or lies in a hidden folder, is left out."""
    found = {}
    for path in sorted(set(paths)):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not any(part.startswith(".") for part in name.split("/")):
            found[name] = path.read_bytes()
    return found


_READERS: dict[str, Callable[..., Reading]] = {
    "claude-code": _claude_code,
    "claude-md": _claude_md,
    "agents-md": _agents_md,
    "codex": _codex,
    "hermes": _hermes,
    "openclaw": _openclaw,
    "decisions": _decisions,
    "jsonl": _jsonl,
}

"""Instruction files that people wrote: CLAUDE.md with its imports and rules, AGENTS.md.

One entry a bullet, with what is nested below it, or a paragraph. `@path` takes in another file: relative to the
file it stands in, `~/` allowed, at most four hops, never from code. HTML comments never reached a model and are
left out. Only text files are taken in, so that a cloned project cannot draw keys or data into a memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.imports import lenient
from gitmem.imports.blocks import blocks, by_fence, code_spans, without_comments
from gitmem.imports.entry import Entry, LeftOut, Reading, conclude, make, numbered, says_something

MAX_HOPS = 4
MAX_FILE_BYTES = 512 * 1024
_IMPORT = re.compile(r"(?:(?<=\s)|(?<=[(（])|^)@((?:~/|\.{0,2}/)?[^\s`@()（）<>]+)", re.MULTILINE)
_TEXT = (".md", ".markdown", ".mdc", ".txt", ".rst", "")


@dataclass(slots=True)
class _Walk:
    """One reading: what was read already, and where keys and `~/` begin."""

    root: Path
    home: Path | None
    as_rule: bool
    seen: set[Path] = field(default_factory=set)
    entries: list[Entry] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def read_claude(place: Path, home: Path | None = None, as_rule: bool = False) -> Reading:
    """Entries of a CLAUDE.md, or of all instruction files of a folder: CLAUDE.md, CLAUDE.local.md, rules.

    Args:
        home: where `~/` leads; imports from there are left out where None.
        as_rule: entries of type `rule`, else `convention`.
    """
    return _read(claude_files(place), place, home, as_rule)


def read_agents(place: Path, home: Path | None = None, as_rule: bool = False) -> Reading:
    """Entries of an AGENTS.md, or of the one of a folder (AGENTS.override.md before it)."""
    return _read(agents_files(place), place, home, as_rule, imports=False)


def claude_files(place: Path) -> list[Path]:
    """The instruction files of a folder, in the order the host reads them; `place` itself when it is a file."""
    if place.is_file():
        return [place]
    own = place if place.name == ".claude" else place / ".claude"
    found = [place / "CLAUDE.md", place / "CLAUDE.local.md"]
    if own != place:
        found.insert(1, own / "CLAUDE.md")
    rules = (
        sorted(path for path in (own / "rules").rglob("*.md") if path.is_file())
        if (own / "rules").is_dir()
        else []
    )
    return [path for path in found if path.is_file()] + rules


def agents_files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return next(
        ([place / name] for name in ("AGENTS.override.md", "AGENTS.md") if (place / name).is_file()), []
    )


def _read(
    files: Iterable[Path], place: Path, home: Path | None, as_rule: bool, imports: bool = True
) -> Reading:
    root = place if place.is_dir() else place.parent
    walk = _Walk(Path(os.path.abspath(root)), home, as_rule)
    for path in files:
        _file(walk, Path(os.path.abspath(path)), MAX_HOPS if imports else 0)
    return Reading(tuple(walk.entries), tuple(walk.left_out))


def _file(walk: _Walk, path: Path, hops: int) -> None:
    real = Path(os.path.realpath(path))
    if real in walk.seen:
        return
    walk.seen.add(real)
    name = _name(walk, path)
    if not _is_text(path) or not _is_text(real):
        walk.left_out.append(LeftOut(name, "it is no text for a memory"))
        return
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            walk.left_out.append(LeftOut(name, f"it has more than {MAX_FILE_BYTES // 1024} KiB"))
            return
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        walk.left_out.append(LeftOut(name, "it is not UTF-8"))
        return
    except OSError as error:
        walk.left_out.append(LeftOut(name, f"it cannot be read: {error.strerror}"))
        return
    meta, text = lenient.split(text)
    text = without_comments(text)
    targets = imports_of(text)
    alone = {f"@{target}" for target in targets}
    _entries(
        walk,
        name,
        "\n".join(line for line in text.split("\n") if line.strip() not in alone),
        lenient.list_of(meta, "paths"),
    )
    for target in targets:
        _follow(walk, path, target, hops)


def _entries(walk: _Walk, name: str, text: str, paths: list[str]) -> None:
    taken: set[str] = set()
    where = f"Applies to {', '.join(f'`{one}`' for one in paths)}." if paths else ""
    for block in blocks(text):
        if not says_something(block.text):
            continue
        said, more = conclude(block.text)
        walk.entries.append(
            make(
                numbered(name, block.text, taken),
                block.text,
                conclusion=said,
                body=f"{where}\n\n{more}".strip(),
                tags=(name.rsplit("/", 1)[-1], *block.trail),
                type="rule" if walk.as_rule else "convention",
                problems=(f"it comes from `{name}`, outside the folder",) if name.startswith("~/") else (),
            )
        )


def imports_of(text: str) -> list[str]:
    """The paths that a text takes in with `@path`, outside code; punctuation behind a path is not part of it."""
    found: list[str] = []
    for inside, part in by_fence(text):
        if inside:
            continue
        spans = code_spans(part)
        for match in _IMPORT.finditer(part):
            if not any(a <= match.start() < b for a, b in spans):
                found.append(match[1].rstrip(".,;:!?，。；：！？、\"'*_"))
    return list(dict.fromkeys(filter(None, found)))


def _follow(walk: _Walk, importer: Path, target: str, hops: int) -> None:
    if target.startswith("~/"):
        if walk.home is None:
            return
        path = walk.home / target[2:]
    else:
        path = importer.parent / target
    path = Path(os.path.normpath(path))
    looks_like_path = "/" in target or Path(target).suffix.lower() in _TEXT[:-1]
    if not path.is_file():
        # `@somebody` is a mention, not an import
        if looks_like_path:
            walk.left_out.append(LeftOut(_name(walk, importer), f"`@{target}` leads to no file"))
        return
    if hops <= 0:
        walk.left_out.append(
            LeftOut(_name(walk, importer), f"`@{target}` is more than {MAX_HOPS} imports away")
        )
        return
    _file(walk, path, hops - 1)


def _is_text(path: Path) -> bool:
    """Markdown and plain text, and files like `README`; keys, data and code are not, wherever a link hides them."""
    return path.suffix.lower() in _TEXT and (bool(path.suffix) or path.name.isupper())


def _name(walk: _Walk, path: Path) -> str:
    """`<folder>/<path below it>`, so that it is the same on every computer; `~/…` for what lies in the home folder."""
    try:
        return f"{walk.root.name}/{path.relative_to(walk.root).as_posix()}".lstrip("/")
    except ValueError:
        pass
    if walk.home is not None:
        try:
            return f"~/{path.relative_to(walk.home).as_posix()}"
        except ValueError:
            pass
    return path.name

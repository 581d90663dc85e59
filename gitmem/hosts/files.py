"""Read and write the small files of a host's configuration, whole or not at all.

In: a plan, a tuple of `FileWrite`. Out: the files, each replaced in one step. A symbolic link stays and
the file it leads to is replaced. The module may not know what the files mean.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import Refused


@dataclass(frozen=True, slots=True)
class FileWrite:
    """One file to write, or to delete when `new_bytes` is None.

    Args:
        mode: permission bits; None keeps those of the file, and of a new file follows the umask.
        folders: to be removed after a deletion, as far as they are empty then.
    """

    path: Path
    new_bytes: bytes | None
    mode: int | None = None
    folders: tuple[Path, ...] = ()


Plan = tuple[FileWrite, ...]


def read_bytes(path: Path) -> bytes | None:
    """The file's bytes; None when there is no file (also behind a dangling link).

    Raises:
        Refused: it is there and cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"cannot read `{path}`: {error.strerror}") from error


def read_text(path: Path) -> str | None:
    """The file's text with its line ends and byte order mark as they are; None when there is no file.

    Raises:
        Refused: it cannot be read, or is not UTF-8.
    """
    data = read_bytes(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1  # type: ignore[union-attr]
        raise Refused(f"`{path}` is not UTF-8 at line {line}", ["save it as UTF-8"]) from error


def apply(plan: Plan) -> tuple[Path, ...]:
    """Carry out the plan. All new files are laid beside the old ones before the first is replaced.

    Returns:
        The folders that had to be made, outermost first.

    Raises:
        Refused: a file cannot be written; if that shows before the first replacement, nothing was.
    """
    made: list[Path] = []
    staged: list[tuple[Path, Path | None, FileWrite]] = []
    try:
        for write in plan:
            target = Path(os.path.realpath(write.path))
            with _named(write.path):
                if target.exists() and not os.access(target, os.W_OK):
                    raise PermissionError(0, "it is read-only")
                temporary = None
                if write.new_bytes is not None:
                    made += _make_folders(target.parent)
                    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
                staged.append((target, temporary, write))
                if temporary is not None:
                    _lay(temporary, write.new_bytes or b"", target, write.mode)
        for target, temporary, write in staged:
            with _named(write.path):
                if temporary is not None:
                    os.replace(temporary, target)
                else:
                    target.unlink(missing_ok=True)
    except BaseException:
        for _, temporary, _ in staged:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)
        _remove_empty(made)
        raise
    for write in plan:
        if write.new_bytes is None:
            _remove_empty(write.folders)
    return tuple(made)


@contextlib.contextmanager
def about(path: Path):
    """Let what is refused inside name the file that it is about.

    Raises:
        Refused: as inside, with the path before it.
    """
    try:
        yield
    except Refused as error:
        if str(path) in error.message:
            raise
        raise Refused(f"`{path}`: {error.message}", error.hints, error.details) from error


@contextlib.contextmanager
def _named(path: Path):
    try:
        yield
    except OSError as error:
        raise Refused(f"cannot write `{path}`: {error.strerror}") from error


def _lay(temporary: Path, data: bytes, target: Path, mode: int | None) -> None:
    """Write `data` beside `target`, with the target's owner and permissions if there is one."""
    # O_EXCL: a link laid in our way is not followed. 0o600 until the real permissions are set.
    old = target.stat() if target.exists() else None
    start_mode = 0o666 if old is None and mode is None else 0o600
    descriptor = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), start_mode
    )
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if old is not None and hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root may give a file to somebody else
            os.chown(temporary, old.st_uid, old.st_gid)
    if mode is None and old is not None:
        mode = stat.S_IMODE(old.st_mode)
    if mode is not None:
        os.chmod(temporary, mode)


def _make_folders(folder: Path) -> list[Path]:
    missing = [f for f in (folder, *folder.parents) if not f.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _remove_empty(folders: tuple[Path, ...] | list[Path]) -> None:
    """Remove those that are empty, innermost first."""
    for folder in sorted(folders, key=lambda f: len(f.parts), reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()

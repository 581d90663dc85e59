"""Put the memory's own hooks into a repository, take them out again, and say how they stand.

In: the repository's common git directory, the value of `core.hooksPath` and an interpreter.
Out: values that say what was done and what a person can do. Files are written in `<common git dir>/hooks` and
nowhere else; git is not called and no environment variable is read.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote, split

from gitmem import resources
from gitmem.errors import Refused
from gitmem.git import locate, lock
from gitmem.hooks import elsewhere

HOOKS = ("pre-commit", "commit-msg", "pre-merge-commit", "pre-push", "post-merge")
# Asked for by name: the one that sees every move of the branch, and the one for a bare repository that is pushed to.
STRICT = "reference-transaction"
SERVER = "pre-receive"
KNOWN = (*HOOKS, STRICT, SERVER)
KEPT_SUFFIX = ".before-git-mem"
_MARK = b"#!/bin/sh\n# git-mem hook "


@dataclass(frozen=True, slots=True)
class HookChange:
    """What became of one hook.

    `action` is "installed", "updated", "unchanged", "restored" (the earlier hook stands again), "removed" or
    "left alone" (nothing was written; `note` says why). `kept` is where the earlier hook stands meanwhile.
    """

    name: str
    action: str
    path: Path
    kept: Path | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class InstallReport:
    """`elsewhere` says where git looks for hooks instead of where ours were put; None when it looks there."""

    changes: tuple[HookChange, ...]
    elsewhere: str | None = None
    hints: tuple[str, ...] = ()

    @property
    def active(self) -> bool:
        """Whether git will run every hook that was asked for."""
        return self.elsewhere is None and all(change.action != "left alone" for change in self.changes)


@dataclass(frozen=True, slots=True)
class HookState:
    """`state` is "ours", "ours (chained)", "missing", "foreign only", "not executable" or "outdated"."""

    name: str
    state: str
    path: Path
    detail: str = ""

    @property
    def ok(self) -> bool:
        return self.state.startswith("ours")


def install(
    git_common_dir: Path,
    hooks_path_setting: str | None,
    python: str,
    *,
    names: Sequence[str] = HOOKS,
    hooks_path_scope: str | None = None,
) -> InstallReport:
    """Install the hooks, keeping those that are there as `<name>.before-git-mem`; again is a no-op.

    Args:
        git_common_dir: absolute; shared by all worktrees, so one install serves them all.
        hooks_path_setting: `git config --type=path --get core.hooksPath`, None when unset.
        python: the interpreter that the hooks start, one that can import gitmem.
        hooks_path_scope: the word of `git config --show-scope` for the setting; only words the hints.

    Raises:
        Refused: the folder cannot be written.
        ValueError: a name that is not of KNOWN.
    """
    if unknown := set(names) - set(KNOWN):
        raise ValueError(f"no such hook: {', '.join(sorted(unknown))}")
    hooks = git_common_dir / "hooks"
    if hooks.is_symlink():
        words, hints = elsewhere.linked_folder(hooks)
        untouched = tuple(HookChange(name, "left alone", hooks / name, note=words) for name in names)
        return InstallReport(untouched, words, hints)
    try:
        hooks.mkdir(exist_ok=True)
        with _alone(git_common_dir):
            changes = tuple(_install_one(hooks, name, python) for name in names)
    except OSError as error:
        raise Refused(f"cannot write hooks in `{hooks}`: {error.strerror or error}") from error
    twice = [str(change.kept) for change in changes if change.action == "left alone"]
    hints = tuple(f"keep one of the two: mv {quote(kept)} {quote(kept + '.old')}" for kept in twice)
    if not elsewhere.points_elsewhere(hooks, hooks_path_setting):
        return InstallReport(changes, hints=hints)
    words, more = elsewhere.hooks_path(git_common_dir, hooks_path_setting or "", hooks_path_scope)
    return InstallReport(changes, words, hints + more)


def uninstall(git_common_dir: Path) -> tuple[HookChange, ...]:
    """Take our hooks out and put the earlier ones back as they were, bytes and mode; foreign ones stay.

    Raises:
        Refused: the folder cannot be written.
    """
    hooks = git_common_dir / "hooks"
    if hooks.is_symlink() or not hooks.is_dir():
        return ()
    try:
        with _alone(git_common_dir):
            return _uninstall_all(hooks)
    except OSError as error:
        raise Refused(f"cannot write hooks in `{hooks}`: {error.strerror or error}") from error


def _alone(git_common_dir: Path) -> AbstractContextManager[None]:
    """One at a time: two that move the same earlier hook aside at once would lose it."""
    return lock.held(git_common_dir / locate.STATE / "hooks.lock", 30.0, "the hooks folder")


def _uninstall_all(hooks: Path) -> tuple[HookChange, ...]:
    files = sorted(path for path in hooks.iterdir() if not path.name.endswith(KEPT_SUFFIX))
    changes = [_uninstall_one(path) for path in files if _is_ours(path)]
    # Somebody deleted our hook by hand: the one we keep for them still comes back.
    for kept in sorted(hooks.glob(f"*{KEPT_SUFFIX}")):
        path = kept.with_name(kept.name.removesuffix(KEPT_SUFFIX))
        if not os.path.lexists(path):
            changes.append(_uninstall_one(path))
        elif not any(change.path == path for change in changes):
            note = f"another hook took the place of ours; the earlier one is `{kept}`"
            changes.append(HookChange(path.name, "left alone", path, kept, note))
    return tuple(changes)


def inspect(
    git_common_dir: Path,
    hooks_path_setting: str | None,
    *,
    worktree: Path | None = None,
    names: Sequence[str] = HOOKS,
) -> list[HookState]:
    """How each hook stands where git looks for it, without writing anything.

    Args:
        worktree: whose hooks are meant, as a relative `core.hooksPath` is another folder in each worktree;
            the main one unless given.
    """
    own = git_common_dir / "hooks"
    if hooks_path_setting is None:
        return [_state(own, name) for name in names]
    base = worktree or (git_common_dir.parent if git_common_dir.name == ".git" else git_common_dir)
    # git looks for `<setting>/<name>`: with an empty setting that is the root folder.
    folder = base / Path(hooks_path_setting or "/").expanduser()
    if elsewhere.same(folder, own):
        return [_state(own, name) for name in names]
    return [_state_elsewhere(own, folder, name) for name in names]


def _install_one(hooks: Path, name: str, python: str) -> HookChange:
    path = hooks / name
    if not _is_ours(path) and _is_ours(legacy := hooks / f"{name}.legacy") and _runs_legacy(path):
        # `pre-commit install` ran after us: its hook calls ours. Moved, the two would call each other.
        path = legacy
    kept = hooks / f"{name}{KEPT_SUFFIX}"
    wanted = _render(name, os.path.abspath(python) if python else "")
    if _is_ours(path):
        kept_or_none = kept if os.path.lexists(kept) else None
        if path.read_bytes() == wanted and os.access(path, os.X_OK):
            return HookChange(name, "unchanged", path, kept_or_none)
        _write(path, wanted)
        return HookChange(name, "updated", path, kept_or_none)
    if not os.path.lexists(path):
        # A kept hook without ours: somebody deleted ours. It goes on being chained.
        _write(path, wanted)
        return HookChange(name, "installed", path, kept if os.path.lexists(kept) else None)
    if not _keep(path, kept):
        note = f"`{path}` is not ours, and `{kept}` already keeps an earlier one"
        return HookChange(name, "left alone", path, kept, note)
    _write(path, wanted)
    return HookChange(name, "installed", path, kept)


def _keep(path: Path, kept: Path) -> bool:
    """Give a foreign hook its second name; False when another hook has that name already.

    A hard link fails when the name is taken, so two installs at once cannot overwrite the foreign hook with
    ours, and the first name is never without a hook.
    """
    try:
        os.link(path, kept, follow_symlinks=False)
    except FileExistsError:
        # The same file under both names is what an install that died half way leaves.
        return os.path.samestat(path.lstat(), kept.lstat())
    except OSError:
        # A filesystem without hard links.
        if os.path.lexists(kept):
            return False
        path.rename(kept)
    return True


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".git-mem-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o755)
        # Replaces a link itself, never what it points to.
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _uninstall_one(path: Path) -> HookChange:
    name = path.name.removesuffix(".legacy")
    kept = path.with_name(name + KEPT_SUFFIX)
    if os.path.lexists(kept):
        os.replace(kept, path)
        return HookChange(name, "restored", path)
    path.unlink()
    return HookChange(name, "removed", path)


def _state(hooks: Path, name: str) -> HookState:
    path = hooks / name
    if not path.is_file():
        return HookState(name, "missing", path)
    called = False
    if not _is_ours(path):
        legacy = hooks / f"{name}.legacy"
        if not (_is_ours(legacy) and _runs_legacy(path)):
            return HookState(name, "foreign only", path)
        path, called = legacy, True
    if not os.access(path, os.X_OK):
        return HookState(name, "not executable", path, f"chmod +x {quote(str(path))}")
    python = _pinned(path.read_bytes(), name)
    if python is None:
        return HookState(name, "outdated", path, "written by another version of git mem")
    if not os.access(python, os.X_OK):
        return HookState(name, "outdated", path, f"its interpreter `{python}` is gone")
    kept = hooks / f"{name}{KEPT_SUFFIX}"
    chained = called or os.access(kept, os.X_OK)
    return HookState(name, "ours (chained)" if chained else "ours", path)


def _state_elsewhere(own: Path, folder: Path, name: str) -> HookState:
    path = folder / name
    if not path.is_file():
        return HookState(name, "missing", path, f"core.hooksPath makes git look in `{folder}`")
    if _is_ours(path):
        return _state(folder, name)
    if elsewhere.CHAIN_MARK.encode() not in path.read_bytes():
        return HookState(name, "foreign only", path, f"it does not call `{own / name}`")
    if not os.access(path, os.X_OK):
        return HookState(name, "not executable", path, f"chmod +x {quote(str(path))}")
    called = _state(own, name)
    return HookState(name, "ours (chained)", path) if called.ok else called


def _render(name: str, python: str) -> bytes:
    return os.fsencode(_template(name).replace("@PYTHON@", quote(python)))


def _pinned(content: bytes, name: str) -> str | None:
    """The interpreter of a hook that today's template wrote; None for any other content."""
    start, _, end = _template(name).partition("@PYTHON@")
    text = os.fsdecode(content)
    if not (text.startswith(start) and text.endswith(end)):
        return None
    words = split(text[len(start) : len(text) - len(end)])
    return words[0] if len(words) == 1 else None


def _template(name: str) -> str:
    return resources.read_text("hooks/shim.sh").replace("@NAME@", name)


def _is_ours(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MARK)) == _MARK


def _runs_legacy(path: Path) -> bool:
    """Whether a hook is the one of the pre-commit framework, which first runs `<name>.legacy` beside it."""
    return path.is_file() and b"File generated by pre-commit" in path.read_bytes()

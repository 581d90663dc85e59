"""Make a memory: a repository, its branch, and the registry in one commit. Or nothing, and the reason.

Git hooks are not put in here, and nothing outside the folder is written but `mem.repo` of the global configuration.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from gitmem import resources
from gitmem.config import Env
from gitmem.context import author_email
from gitmem.errors import GitFailed, Refused, Usage
from gitmem.git import locate, write
from gitmem.git.locate import Memory
from gitmem.git.run import clean
from gitmem.git.write import Draft, Written
from gitmem.registry.load import FILES

BRANCH = "main"
DEFAULT = "memory"


@dataclass(frozen=True, slots=True)
class Made:
    """The memory; `written` is None where it was one before. `default`: `mem.repo` is `set`, `same`, `other` or `failed`.

    `other`: what `mem.repo` says instead.
    """

    memory: Memory
    written: Written | None
    default: str
    other: str | None = None


def place_for(env: Env, named: str | None) -> Path:
    """Where the memory goes: the folder that is named, else `~/memory`. Absolute."""
    if named:
        if any(char < " " for char in named):
            # git answers with paths, a line each
            raise Usage(f"{named!r} holds a line break or another control character", ["name another folder"])
        place = Path(named).expanduser()
        return place if place.is_absolute() else (env.cwd / place).absolute()
    if env.home is None:
        raise Usage("HOME is not set, so there is no usual place for a memory", ["git mem init DIR"])
    return env.home / DEFAULT


def init(env: Env, place: Path, branch: str | None = None) -> Made:
    """Make a memory in `place`, or find that it is one.

    An empty or absent folder becomes a repository; an existing repository is used when it holds no commit and no
    file yet. The branch of an existing repository is the one it is on, unless `branch` says otherwise.

    Raises:
        Refused: files or commits are there, git knows no identity, or the branch name is none; nothing is left behind.
        GitFailed: the repository has a format that is not supported.
    """
    found = _repository(place, env)
    if found is not None and found.registry_tree is not None:
        if branch and branch != found.branch:
            raise Refused(
                f"`{place}` is a memory already, on the branch `{found.branch}`",
                [f"git -C {quote(str(place))} config mem.branch {quote(branch)}"],
            )
        default, other = make_default(env, place)
        return Made(found, None, default, other)
    _refuse_full(place, found, explicit=env.home is None or place != env.home / DEFAULT)
    with _nothing_left(place, found):
        if found is None:
            _create(place, env, branch or BRANCH)
        memory = _on_branch(place, env, branch)
        locate.supported(memory)
        author_email(memory)
        written = write.write(memory, lambda _: _first())
        assert written is not None
        memory = locate.refreshed(memory)
    default, other = make_default(env, place)
    return Made(memory, written, default, other)


def _repository(place: Path, env: Env) -> Memory | None:
    """The repository of exactly this folder; one that merely lies around it does not count."""
    if place.exists() and not place.is_dir():
        raise Refused(
            f"`{place}` is a file", ["git mem init DIR, with a folder that is empty or not there yet"]
        )
    found = locate.open_at(place, env)
    return found if found is not None and found.root.resolve() == place.resolve() else None


def _refuse_full(place: Path, found: Memory | None, explicit: bool) -> None:
    """A folder that is in use stays as it is."""
    aside = (
        f"git mem init {quote(f'{place}-memory')}" if explicit else "git mem init DIR, with another folder"
    )
    if found is not None and (gone := locate.moved(found)):
        raise gone
    if found is not None and found.git.run("rev-list", "-n", "1", "--all", check=False).text():
        raise Refused(
            f"`{place}` is a git repository with commits of its own and no memory on `{found.branch}`, nothing changed",
            [aside],
        )
    if found is not None and found.bare:
        return
    if place.is_dir() and any(entry.name != ".git" for entry in place.iterdir()):
        raise Refused(f"`{place}` holds files already, nothing changed", [aside])


@contextmanager
def _nothing_left(place: Path, found: Memory | None) -> Iterator[None]:
    """Whatever goes wrong, take away what was made here, and only that."""
    made = next((one for one in [*reversed(place.parents), place] if not one.exists()), None)
    state_was = found is not None and found.state.exists()
    try:
        yield
    except BaseException:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        elif found is None:
            shutil.rmtree(place / ".git", ignore_errors=True)
        else:
            for key in ("mem.branch", "mem.accepted"):
                if key not in found.config:
                    found.git.run("config", "--local", "--unset-all", key, check=False)
            if not state_was:
                shutil.rmtree(found.state, ignore_errors=True)
        raise


def _create(place: Path, env: Env, branch: str) -> None:
    place.mkdir(parents=True, exist_ok=True)
    git = clean(place, env.vars)
    if git.run("check-ref-format", "--branch", branch, check=False).code != 0:
        raise Refused(f"`{branch}` is no branch name", ["git mem init --branch main"])
    # whatever the person's defaults are: the format that every git and libgit2 reads
    plain = {"GIT_DEFAULT_REF_FORMAT": "files"}
    git.run(
        "-c", "init.defaultRefFormat=files", "init", "-q", "--object-format=sha1", "-b", branch, env=plain
    )


def _on_branch(place: Path, env: Env, branch: str | None) -> Memory:
    """Settle which branch is the memory, and have an unborn HEAD stand on it."""
    git = clean(place, env.vars)
    head = git.run("symbolic-ref", "-q", "--short", "HEAD", check=False).text()
    chosen = branch or head or BRANCH
    if git.run("check-ref-format", "--branch", chosen, check=False).code != 0:
        raise Refused(f"`{chosen}` is no branch name", ["git mem init --branch main"])
    if chosen != head:
        git.run("symbolic-ref", "HEAD", f"refs/heads/{chosen}")
    git.run("config", "--local", "mem.branch", chosen)
    git.run("config", "--local", "mem.accepted", "true")
    memory = locate.open_at(place, env)
    if memory is None:
        raise GitFailed(f"`{place}` did not become a git repository")
    return memory


def _first() -> Draft:
    """The registry as it begins."""
    files: dict[str, bytes | None] = {
        f"registry/{name}.yaml": resources.read_text(f"templates/registry/{name}.yaml").encode()
        for name in FILES
    }
    files[".gitattributes"] = resources.read_text("templates/gitattributes").encode()
    return Draft(files, "mem: init", trailers=[("Mem-Action", "registry")])


def make_default(env: Env, place: Path) -> tuple[str, str | None]:
    """Make this the memory that is found everywhere, unless another one is; what became of it."""
    git = clean(place, env.vars)
    named = git.run("config", "--global", "--type=path", "--get", "mem.repo", check=False).text()
    if named:
        there = Path(named) if Path(named).is_absolute() else env.cwd / named
        return ("same", None) if there.resolve() == place.resolve() else ("other", named)
    done = git.run("config", "--global", "mem.repo", str(place), check=False)
    # a configuration that is managed elsewhere may be read-only; the memory is made all the same
    return ("set", None) if done.code == 0 else ("failed", None)

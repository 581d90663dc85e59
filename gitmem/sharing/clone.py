"""A memory on a second device: cloned, checked to be one, with its hooks, and found from everywhere."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from gitmem.authoring import init
from gitmem.config import Env
from gitmem.errors import GitFailed, Refused
from gitmem.git import locate
from gitmem.git.locate import Memory
from gitmem.git.run import clean, failure
from gitmem.sharing import remote


@dataclass(frozen=True, slots=True)
class Cloned:
    """The memory here; `default`, `other`: what became of `mem.repo`, as in `init.Made`."""

    memory: Memory
    default: str
    other: str | None


def clone(env: Env, url: str, place: Path, branch: str | None = None) -> Cloned:
    """Clone a memory into a folder that is not there yet, or empty.

    Raises:
        Refused: the folder is in use, or what was cloned is no memory; nothing is left behind.
        GitFailed: git could not clone.
    """
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise Refused(f"`{place}` is there already, nothing changed", [f"git mem clone {url} DIR"])
    there = place.exists()
    place.parent.mkdir(parents=True, exist_ok=True)
    git = clean(place.parent, env.vars)
    args = ["clone", "-q", *(["--branch", branch] if branch else []), "--", url, str(place)]
    try:
        done = git.run(*args, check=False, env={} if env.terminal else {"GIT_ASKPASS": "true"})
        if done.code != 0:
            raise failure(["clone"], done.err, done.code)
        return _settled(env, url, place, branch)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        if there:
            place.mkdir(exist_ok=True)
        raise


def _settled(env: Env, url: str, place: Path, wanted: str | None) -> Cloned:
    git = clean(place, env.vars)
    holding = [
        name.removeprefix("refs/remotes/origin/")
        for name in git.lines("for-each-ref", "--format=%(refname)", "refs/remotes/origin/")
        if not name.endswith("/HEAD")
        and git.run("cat-file", "-e", f"{name}:{locate.MARK}", check=False).code == 0
    ]
    head = git.run("symbolic-ref", "-q", "--short", "HEAD", check=False).text()
    if not wanted and head not in holding and len(holding) == 1:
        # a bare repository points at a branch of its own default until somebody tells it otherwise
        head = holding[0]
        git.run("checkout", "-q", "-B", head, f"origin/{head}")
    if head not in holding and holding:
        raise Refused(
            f"`{head}` of `{url}` is no memory, and nothing was kept; {', '.join(f'`{one}`' for one in holding)} "
            + ("is one" if len(holding) == 1 else "are"),
            [f"git mem clone --branch {holding[0]} {url}"],
        )
    if git.run("cat-file", "-e", f"HEAD:{locate.MARK}", check=False).code != 0:
        raise Refused(
            f"`{url}` is no memory: there is no {locate.MARK} on `{head or 'its branch'}`, nothing was kept",
            ["git mem init makes one; git mem sync puts it onto an empty remote"],
        )
    git.run("config", "--local", "mem.branch", head)
    git.run("config", "--local", "mem.accepted", "true")
    memory = locate.open_at(place, env)
    if memory is None or memory.tip is None:
        raise GitFailed(f"`{place}` did not become a git repository")
    remote.note_seen(memory, "origin", memory.tip)
    default, other = init.make_default(env, place)
    return Cloned(memory, default, other)

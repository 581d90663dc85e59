"""Which project a working directory or a prompt belongs to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from gitmem.git.locate import Memory
from gitmem.git.run import Git
from gitmem.model.registry import Registry

_SCP = re.compile(r"^(?:[^@/:]+@)?([^/:]+):(?!//)(.+)$")
_URL = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^@/]*@)?([^/:]+)(?::\d+)?/(.+)$", re.IGNORECASE)


def normal_remote(url: str) -> str:
    """`git@host:a/b.git`, `https://host/a/b` and `ssh://git@host:22/a/b/` are all `host/a/b`."""
    url = url.strip()
    match = _URL.match(url) or (_SCP.match(url) if "://" not in url else None)
    if not match:
        return url.rstrip("/").removesuffix(".git")
    return f"{match[1].lower()}/{match[2].strip('/').removesuffix('.git')}"


def folders(memory: Memory) -> dict[str, list[str]]:
    """Project id -> folders on this computer, from local git config."""
    found: dict[str, list[str]] = {}
    for key, values in memory.config.items():
        if key.startswith("mem.project.") and key.endswith(".path"):
            found[key[len("mem.project.") : -len(".path")]] = values
    return found


def project_of_folder(cwd: Path, memory: Memory, registry: Registry) -> str | None:
    """The project of a working directory: its registered folder, else its git remote; worktrees and sub-folders too."""
    registered = folders(memory)
    found = _by_path(_spellings(cwd), registered, registry)
    if found or not registry.projects:
        return found
    repository = _repository(cwd, memory.git)
    if repository is None:
        return None
    main, remotes = repository
    found = _by_path(_spellings(main), registered, registry) if main else None
    if found:
        return found
    known = {
        normal_remote(remote): project.id
        for project in registry.projects.values()
        for remote in project.remotes
    }
    return next((known[remote] for remote in remotes if remote in known), None)


def _by_path(places: Iterable[str], registered: dict[str, list[str]], registry: Registry) -> str | None:
    """The deepest registered folder around one of `places`."""
    best, name = -1, None
    for place in places:
        for project, paths in registered.items():
            if project not in registry.projects:
                continue
            for path in paths:
                top = os.path.expanduser(path).rstrip("/") or "/"
                if (place == top or place.startswith(top.rstrip("/") + "/")) and len(top) > best:
                    best, name = len(top), project
    return name


def _spellings(place: Path) -> list[str]:
    """A path as typed and with links resolved."""
    return list(dict.fromkeys([os.path.normpath(place), os.path.realpath(place)]))


def _repository(cwd: Path, git: Git) -> tuple[Path | None, list[str]] | None:
    """The main work tree of the repository around `cwd`, and its normalised remotes, origin first."""
    if not cwd.is_dir():
        return None
    here = Git(cwd, git.env)
    found = here.run("rev-parse", "--path-format=absolute", "--git-common-dir", check=False)
    if found.code != 0:
        return None
    common = Path(found.text())
    main = common.parent if common.name == ".git" else None
    listed = here.run("config", "-z", "--get-regexp", r"^remote\..*\.url$", check=False).out.decode(
        "utf-8", "surrogateescape"
    )
    pairs = [entry.partition("\n")[::2] for entry in listed.split("\0") if entry]
    pairs.sort(key=lambda pair: pair[0] != "remote.origin.url")
    return main, [normal_remote(url) for _, url in pairs]


def project_of_prompt(prompt: str, registry: Registry) -> str | None:
    """The one active project whose name or alias stands in the prompt; ambiguous counts as none."""
    return named[0] if len(named := projects_of_prompt(prompt, registry)) == 1 else None


def projects_of_prompt(prompt: str, registry: Registry) -> list[str]:
    """Every active project that the prompt names. A name shared by two projects points at neither."""
    text = " ".join(prompt[:4000].casefold().split())
    owners: dict[str, set[str]] = {}
    for project in registry.projects.values():
        if project.active:
            for name in (project.id, project.name, *project.aliases):
                owners.setdefault(" ".join(name.casefold().split()), set()).add(project.id)
    found = {
        next(iter(ids))
        for name, ids in owners.items()
        if len(ids) == 1 and len(name) >= 2 and _stands(name, text)
    }
    return sorted(found)


def _stands(name: str, text: str) -> bool:
    at = text.find(name)
    while at >= 0:
        before = text[at - 1] if at else " "
        end = at + len(name)
        after = text[end] if end < len(text) else " "
        inner = name[0].isascii() and _word(before), name[-1].isascii() and _word(after)
        if not any(inner):
            return True
        at = text.find(name, at + 1)
    return False


def _word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char in "_-")

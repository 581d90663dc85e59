"""Find the memory: the one function that recall, hooks, writers and the command line resolve through."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote

from gitmem.config import Env
from gitmem.errors import GitFailed, NoMemory
from gitmem.git.run import Git, clean
from gitmem.record import fresh, record

MARK = "registry/memory.yaml"
# Where a remote's branch stood when it was last synced with, a ref a remote.
SEEN = "refs/git-mem/seen/"
STATE = "git-mem"
CREATE = "git mem init"
# So many branches are looked at for a memory whose branch was renamed.
_BRANCHES = 50
_HEX = frozenset("0123456789abcdef")


@record()
class Memory:
    """A repository and the branch that is the memory.

    `tip`, `tree`, `registry_tree` are object ids as of the moment it was looked up; None while the branch is
    unborn (`tip`, `tree`) or holds no registry. `config` is the repository's git configuration, last value last.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    bare: bool
    branch: str
    git: Git
    tip: str | None = None
    tree: str | None = None
    registry_tree: str | None = None
    config: dict[str, list[str]] = fresh(dict)

    @property
    def state(self) -> Path:
        """Local, derived state; deleting it loses no memory."""
        return self.common_dir / STATE

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"

    def setting(self, key: str, default: str | None = None) -> str | None:
        values = self.config.get(key.lower())
        return values[-1] if values else default


def find(
    env: Env, repo: str | None = None, accept_cwd: bool = False, only_configured: bool = False
) -> Memory:
    """The memory to work with.

    Looks at `repo` (the option), then GIT_MEM_REPO, then `mem.repo` of the global git config, then the
    current directory, which counts in a terminal, with `accept_cwd`, or once it was accepted here; with
    `only_configured` it never does, as it may be anybody's.

    Raises:
        NoMemory: nothing is configured, or what is configured is no memory.
    """
    named = repo or env.repo or _global_repo(env)
    if named:
        other = (
            "--repo names it: leave it out, or name a memory"
            if repo
            else "GIT_MEM_REPO names it: unset GIT_MEM_REPO"
            if env.repo
            else "git config --global --unset mem.repo"
        )
        place = Path(named).expanduser()
        if not place.is_absolute():
            place = env.cwd / place
        create = f"{CREATE} {quote(str(place))}"
        hints = [other, create] if repo or env.repo else [create, other]
        memory = open_at(place, env)
        if memory is None:
            raise NoMemory(
                f"`{place}` is not a git repository",
                hints,
            )
        if memory.registry_tree is None:
            raise moved(memory) or NoMemory(
                f"`{place}` is a git repository but holds no memory on `{memory.branch}`",
                hints,
            )
        return supported(memory)
    memory = None if only_configured else open_at(env.cwd, env)
    if memory is not None and memory.registry_tree is not None:
        accepted = memory.setting("mem.accepted") == "true"
        if env.terminal or accept_cwd or accepted:
            return supported(memory)
        raise NoMemory(
            "no memory is configured; the folder here looks like one but was never accepted",
            [f"git config --global mem.repo {quote(str(memory.root))}"],
        )
    if memory is not None and (env.terminal or accept_cwd) and (gone := moved(memory)):
        raise gone
    raise NoMemory("there is no memory yet", [CREATE])


def supported(memory: Memory) -> Memory:
    """The memory, if its repository has the format that every git and libgit2 reads.

    Raises:
        GitFailed: it has not.
    """
    storage = memory.setting("extensions.refstorage", "files")
    objects = memory.setting("extensions.objectformat", "sha1")
    if storage != "files" or objects != "sha1":
        raise GitFailed(
            f"`{memory.root}` keeps its {'refs as ' + str(storage) if storage != 'files' else 'objects as ' + str(objects)}, which a memory cannot use yet",
            ["git mem init DIR, with a folder that is not there yet, makes one that works"],
        )
    return memory


def moved(memory: Memory) -> NoMemory | None:
    """The error that names the cure, where the memory's branch has another name now; None where no branch holds one."""
    git = memory.git
    head = git.run("symbolic-ref", "-q", "--short", "HEAD", check=False).text()
    names = git.lines("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/")[:_BRANCHES]
    holding = [
        name
        for name in names
        if name != memory.branch
        and git.run("cat-file", "-e", f"refs/heads/{name}:{MARK}", check=False).code == 0
    ]
    found = head if head in holding else holding[0] if len(holding) == 1 else None
    if found is None:
        return None
    what = "is gone" if memory.tip is None else "holds none"
    return NoMemory(
        f"the memory's branch `{memory.branch}` {what}; `{found}` holds one",
        [f"git -C {quote(str(memory.root))} config mem.branch {quote(found)}"],
    )


def here(env: Env) -> Memory | None:
    """The repository around the current directory, memory or not; for checks and the memory's own hooks."""
    return open_at(env.cwd, env)


def open_at(place: Path, env: Env) -> Memory | None:
    """Open the repository at `place`; None where there is none."""
    if not place.is_dir():
        return None
    return open_with(clean(place, env.vars))


def open_with(git: Git) -> Memory | None:
    """Open the repository that `git` runs in, with its environment obeyed."""
    listing = git.run("config", "-z", "--list", check=False)
    config: dict[str, list[str]] = {}
    if listing.code == 0:
        for entry in listing.out.decode("utf-8", "surrogateescape").split("\0"):
            key, _, value = entry.partition("\n")
            if key:
                config.setdefault(key.lower(), []).append(value)
    branch = config.get("mem.branch", [""])[-1] or "main"
    asked = [
        "rev-parse",
        "--path-format=absolute",
        "--git-common-dir",
        "--absolute-git-dir",
        "--is-bare-repository",
        "--show-cdup",
    ]
    ref = f"refs/heads/{branch}"
    found = git.run(
        *asked, f"{ref}^{{commit}}", f"{ref}^{{tree}}", f"{ref}:registry", f"{ref}:{MARK}", check=False
    )
    lines = found.text().split("\n")
    if len(lines) < 3 or not lines[0]:
        words = found.err.decode("utf-8", "replace")
        if "not a git repository" in words:
            return None
        if "dubious ownership" in words:
            advice = next((line.strip() for line in words.split("\n") if "--add safe.directory" in line), "")
            raise GitFailed(
                "git refuses this repository: it belongs to somebody else",
                [f"if you trust it: {advice or 'git config --global --add safe.directory ' + str(git.cwd)}"],
            )
        if "unknown repository extension" in words or "not understood" in words:
            raise GitFailed(
                "this repository uses an extension that git here does not know", ["use a newer git"]
            )
        return None
    common, git_dir, bare = Path(lines[0]), Path(lines[1]), lines[2] == "true"
    # behind the three options: the way up to the top (absent in a bare repository), then the ids that resolved
    rest = lines[3:]
    ids = [line for line in rest if len(line) in (40, 64) and set(line) <= _HEX]
    up = rest[0] if rest and (rest[0] == "" or rest[0].startswith("../")) else None
    root = git_dir if up is None else Path(os.path.normpath(git.cwd / up))
    complete = len(ids) == 4 and found.code == 0
    return Memory(
        root=root,
        git_dir=git_dir,
        common_dir=common,
        bare=bare,
        branch=branch,
        git=git,
        tip=ids[0] if len(ids) > 0 else None,
        tree=ids[1] if len(ids) > 1 else None,
        registry_tree=ids[2] if complete else None,
        config=config,
    )


def refreshed(memory: Memory) -> Memory:
    """The same memory, looked up again."""
    again = open_with(memory.git)
    if again is None:
        raise GitFailed(f"`{memory.root}` is no longer a git repository")
    return again


def _global_repo(env: Env) -> str | None:
    found = clean(env.cwd if env.cwd.is_dir() else Path("/"), env.vars).run(
        "config", "--global", "--type=path", "--get", "mem.repo", check=False
    )
    return found.text() or None

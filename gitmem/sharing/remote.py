"""Talk to a git remote: fetch and push in bounded time, nothing asked of anybody, and offline told from wrong."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gitmem.erasure import rewrite
from gitmem.erasure.sweep import INCOMING
from gitmem.errors import GitFailed, Refused
from gitmem.git.locate import SEEN, Memory
from gitmem.git.run import Git, failure

TIMEOUT_S = 120.0
RESCUE = "refs/git-mem/rescue/"
_OFFLINE = re.compile(
    r"could not resolve|unable to access|connection (refused|timed out|reset|closed)|network is unreachable|no route to host|"
    r"operation timed out|could not connect|failed to connect|name or service not known|temporary failure|took longer than",
    re.IGNORECASE,
)
_SLOW = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=20")


class Offline(Exception):
    """The remote cannot be reached now; the message says how that showed."""


@dataclass(frozen=True, slots=True)
class Push:
    """`taken`; or `behind`: somebody pushed meanwhile; else `refused`: the server's words."""

    taken: bool
    behind: bool = False
    refused: str = ""


def name_of(memory: Memory, wanted: str | None) -> str:
    """The remote to sync with: the one that is named, the branch's own, `origin`, or the only one.

    Raises:
        Refused: there is none, or it is not plain which.
    """
    names = memory.git.lines("remote")
    if wanted:
        if wanted in names:
            return wanted
        raise Refused(
            f"no remote `{wanted}`",
            [f"git -C {memory.root} remote add {wanted} URL"] if ":" not in wanted else _add(memory, wanted),
        )
    own = memory.setting(f"branch.{memory.branch}.remote")
    for name in (own, "origin"):
        if name in names:
            return str(name)
    if len(names) == 1:
        return names[0]
    if not names:
        raise Refused("the memory has no remote yet", _add(memory, "URL"))
    raise Refused(f"the memory has several remotes: {', '.join(names)}", ["git mem sync --remote NAME"])


def _add(memory: Memory, url: str) -> list[str]:
    return [f"git -C {memory.root} remote add origin {url}", "then: git mem sync"]


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a remote has: the commit, and the memory as it is seen with its objects. Until `keep` they lie beside it."""

    commit: str
    memory: Memory
    _objects: Path
    _into: Path

    def keep(self) -> None:
        """Take the objects into the repository."""
        rewrite.bring(self._objects, self._into)


@contextlib.contextmanager
def fetched(memory: Memory, remote: str, env: dict[str, str]) -> Iterator[Incoming | None]:
    """The memory's branch there, fetched beside the repository, so that what is refused never was in it; None when the
    remote has no such branch. No ref moves. Hold the lock of sync: there is one place for it.

    Raises:
        Offline, GitFailed
    """
    room = memory.state / INCOMING
    shutil.rmtree(room, ignore_errors=True)
    store, ours = room / "objects", memory.common_dir / "objects"
    try:
        (store / "info").mkdir(parents=True, mode=0o700)
        (store / "info" / "alternates").write_text(f"{ours}\n")
        # a git directory of its own: what was fetched is noted there, and not over the person's FETCH_HEAD
        (room / "commondir").write_text(f"{memory.common_dir}\n")
        (room / "HEAD").write_text(f"ref: {memory.ref}\n")
        here = {"GIT_DIR": str(room), "GIT_OBJECT_DIRECTORY": str(store)}
        done = _run(
            memory,
            {**env, **here},
            "fetch",
            "-q",
            "--no-tags",
            "--no-auto-gc",
            "--refmap=",
            remote,
            memory.ref,
        )
        if done[0] == 0:
            commit = (room / "FETCH_HEAD").read_text().split()[0]
            # git moves no ref where this is set, and our readers look through its variables
            beside = {"GIT_OBJECT_DIRECTORY": str(store), "GIT_QUARANTINE_PATH": str(store)}
            seen = replace(memory, git=Git(memory.git.cwd, {**memory.git.env, **beside}))
            yield Incoming(commit, seen, store, ours)
        elif "couldn't find remote ref" in done[1].casefold():
            yield None
        elif (place := _missing(memory, remote)) is not None:
            raise Offline(f"there is no `{place}` now")
        else:
            raise _problem("fetch", done)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def push(memory: Memory, remote: str, commit: str, env: dict[str, str]) -> Push:
    """Offer a commit as the memory's branch; never by force.

    Raises:
        Offline, GitFailed
    """
    done = _run(memory, env, "push", "-q", "--porcelain", remote, f"{commit}:{memory.ref}")
    if done[0] == 0:
        return Push(True)
    words = done[1]
    if (
        "non-fast-forward" in words
        or "fetch first" in words
        or "cannot lock ref" in words
        or "failed to update ref" in words
    ):
        return Push(False, behind=True)
    if (
        "[remote rejected]" in words
        or "pre-receive hook declined" in words
        or "hook declined" in words
        or "failed to push" in words
    ):
        lines = [line.removeprefix("remote:").strip() for line in words.splitlines() if line.strip()]
        return Push(
            False, refused="\n".join(line for line in lines if not line.startswith(("To ", "error: failed")))
        )
    raise _problem("push", done)


def seen(memory: Memory, remote: str) -> str | None:
    found = memory.git.run("rev-parse", "--verify", "-q", f"{SEEN}{remote}^{{commit}}", check=False)
    return found.text() if found.code == 0 else None


def note_seen(memory: Memory, remote: str, commit: str) -> None:
    """Keep where a remote stands: for the next sync, and in git's own ref for it, where the configuration has one."""
    memory.git.run("update-ref", f"{SEEN}{remote}", commit)
    own = f"refs/remotes/{remote}/"
    if f"+refs/heads/*:{own}*" in memory.config.get(f"remote.{remote}.fetch".lower(), []):
        memory.git.run("update-ref", "-m", "git mem: sync", own + memory.branch, commit)


def keep_rescue(memory: Memory, remote: str, commit: str) -> str:
    """A ref that keeps what the remote had before it was rewritten."""
    name = f"{RESCUE}{remote}-{commit[:10]}"
    memory.git.run("update-ref", name, commit)
    return name


def _run(memory: Memory, env: dict[str, str], *args: str) -> tuple[int, str]:
    """git's exit code and all its words; one that takes too long is stopped."""
    quiet = {"GIT_TERMINAL_PROMPT": "0", **env}
    if (
        "GIT_SSH_COMMAND" not in memory.git.env
        and "GIT_SSH" not in memory.git.env
        and not memory.setting("core.sshcommand")
    ):
        quiet["GIT_SSH_COMMAND"] = "ssh -o ConnectTimeout=10" + (
            " -o BatchMode=yes" if env.get("GIT_ASKPASS") else ""
        )
    try:
        done = memory.git.run(*_SLOW, *args, check=False, env=quiet, timeout_s=TIMEOUT_S)
    except GitFailed as late:
        return 128, late.message
    return done.code, (done.err + b"\n" + done.out).decode("utf-8", "replace")


def _missing(memory: Memory, remote: str) -> Path | None:
    """The folder of a remote on this computer, or on a stick, that is not there."""
    url = memory.git.run("remote", "get-url", remote, check=False).text().removeprefix("file://")
    place = Path(url)
    return place if place.is_absolute() and not place.exists() else None


def _problem(what: str, done: tuple[int, str]) -> Exception:
    if _OFFLINE.search(done[1]):
        first = next((line for line in done[1].splitlines() if _OFFLINE.search(line)), done[1])
        return Offline(first.removeprefix("fatal: ").removeprefix("error: ").strip()[:200])
    return failure([what], done[1].encode(), done[0])

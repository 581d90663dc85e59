"""What an erasure here cannot reach: remotes, the hosts' own session files, other clones, borrowed objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from gitmem.erasure.words import Words
from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.learn import find
from gitmem.learn.readers import claude_code, codex, hermes, pi
from gitmem.learn.turns import Conversation
from gitmem.model.card import id_of_path
from gitmem.model.registry import Tombstones

# What a fetch or a merge leaves beside the refs.
_LEFT = ("FETCH_HEAD", "MERGE_HEAD", "ORIG_HEAD")
_READERS = {"claude-code": claude_code.read, "codex": codex.read, "pi": pi.read}


@dataclass(frozen=True, slots=True)
class Transcript:
    """A host's own file that still holds a session, and the numbers of the turns that hold the words."""

    host: str
    session: str
    path: Path
    turns: tuple[int, ...]


def transcripts(
    sessions: Iterable[tuple[str, str]], words: Words, home: Path | None, variables: Mapping[str, str]
) -> list[Transcript]:
    """The files of these (host, session) on this computer. One that cannot be read is named all the same."""
    found = []
    if home is None:
        return found
    for host, session in sorted(set(sessions)):
        if host not in find.HOSTS or (len(session) < 8 and host != "hermes"):
            continue
        for file in find.files(host, home, variables):
            if host != "hermes" and session not in file.path.name:
                continue
            told = _read(host, file.path, session)
            if host == "hermes" and not told:
                continue
            turns = sorted({t.number for one in told for t in one.turns if _tells(words, t.text)})
            found.append(Transcript(host, session, file.path, tuple(turns)))
    return found


def said_again(found: Sequence[Transcript]) -> Tombstones:
    """The turns that hold the words, as tombstones: capture passes them over."""
    return Tombstones(turns=frozenset((one.host, one.session, n) for one in found for n in one.turns))


def _tells(words: Words, text: str) -> bool:
    return words.stand_in(text)


def _read(host: str, path: Path, session: str) -> list[Conversation]:
    try:
        if host == "hermes":
            with hermes.opened(path) as database:
                return [one for one in hermes.read(database, [session]) if one.turns]
        with find.lines(path) as lines:
            return [_READERS[host](lines, path.name.removesuffix(".zst").removesuffix(".jsonl"))]
    except OSError:
        return []


def remotes(memory: Memory) -> list[tuple[str, str]]:
    """(name, url) of every remote; a user name or password in a url is left out."""
    import re

    found = []
    for name in memory.git.lines("remote"):
        url = memory.git.run("remote", "get-url", name, check=False).text()
        found.append((name, re.sub(r"(?<=://)[^/@]*@", "", url)))
    return found


def borrowed(memory: Memory) -> list[str]:
    """Object stores of other repositories that this one reads from, and may not change."""
    try:
        text = (memory.common_dir / "objects" / "info" / "alternates").read_text(errors="surrogateescape")
    except OSError:
        return []
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def push_command(memory: Memory, remote: str, known: str | None) -> str:
    """How the rewritten branch gets onto a remote. `known`: what we last saw there; what came since is not overwritten."""
    force = f"--force-with-lease={memory.branch}:{known}" if known else "--force"
    return f"git -C {quote(str(memory.root))} push {quote(force)} {quote(remote)} {quote(memory.branch)}"


def still_there(memory: Memory, commit: str, forgotten: frozenset[str]) -> bool:
    """Whether the tree of a commit holds a card that was forgotten."""
    entries = objects.entries(memory.git, commit, "cards")
    return any(id_of_path(one.path) in forgotten for one in entries)


def brings_back(memory: Memory, commit: str, forgotten: frozenset[str]) -> bool:
    """Whether a commit, or its history beyond the memory's own, holds a card that was forgotten."""
    return bool(forgotten) and (
        still_there(memory, commit, forgotten) or bool(_held(memory, forgotten, commit, "--not", memory.ref))
    )


def back(memory: Memory, forgotten: frozenset[str]) -> frozenset[str]:
    """Forgotten cards that the repository holds again: in a ref, a reflog, or what a fetch or a merge left.

    It costs a walk through history, and nothing where nothing was forgotten.
    """
    if not forgotten:
        return forgotten
    left = [
        name
        for name in _LEFT
        if memory.git.run("rev-parse", "-q", "--verify", f"{name}^{{commit}}", check=False).code == 0
    ]
    return _held(memory, forgotten, "--all", "--reflog", *left)


def _held(memory: Memory, forgotten: frozenset[str], *asked: str) -> frozenset[str]:
    """Those of the forgotten cards that some commit has among its files."""
    log = ("log", "--full-history", "-m", "--format=", "--name-only", "--no-renames", "-z", "--diff-filter=A")
    names = memory.git.run(*log, *asked, "--", "cards").out.decode("utf-8", "surrogateescape")
    return frozenset(card for name in names.split("\0") if (card := id_of_path(name.strip("\n")))) & forgotten

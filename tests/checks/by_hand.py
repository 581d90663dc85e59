"""A person at work in the memory with plain git: files written by hand, real commits, real hooks."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gitmem.model import card as cards
from gitmem.model import source as sources
from gitmem.model.card import Card, Evidence

DAY = "2026-11-09"
AT = f"{DAY}T08:00:00Z"
YOU = "you@example.com"


def card_id(text: str) -> str:
    """A readable id: the text, filled up."""
    return (text.translate(str.maketrans("iloqu", "11049")) + "0000000000")[:10]


def make(name: str, *, scope: str = "global", **more) -> Card:  # type: ignore[no-untyped-def]
    """A card by hand: without evidence, by its writer."""
    values = {
        "type": "preference",
        "conclusion": f"About {name} there is something to say",
        "author": YOU,
        "created": AT,
    }
    return Card(id=card_id(name), scope=scope, **{**values, **more})  # type: ignore[arg-type]


def quoted(
    name: str,
    said: str,
    *,
    role: str = "user",
    kind: str = "statement",
    scope: str = "global",
    reported_by: str | None = None,
    **more,
):  # type: ignore[no-untyped-def]
    """A card with evidence, and the file of its words."""
    source = sources.Source(
        more.pop("host", "codex"), "s1", scope, AT, kind, (sources.Turn(7, role, AT, said),)
    )
    path = sources.source_path(source, f"20261109-080000-{name}")
    quote = more.pop("quote", said)
    card = make(name, scope=scope, **{"evidence": (Evidence(path, 7, role, quote, reported_by),), **more})
    return card, {path: sources.dump(source)}


@dataclass
class Hand:
    """The work tree of a memory with its hooks in place."""

    root: Path

    def git(self, *args: str, check: bool = True, **env: str) -> str:
        done = self.run(*args, **env)
        assert not check or done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout

    def run(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *args], cwd=self.root, capture_output=True, text=True, env={**os.environ, **env}
        )

    def write(self, path: str, data: bytes | str) -> str:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def stage(self, path: str, data: bytes | str) -> str:
        self.git("add", "-f", self.write(path, data))
        return path

    def card(self, card: Card, files: dict[str, bytes] | None = None) -> str:
        """Stage a card and the files it needs; its path."""
        for path, data in (files or {}).items():
            self.stage(path, data)
        return self.stage(cards.card_path(card), cards.dump(card))

    def commit(self, *args: str, check: bool = True, **env: str) -> str:
        """`git commit`; what it printed on stderr."""
        done = self.run("commit", "-q", "-m", "by hand", *args, **env)
        assert not check or done.returncode == 0, done.stderr
        return done.stderr

    def state(self) -> tuple[str, str, str]:
        return (
            self.git("rev-parse", "HEAD"),
            self.git("status", "--porcelain=v1", "-uall"),
            self.git("ls-files", "-s"),
        )

    def refused(self, *args: str, **env: str) -> str:
        """A commit that must be refused and change nothing; what was said."""
        before = self.state()
        done = self.run("commit", "-q", "-m", "by hand", *args, **env)
        assert done.returncode == 1, (done.stdout, done.stderr)
        assert self.state() == before
        return done.stderr

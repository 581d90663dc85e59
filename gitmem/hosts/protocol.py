"""What a host offers so that it can be connected, examined and left. `gitmem.hosts.connect` does the rest.

The functions read files and plan; they write nothing. Notes are plain JSON and hold places and hashes, never the
person's own settings, which may carry keys and tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gitmem.config import Env
from gitmem.hosts.files import Plan

OK, FIX, LOOK = "ok", "FIX", "look"


@dataclass(frozen=True, slots=True)
class Connection:
    """What connecting writes.

    Args:
        note: how to undo it; given back to the next `connect` and to `disconnect`.
        wrote: files, and what of ours stands in them, in a few words or none.
        you: what is left to the person, a line each.
    """

    plan: Plan
    note: dict[str, Any]
    wrote: tuple[tuple[Path, str], ...]
    you: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Removal:
    """What disconnecting writes. `removed`: files and what goes from them; `left`: ours once, changed since, and kept."""

    plan: Plan
    removed: tuple[tuple[Path, str], ...] = ()
    left: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """`level` is `ok`, `FIX` or `look`; `fix`: what to do about it, mostly a command."""

    level: str
    what: str
    words: str
    fix: str = ""


class Host(Protocol):
    """A host, as the object `HOST` of its module.

    `place` is always the folder that `folder` named when it was connected, and `note` is `{}` where there is none;
    beside the host's own entries it holds `made`: the folders that connecting had to make.
    """

    @property
    def name(self) -> str: ...

    @property
    def profile(self) -> str:
        """What its agent hears unless the person says otherwise."""

    @property
    def events(self) -> int:
        """How many hook entries make it complete."""

    @property
    def command(self) -> str:
        """What the host runs on an event, through a shell. Stable for ever: some hosts trust it by its hash."""

    @property
    def timeout_s(self) -> float:
        """After how long the host gives up on a prompt's answer."""

    @property
    def unheard(self) -> tuple[str, str]:
        """Level and fix of a finding for a host that is connected and has not called yet."""

    def folder(self, env: Env) -> Path | None:
        """Its configuration folder, there or not; None when it cannot be told (no HOME)."""

    def connect(self, place: Path, env: Env, note: dict[str, Any]) -> Connection:
        """Plan what is missing; an empty plan when all is there.

        Raises:
            Refused: its files cannot be edited, or somebody else's stand where ours would.
        """

    def disconnect(self, place: Path, env: Env, note: dict[str, Any]) -> Removal:
        """Plan to take out what is ours: byte-identical if nothing changed since, else every other line untouched.

        Folders in `note["made"]` are removed with the last file in them by the caller.

        Raises:
            Refused: its files cannot be edited.
        """

    def installed(self, place: Path, env: Env) -> int:
        """How many of the hook entries stand in its files.

        Raises:
            Refused: they cannot be read.
        """

    def switched_off(self, place: Path, env: Env) -> str | None:
        """What keeps hooks from running, in words that name the file; None when nothing does."""

    def findings(self, place: Path, env: Env) -> Iterable[Finding]:
        """How the rest of what connecting wrote stands: skill, marked block, what gets in its way."""

    def sample(self, prompt: str, session: str, cwd: Path) -> dict[str, Any]:
        """A prompt event as the host would send it."""

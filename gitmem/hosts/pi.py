"""Pi: what `git mem connect pi` writes into its folder, and takes out again: an extension and a skill, whole files.

Source: Pi's documentation of extensions, skills and settings. Pi loads `extensions/*.ts` when it starts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitmem import resources
from gitmem.config import Env
from gitmem.errors import MemError
from gitmem.hosts import files, own_file, skill
from gitmem.hosts.protocol import LOOK, Connection, Finding, Removal

_CALL = b'["mem", "hook", "pi"]'
_SESSION = '"$PI_SESSION_ID"'


def extension_path(place: Path) -> Path:
    return place / "extensions" / "git-mem.ts"


def extension_bytes() -> bytes:
    return resources.read_text("templates/pi/git-mem.ts").encode()


def skill_bytes() -> bytes:
    return skill.data(_SESSION)


class Pi:
    """See `gitmem.hosts.protocol.Host`."""

    name = "pi"
    command = "git mem hook pi"
    timeout_s = 5.0
    profile = "working"
    unheard = (LOOK, "start a new Pi, or type /reload in one that runs, then a prompt")
    events = 1

    def folder(self, env: Env) -> Path | None:
        if chosen := env.vars.get("PI_CODING_AGENT_DIR"):
            return env.home / chosen[2:] if chosen.startswith("~/") and env.home else Path(chosen)
        return env.home / ".pi" / "agent" if env.home else None

    def connect(self, place: Path, env: Env, note: dict[str, Any]) -> Connection:
        file, new = extension_path(place), extension_bytes()
        plan = (
            *own_file.write(file, new, files.read_bytes(file), note.get("extension_sha256")),
            *skill.plan(place, skill_bytes(), note),
        )
        return Connection(
            plan,
            {"extension_sha256": own_file.sha256(new), "skill_sha256": own_file.sha256(skill_bytes())},
            ((file, ""), (skill.path(place), "")),
            ("in a Pi that runs already: /reload",) if plan else (),
        )

    def disconnect(self, place: Path, env: Env, note: dict[str, Any]) -> Removal:
        file = extension_path(place)
        current = files.read_bytes(file)
        gone = own_file.remove(file, extension_bytes(), current, note.get("extension_sha256"))
        taken, left = skill.removal(place, skill_bytes(), note)
        if current is not None and note and not gone:
            left = (file, *left)
        plan = (*gone, *taken)
        return Removal(plan, tuple((write.path, "") for write in plan), left)

    def installed(self, place: Path, env: Env) -> int:
        return int(_CALL in (files.read_bytes(extension_path(place)) or b""))

    def switched_off(self, place: Path, env: Env) -> str | None:
        for path in (place / "settings.json", env.cwd / ".pi" / "settings.json"):
            if said := _excluded(path):
                return f"`{said}` in {path}"
        return None

    def findings(self, place: Path, env: Env) -> Iterator[Finding]:
        yield skill.finding(self.name, extension_path(place), extension_bytes(), "extension")
        yield skill.finding(self.name, skill.path(place), skill_bytes())

    def sample(self, prompt: str, session: str, cwd: Path) -> dict[str, Any]:
        return {
            "hook_event_name": "before_agent_start",
            "session_id": session,
            "cwd": str(cwd),
            "interactive": True,
            "prompt": prompt,
        }


def _excluded(settings: Path) -> str | None:
    """An entry of Pi's settings that keeps our extension from being loaded, as `pi config` writes it."""
    try:
        kept = json.loads(files.read_text(settings) or "{}")
        listed = kept.get("extensions") or ()
        return next((one for one in listed if one[:1] in ("-", "!") and one.endswith("git-mem.ts")), None)
    except (MemError, ValueError, TypeError, AttributeError):
        return None


HOST = Pi()

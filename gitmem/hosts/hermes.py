"""Hermes: what `git mem connect hermes` writes into its folder, and takes out again.

`config.yaml` gets two shell hooks, `skills/` a skill. Hermes runs a hook only after the person has allowed it: it asks
once per event in a terminal and notes the answer in its `shell-hooks-allowlist.json`. That file is read here and
never written: consent is the person's, also when we leave.

Source: Hermes' documentation of shell hooks, profiles and skills.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitmem.config import Env
from gitmem.errors import MemError
from gitmem.hosts import files, hermes_config, own_file, skill
from gitmem.hosts.files import FileWrite
from gitmem.hosts.hermes_config import COMMAND, EVENTS, TIMEOUT_S
from gitmem.hosts.protocol import FIX, OK, Connection, Finding, Removal

ALLOWLIST = "shell-hooks-allowlist.json"
ASKS = f"start `hermes` in a terminal: it asks for each of {len(EVENTS)} events whether `{COMMAND}` may run; y allows it"
_SESSION = '"$HERMES_SESSION_ID"'


def config_path(place: Path) -> Path:
    return place / "config.yaml"


def skill_bytes() -> bytes:
    return skill.data(_SESSION)


class Hermes:
    """See `gitmem.hosts.protocol.Host`."""

    name = hermes_config.HOST
    command = COMMAND
    timeout_s = float(TIMEOUT_S)
    profile = "full"  # a main assistant: every turn, all projects
    unheard = (FIX, ASKS)

    @property
    def events(self) -> int:
        return len(EVENTS)

    def folder(self, env: Env) -> Path | None:
        if chosen := env.vars.get("HERMES_HOME"):
            return Path(chosen).expanduser()
        if os.name == "nt" and (local := env.vars.get("LOCALAPPDATA")):
            return Path(local) / "hermes"
        return env.home / ".hermes" if env.home else None

    def connect(self, place: Path, env: Env, note: dict[str, Any]) -> Connection:
        config = config_path(place)
        old = files.read_text(config)
        with files.about(config):
            made = hermes_config.connect(old, note.get("config"))
        hooks = (FileWrite(config, made.text.encode()),) if made.text != old else ()
        plan = (*hooks, *skill.plan(place, skill_bytes(), note))
        return Connection(
            plan,
            {"config": made.journal, "skill_sha256": own_file.sha256(skill_bytes())},
            ((config, _counted(made.text)), (skill.path(place), "")),
            () if not self._not_allowed(place, env, made.text) else (f"once, {ASKS}",),
        )

    def disconnect(self, place: Path, env: Env, note: dict[str, Any]) -> Removal:
        config = config_path(place)
        old = files.read_text(config)
        with files.about(config):
            new = hermes_config.disconnect(old, note.get("config"))
        taken, left = skill.removal(place, skill_bytes(), note)
        removed = [(write.path, "") for write in taken]
        hooks = ()
        if new != old:
            hooks = (FileWrite(config, None if new is None else new.encode()),)
            removed.insert(0, (config, _counted(old)))
        return Removal((*hooks, *taken), tuple(removed), left)

    def installed(self, place: Path, env: Env) -> int:
        with files.about(config_path(place)):
            return len(hermes_config.connected(files.read_text(config_path(place))) & set(EVENTS))

    def switched_off(self, place: Path, env: Env) -> str | None:
        return None

    def findings(self, place: Path, env: Env) -> Iterator[Finding]:
        yield skill.finding(self.name, skill.path(place), skill_bytes())
        try:
            missing = self._not_allowed(place, env, files.read_text(config_path(place)))
        except MemError:
            return  # said where the hooks are counted
        if missing:
            yield Finding(FIX, "consent", f"Hermes has not been told to run it on {', '.join(missing)}", ASKS)
        else:
            yield Finding(OK, "consent", "Hermes runs it without asking")

    def sample(self, prompt: str, session: str, cwd: Path) -> dict[str, Any]:
        extra = {
            "user_message": prompt,
            "conversation_history": [],
            "is_first_turn": False,
            "platform": "cli",
        }
        return {
            "hook_event_name": "pre_llm_call",
            "tool_name": None,
            "tool_input": None,
            "session_id": session,
            "cwd": str(cwd),
            "profile": "default",
            "extra": extra,
        }

    def _not_allowed(self, place: Path, env: Env, text: str | None) -> list[str]:
        """The events of ours for which the person has not been asked yet, or said no."""
        if hermes_config.accepts_all(text) or hermes_config.means_yes(
            env.vars.get("HERMES_ACCEPT_HOOKS", "")
        ):
            return []
        allowed = _allowed(place)
        return [event for event in EVENTS if event not in allowed]


def _allowed(place: Path) -> set[str]:
    """The events for which Hermes noted that our command may run; none where its list cannot be read."""
    try:
        kept = json.loads((files.read_text(place / ALLOWLIST) or "{}").removeprefix("\ufeff"))
        return {one["event"] for one in kept.get("approvals", []) if one.get("command") == COMMAND}
    except (MemError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _counted(text: str | None) -> str:
    count = len(hermes_config.connected(text))
    return f"{count} hook{'' if count == 1 else 's'}"


HOST = Hermes()

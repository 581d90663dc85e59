"""Claude Code: what `git mem connect claude-code` writes into its configuration, and takes out again.

Source: Claude Code's documentation of hooks, settings and skills (seconds for `timeout`; SessionEnd hooks
share 1.5 s unless a settings file asks for more).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitmem import resources
from gitmem.config import Env
from gitmem.errors import MemError, Refused
from gitmem.hosts import files, hook_settings, own_file
from gitmem.hosts.files import FileWrite, Plan
from gitmem.hosts.hook_groups import Spec
from gitmem.hosts.hook_settings import Edited, Journal
from gitmem.hosts.protocol import LOOK, OK, Connection, Finding, Removal

TIMEOUTS_S = {"SessionStart": 5, "UserPromptSubmit": 5, "SessionEnd": 2}
SPEC = Spec("claude-code", TIMEOUTS_S, {"SessionStart": "startup|resume|clear|compact"})
MANAGED = Path("/etc/claude-code/managed-settings.json")


def config_dir(env: Mapping[str, str]) -> Path:
    """Claude Code's folder: `CLAUDE_CONFIG_DIR`, else `.claude` in the home folder.

    Raises:
        Refused: neither is set.
    """
    if chosen := env.get("CLAUDE_CONFIG_DIR"):
        return Path(chosen)
    if home := env.get("HOME") or env.get("USERPROFILE"):
        return Path(home) / ".claude"
    raise Refused("cannot tell where Claude Code keeps its settings", ["export CLAUDE_CONFIG_DIR=FOLDER"])


def settings_path(config_dir: Path) -> Path:
    return config_dir / "settings.json"


def connect(text: str | None, journal: Journal | None = None) -> Edited:
    """`hook_settings.connect` for Claude Code."""
    return hook_settings.connect(SPEC, text, journal)


def disconnect(text: str | None, journal: Journal | None = None) -> str | None:
    """`hook_settings.disconnect` for Claude Code."""
    return hook_settings.disconnect(SPEC, text, journal)


def connected(text: str | None) -> set[str]:
    """`hook_settings.connected` for Claude Code."""
    return hook_settings.connected(SPEC, text)


def switched_off(text: str | None) -> bool:
    """Whether these settings keep all hooks from running, ours too (`disableAllHooks`)."""
    return hook_settings.is_true(text, "disableAllHooks")


def skill_path(config_dir: Path) -> Path:
    return config_dir / "skills" / "git-mem" / "SKILL.md"


def skill_bytes() -> bytes:
    return resources.read_text("templates/claude-code/SKILL.md").encode()


def write_skill(config_dir: Path, current: bytes | None, written_sha256: str | None = None) -> Plan:
    """`own_file.write` for the skill."""
    return own_file.write(skill_path(config_dir), skill_bytes(), current, written_sha256)


def remove_skill(
    config_dir: Path, current: bytes | None, written_sha256: str | None = None, made: Sequence[Path] = ()
) -> Plan:
    """`own_file.remove` for the skill.

    Args:
        made: further folders that connecting made (as `files.apply` returned them).
    """
    plan = own_file.remove(skill_path(config_dir), skill_bytes(), current, written_sha256)
    return tuple(replace(write, folders=tuple({**dict.fromkeys((*write.folders, *made))})) for write in plan)


class ClaudeCode:
    """See `gitmem.hosts.protocol.Host`."""

    name = SPEC.host
    profile = "working"
    command = SPEC.command
    timeout_s = 5.0
    unheard = (LOOK, "start a new session of the host and type something")

    @property
    def events(self) -> int:
        return len(TIMEOUTS_S)

    def folder(self, env: Env) -> Path | None:
        try:
            return config_dir(env.vars)
        except Refused:
            return None

    def connect(self, place: Path, env: Env, note: dict[str, Any]) -> Connection:
        settings, skill = settings_path(place), skill_path(place)
        old = files.read_text(settings)
        with files.about(settings):
            made = connect(old, note.get("settings"))
        skill_plan = write_skill(place, files.read_bytes(skill), note.get("skill_sha256"))
        hooks = (FileWrite(settings, made.text.encode()),) if made.text != old else ()
        return Connection(
            (*hooks, *skill_plan),
            {"settings": made.journal, "skill_sha256": own_file.sha256(skill_bytes())},
            ((settings, hook_settings.counted(SPEC, made.text)), (skill, "")),
        )

    def disconnect(self, place: Path, env: Env, note: dict[str, Any]) -> Removal:
        settings, skill = settings_path(place), skill_path(place)
        old = files.read_text(settings)
        with files.about(settings):
            new = disconnect(old, note.get("settings"))
        plan: list[FileWrite] = []
        removed: list[tuple[Path, str]] = []
        if new != old:
            plan.append(FileWrite(settings, None if new is None else new.encode()))
            removed.append((settings, hook_settings.counted(SPEC, old)))
        current = files.read_bytes(skill)
        if taken := remove_skill(place, current, note.get("skill_sha256")):
            plan.extend(taken)
            removed.append((skill, ""))
        left = (skill,) if current is not None and note and not taken else ()
        return Removal(tuple(plan), tuple(removed), left)

    def installed(self, place: Path, env: Env) -> int:
        with files.about(settings_path(place)):
            return len(connected(files.read_text(settings_path(place))))

    def switched_off(self, place: Path, env: Env) -> str | None:
        here = env.cwd / ".claude"
        for path in (MANAGED, settings_path(place), here / "settings.json", here / "settings.local.json"):
            try:
                text = files.read_text(path)
                if switched_off(text):
                    return f"`disableAllHooks` in {path}"
                if path == MANAGED and hook_settings.is_true(text, "allowManagedHooksOnly"):
                    return f"`allowManagedHooksOnly` in {path}"
            except MemError:
                continue  # a file that the host cannot read either
        return None

    def findings(self, place: Path, env: Env) -> Iterator[Finding]:
        skill = skill_path(place)
        if files.read_bytes(skill) == skill_bytes():
            yield Finding(OK, "skill", str(skill))
        else:
            yield Finding(
                LOOK,
                "skill",
                f"{skill} is missing or not what git mem writes",
                f"git mem connect {self.name}",
            )

    def sample(self, prompt: str, session: str, cwd: Path) -> dict[str, Any]:
        return {
            "session_id": session,
            "cwd": str(cwd),
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        }


HOST = ClaudeCode()

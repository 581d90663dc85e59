"""Connect a host to the memory and take the connection back: its configuration files, the agent entry, this computer's record.

In: a context and a host's name. Out: values that say what was written, what was found, what is wrong. What was
written is noted in `<state>/hosts/<host>.json`, so that `disconnect` takes out that and nothing else; the note
holds places and hashes, never the person's own settings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitmem.authoring import projects
from gitmem.config import Env
from gitmem.context import Context
from gitmem.errors import Refused
from gitmem.hosts import claude_code, files
from gitmem.hosts.files import FileWrite, Plan
from gitmem.model.registry import Agent

# host -> the folder in HOME that shows that somebody uses it
HOSTS = {
    "claude-code": ".claude",
    "codex": ".codex",
    "hermes": ".hermes",
    "pi": ".pi",
    "openclaw": ".openclaw",
}
CONNECTABLE = ("claude-code",)


@dataclass(frozen=True, slots=True)
class Connected:
    """`wrote`: files and what of ours stands in them; `already`: they held it before this call."""

    host: str
    agent: Agent
    wrote: tuple[tuple[Path, str], ...]
    already: bool


@dataclass(frozen=True, slots=True)
class Disconnected:
    """`removed`: files and what was taken out of them; `left`: ours once, changed since; `revoked`: the agent's entry."""

    host: str
    removed: tuple[tuple[Path, str], ...]
    left: tuple[Path, ...]
    revoked: bool
    kept_for_others: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A host on this computer. `folder` None: no sign of it; `agent`: as whom it is connected to this memory."""

    host: str
    folder: Path | None
    hooks: int
    agent: str | None
    problem: str = ""

    @property
    def connected(self) -> bool:
        return self.agent is not None and self.hooks == len(claude_code.TIMEOUTS_S)


def connectable(hosts: Sequence[str]) -> None:
    """Refuse, before anything is written, what cannot be connected.

    Raises:
        Refused: an unknown host, or one that has to wait.
    """
    for host in hosts:
        if host in CONNECTABLE:
            continue
        if host in HOSTS:
            raise Refused(
                f"`{host}` cannot be connected yet",
                [
                    f"tell it to run: git mem search WORDS, and git mem recall PROMPT, with GIT_MEM_AGENT={host}",
                    f"git mem agent add {host} --profile working",
                ],
            )
        raise Refused(f"no host `{host}`", ["hosts are " + ", ".join(CONNECTABLE)])


def connect(context: Context, host: str, profile: str | None = None, read: Sequence[str] = ()) -> Connected:
    """Register the agent, write the host's hooks and skill, note what was written.

    Args:
        profile: None: the agent's own, or `working` for a new one.
        read: scopes it may read; empty: its own, or those the profile speaks of for a new one.

    Raises:
        Refused: the host cannot be connected, its settings cannot be edited, the caller is no person.
    """
    connectable([host])
    place = claude_code.config_dir(context.env.vars)
    record = _record(context, host)
    note = record["places"].get(str(place), {})
    settings, skill = claude_code.settings_path(place), claude_code.skill_path(place)
    old = files.read_text(settings)
    made = claude_code.connect(old, note.get("settings"))
    skill_plan = claude_code.write_skill(place, files.read_bytes(skill), note.get("skill_sha256"))
    plan: Plan = (*((FileWrite(settings, made.text.encode()),) if made.text != old else ()), *skill_plan)
    agent = _register(context, host, profile, read)
    note = {
        "settings": made.journal,
        "skill_sha256": hashlib.sha256(claude_code.skill_bytes()).hexdigest(),
        "made": note.get("made", []),
    }
    # noted first: a crash between the two leaves a note that fits no file, and disconnecting then goes by what it finds
    _keep(context, host, {**record, "places": {**record["places"], str(place): note}})
    folders = files.apply(plan)
    note["made"] = list(dict.fromkeys([*note["made"], *map(str, folders)]))
    _keep(context, host, {**record, "places": {**record["places"], str(place): note}})
    _set(context, host, host)
    return Connected(host, agent, ((settings, _hooks(made.text)), (skill, "")), already=not plan)


def disconnect(context: Context | None, env: Env, host: str) -> Disconnected:
    """Take our hooks and skill out of the host's files; without a memory too.

    Raises:
        Refused: the settings cannot be edited.
    """
    connectable([host])
    record = _record(context, host) if context else {"places": {}}
    removed: list[tuple[Path, str]] = []
    left: list[Path] = []
    plan: list[FileWrite] = []
    for place in dict.fromkeys([*record["places"], str(claude_code.config_dir(env.vars))]):
        plan += _take_out(Path(place), record["places"].get(place, {}), removed, left)
    revoked = shared = False
    name = context.memory.setting(key(host)) if context else None
    if context and name is not None:
        entry = context.registry.agents.get(name)
        # on another computer the same entry may serve the same host
        shared = any(key.startswith("remote.") and key.endswith(".url") for key in context.memory.config)
        if entry is not None and entry.status == "active" and not shared:
            projects.revoke_agent(context, name)
            revoked = True
    files.apply(tuple(plan))
    if context and name is not None:
        context.memory.git.run("config", "--local", "--unset-all", key(host), check=False)
        (context.memory.state / "tokens" / name).unlink(missing_ok=True)
    if context:
        _file(context, host).unlink(missing_ok=True)
    return Disconnected(host, tuple(removed), tuple(left), revoked, kept_for_others=shared)


def found(context: Context | None, env: Env, host: str) -> Found:
    """What there is of a host on this computer, and whether it is connected to this memory."""
    folder = (
        claude_code.config_dir(env.vars)
        if host == "claude-code"
        else env.home / HOSTS[host]
        if env.home
        else None
    )
    folder = folder if folder is not None and folder.is_dir() else None
    agent = context.memory.setting(key(host)) if context else None
    if host not in CONNECTABLE or folder is None:
        return Found(host, folder, 0, agent)
    try:
        text = files.read_text(claude_code.settings_path(folder))
        return Found(host, folder, len(claude_code.connected(text)), agent)
    except Refused as error:
        return Found(host, folder, 0, agent, error.message)


def _take_out(
    place: Path, note: dict[str, Any], removed: list[tuple[Path, str]], left: list[Path]
) -> list[FileWrite]:
    settings, skill = claude_code.settings_path(place), claude_code.skill_path(place)
    folders = tuple(Path(folder) for folder in note.get("made", ()))
    old = files.read_text(settings)
    new = claude_code.disconnect(old, note.get("settings"))
    plan: list[FileWrite] = []
    if new != old:
        plan.append(FileWrite(settings, None if new is None else new.encode(), folders=folders))
        removed.append((settings, _hooks(old)))
    current = files.read_bytes(skill)
    taken = claude_code.remove_skill(place, current, note.get("skill_sha256"), folders)
    if taken:
        plan.extend(taken)
        removed.append((skill, ""))
    elif current is not None and note:
        left.append(skill)
    return plan


def _register(context: Context, host: str, profile: str | None, read: Sequence[str]) -> Agent:
    before = context.registry.agents.get(host)
    chosen = profile or (before.profile if before else "working")
    write: Sequence[str] = ()
    rule = context.registry.profiles.get(chosen)
    if before is None and not read and rule is not None and rule.scopes == ("personal",):
        read = write = ("personal",)
    fresh = before is None or before.status != "active"
    agent, _, _ = projects.add_agent(context, host, chosen, tuple(read), tuple(write), renew=fresh)
    return agent


def _hooks(text: str | None) -> str:
    count = len(claude_code.connected(text))
    return f"{count} hook{'' if count == 1 else 's'}"


def key(host: str) -> str:
    """The local setting that says which agent a host is on this computer."""
    return f"mem.host.{host}.agent"


def _set(context: Context, host: str, agent: str) -> None:
    if context.memory.setting(key(host)) != agent:
        context.memory.git.run("config", "--local", "--replace-all", key(host), agent)


def _file(context: Context, host: str) -> Path:
    return context.memory.state / "hosts" / f"{host}.json"


def _record(context: Context, host: str) -> dict[str, Any]:
    """What was noted: host folder -> journal of its settings, hash of the skill, folders that were made."""
    try:
        kept = json.loads(_file(context, host).read_text(encoding="utf-8"))
        if kept["version"] == 1 and isinstance(kept["places"], dict):
            return kept
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {"version": 1, "places": {}}


def _keep(context: Context, host: str, record: dict[str, Any]) -> None:
    files.apply((FileWrite(_file(context, host), (json.dumps(record) + "\n").encode(), 0o600),))

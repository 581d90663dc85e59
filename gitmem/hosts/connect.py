"""Connect a host to the memory and take the connection back: its configuration files, the agent entry, this computer's record.

In: a context and a host's name. Out: values that say what was written, what was found, what is wrong. What was
written is noted in `<state>/hosts/<host>.json`, so that `disconnect` takes out that and nothing else; the note
holds places and hashes, never the person's own settings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitmem.authoring import projects
from gitmem.config import Env
from gitmem.context import Context
from gitmem.errors import Refused
from gitmem.hosts import files, known
from gitmem.hosts.files import FileWrite
from gitmem.model.registry import Agent

CONNECTABLE = tuple(known.MODULES)
HOSTS = (*CONNECTABLE, *(name for name in known.WAITING if name not in CONNECTABLE))


@dataclass(frozen=True, slots=True)
class Connected:
    """`wrote`: files and what of ours stands in them; `already`: they held it before this call; `you`: what is left to the person;
    `fresh`: the host's folder, where it was not there before."""

    host: str
    agent: Agent
    wrote: tuple[tuple[Path, str], ...]
    already: bool
    you: tuple[str, ...] = ()
    fresh: Path | None = None


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
        return self.agent is not None and self.hooks >= known.host(self.host).events


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
    how = known.host(host)
    place = how.folder(context.env)
    if place is None:
        raise Refused(f"cannot tell where `{host}` keeps its settings", ["set HOME"])
    record = _record(context, host)
    before = record["places"].get(str(place), {})
    fresh = None if place.is_dir() else place
    made = how.connect(place, context.env, before)
    agent = _register(context, host, profile, read)
    note = {**made.note, "made": before.get("made", [])}
    # noted first: a crash between the two leaves a note that fits no file, and disconnecting then goes by what it finds
    _keep(context, host, {**record, "places": {**record["places"], str(place): note}})
    folders = files.apply(made.plan)
    note["made"] = list(dict.fromkeys([*note["made"], *map(str, folders)]))
    _keep(context, host, {**record, "places": {**record["places"], str(place): note}})
    _set(context, host, host)
    return Connected(host, agent, made.wrote, already=not made.plan, you=made.you, fresh=fresh)


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
    how = known.host(host)
    usual = how.folder(env)
    for place in dict.fromkeys([*record["places"], *([str(usual)] if usual else ())]):
        note = record["places"].get(place, {})
        out = how.disconnect(Path(place), env, note)
        made = tuple(Path(folder) for folder in note.get("made", ()))
        plan += [
            replace(write, folders=(*write.folders, *made)) if write.new_bytes is None else write
            for write in out.plan
        ]
        removed += out.removed
        left += out.left
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
    if host in known.MODULES:
        folder = known.host(host).folder(env)
    else:
        folder = env.home / known.WAITING[host] if env.home else None
    folder = folder if folder is not None and folder.is_dir() else None
    agent = context.memory.setting(key(host)) if context else None
    if host not in CONNECTABLE or folder is None:
        return Found(host, folder, 0, agent)
    try:
        return Found(host, folder, known.host(host).installed(folder, env), agent)
    except Refused as error:
        return Found(host, folder, 0, agent, error.message)


def _register(context: Context, host: str, profile: str | None, read: Sequence[str]) -> Agent:
    before = context.registry.agents.get(host)
    chosen = profile or (before.profile if before else known.host(host).profile)
    write: Sequence[str] = ()
    rule = context.registry.profiles.get(chosen)
    if before is None and not read and rule is not None and rule.scopes == ("personal",):
        read = write = ("personal",)
    fresh = before is None or before.status != "active"
    agent, _, _ = projects.add_agent(context, host, chosen, tuple(read), tuple(write), renew=fresh)
    return agent


def key(host: str) -> str:
    """The local setting that says which agent a host is on this computer."""
    return f"mem.host.{host}.agent"


def _set(context: Context, host: str, agent: str) -> None:
    if context.memory.setting(key(host)) != agent:
        context.memory.git.run("config", "--local", "--replace-all", key(host), agent)


def _file(context: Context, host: str) -> Path:
    return context.memory.state / "hosts" / f"{host}.json"


def _record(context: Context, host: str) -> dict[str, Any]:
    """What was noted: the host's folder -> its own note, and the folders that were made."""
    try:
        kept = json.loads(_file(context, host).read_text(encoding="utf-8"))
        if kept["version"] == 1 and isinstance(kept["places"], dict):
            return kept
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {"version": 1, "places": {}}


def _keep(context: Context, host: str, record: dict[str, Any]) -> None:
    files.apply((FileWrite(_file(context, host), (json.dumps(record) + "\n").encode(), 0o600),))

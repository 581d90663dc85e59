"""Does a connection work? A sample prompt through the real hook, and what stands in its way otherwise.

In: a context whose memory a host was connected to. Out: values; the words of `Finding` are for people.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gitmem import identity
from gitmem.context import Context
from gitmem.errors import MemError
from gitmem.git import locate
from gitmem.hosts import claude_code, connect, files
from gitmem.hosts.claude_code_events import TRIAL_SESSION
from gitmem.hosts.claude_code_hooks import COMMAND, TIMEOUTS_S
from gitmem.hosts.hook import GUARDS
from gitmem.hosts.json_read import parse
from gitmem.recall import log

OK, FIX, LOOK = "ok", "FIX", "look"
MANAGED = Path("/etc/claude-code/managed-settings.json")
# What would make the trial another call than the host's own.
_NOT_THE_HOSTS = ("GIT_MEM_AGENT", "GIT_MEM_TOKEN", "GIT_MEM_OFF", "CLAUDE_CODE_ENTRYPOINT", *GUARDS)


@dataclass(frozen=True, slots=True)
class Trial:
    """`reached`: the hook ran in this memory; `asked`: there was a card to ask for; `problem`: why it failed."""

    reached: bool
    asked: bool
    answered: bool
    seconds: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """`level` is `ok`, `FIX` or `look`; `fix`: what to do about it, mostly a command."""

    level: str
    what: str
    words: str
    fix: str = ""


def trial(context: Context, host: str) -> Trial:
    """Ask, as the host would, for the newest card that its agent hears. Nothing of the call is remembered."""
    sample = _sample(context, host)
    event = {
        "session_id": TRIAL_SESSION,
        "cwd": str(context.memory.root),
        "hook_event_name": "UserPromptSubmit",
        "prompt": f"As I usually do: {sample}",
    }
    for attempt in (1, 2):
        found = _run(context, json.dumps(event).encode(), bool(sample))
        # the first call of all also fills the disk's cache
        if found.answered or attempt == 2 or not (sample and found.reached):
            break
    return found


def _run(context: Context, event: bytes, asked: bool) -> Trial:
    variables = {key: value for key, value in context.env.vars.items() if key not in _NOT_THE_HOSTS}
    before = len(log.entries(context.memory.state))
    began = time.monotonic()
    try:
        done = subprocess.run(
            COMMAND,
            shell=True,
            input=event,
            capture_output=True,
            env=variables,
            cwd=context.env.cwd,
            timeout=TIMEOUTS_S["UserPromptSubmit"],
        )
    except subprocess.TimeoutExpired:
        return Trial(False, asked, False, time.monotonic() - began, "it did not end")
    seconds = time.monotonic() - began
    if done.returncode != 0:
        words = (
            done.stderr.decode("utf-8", "replace").strip().split("\n")[0] or f"exit code {done.returncode}"
        )
        return Trial(False, asked, False, seconds, words)
    noted = log.entries(context.memory.state)[before:]
    failed = next((entry["error"] for entry in noted if entry.get("event") == "hook failed"), "")
    return Trial(bool(noted), asked, done.stdout.startswith(b"{"), seconds, failed)


def _sample(context: Context, host: str) -> str:
    """The conclusion of the newest live card that the host's agent hears anywhere; empty when there is none."""
    from gitmem.authoring.commit import cards_now
    from gitmem.model import live
    from gitmem.recall import scope

    memory = locate.refreshed(context.memory)
    now = context.with_memory(memory)
    caller = identity.resolve(replace(context.env, host=host, agent=None, token=None), now.registry, memory)
    heard = scope.resolve(caller, now.registry, None, "", None)
    catalogue = cards_now(now)
    try:
        for item in catalogue.items("kind = 'card' AND type IS NOT NULL", (), "created DESC, id"):
            similar = now.registry.types[item.type or ""].recalled == "similarity"
            if (
                similar
                and heard.holds(item.scope, item.type)
                and live.status(catalogue, item.id, now.registry, now.now).live
            ):
                return item.l0
        return ""
    finally:
        catalogue.close()


def check(context: Context, host: str) -> list[Finding]:
    """What works and what does not, in the order in which one would look."""
    found = [*_files(context, host), *_agent(context, host), *_way_here(context)]
    if not any(one.level == FIX for one in found):
        found.append(_tried(context, host))
    return [*found, _last_prompt(context, host)]


def _files(context: Context, host: str) -> Iterator[Finding]:
    folder = claude_code.config_dir(context.env.vars)
    settings, skill = claude_code.settings_path(folder), claude_code.skill_path(folder)
    again = f"git mem connect {host}"
    try:
        text = files.read_text(settings)
        here = claude_code.connected(text)
    except MemError as error:
        yield Finding(FIX, "hooks", error.message, "mend it, then " + again)
        return
    missing = [event for event in TIMEOUTS_S if event not in here]
    if missing:
        yield Finding(FIX, "hooks", f"none for {', '.join(missing)} in {settings}", again)
    else:
        yield Finding(OK, "hooks", f"{len(here)} of {len(TIMEOUTS_S)} in {settings}")
    for path, words in _switched_off(context.env.cwd, settings):
        yield Finding(
            FIX, "switched off", f"{words} in {path} keeps our hooks from running", f"take it out of {path}"
        )
    if files.read_bytes(skill) == claude_code.skill_bytes():
        yield Finding(OK, "skill", str(skill))
    else:
        yield Finding(LOOK, "skill", f"{skill} is missing or not what git mem writes", again)


def _switched_off(cwd: Path, settings: Path) -> Iterator[tuple[Path, str]]:
    """Settings files, of everybody or of this folder, that keep hooks from running."""
    for path in (
        MANAGED,
        settings,
        cwd / ".claude" / "settings.json",
        cwd / ".claude" / "settings.local.json",
    ):
        try:
            text = files.read_text(path)
            if claude_code.switched_off(text):
                yield path, "`disableAllHooks`"
            if (
                path == MANAGED
                and text
                and (only := parse(text).root.get("allowManagedHooksOnly"))
                and only.value is True
            ):
                yield path, "`allowManagedHooksOnly`"
        except MemError:
            continue  # a file that the host cannot read either


def _agent(context: Context, host: str) -> Iterator[Finding]:
    name = context.memory.setting(connect.key(host))
    entry = context.registry.agents.get(name) if name else None
    if entry is None or entry.status != "active":
        words = (
            "not connected to this memory"
            if name is None
            else f"`{name}` is revoked"
            if entry
            else f"`{name}` is not registered"
        )
        yield Finding(FIX, "agent", words, f"git mem connect {host}")
    else:
        yield Finding(OK, "agent", f"`{name}`, profile `{entry.profile}`, reads {', '.join(entry.read)}")


def _way_here(context: Context) -> Iterator[Finding]:
    """From the host's shell to this memory."""
    if not reachable(context):
        yield Finding(
            FIX,
            "command",
            "`git mem` is not on PATH",
            "put the folder of `git-mem` on the PATH that the host is started with",
        )
    if (words := looks_elsewhere(context)) is not None:
        yield Finding(FIX, "memory", words, f"git config --global mem.repo '{context.memory.root}'")


def _tried(context: Context, host: str) -> Finding:
    found = trial(context, host)
    if found.problem or not found.reached:
        return Finding(
            FIX, "trial", found.problem or "the hook ran, but not in this memory", "git mem status"
        )
    return Finding(
        OK,
        "trial",
        f"a sample prompt was {'answered' if found.answered else 'heard'} in {found.seconds:.1f} s",
    )


def reachable(context: Context) -> bool:
    """Whether git finds `git-mem` with the PATH we have."""
    if shutil.which("git-mem", path=context.env.vars.get("PATH", os.defpath)):
        return True
    return (Path(context.memory.git.run("--exec-path").text()) / "git-mem").exists()


def looks_elsewhere(context: Context) -> str | None:
    """Where a hook would find its memory, when that is not this one."""
    try:
        found = locate.find(replace(context.env, terminal=False), only_configured=True)
    except MemError:
        return "hooks find no memory: `mem.repo` is not set for all folders"
    return (
        None if found.common_dir == context.memory.common_dir else f"hooks use another memory, {found.root}"
    )


def _last_prompt(context: Context, host: str) -> Finding:
    name = context.memory.setting(connect.key(host)) or host
    turns = [
        entry
        for entry in log.entries(context.memory.state)
        if entry.get("automatic") and entry.get("agent") == name
    ]
    if not turns:
        return Finding(
            LOOK, "last prompt", "none seen yet", "start a new session of the host and type something"
        )
    said = len(turns[-1].get("said", ()))
    return Finding(
        OK,
        "last prompt",
        f"{turns[-1]['at']}, {'nothing' if not said else f'{said} note' + 's' * (said > 1)} said",
    )

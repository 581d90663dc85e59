"""Does a connection work? A sample prompt through the real hook, and what stands in its way otherwise.

In: a context whose memory a host was connected to. Out: values; the words of `Finding` are for people.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from gitmem import identity
from gitmem.context import Context
from gitmem.errors import MemError
from gitmem.git import locate
from gitmem.hosts import connect, known
from gitmem.hosts.events import TRIAL_SESSION
from gitmem.hosts.hook import GUARDS, TRIAL_NOTE
from gitmem.hosts.protocol import FIX, LOOK, OK, Finding, Host
from gitmem.recall import log

# What would make the trial another call than the host's own.
_NOT_THE_HOSTS = ("GIT_MEM_AGENT", "GIT_MEM_TOKEN", "GIT_MEM_OFF", "CLAUDE_CODE_ENTRYPOINT", *GUARDS)


@dataclass(frozen=True, slots=True)
class Trial:
    """`reached`: the hook ran in this memory; `asked`: there was a card to ask for; `problem`: why it failed;
    `empty`: there is no card at all."""

    reached: bool
    asked: bool
    answered: bool
    seconds: float
    problem: str = ""
    empty: bool = False


def trial(context: Context, host: str) -> Trial:
    """Ask, as the host would, for the newest card that its agent hears. Nothing of the call is remembered."""
    sample, empty = _sample(context, host)
    how = known.host(host)
    event = how.sample(f"As I usually do: {sample}", TRIAL_SESSION, context.memory.root)
    for attempt in (1, 2):
        found = _run(context, how, json.dumps(event).encode(), bool(sample))
        # the first call of all also fills the disk's cache
        if found.answered or attempt == 2 or not (sample and found.reached):
            break
    return replace(found, empty=empty)


def _run(context: Context, how: Host, event: bytes, asked: bool) -> Trial:
    variables = {key: value for key, value in context.env.vars.items() if key not in _NOT_THE_HOSTS}
    with tempfile.TemporaryDirectory(prefix="git-mem-trial-") as folder:
        note = Path(folder) / "note.json"
        note.touch(mode=0o600)
        return _run_noted(context, how, event, asked, {**variables, TRIAL_NOTE: str(note)}, note)


def _run_noted(
    context: Context, how: Host, event: bytes, asked: bool, variables: dict[str, str], note: Path
) -> Trial:
    """Run the hook, which leaves in `note` what otherwise stands in the log."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            how.command,
            shell=True,
            input=event,
            capture_output=True,
            env=variables,
            cwd=context.env.cwd,
            timeout=how.timeout_s,
        )
    except subprocess.TimeoutExpired:
        return Trial(False, asked, False, time.monotonic() - began, "it did not end")
    seconds = time.monotonic() - began
    if done.returncode != 0:
        words = (
            done.stderr.decode("utf-8", "replace").strip().split("\n")[0] or f"exit code {done.returncode}"
        )
        return Trial(False, asked, False, seconds, words)
    try:
        told = json.loads(note.read_text(encoding="utf-8") or "{}")
    except (OSError, ValueError):
        told = {}
    reached = told.get("memory") == str(context.memory.common_dir)
    return Trial(reached, asked, done.stdout.startswith(b"{"), seconds, told.get("error", ""))


def _sample(context: Context, host: str) -> tuple[str, bool]:
    """The conclusion of the newest live card that the host's agent hears anywhere, empty when there is none; and
    whether the memory has no card at all."""
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
                return item.l0, False
        return "", not catalogue.count("kind = 'card'")
    finally:
        catalogue.close()


def check(context: Context, host: str) -> list[Finding]:
    """What works and what does not, in the order in which one would look."""
    found = [*_files(context, host), *_agent(context, host), *_way_here(context)]
    if not any(one.level == FIX for one in found):
        found.append(_tried(context, host))
    return [*found, _last_prompt(context, host)]


def _files(context: Context, host: str) -> Iterator[Finding]:
    how, env, again = known.host(host), context.env, f"git mem connect {host}"
    place = how.folder(env)
    if place is None:
        yield Finding(FIX, "hooks", f"cannot tell where `{host}` keeps its settings", "set HOME")
        return
    try:
        here = how.installed(place, env)
    except MemError as error:
        yield Finding(FIX, "hooks", error.message, "mend it, then " + again)
        return
    level = OK if here >= how.events else FIX
    yield Finding(level, "hooks", f"{here} of {how.events} in {place}", "" if level == OK else again)
    if words := how.switched_off(place, env):
        yield Finding(FIX, "switched off", f"{words} keeps our hooks from running", "take it out")
    yield from how.findings(place, env)


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
        yield Finding(FIX, "memory", words, f"git config --global mem.repo {quote(str(context.memory.root))}")


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
        level, fix = known.host(host).unheard
        words = "none seen yet" if level == LOOK else "the hook is written but has never run"
        return Finding(level, "last prompt", words, fix)
    said = len(turns[-1].get("said", ()))
    return Finding(
        OK,
        "last prompt",
        f"{turns[-1]['at']}, {'nothing' if not said else f'{said} note' + 's' * (said > 1)} said",
    )

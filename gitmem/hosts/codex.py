"""Codex: what `git mem connect codex` writes into its folder, and takes out again.

`hooks.json` gets our hooks; a marked block teaches the agent our commands, in `AGENTS.override.md` where there is one
with words in it, as Codex then reads no `AGENTS.md` beside it, else in `AGENTS.md`.

Source: Codex' documentation of hooks, configuration and AGENTS.md. Codex runs a hook only after the person has trusted
it; the trust is bound to command and timeout, so neither may ever change. `timeout` is in seconds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitmem import resources
from gitmem.config import Env
from gitmem.errors import MemError
from gitmem.hosts import files, hook_settings, marked_block
from gitmem.hosts.files import FileWrite
from gitmem.hosts.hook_groups import Spec, says_us
from gitmem.hosts.marked_block import Block
from gitmem.hosts.protocol import FIX, LOOK, OK, Connection, Finding, Removal

# Stable for ever, with the order of keys that `Spec.group` gives.
SPEC = Spec(
    "codex",
    {"SessionStart": 5, "UserPromptSubmit": 5, "Stop": 5},
    {"SessionStart": "startup|resume|clear|compact"},
)
TRUST = f"in Codex: /hooks, then trust `{SPEC.command}`"
BEGIN, END = "<!-- git mem: begin; git mem disconnect codex takes it out -->", "<!-- git mem: end -->"
# Codex reads no more of all AGENTS.md files together unless `project_doc_max_bytes` says otherwise.
READ_BYTES = 32 * 1024


def block() -> Block:
    return Block(BEGIN, END, tuple(resources.read_text("templates/codex/AGENTS.md").strip().split("\n")))


def hooks_path(place: Path) -> Path:
    return place / "hooks.json"


def agents_paths(place: Path) -> tuple[Path, Path]:
    """The files that may hold the block; the first of them with words in it is the one that Codex reads."""
    return place / "AGENTS.override.md", place / "AGENTS.md"


def read_by_codex(place: Path) -> Path:
    override, usual = agents_paths(place)
    text = files.read_text(override)
    # a file that holds nothing but our block would keep the person's AGENTS.md unread
    return override if (marked_block.take(block(), text) or "").strip("\ufeff \t\r\n") else usual


class Codex:
    """See `gitmem.hosts.protocol.Host`."""

    name = SPEC.host
    profile = "working"
    command = SPEC.command
    timeout_s = 5.0
    unheard = (FIX, f"{TRUST}; a Codex from before May 2026 also wants `[features] codex_hooks = true`")

    @property
    def events(self) -> int:
        return len(SPEC.timeouts_s)

    def folder(self, env: Env) -> Path | None:
        if chosen := env.vars.get("CODEX_HOME"):
            return Path(chosen)
        return env.home / ".codex" if env.home else None

    def connect(self, place: Path, env: Env, note: dict[str, Any]) -> Connection:
        hooks, our = hooks_path(place), block()
        old = files.read_text(hooks)
        with files.about(hooks):
            made = hook_settings.connect(SPEC, old, note.get("hooks"))
        plan = [FileWrite(hooks, made.text.encode())] if made.text != old else []
        blocks = dict(note.get("blocks", {}))
        chosen = read_by_codex(place)
        for path in agents_paths(place):
            text, known = files.read_text(path), blocks.get(path.name)
            if path == chosen:
                new, blocks[path.name] = marked_block.put(our, text, known)
            else:
                new = marked_block.take(our, text, known)
                blocks.pop(path.name, None)
            if new != text:
                plan.append(FileWrite(path, None if new is None else new.encode()))
        wrote = ((hooks, hook_settings.counted(SPEC, made.text)), (chosen, f"{our.count} marked lines"))
        you = () if old is not None and made.text == old else (f"once, {TRUST}",)
        return Connection(tuple(plan), {"hooks": made.journal, "blocks": blocks}, wrote, you)

    def disconnect(self, place: Path, env: Env, note: dict[str, Any]) -> Removal:
        hooks, our = hooks_path(place), block()
        old = files.read_text(hooks)
        with files.about(hooks):
            new = hook_settings.disconnect(SPEC, old, note.get("hooks"))
        plan: list[FileWrite] = []
        removed: list[tuple[Path, str]] = []
        if new != old:
            plan.append(FileWrite(hooks, None if new is None else new.encode()))
            removed.append((hooks, hook_settings.counted(SPEC, old)))
        for path in agents_paths(place):
            text = files.read_text(path)
            rest = marked_block.take(our, text, note.get("blocks", {}).get(path.name))
            if rest != text:
                plan.append(FileWrite(path, None if rest is None else rest.encode()))
                removed.append((path, "the marked lines"))
        return Removal(tuple(plan), tuple(removed))

    def installed(self, place: Path, env: Env) -> int:
        with files.about(hooks_path(place)):
            return len(hook_settings.connected(SPEC, files.read_text(hooks_path(place))))

    def switched_off(self, place: Path, env: Env) -> str | None:
        for path in (place / "config.toml", env.cwd / ".codex" / "config.toml"):
            features = _table(_config(path), "features")
            for flag in ("hooks", "codex_hooks"):
                if features.get(flag) is False:
                    return f"`[features] {flag} = false` in {path}"
        return None

    def findings(self, place: Path, env: Env) -> Iterator[Finding]:
        again = f"git mem connect {self.name}"
        chosen = read_by_codex(place)
        text = files.read_text(chosen)
        if not marked_block.stands(block(), text):
            elsewhere = [p for p in agents_paths(place) if marked_block.stands(block(), files.read_text(p))]
            words = f"not in {chosen}, which Codex reads" + (
                f" instead of {elsewhere[0]}" if elsewhere else ""
            )
            yield Finding(LOOK, "marked lines", words, again)
        elif len((text or "")[: (text or "").find(END)].encode()) > READ_BYTES:
            yield Finding(
                LOOK,
                "marked lines",
                f"they stand behind the first {READ_BYTES // 1024} KiB of {chosen}, which is all that Codex reads",
                "move them up, or shorten the file",
            )
        else:
            yield Finding(OK, "marked lines", str(chosen))
        config = place / "config.toml"
        try:
            inline = _table(tomllib.loads((files.read_text(config) or "").removeprefix("\ufeff")), "hooks")
        except (MemError, tomllib.TOMLDecodeError) as error:
            yield Finding(LOOK, "config.toml", f"cannot be read: {error}", f"mend {config}")
            return
        if twice := [event for event, groups in inline.items() if _runs_us(groups)]:
            yield Finding(
                LOOK,
                "said twice",
                f"`[hooks]` in {config} runs it too, on {', '.join(twice)}",
                "take ours out of config.toml",
            )
        elif inline:
            yield Finding(
                LOOK,
                "two places",
                f"Codex warns that {config} has `[hooks]` beside hooks.json; both run",
                "nothing has to be done; moving yours to hooks.json ends the warning",
            )

    def sample(self, prompt: str, session: str, cwd: Path) -> dict[str, Any]:
        return {
            "session_id": session,
            "turn_id": session,
            "transcript_path": None,
            "cwd": str(cwd),
            "hook_event_name": "UserPromptSubmit",
            "model": "",
            "permission_mode": "default",
            "prompt": prompt,
        }


def _config(path: Path) -> dict[str, Any]:
    """What Codex' own settings say; nothing where they cannot be read."""
    try:
        return tomllib.loads((files.read_text(path) or "").removeprefix("\ufeff"))
    except (MemError, tomllib.TOMLDecodeError):
        return {}


def _table(config: dict[str, Any], name: str) -> dict[str, Any]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def _runs_us(value: Any) -> bool:
    """Whether a hook of ours stands anywhere inside."""
    if isinstance(value, str):
        return says_us(SPEC.host, value)
    if isinstance(value, dict):
        return any(_runs_us(one) for one in value.values())
    return isinstance(value, list) and any(_runs_us(one) for one in value)


HOST = Codex()

"""The environment, read in one place: who calls, from where, with which switches."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from gitmem.record import record

# What git itself exports for one repository (`git rev-parse --local-env-vars`); none of it may reach another one.
LOCAL_GIT_VARS = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_COUNT",
        "GIT_OBJECT_DIRECTORY",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_REPLACE_REF_BASE",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_COMMON_DIR",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_NAMESPACE",
        "GIT_LITERAL_PATHSPECS",
        "GIT_GLOB_PATHSPECS",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
    }
)
_PERSON_VARS = (
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
)

# Variables by which a host shows that it, and not a person, runs the command.
HOST_VARS = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "HERMES_SESSION_ID": "hermes",
    "PI_CODING_AGENT": "pi",
    "PI_SESSION_ID": "pi",
}


# Where a host tells the programs it starts which session they serve.
SESSION_VARS = (
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_SESSION_ID",
    "CODEX_THREAD_ID",
    "HERMES_SESSION_ID",
    "PI_SESSION_ID",
)


@record()
class Env:
    """What the process was called with. `agent`, `token`: an agent's identity; `host`: a host that shows itself;
    `session`: the session that the host says it is."""

    vars: Mapping[str, str]
    cwd: Path
    home: Path | None
    agent: str | None
    token: str | None
    host: str | None
    repo: str | None
    off: bool
    session: str | None
    terminal: bool

    @property
    def person(self) -> bool:
        return self.agent is None and self.host is None


def from_process() -> Env:
    """The environment of this process."""
    return read(os.environ, _cwd(), sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty())


def read(variables: Mapping[str, str], cwd: Path, terminal: bool = False) -> Env:
    home = variables.get("HOME") or variables.get("USERPROFILE")
    host = next((name for var, name in HOST_VARS.items() if variables.get(var)), None)
    return Env(
        vars=dict(variables),
        cwd=cwd,
        home=Path(home) if home else None,
        agent=variables.get("GIT_MEM_AGENT") or None,
        token=variables.get("GIT_MEM_TOKEN") or None,
        host=host,
        repo=variables.get("GIT_MEM_REPO") or None,
        off=variables.get("GIT_MEM_OFF", "") not in ("", "0", "false", "no"),
        session=next((variables[name] for name in SESSION_VARS if variables.get(name)), None),
        terminal=terminal,
    )


def git_env(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment for git in the memory, whatever repository or hook we were called from.

    Inside another repository's hook, git has also exported that commit's author and dates.
    """
    foreign = "GIT_DIR" in variables or "GIT_INDEX_FILE" in variables
    out = {}
    for key, value in variables.items():
        if key in LOCAL_GIT_VARS or key.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")):
            continue
        if foreign and key in _PERSON_VARS:
            continue
        out[key] = value
    out.setdefault("LC_ALL", "C.UTF-8")
    out["GIT_TERMINAL_PROMPT"] = "0"
    return out


def _cwd() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")

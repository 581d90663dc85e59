"""Start work that nobody waits for: detached, silent, with nothing of the caller's git environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from gitmem import config


def start(*args: str, variables: Mapping[str, str]) -> bool:
    """Run `git-mem ARGS`; False when it could not be started. `-P`: the working folder is never imported from."""
    env = config.git_env(variables)
    env["GIT_MEM_DETACHED"] = "1"
    command = [sys.executable, "-P", "-m", "gitmem", *args]
    try:
        if hasattr(os, "posix_spawn"):
            _spawn(command, env)
        else:
            subprocess.Popen(
                command,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                creationflags=0x00000008,
            )
    except OSError:
        return False
    return True


def _spawn(command: list[str], env: Mapping[str, str]) -> None:
    """A child in a session of its own that nobody waits for; whoever adopts it reaps it."""
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    try:
        os.posix_spawn(command[0], command, env, file_actions=null, setsid=True)
    except NotImplementedError:
        os.posix_spawn(command[0], command, env, file_actions=null, setpgroup=0)


def index(root: Path, variables: Mapping[str, str]) -> bool:
    """Finish the index in the background; a second one finds the lock held and leaves."""
    return start("--repo", str(root), "index", "--quiet", variables=variables)

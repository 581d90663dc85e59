"""Start work that nobody waits for: detached, silent, with nothing of the caller's git environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from gitmem import config


def start(*args: str, cwd: Path, variables: Mapping[str, str]) -> bool:
    """Run `git-mem ARGS` in `cwd`; False when it could not be started. `-P`: `cwd` is never imported from."""
    env = config.git_env(variables)
    env["GIT_MEM_DETACHED"] = "1"
    kinds: dict[str, object] = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x00000008}
    try:
        subprocess.Popen(
            [sys.executable, "-P", "-m", "gitmem", *args],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=True,
            **kinds,  # type: ignore[arg-type]
        )
    except OSError:
        return False
    return True


def index(root: Path, variables: Mapping[str, str]) -> bool:
    """Finish the index in the background; a second one finds the lock held and leaves."""
    return start("--repo", str(root), "index", "--quiet", cwd=root, variables=variables)

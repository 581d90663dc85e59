"""Learning that nobody starts: at the beginning and the end of sessions one detached run, at most once in a quarter of an hour.

Without a yes to learning (`git config mem.learn`), sessions are only captured, on this computer. Hosts wait for the caller
of `start`, so nothing heavy is imported here.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from gitmem import detach
from gitmem.config import Env
from gitmem.git.locate import Memory

EVERY_S = 15 * 60
SETTING = "mem.learn"
# Set for the agent that reads in the learner's name: it starts no learning itself.
GUARD = "GIT_MEM_IN_LEARN"


def agreed(memory: Memory) -> bool | None:
    """Whether the person said yes to learning; None: nobody asked yet."""
    value = memory.setting(SETTING)
    return None if value is None else value.casefold() in ("true", "yes", "on", "1")


def start(memory: Memory, env: Env) -> bool:
    """Begin a detached run, unless one began in the last quarter of an hour; whether one was started."""
    if env.off or env.vars.get(GUARD) or not _due(memory.state):
        return False
    command = ("learn", "--auto") if agreed(memory) else ("capture", "--auto")
    return detach.start("--repo", str(memory.root), *command, variables=env.vars)


def _due(state: Path) -> bool:
    """Whether enough time passed; the time counts from now on then. A clock that went back counts as passed."""
    file = state / "learning" / "began"
    try:
        since = time.time() - file.stat().st_mtime
        if 0 <= since < EVERY_S:
            return False
        os.utime(file)
    except FileNotFoundError:
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600)
        except OSError:
            return False
    except OSError:
        return False
    return True

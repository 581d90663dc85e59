"""Sync that nobody starts: after a write and at the start of a session, detached, at most once in five minutes."""

from __future__ import annotations

import os
import time

from gitmem import detach
from gitmem.config import Env
from gitmem.git.locate import Memory

EVERY_S = 300
SETTING = "mem.autosync"


def on(memory: Memory) -> bool:
    return (memory.setting(SETTING) or "").casefold() in ("true", "yes", "on", "1")


def start(memory: Memory, env: Env) -> bool:
    """Begin a detached sync, when it is switched on and none began in the last five minutes; whether one was started."""
    if not on(memory) or env.vars.get("GIT_MEM_NO_SYNC"):
        return False
    file = memory.state / "sync.began"
    try:
        if file.exists() and 0 <= time.time() - file.stat().st_mtime < EVERY_S:
            return False
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        os.utime(file)
    except OSError:
        return False
    return detach.start("--repo", str(memory.root), "sync", "--auto", variables=env.vars)

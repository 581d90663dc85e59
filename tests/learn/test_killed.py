"""A run that is killed anywhere, and one more: together they are as one that was not."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.learn.told import Claude, Codex, Hermes, Pi

# Runs capture with the system calls that make things durable counted; the process dies at the one it was told.
DRIVER = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
from gitmem import config, context
from gitmem.learn import capture
stop, when, home = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
count = 0
def deadly(real):
    def call(*args, **more):
        global count
        count += 1
        if count == stop and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = real(*args, **more)
        if count == stop and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    return call
os.replace, os.fsync = deadly(os.replace), deadly(os.fsync)
made = context.build(config.from_process(), now=datetime.fromisoformat("2026-11-22T09:00:00+00:00"))
capture.run(made, ("claude-code", "codex", "hermes", "pi"), home=home, variables={})
print(count)
"""


def _hosts(home: Path) -> None:
    Claude().talk("One", "Two", "Three").put(home)
    Claude("dddddddd-0000-4000-8000-000000000004", start=50).talk("Short").put(home)
    Codex(start=100).talk("One", "Two", "Three").put(home)
    Pi(start=300).talk("One", "Two", "Three").put(home)
    told = Hermes(home / ".hermes" / "state.db")
    told.session("h1")
    told.talk("h1", "One", "Two", "Three")
    told.close()


def _state(memory) -> dict[str, object]:
    """Everything a run leaves, without the moment of writing."""
    found = {}
    for part in ("digests", "cursors"):
        for file in sorted((memory.state / part).rglob("*")):
            if file.is_file():
                value = json.loads(file.read_bytes()) if file.suffix == ".json" else "?"
                if isinstance(value, dict):
                    value.pop("captured", None)
                found[file.relative_to(memory.state).as_posix()] = value
    return found


def _wipe(memory) -> None:
    for part in ("digests", "cursors"):
        shutil.rmtree(memory.state / part, ignore_errors=True)


def test_killed_before_and_after_every_step_nothing_is_lost_or_doubled(memory, home):
    _hosts(home)

    def drive(stop: int, when: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", DRIVER, str(stop), when, str(home)]
        return subprocess.run(command, capture_output=True, timeout=60)

    drive(0, "never")  # the settings are compiled once
    _wipe(memory)
    clean = drive(0, "never")
    steps, expected = int(clean.stdout), _state(memory)
    assert len([name for name in expected if name.startswith("digests/")]) == 4
    for stop in range(1, steps + 1):
        _wipe(memory)
        when = "before" if stop % 2 else "after"
        assert drive(stop, when).returncode == -signal.SIGKILL
        again = drive(0, "never")
        assert (again.returncode, _state(memory)) == (0, expected), f"step {stop} of {steps}, {when}"


def test_killed_at_random_moments_nothing_is_lost_or_doubled(memory, home):
    _hosts(home)
    command = [sys.executable, "-m", "gitmem", "capture", "--home", str(home), "--since", "2026-11-01"]
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    took_s, expected = time.monotonic() - began, _state(memory)
    chance = random.Random(4)
    for _ in range(4):
        _wipe(memory)
        for _ in range(2):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.4, 1.0) * took_s)
            process.kill()
            process.wait()
        subprocess.run(command, check=True, capture_output=True)
        assert _state(memory) == expected

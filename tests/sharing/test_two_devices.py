"""Random work on two devices ends in one memory. With GIT_MEM_SOAK=1 at length."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import pytest

from tests.sharing import simulate

SOAK = bool(os.environ.get("GIT_MEM_SOAK"))
SEEDS = range(1, 7) if SOAK else (1, 2)
OPERATIONS = 200 if SOAK else 18


@pytest.mark.parametrize("seed", SEEDS)
def test_two_devices_end_with_the_same_memory_and_no_card_lost(devices, seed):
    a, b, _ = devices
    found = simulate.run((a, b), seed, OPERATIONS)
    assert found["cards"] > 0


def test_a_sync_killed_anywhere_is_finished_by_the_next(devices):
    a, b, _ = devices
    dice = random.Random(3)
    for number in range(50 if SOAK else 6):
        a.add(f"Of a {number}"), b.add(f"Of b {number}")
        a.sync()
        env = {**os.environ, "HOME": str(b.home), "GIT_CONFIG_GLOBAL": str(b.home / ".gitconfig")}
        one = subprocess.Popen(
            [sys.executable, "-m", "gitmem", "sync"],
            cwd=b.home,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            one.wait(dice.uniform(0.05, 1.2))
        except subprocess.TimeoutExpired:
            os.killpg(one.pid, signal.SIGKILL)
            one.wait()
        assert b.git("fsck", "--no-dangling") == ""
        assert b.mem("check", "--all").code == 0
    for one in (b, a, b):
        assert one.sync().code == 0
    assert a.cards() == b.cards()
    assert len(a.cards()) == 2 * (50 if SOAK else 6)
    assert b.git("status", "--porcelain") == ""

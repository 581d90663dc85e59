"""Two devices of one person, each with a home of its own, and a bare repository between them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import GITCONFIG, Ran


@dataclass
class Device:
    """One computer: `mem("add", "…")` runs a command line there, `git(…)` git in its memory."""

    home: Path
    run: Callable[..., Ran]

    @property
    def memory(self) -> Path:
        return self.home / "memory"

    def mem(self, *args: str, **options) -> Ran:  # type: ignore[no-untyped-def]
        place = {"HOME": str(self.home), "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig")}
        return self.run(*args, cwd=self.home, env=place, **options)

    def git(self, *args: str, check: bool = True) -> str:
        env = {**os.environ, "HOME": str(self.home), "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig")}
        done = subprocess.run(
            ["git", "-C", str(self.memory), *args], capture_output=True, text=True, env=env, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def add(self, text: str, *options: str) -> str:
        done = self.mem("add", text, "--scope", "global", "--force", *options)
        assert done.code == 0, done.err
        return done.out.split()[0]

    def sync(self, *options: str) -> Ran:
        return self.mem("sync", *options)

    def cards(self) -> set[str]:
        import json

        return {one["conclusion"] for one in json.loads(self.mem("list", "--json").out)["cards"]}


@pytest.fixture
def devices(tmp_path: Path, run) -> tuple[Device, Device, Path]:
    """`(a, b, remote)`: `a` made the memory and pushed it, `b` cloned it."""
    server = tmp_path / "server.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(server)], check=True)
    made = []
    for name in ("a", "b"):
        home = tmp_path / name
        home.mkdir()
        (home / ".gitconfig").write_text(GITCONFIG)
        made.append(Device(home, run))
    a, b = made
    assert a.mem("init", "--no-hooks").code == 0
    a.git("remote", "add", "origin", str(server))
    assert a.sync().code == 0
    done = b.mem("clone", str(server))
    assert done.code == 0, done.err
    # the hooks of a whole suite of devices would take minutes; test_hooks has them
    for hook in (b.memory / ".git" / "hooks").iterdir():
        hook.unlink()
    return a, b, server

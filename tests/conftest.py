"""A world of its own for every test: no configuration, identity, time zone or host of the person who runs it."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

# The same examples in every run, so that a change is judged and not luck; `HYPOTHESIS_PROFILE=search` looks for new ones.
settings.register_profile("steady", derandomize=True)
settings.register_profile("search", derandomize=False, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

ROOT = Path(__file__).resolve().parents[1]
GITCONFIG = "[user]\n\tname = Test Person\n\temail = you@example.com\n[init]\n\tdefaultBranch = main\n\ttemplateDir =\n[gc]\n\tauto = 0\n"
FOREIGN = ("GIT_", "CLAUDE", "CODEX_", "HERMES_", "PI_", "XDG_", "LC_", "ANTHROPIC_")
FOREIGN_NAMES = ("LANG", "LANGUAGE", "NO_COLOR", "FORCE_COLOR", "EDITOR", "VISUAL", "PAGER", "EMAIL")


class Ran(NamedTuple):
    """What one command line did: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str


def _world(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Point everything that finds a home at `home`."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(GITCONFIG)
    patch.setenv("HOME", str(home))
    patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    patch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    patch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))


@pytest.fixture(scope="session", autouse=True)
def _hermetic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The environment of the whole run."""
    patch = pytest.MonkeyPatch()
    for name in list(os.environ):
        if name.startswith(FOREIGN) or name in FOREIGN_NAMES:
            patch.delenv(name)
    _world(patch, tmp_path_factory.mktemp("home"))
    for name, value in {
        "GIT_CONFIG_NOSYSTEM": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "100",
        "TERM": "dumb",
        # hooks and sub-processes run this checkout
        "PYTHONPATH": str(ROOT),
    }.items():
        patch.setenv(name, value)
    time.tzset()
    yield
    patch.undo()
    time.tzset()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty HOME of this test, with a git identity; the working directory is `home/work`, no repository."""
    place = tmp_path / "home"
    _world(monkeypatch, place)
    (place / "work").mkdir()
    monkeypatch.chdir(place / "work")
    return place


@pytest.fixture
def memory(home: Path, _memory_template: Path):  # type: ignore[no-untyped-def]
    """A memory in `home/memory` as `git mem init` leaves it, without git hooks; the default one of this HOME."""
    return _adopted(home, _memory_template)


@pytest.fixture
def demo_memory(home: Path, _demo_template: Path):  # type: ignore[no-untyped-def]
    """The demo's memory in `home/memory`, indexed with words and vectors; ids by name: `gitmem.authoring.demo.demo_id`."""
    return _adopted(home, _demo_template)


@pytest.fixture
def run(home: Path) -> Callable[..., Ran]:
    """`run("add", "words", input=…, cwd=…, env={…}, process=True)`: one command line, as a `Ran`.

    In this process unless `process` is set; never in a terminal. `env` adds variables (None removes one).
    """

    def call(
        *args: str,
        input: str | bytes = b"",
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        process: bool = False,
    ) -> Ran:
        data = input.encode() if isinstance(input, str) else input
        return (_process if process else _inside)(args, data, cwd, env or {})

    return call


def open_memory(root: Path):  # type: ignore[no-untyped-def]
    """The memory at `root` as it is now."""
    from gitmem import config
    from gitmem.git import locate

    found = locate.open_at(root, config.from_process())
    assert found is not None and found.registry_tree is not None
    return found


@pytest.fixture(scope="session")
def _memory_template(tmp_path_factory: pytest.TempPathFactory, _hermetic: None) -> Path:
    from gitmem import config
    from gitmem.authoring.init import init

    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("memory-template")
        _world(patch, folder / "home")
        init(config.from_process(), folder / "memory")
    return folder / "memory"


@pytest.fixture(scope="session")
def _demo_template(tmp_path_factory: pytest.TempPathFactory, _memory_template: Path) -> Path:
    from gitmem.authoring.demo import load_demo
    from gitmem.git.locate import refreshed
    from gitmem.index import build
    from gitmem.registry import load

    place = tmp_path_factory.mktemp("demo-template") / "memory"
    shutil.copytree(_memory_template, place, symlinks=True)
    memory = open_memory(place)
    load_demo(memory, datetime.now(UTC))
    memory = refreshed(memory)
    build.build(memory, load.current(memory))
    return place


def _adopted(home: Path, template: Path):  # type: ignore[no-untyped-def]
    place = home / "memory"
    shutil.copytree(template, place, symlinks=True)
    with (home / ".gitconfig").open("a") as file:
        file.write(f"[mem]\n\trepo = {place}\n")
    return open_memory(place)


def _process(args: tuple[str, ...], data: bytes, cwd: Path | None, env: Mapping[str, str | None]) -> Ran:
    variables = {key: value for key, value in {**os.environ, **env}.items() if value is not None}
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", *args],
        input=data,
        capture_output=True,
        cwd=cwd,
        env=variables,
        timeout=120,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def _inside(args: tuple[str, ...], data: bytes, cwd: Path | None, env: Mapping[str, str | None]) -> Ran:
    from gitmem.cli.main import run as run_line

    streams = {
        name: io.TextIOWrapper(io.BytesIO(data if name == "stdin" else b""), encoding="utf-8")
        for name in ("stdin", "stdout", "stderr")
    }
    with pytest.MonkeyPatch.context() as patch:
        for key, value in env.items():
            if value is None:
                patch.delenv(key, raising=False)
            else:
                patch.setenv(key, value)
        if cwd is not None:
            patch.chdir(cwd)
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        try:
            code = run_line(args)
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 1
    texts = []
    for name in ("stdout", "stderr"):
        streams[name].flush()
        texts.append(streams[name].buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Ran(code, *texts)

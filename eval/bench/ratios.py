"""Ratios of what a person waits for, measured side by side in one run: interleaved repetitions, medians.

    python eval/bench/ratios.py [--cards 100,10000] [--repeat 9] [--keep DIR]

Everything runs as a whole process of the interpreter that runs this script; install the package with its
bytecode (pip does) for honest figures. The floors `python -c pass` and an empty Python hook stand in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import fabricate

from gitmem import config
from gitmem.git import locate
from gitmem.git.locate import Memory
from gitmem.index import build
from gitmem.registry import load

PROMPT = "Set up the index of token77 before the deploy, as I usually do"
Run = Callable[[], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cards", default="100,10000", help="sizes of memories (default 100,10000)")
    parser.add_argument("--repeat", type=int, default=9, help="counted runs of each command")
    parser.add_argument("--keep", type=Path, help="make the memories here, or use those that are there")
    options = parser.parse_args()
    room = options.keep or Path(tempfile.mkdtemp(prefix="git-mem-bench-"))
    room.mkdir(parents=True, exist_ok=True)
    _environment(room)
    sizes = [int(size) for size in options.cards.split(",")]
    try:
        memories = {size: _memory(room, size) for size in sizes}
        _recall(memories, options.repeat)
        _check(memories, options.repeat)
        _index(memories, options.repeat)
    finally:
        if not options.keep:
            shutil.rmtree(room, ignore_errors=True)


def _environment(room: Path) -> None:
    for key in list(os.environ):
        if (
            key in config.LOCAL_GIT_VARS
            or key.startswith(("GIT_MEM_", "GIT_CONFIG_"))
            or key in config.HOST_VARS
        ):
            del os.environ[key]
    settings = room / "gitconfig"
    settings.write_text(
        "[user]\n\tname = Bench\n\temail = bench@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
    )
    os.environ.update(GIT_CONFIG_GLOBAL=str(settings), GIT_CONFIG_NOSYSTEM="1", HOME=str(room))


def _memory(room: Path, size: int) -> Memory:
    folder = room / f"memory-{size}"
    if not folder.exists():
        print(f"making a memory of {size:,} cards …", file=sys.stderr, flush=True)
        fabricate.memory(folder, size)
    found = locate.open_at(folder, config.read(os.environ, folder))
    assert found is not None
    return found


def _recall(memories: dict[int, Memory], repeat: int) -> None:
    print("\nrecall, cold, as a multiple of `python -c pass`")
    for size, memory in memories.items():
        project = Path(tempfile.mkdtemp(prefix="project-"))
        memory.git.run("config", "--local", "--add", "mem.project.p001.path", str(project))
        event = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": "bench",
            "cwd": str(project),
            "prompt": PROMPT,
        }
        quiet = json.dumps({**event, "prompt": "rename parse_table and update the tests"}).encode()
        loud = json.dumps(event).encode()
        env = {**os.environ, "GIT_MEM_REPO": str(memory.root)}
        _once([sys.executable, "-m", "gitmem", "hook", "claude-code"], loud, env)()
        rows = {
            "python -c pass": _once([sys.executable, "-c", "pass"], b"", env),
            "hook, untriggered": _once([sys.executable, "-m", "gitmem", "hook", "claude-code"], quiet, env),
            "hook, triggered": _once([sys.executable, "-m", "gitmem", "hook", "claude-code"], loud, env),
            "git mem recall": _once([sys.executable, "-m", "gitmem", "recall", PROMPT], b"", env),
            "git mem recall, working": _once(
                [
                    sys.executable,
                    "-m",
                    "gitmem",
                    "recall",
                    "--profile",
                    "working",
                    "--project",
                    "p001",
                    PROMPT,
                ],
                b"",
                env,
            ),
            "git mem search": _once([sys.executable, "-m", "gitmem", "search", "token77"], b"", env),
        }
        _table(f"{size:,} cards", _medians(rows, repeat), "python -c pass")
        shutil.rmtree(project)


def _check(memories: dict[int, Memory], repeat: int) -> None:
    """The check of a one-card commit, beyond what git and an empty Python hook cost."""
    print(
        "\nchecking a one-card commit: beyond git and an empty Python hook, as a multiple of the smallest memory's"
    )
    beyond: dict[int, float] = {}
    for size, memory in memories.items():
        copy = _clone(memory)
        random_ = random.Random(size)
        ours = _commit_cost(copy, random_, repeat, "-m gitmem.hooks.run pre-commit")
        empty = _commit_cost(copy, random_, repeat, "-c pass")
        beyond[size] = max(1e-4, ours - empty)
        shutil.rmtree(copy.root)
    base = beyond[min(beyond)]
    for size, value in beyond.items():
        print(f"  {size:>9,} cards  {value / base:6.2f} x   ({1000 * value:.0f} ms)")


def _commit_cost(memory: Memory, random_: random.Random, repeat: int, hook: str) -> float:
    from datetime import UTC, datetime

    from gitmem.model import card as cards

    place = memory.common_dir / "hooks" / "pre-commit"
    place.write_text(f'#!/bin/sh\nexec "{sys.executable}" {hook}\n')
    place.chmod(0o755)
    times = []
    for _ in range(repeat):
        card, path, source = fabricate.card_of(random_, "global", datetime.now(UTC))
        for name, data in ((path, source), (cards.card_path(card), cards.dump(card))):
            file = memory.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        memory.git.run("add", "cards", "sources")
        # what a person's memory looks like between commits: the index knows the parent
        build.build(memory_now(memory), load.current(memory), with_vectors=False)
        began = time.perf_counter()
        memory.git.run("commit", "-q", "-m", "bench")
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def memory_now(memory: Memory) -> Memory:
    return locate.refreshed(memory)


def _index(memories: dict[int, Memory], repeat: int) -> None:
    print("\ntaking in a commit of 10 cards, embedding apart, as a multiple of the smallest memory's")
    cost: dict[int, float] = {}
    for size, memory in memories.items():
        copy = _clone(memory)
        random_ = random.Random(size + 1)
        times = []
        for _ in range(max(3, repeat // 2)):
            fabricate.add(locate.refreshed(copy), 10, ["p001"], random_, days=2)
            found = locate.refreshed(copy)
            registry = load.current(found)
            began = time.perf_counter()
            build.build(found, registry, with_vectors=False)
            times.append(time.perf_counter() - began)
        cost[size] = statistics.median(times)
        shutil.rmtree(copy.root)
    base = cost[min(cost)]
    for size, value in cost.items():
        print(f"  {size:>9,} cards  {value / base:6.2f} x   ({1000 * value:.0f} ms)")


def _clone(memory: Memory) -> Memory:
    """A copy to write into, index included."""
    place = Path(tempfile.mkdtemp(prefix="git-mem-bench-copy-")) / "memory"
    shutil.copytree(memory.root, place, symlinks=True)
    found = locate.open_at(place, config.read(os.environ, place))
    assert found is not None
    return found


def _once(command: Sequence[str], data: bytes, env: dict[str, str]) -> Run:
    def run() -> None:
        subprocess.run(
            command, input=data, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
        )

    return run


def _medians(rows: dict[str, Run], repeat: int) -> dict[str, tuple[float, float, float]]:
    """Seconds of each row: least, median, most; the rows in turn, one uncounted round first."""
    times: dict[str, list[float]] = {name: [] for name in rows}
    for number in range(repeat + 1):
        for name, run in rows.items():
            began = time.perf_counter()
            run()
            if number:
                times[name].append(time.perf_counter() - began)
    return {name: (min(found), statistics.median(found), max(found)) for name, found in times.items()}


def _table(title: str, found: dict[str, tuple[float, float, float]], floor: str) -> None:
    print(f"  {title}")
    base = found[floor][1]
    for name, (low, middle, high) in found.items():
        print(
            f"    {name:<26} {middle / base:6.1f} x   (min {low / base:.1f}, max {high / base:.1f}; {1000 * middle:.0f} ms)"
        )


if __name__ == "__main__":
    main()

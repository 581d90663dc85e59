"""Measuring: rows in turn, so that what else the machine does falls on all of them alike, and what is kept of it."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Does the work once and returns how many seconds it took.
Run = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds of one piece of work. `peak_mb`: the most memory of its largest process; None: not looked at."""

    name: str
    low: float
    median: float
    high: float
    peak_mb: float | None = None


@dataclass(slots=True)
class Table:
    """Rows that were measured in turn. `floor`: the row whose median the others are multiples of."""

    part: str
    title: str
    floor: str
    rows: list[Row] = field(default_factory=list)
    note: str = ""

    def ratio(self, name: str) -> float:
        by_name = {row.name: row for row in self.rows}
        return by_name[name].median / by_name[self.floor].median

    def text(self) -> str:
        base = next(row.median for row in self.rows if row.name == self.floor)
        lines = [f"{self.part}: {self.title}, as a multiple of `{self.floor}`"]
        for row in self.rows:
            line = f"  {row.name:<44} {row.median / base:8.2f} x   {row.low / base:.2f} to {row.high / base:.2f}   {1000 * row.median:8.1f} ms"
            lines.append(line + (f"   {row.peak_mb:4.0f} MB" if row.peak_mb is not None else ""))
        if self.note:
            lines.append(f"  {self.note}")
        return "\n".join(lines)

    def as_dict(self) -> dict:
        base = next(row.median for row in self.rows if row.name == self.floor)
        rows = [
            {
                "name": row.name, "ratio": row.median / base, "low": row.low / base, "high": row.high / base,
                "ms": 1000 * row.median, "peak_mb": row.peak_mb,
            }
            for row in self.rows
        ]  # fmt: skip
        return {"part": self.part, "title": self.title, "floor": self.floor, "rows": rows, "note": self.note}


def in_turn(
    runs: Mapping[str, Run], repeat: int, peaks: Mapping[str, Callable[[], float]] | None = None
) -> list[Row]:
    """Each run `repeat` times, one after the other in rounds; the first round does not count.

    Args:
        peaks: what tells the peak of a run, once.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(repeat + 1):
        for name, run in runs.items():
            took = run()
            if number:
                times[name].append(took)
    return [
        Row(name, min(found), statistics.median(found), max(found), peaks[name]() if peaks and name in peaks else None)
        for name, found in times.items()
    ]  # fmt: skip


def timed(work: Callable[[], object], before: Callable[[], object] | None = None) -> Run:
    """A run inside this process; `before` is not counted."""

    def run() -> float:
        if before is not None:
            before()
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return run


def process(
    command: Sequence[str], env: Mapping[str, str], cwd: Path, data: bytes = b"", ok: Sequence[int] = (0,)
) -> Run:
    """A run that is a whole process.

    Raises:
        RuntimeError: when run, and it did not end as it should.
    """

    def run() -> float:
        began = time.perf_counter()
        done = subprocess.run(command, input=data, env=dict(env), cwd=cwd, capture_output=True)
        took = time.perf_counter() - began
        if done.returncode not in ok:
            raise RuntimeError(
                f"`{' '.join(command)}` ended with {done.returncode}: {done.stderr.decode()[-600:]}"
            )
        return took

    return run


# A child begins with the memory of its parent, so a small process stands between.
_PEAK = """
import os, sys
child = os.fork()
if not child:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
print(os.wait4(child, 0)[2].ru_maxrss)
"""


def peak(command: Sequence[str], env: Mapping[str, str], cwd: Path, data: bytes = b"") -> Callable[[], float]:
    """The peak memory of a process in MB."""

    def look() -> float:
        small = [sys.executable, "-I", "-S", "-c", _PEAK, *command]
        done = subprocess.run(small, input=data, env=dict(env), cwd=cwd, stdout=subprocess.PIPE, check=True)
        return int(done.stdout) / (1 << (20 if sys.platform == "darwin" else 10))

    return look


def clean_environment(room: Path) -> dict[str, str]:
    """An environment that knows of no host, no other repository and no other memory; also set in this process."""
    from gitmem import config

    for key in list(os.environ):
        if (
            key in config.LOCAL_GIT_VARS
            or key in config.HOST_VARS
            or key in config.SESSION_VARS
            or key.startswith(("GIT_MEM_", "GIT_CONFIG_"))
            or key == "PYTHONDONTWRITEBYTECODE"
        ):
            del os.environ[key]
    settings = room / "gitconfig"
    settings.write_text(
        "[user]\n\tname = Bench\n\temail = bench@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
        "[maintenance]\n\tauto = false\n"
    )
    os.environ.update(GIT_CONFIG_GLOBAL=str(settings), GIT_CONFIG_NOSYSTEM="1", HOME=str(room))
    return dict(os.environ)

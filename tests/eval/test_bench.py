"""The benchmark measures what it says: rows in turn, multiples of a floor, a real memory of invented cards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eval.bench import measure
from eval.bench.measure import Row, Table

ROOT = Path(__file__).resolve().parents[2]


def bench(*args: str, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "eval.bench", *args], cwd=cwd, env=env, capture_output=True, text=True
    )


def test_rows_are_measured_in_turn_and_the_first_round_does_not_count() -> None:
    order: list[str] = []

    def run(name: str, took: list[float]) -> measure.Run:
        return lambda: order.append(name) or took.pop(0)  # type: ignore[func-returns-value]

    rows = measure.in_turn({"a": run("a", [9, 1, 3, 2]), "b": run("b", [9, 4, 4, 4])}, 3)
    assert order == ["a", "b"] * 4
    assert [(row.low, row.median, row.high) for row in rows] == [(1, 2, 3), (4, 4, 4)]


def test_a_table_gives_multiples_of_its_floor() -> None:
    table = Table("cold", "3 cards", "pass", [Row("pass", 1, 2, 3), Row("hook", 6, 8, 10, 20.0)])
    assert table.ratio("hook") == 4
    assert table.as_dict()["rows"][1] == {
        "name": "hook", "ratio": 4, "low": 3, "high": 5, "ms": 8000, "peak_mb": 20.0,
    }  # fmt: skip
    assert "4.00 x" in table.text() and "20 MB" in table.text()


def test_the_peak_of_a_process_is_its_own_and_not_that_of_who_measures(tmp_path) -> None:
    ballast = b"x" * 100_000_000
    env = dict(os.environ)
    small = measure.peak([sys.executable, "-c", "pass"], env, tmp_path)()
    large = measure.peak([sys.executable, "-c", "x = b'x' * 60_000_000"], env, tmp_path)()
    assert small < 60 < large < len(ballast) / 1e6


def test_a_process_that_fails_is_no_measurement(tmp_path) -> None:
    with pytest.raises(RuntimeError, match="ended with 3"):
        measure.process([sys.executable, "-c", "raise SystemExit(3)"], dict(os.environ), tmp_path)()


def test_a_part_runs_from_an_empty_folder_and_writes_its_figures(tmp_path) -> None:
    done = bench(
        "index", "check", "--cards", "12,24", "--projects", "2", "--repeat", "1", "--keep", str(tmp_path / "kept"), "--json",
        str(tmp_path / "found.json"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert [table["part"] for table in found["tables"]] == ["index"] * 3 + ["check"]
    assert {row["name"] for row in found["tables"][0]["rows"]} == {
        "12 cards, 2 projects",
        "24 cards, 2 projects",
    }
    assert sorted(one.name for one in (tmp_path / "kept").glob("memory-*")) == ["memory-12-2", "memory-24-2"]
    assert not (tmp_path / "kept" / "copies").exists()


def test_help_names_the_parts_and_gives_examples() -> None:
    done = bench("-h")
    assert done.returncode == 0 and "examples:" in done.stdout and "--mem0" in done.stdout
    assert bench("nonsense").returncode == 2

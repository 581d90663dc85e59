"""Fit the coefficients of `gitmem/recall/relevance.py` on the invented cards and prompts of the tests.

    python -m eval.fit_relevance

Makes the demo memory in a temporary folder, retrieves candidates for every case of
tests/fixtures/recall_cases.jsonl, fits a logistic regression on the `dev` half and prints the coefficients, and
for both halves how many of the wanted cards are said at the thresholds that let 3, 7 and 14 % of the silent
prompts through.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gitmem import config, whereabouts
from gitmem.authoring import demo, init
from gitmem.git import locate
from gitmem.identity import Caller
from gitmem.index import build
from gitmem.recall import retrieve, scope
from gitmem.recall.opening import LiveIndex
from gitmem.recall.relevance import informed
from gitmem.registry import load

CASES = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "recall_cases.jsonl"


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate of one case."""

    case: int
    split: str
    wanted: bool
    silent: bool
    near: float
    coverage: float
    support: float
    here: float

    def features(self, vectors: bool) -> list[float]:
        return [1.0, *([self.near] if vectors else []), self.coverage, self.support, self.here]


def main() -> None:
    with tempfile.TemporaryDirectory() as room:
        rows = _rows(Path(room))
    for vectors, names in ((True, "bias near coverage support here"), (False, "bias coverage support here")):
        dev = [row for row in rows if row.split == "dev"]
        weights = fit([row.features(vectors) for row in dev], [float(row.wanted) for row in dev])
        print(
            ("with vectors  " if vectors else "words only    ")
            + "  ".join(f"{n} {w:.2f}" for n, w in zip(names.split(), weights, strict=True))
        )
        for split in ("dev", "test"):
            print(
                f"    {split:<5}"
                + "   ".join(_at(rows, split, weights, vectors, share) for share in (0.03, 0.07, 0.14))
            )


def _rows(room: Path) -> list[Row]:
    settings = room / "gitconfig"
    settings.write_text("[user]\n\tname = Eval\n\temail = eval@example.com\n")
    env = config.read(
        {**os.environ, "HOME": str(room), "GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1"},
        room,
    )
    init.init(env, room / "memory", "main")
    memory = locate.open_at(room / "memory", env)
    assert memory is not None
    now = datetime.now().astimezone()
    names = demo.load_demo(memory, now)
    memory = locate.refreshed(memory)
    registry = load.current(memory)
    build.build(memory, registry)
    caller = Caller(None, None, registry.profiles["full"], ("all", "personal"), ("all",))
    index = LiveIndex(memory, registry)
    rows = []
    for number, line in enumerate(CASES.read_text(encoding="utf-8").splitlines()):
        case = json.loads(line)
        wanted = {names[name] for name in case["want"]}
        heard = scope.resolve(
            caller, registry, case["project"], "", whereabouts.project_of_prompt(case["prompt"], registry)
        )
        vector, opened = index.vector(case["prompt"]), index.open()
        found = retrieve.retrieve(
            case["prompt"],
            vector,
            opened.catalogue,
            opened.words,
            opened.state,
            heard,
            registry,
            now,
            vector_wait_s=30.0,
        )
        for one in found.candidates:
            if one.item.type != "task":
                rows.append(
                    Row(
                        number, case["split"], one.item.id in wanted, not wanted, one.near or 0.0, informed(one.coverage, one.prompt_weight),
                        informed(one.support, one.prompt_weight), float(one.item.scope == case["project"]),
                    )
                )  # fmt: skip
        opened.close()
    return rows


def fit(
    rows: Sequence[Sequence[float]], wanted: Sequence[float], ridge: float = 0.01, rounds: int = 60
) -> list[float]:
    """Logistic regression by Newton's method; the bias (column 0) is not shrunk.

    Source: Hosmer, Lemeshow, Applied Logistic Regression, 2000, chapter 1.
    """
    size = len(rows[0])
    weights = [0.0] * size
    for _ in range(rounds):
        gradient = [ridge * w * (i > 0) for i, w in enumerate(weights)]
        hessian = [[ridge if i == j else 0.0 for j in range(size)] for i in range(size)]
        for row, y in zip(rows, wanted, strict=True):
            p = 1 / (
                1 + math.exp(-max(-50.0, min(50.0, sum(w * x for w, x in zip(weights, row, strict=True)))))
            )
            for i in range(size):
                gradient[i] += (p - y) * row[i]
                for j in range(size):
                    hessian[i][j] += p * (1 - p) * row[i] * row[j]
        weights = [w - step for w, step in zip(weights, _solve(hessian, gradient), strict=True)]
    return weights


def _solve(matrix: list[list[float]], vector: list[float]) -> list[float]:
    """Gaussian elimination with pivoting."""
    rows = [[*row, value] for row, value in zip(matrix, vector, strict=True)]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, size):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    out = [0.0] * size
    for i in reversed(range(size)):
        out[i] = (rows[i][size] - sum(rows[i][j] * out[j] for j in range(i + 1, size))) / rows[i][i]
    return out


def _at(rows: Sequence[Row], split: str, weights: Sequence[float], vectors: bool, share: float) -> str:
    """How many wanted cards are said when `share` of the silent prompts is let through."""
    cases: dict[int, list[tuple[float, Row]]] = defaultdict(list)
    for row in rows:
        if row.split == split:
            odds = sum(w * x for w, x in zip(weights, row.features(vectors), strict=True))
            cases[row.case].append((1 / (1 + math.exp(-odds)), row))
    tops = sorted(
        (max(value for value, _ in found) for found in cases.values() if found[0][1].silent), reverse=True
    )
    bar = tops[int(share * len(tops))]
    needing = [found for found in cases.values() if not found[0][1].silent]
    said = sum(
        any(row.wanted and value > bar for value, row in sorted(found, key=lambda one: -one[0])[:5])
        for found in needing
    )
    return f"{share:.0%}: {said} of {len(needing)} from {bar:.2f}"


if __name__ == "__main__":
    main()

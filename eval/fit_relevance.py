"""Fit the coefficients of `gitmem/recall/relevance.py`, and choose the bars of the profiles.

    python -m eval.fit_relevance [--work DIR]

Candidates are retrieved for every turn of the demo's cases, the data sets of eval/configs/bilingual.yaml and own.yaml, and those of data.yaml whose variables are set. A
logistic regression is fitted on the `dev` halves, and the bars are chosen there (`_chosen`). Both are printed, and for both halves what the chosen bars and some others say
of what is needed, and which turns that need nothing they disturb, were every turn looked at.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from eval import config as configs
from eval import datasets
from eval.config import Unset
from eval.data import Probe
from eval.systems import product
from eval.world import Vectors, Worlds, environment
from gitmem import whereabouts
from gitmem.authoring import demo, init
from gitmem.git import locate
from gitmem.identity import Caller
from gitmem.index import build
from gitmem.recall import retrieve, scope
from gitmem.recall.opening import LiveIndex
from gitmem.recall.relevance import CROWD, informed
from gitmem.registry import load

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "fixtures" / "recall_cases.jsonl"
CONFIGS = ("bilingual.yaml", "own.yaml", "data.yaml")
PROFILES = ("full", "working", "personal")
NAMES = ("bias", "near", "across", "coverage", "support", "here", "crossing", "crowd")
# Many turns ask a thousand decision records for nothing: counted whole they would outweigh all that is asked for something.
COUNTS = {"decisions": 0.3}
# Of these data sets the turns that ask for nothing are taken alone: what they ask for is asked in another one, or is not known.
QUIET_ONLY = ("own cards, real routine", "stream")
# Items that a profile says at most, and the share of quiet turns it may disturb, in every data set and language of at least so many turns.
MOST = {"full": 5, "working": 2}
LIMIT = {"full": 0.125, "working": 0.03}
ENOUGH = 20
# Across languages nothing but nearness speaks for a card: the bar stands at least so much higher.
HIGHER = 0.05
GRID = tuple(round(0.2 + 0.01 * step, 2) for step in range(80))
SUPPORTS = {"full": (0.0,), "working": (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)}


@dataclass(frozen=True, slots=True)
class Found:
    """One candidate of one turn. `features` as in `NAMES`."""

    key: str
    features: tuple[float, ...]
    support: float
    crossing: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn under a profile. `quiet`: silence is right, or nothing known speaks against it."""

    of: str
    lang: str
    profile: str
    split: str
    gold: frozenset[str]
    quiet: bool
    fitted: bool
    found: tuple[Found, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--work", type=Path, help="make the memories here, or use those that are there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        turns = [*_demo(Path(room)), *_kit(options.work or Path(room) / "worlds")]
    best: list[float] = []
    for title, left_out, counts in (
        ("words only", ("near", "across", "crossing"), {}),
        ("with vectors", (), COUNTS),
    ):
        best = _fitted(turns, left_out, counts)
        print(
            f"{title:<13}" + "  ".join(f"{name} {value:.2f}" for name, value in zip(NAMES, best, strict=True))
        )
    judged = [_judged(turn, best) for turn in turns]
    for profile in MOST:
        chosen = _chosen(judged, profile)
        print(f"{profile}: chosen on dev {chosen}")
        for split in ("dev", "test"):
            for bars in [chosen, *(Bars(0.0, bar, bar) for bar in (0.2, 0.25, 0.3, 0.4, 0.5, 0.6))]:
                print(f"  {split:<4} {bars}   {_words(_said(judged, profile, split, bars))}")


@dataclass(frozen=True, slots=True)
class Bars:
    """What a candidate must reach: `support` and `threshold` of a profile, and its `threshold_cross`."""

    support: float
    threshold: float
    across: float

    def __str__(self) -> str:
        return f"threshold {self.threshold:.2f}  across {self.across:.2f}  support {self.support:.2f}"


@dataclass(frozen=True, slots=True)
class Judged:
    """A turn and its candidates, best first: `(relevance, key, support, crossing)`."""

    turn: Turn
    found: tuple[tuple[float, str, float, bool], ...]


def _judged(turn: Turn, weights: Sequence[float]) -> Judged:
    found = []
    for one in turn.found:
        odds = sum(w * x for w, x in zip(weights, one.features, strict=True))
        found.append((1 / (1 + math.exp(-max(-60.0, min(60.0, odds)))), one.key, one.support, one.crossing))
    return Judged(turn, tuple(sorted(found, key=lambda one: (-one[0], one[1]))))


def _chosen(judged: Sequence[Judged], profile: str) -> Bars:
    """The bars that say most of what is needed on `dev` while no group of quiet turns is disturbed more often than `LIMIT` allows.

    First the threshold with nothing across languages, then the bar across; of supports that say the same, the highest.
    """

    def quiet_enough(bars: Bars) -> bool:
        _, disturbed = _said(judged, profile, "dev", bars)
        return all(sum(one) <= LIMIT[profile] * len(one) for one in disturbed.values() if len(one) >= ENOUGH)

    def said(bars: Bars) -> float:
        needed, _ = _said(judged, profile, "dev", bars)
        return sum(sum(one) for one in needed.values())

    best: list[tuple[float, float, Bars]] = []
    for support in SUPPORTS[profile]:
        threshold = next((bar for bar in GRID if quiet_enough(Bars(support, bar, 2.0))), 1.0)
        across = next((bar for bar in GRID if bar >= threshold + HIGHER and quiet_enough(Bars(support, threshold, bar))), 1.0)  # fmt: skip
        bars = Bars(support, threshold, across)
        best.append((said(bars), support, bars))
    return max(best, key=lambda one: one[:2])[2]


def _fitted(turns: Sequence[Turn], left_out: Sequence[str], counts: Mapping[str, float]) -> list[float]:
    kept = [i for i, name in enumerate(NAMES) if name not in left_out]
    rows, wanted, weights = [], [], []
    for turn in turns:
        if turn.split == "dev" and turn.fitted and turn.profile != "working":
            for one in turn.found:
                rows.append([one.features[i] for i in kept])
                wanted.append(float(one.key in turn.gold))
                weights.append(counts.get(turn.of, 1.0))
    found = dict(zip(kept, fit(rows, wanted, weights), strict=True))
    return [found.get(i, 0.0) for i in range(len(NAMES))]


Shares = dict[str, list[float]]


def _said(judged: Sequence[Judged], profile: str, split: str, bars: Bars) -> tuple[Shares, Shares]:
    """By data set and language: of each turn that needs cards the share said; of each quiet turn whether it is disturbed."""
    said: Shares = defaultdict(list)
    disturbed: Shares = defaultdict(list)
    for one in judged:
        turn = one.turn
        if (turn.profile, turn.split) != (profile, split):
            continue
        passed = [
            key
            for value, key, support, crossing in one.found
            if value >= (bars.across if crossing else bars.threshold)
            and (crossing or support >= bars.support)
        ]
        heard = set(passed[: MOST[profile]])
        if turn.gold and turn.of not in QUIET_ONLY:
            said[f"{turn.of} {turn.lang}"].append(len(heard & turn.gold) / len(turn.gold))
        elif turn.quiet:
            disturbed[f"{turn.of} {turn.lang}"].append(float(bool(heard)))
    return said, disturbed


def _words(shares: tuple[Shares, Shares]) -> str:
    parts = (
        ", ".join(f"{name} {sum(one):.0f}/{len(one)}" for name, one in sorted(part.items()))
        for part in shares
    )
    return "said " + "; disturbed ".join(parts)


def _kit(room: Path) -> Iterator[Turn]:
    """The turns of the kit's data sets, those that are given."""
    vectors = Vectors()
    for name in CONFIGS:
        conf = configs.read(ROOT / "eval" / "configs" / name)
        for options in conf.datasets:
            try:
                dataset = datasets.load(configs.filled(options, conf.folder), conf.now)
            except Unset:
                continue
            if dataset.name in ("streams", "corrections"):
                continue
            worlds = Worlds(dataset, room, conf.now, conf.seed, vectors)
            try:
                for probe in dataset.probes:
                    for profile in PROFILES:
                        if (profile == "personal") == probe.personal:
                            yield _turn(dataset.name, probe, profile, worlds)
            finally:
                worlds.close()


def _turn(of: str, probe: Probe, profile: str, worlds: Worlds) -> Turn:
    world = worlds.of(probe.snapshot)
    within = product._scope(probe, world, world.caller(world.registry.profiles[profile]))
    got = product._retrieved(probe, world, within)
    found = [
        _found(one, world.key(one.item.id), within, got.cards)
        for one in got.candidates
        if world.registry.types[one.item.type].recalled == "similarity"
        and within.holds(one.item.scope, one.item.type)
    ]
    fitted = probe.needs is not None and not (of in QUIET_ONLY and probe.needs)
    return Turn(
        of,
        probe.lang,
        profile,
        probe.split,
        frozenset(probe.gold),
        probe.needs is not True,
        fitted,
        tuple(found),
    )


def _found(one: retrieve.Candidate, key: str, within: scope.Scope, cards: int) -> Found:
    features = (
        1.0, one.near or 0.0, one.across, informed(one.coverage, one.prompt_weight), informed(one.support, one.prompt_weight),
        float(one.item.scope in (within.project, within.raised)), float(one.crossing), -math.log(max(cards, CROWD) / CROWD),
    )  # fmt: skip
    return Found(key, features, one.support, one.crossing)


def _demo(room: Path) -> Iterator[Turn]:
    """The invented turns of the tests over the demo's memory."""
    env = environment(room)
    init.init(env, room / "memory", "main")
    memory = locate.open_at(room / "memory", env)
    assert memory is not None
    now = datetime.now().astimezone()
    names = {card: name for name, card in demo.load_demo(memory, now).items()}
    memory = locate.refreshed(memory)
    registry = load.current(memory)
    build.build(memory, registry)
    index = LiveIndex(memory, registry)
    opened = index.open()
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for profile in ("full", "working"):
            caller = Caller(None, None, registry.profiles[profile], ("all", "personal"), ("all",))
            named = whereabouts.project_of_prompt(case["prompt"], registry) if profile == "full" else None
            within = scope.resolve(caller, registry, case["project"], "", named)
            got = retrieve.retrieve(
                case["prompt"], index.vector(case["prompt"]), opened.catalogue, opened.words, opened.state, within, registry, now,
                vector_wait_s=30.0,
            )  # fmt: skip
            found = [
                _found(one, names.get(one.item.id, one.item.id), within, got.cards)
                for one in got.candidates
                if registry.types[one.item.type].recalled == "similarity"
                and within.holds(one.item.scope, one.item.type)
            ]
            yield Turn(
                "demo",
                case["lang"],
                profile,
                case["split"],
                frozenset(case["want"]),
                not case["want"],
                True,
                tuple(found),
            )
    opened.close()


def fit(
    rows: Sequence[Sequence[float]],
    wanted: Sequence[float],
    counts: Sequence[float],
    ridge: float = 0.01,
    rounds: int = 15,
) -> list[float]:
    """Logistic regression by Newton's method, each row as often as `counts` says; the bias (column 0) is not shrunk.

    Source: Hosmer, Lemeshow, Applied Logistic Regression, 2000, chapter 1.
    """
    size = len(rows[0])
    weights = [0.0] * size
    for _ in range(rounds):
        gradient = [ridge * w * (i > 0) for i, w in enumerate(weights)]
        hessian = [[ridge if i == j else 0.0 for j in range(size)] for i in range(size)]
        for row, y, n in zip(rows, wanted, counts, strict=True):
            p = 1 / (
                1 + math.exp(-max(-50.0, min(50.0, sum(w * x for w, x in zip(weights, row, strict=True)))))
            )
            for i in range(size):
                gradient[i] += n * (p - y) * row[i]
                for j in range(size):
                    hessian[i][j] += n * p * (1 - p) * row[i] * row[j]
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


if __name__ == "__main__":
    main()

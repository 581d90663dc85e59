"""Run a configuration: every system answers every probe of every data set, and the measures beside are taken."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eval import config, datasets, measures, store, systems
from eval.config import Config, Unset
from eval.data import Dataset, Probe
from eval.datasets import history
from eval.systems.base import Heard, System, Unavailable
from eval.systems.product import query_of
from eval.world import Vectors, Worlds


class Teller:
    """Progress: one line that changes on a terminal, a line a step elsewhere."""

    def __init__(self, stream: Any = None):
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._last = 0.0

    def step(self, what: str, done: int, total: int) -> None:
        if self._live and (time.monotonic() - self._last > 0.1 or done >= total):
            self._last = time.monotonic()
            bar = "█" * (24 * done // max(1, total))
            self._stream.write(f"\r\033[K{what:<42} {bar:<24} {done:>6,} of {total:,}")
            self._stream.flush()

    def line(self, text: str) -> None:
        self._stream.write(("\r\033[K" if self._live else "") + text + "\n")
        self._stream.flush()


def run(conf: Config, out: Path, resume: bool, tell: Teller) -> int:
    """Write the results into `out`; how many data sets were asked."""
    out.mkdir(parents=True, exist_ok=True)
    vectors = Vectors()
    skipped: list[str] = []
    done: list[dict[str, Any]] = []
    for options in conf.datasets:
        name = str(options.get("name", options.get("kind", "files")))
        try:
            dataset = datasets.load(config.filled(options, conf.folder), conf.now)
        except Unset as error:
            skipped.append(f"data set `{name}`: skipped, {error}")
            tell.line(skipped[-1])
            continue
        wanted = tuple(options.get("systems") or conf.systems or systems.DEFAULT)
        done.append(_ask_all(conf, dataset, wanted, out, resume, vectors, skipped, tell))
    taken = measures.take(conf, out, resume, vectors, skipped, tell)
    store.write_json(
        out / "run.json",
        {
            "name": conf.name, "title": conf.title, "seed": conf.seed, "now": conf.now.isoformat(), "bootstraps": conf.bootstraps, "need_weight": conf.need_weight,
            "commit": store.commit(), "code": store.code(), "versions": store.versions(), "datasets": done, "measures": taken, "skipped": skipped,
        },
    )  # fmt: skip
    return len(done)


def _ask_all(
    conf: Config,
    dataset: Dataset,
    wanted: tuple[str, ...],
    out: Path,
    resume: bool,
    vectors: Vectors,
    skipped: list[str],
    tell: Teller,
) -> dict[str, Any]:
    began = time.monotonic()
    worlds = Worlds(dataset, out / "worlds", conf.now, conf.seed, vectors, tell.step)
    rows = []
    try:
        for spec in wanted:
            try:
                system = systems.make(spec)
            except Unavailable as error:
                skipped.append(f"system `{spec}`: skipped, {error}")
                tell.line(skipped[-1])
                continue
            asked = ask(system, dataset, worlds, out, conf, resume, tell)
            rows.append(
                {
                    "name": system.name,
                    "about": system.about,
                    "dose": asdict(system.dose),
                    "threshold": system.threshold,
                    "tuned": system.tuned,
                    "asked": asked,
                }
            )
        snapshots = sorted({one.snapshot for one in dataset.probes}) or [""]
        cards = {
            world.key(item.id): {
                "l0": item.l0,
                "l1": item.l1,
                "scope": item.scope,
                "live": world.is_live(item.id),
            }
            for world in map(worlds.of, snapshots)
            for item in world.all_items()
        }
        left_out = worlds.of(snapshots[-1]).left_out
        history.seal(dataset, out / "followed" / f"{dataset.name}.json")
    finally:
        worlds.close()
    facts = {
        "name": dataset.name, "hash": dataset.hash(), "cards": len(cards), "probes": len(dataset.probes), "notes": [*dataset.notes, *_not_imported(left_out)],
        "measures": sorted(dataset.measures), "systems": rows,
    }  # fmt: skip
    store.write_json(
        out / "datasets" / f"{dataset.name}.json",
        {**facts, "asked": [asdict(one) for one in dataset.probes], "texts": cards},
    )
    tell.line(
        f"{dataset.name}: {len(cards):,} cards, {len(dataset.probes):,} probes, {len(rows)} systems, {time.monotonic() - began:.0f} s"
    )
    return facts


def _not_imported(left_out: tuple[str, ...], shown: int = 5) -> list[str]:
    """Cards that the product would not take, the first few by name."""
    more = [f"not imported: {len(left_out) - shown:,} more"] if len(left_out) > shown else []
    return [*(f"not imported: {one}" for one in left_out[:shown]), *more]


def ask(
    system: System, dataset: Dataset, worlds: Worlds, out: Path, conf: Config, resume: bool, tell: Teller
) -> int:
    """Let one system answer what it has not answered yet; how many probes it was asked now."""
    head = store.header(dataset, system.name, conf.seed, conf.now.isoformat())
    results = store.Results(store.file_of(out, dataset.name, system.name), head, resume)
    store.note_tried(out, head)
    asked = 0
    try:
        for group in conversations(dataset.probes):
            if all(one.id in results.outcomes for one in group):
                continue
            # what a system has said in a session counts for its later turns: a session is answered whole
            results.drop(one.id for one in group)
            heard = Heard()
            for probe in group:
                world = worlds.of(probe.snapshot)
                # who asks first must not pay for the embedder in its time
                world.vector(query_of(probe))
                results.add(system.answer(probe, world, heard))
                asked += 1
                tell.step(f"{dataset.name}: {system.name}", len(results.outcomes), len(dataset.probes))
    finally:
        results.close()
    return asked


def conversations(probes: tuple[Probe, ...]) -> Iterator[list[Probe]]:
    """Probes in groups that must be asked one after the other: a session's in order, any other alone."""
    sessions: dict[str, list[Probe]] = {}
    for probe in probes:
        if probe.session:
            sessions.setdefault(probe.session, []).append(probe)
        else:
            yield [probe]
    for group in sessions.values():
        yield sorted(group, key=lambda one: one.turn)


def dataset_of(out: Path, name: str) -> dict[str, Any]:
    """What a run noted of a data set; its `asked` as probes."""
    found = json.loads((out / "datasets" / f"{name}.json").read_text(encoding="utf-8"))
    found["asked"] = [
        Probe(**{**row, "gold": tuple(row["gold"]), "stale": tuple(row["stale"])}) for row in found["asked"]
    ]
    return found


__all__ = ["Teller", "ask", "conversations", "dataset_of", "run"]

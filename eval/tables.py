"""From stored outcomes to the numbers of the report. Values in, plain dictionaries out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval import store, sweep
from eval.bootstrap import Bootstrap
from eval.data import DEV, TEST, Probe
from eval.metrics import hit_at, mean, ndcg_at, percentile, recall_at, reciprocal_rank
from eval.systems.base import Dose, Outcome

Outcomes = Mapping[str, Outcome]
PROFILES = ("full", "working", "personal")
QUIET_CAPS = (0.0, 0.02, 0.05, 0.1, 0.18)
MEASURES: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    "r1": lambda ranked, gold: recall_at(ranked, gold, 1),
    "r2": lambda ranked, gold: recall_at(ranked, gold, 2),
    "r5": lambda ranked, gold: recall_at(ranked, gold, 5),
    "r10": lambda ranked, gold: recall_at(ranked, gold, 10),
    "hit5": lambda ranked, gold: hit_at(ranked, gold, 5),
    "mrr": reciprocal_rank,
    "ndcg10": ndcg_at,
}


def of_dataset(
    out: Path, facts: dict[str, Any], rounds: int, seed: int, need_weight: float
) -> dict[str, Any]:
    """Everything the report says of one data set.

    Args:
        facts: as `eval.run.dataset_of` reads them.
    """
    probes: list[Probe] = facts["asked"]
    rows = []
    for one in facts["systems"]:
        found = store.read(store.file_of(out, facts["name"], one["name"]))
        if found is not None and all(probe.id in found[1] for probe in probes):
            rows.append(Row(one, found[1], probes, need_weight))
    boot = Bootstraps(rounds, seed)
    result: dict[str, Any] = {
        "name": facts["name"], "hash": facts["hash"], "cards": facts["cards"], "probes": len(probes), "notes": [*facts["notes"], *_degraded(rows)],
        "needing": sum(bool(one.gold) for one in probes), "quiet": sum(one.needs is False for one in probes), "clusters": len({one.cluster for one in probes}),
        "systems": [{"name": row.name, "about": row.about, "tried": store.tried(out, facts["hash"], row.name), "thresholds": len(row.grid)} for row in rows],
        "ranking": [row.ranking(boot) for row in rows if row.ranks],
        "doses": [line for row in rows for line in row.doses(boot)],
        "curves": {row.name: row.curve() for row in rows if row.tuned and row.has_both},
        "at_quiet": [row.at_quiet() for row in rows if row.tuned and row.has_both],
        "languages": _by(rows, boot, lambda probe: probe.lang),
        "kinds": _by(rows, boot, lambda probe: probe.kind),
        "quiet_kinds": _quiet_kinds(rows),
        "differences": _differences(rows, boot),
        "oracle": _oracle(rows, probes),
        "never_written": _never_written(probes),
    }  # fmt: skip
    if "stale" in facts["measures"]:
        result["stale"] = [line for row in rows if row.ranks and (line := row.stale())]
    if "stream" in facts["measures"]:
        result["streams"] = _streams(rows, probes)
    result["examples"] = _examples(rows, facts["texts"])
    return result


class Bootstraps:
    """A bootstrap for each set of probes, made once."""

    def __init__(self, rounds: int, seed: int):
        self._rounds, self._seed = rounds, seed
        self._made: dict[tuple[str, ...], Bootstrap] = {}

    def of(self, probes: Sequence[Probe]) -> Bootstrap:
        clusters = tuple(one.cluster for one in probes)
        if clusters not in self._made:
            self._made[clusters] = Bootstrap(clusters, self._rounds, self._seed)
        return self._made[clusters]


class Row:
    """One system on one data set, with its threshold tuned on the first part."""

    def __init__(
        self, facts: Mapping[str, Any], outcomes: Outcomes, probes: Sequence[Probe], need_weight: float
    ):
        self.name, self.about = facts["name"], facts["about"]
        self.dose = Dose(**facts["dose"])
        self.shipped, self.tuned = facts["threshold"], facts["tuned"]
        self.outcomes, self._weight = outcomes, need_weight
        self.probes = [one for one in probes if self._applies(one)]
        self.needing = [one for one in self.probes if one.gold]
        self.ranks = bool(self.needing) and self.name not in ("silent", "everything")
        self.has_both = bool(self.needing) and any(one.needs is False for one in self.probes)
        dev = [one for one in self.probes if one.split == DEV]
        self.grid = sweep.grid([outcomes[one.id] for one in dev]) if self.tuned and dev else []
        self._points = sweep.curve(dev, outcomes, self.dose, self.grid, need_weight) if self.has_both else []
        self.threshold = sweep.tuned(self._points).threshold if self._points else None

    def _applies(self, probe: Probe) -> bool:
        """The personal agent is asked what concerns it, and no other agent is."""
        return self.name not in PROFILES or probe.personal == (self.name == "personal")

    def keys(self, probe: Probe) -> list[str]:
        return [one.key for one in self.outcomes[probe.id].ranked]

    def values(self, measure: str, probes: Sequence[Probe]) -> list[float]:
        return [MEASURES[measure](self.keys(one), one.gold) for one in probes]

    def ranking(self, boot: Bootstraps) -> dict[str, Any]:
        drawn = boot.of(self.needing)
        values = {name: drawn.mean(self.values(name, self.needing)).as_dict() for name in MEASURES}
        ms = [self.outcomes[one.id].ms for one in self.needing]
        return {
            "system": self.name,
            "n": len(self.needing),
            **values,
            "ms_p50": round(percentile(ms, 0.5), 1),
        }

    def doses(self, boot: Bootstraps) -> list[dict[str, Any]]:
        """Lines of the dose table: as shipped, and at the tuned threshold on both parts."""
        lines = []
        if self.shipped is not None or not self.tuned:
            lines.append(self._dose(boot, "as shipped", self.shipped, None, self.probes, "all"))
        if self.threshold is not None:
            for split in (DEV, TEST):
                part = [one for one in self.probes if one.split == split]
                if part:
                    lines.append(self._dose(boot, "tuned", self.threshold, self.threshold, part, split))
        return lines

    def _dose(
        self,
        boot: Bootstraps,
        how: str,
        shown: float | None,
        threshold: float | None,
        probes: Sequence[Probe],
        split: str,
    ) -> dict[str, Any]:
        said = {one.id: sweep.at(self.outcomes[one.id], self.dose, threshold) for one in probes}
        needing = [one for one in probes if one.gold]
        quiet = [one for one in probes if one.needs is False]
        sizes = [float(said[one.id].bytes) for one in probes]
        counts = [float(len(said[one.id].keys)) for one in probes]
        judged = [*needing, *quiet]
        point = sweep.point(probes, self.outcomes, self.dose, threshold, self._weight)
        spoken = sum(len(one.keys) for one in said.values())
        return {
            "system": self.name, "how": how, "split": split, "threshold": None if shown is None else round(shown, 4), "n": len(probes),
            "recall": boot.of(needing).mean([recall_at(said[p.id].keys, p.gold, 1 << 30) for p in needing]).as_dict() if needing else None,
            "hit": boot.of(needing).mean([float(bool(set(said[p.id].keys) & set(p.gold))) for p in needing]).as_dict() if needing else None,
            "injected": boot.of(quiet).mean([float(said[p.id].spoke) for p in quiet]).as_dict() if quiet else None,
            "score": round(point.score, 4) if judged else None,
            "triggered": round(mean([float(self.outcomes[p.id].fired) for p in probes]), 4),
            "silent": round(mean([float(not said[p.id].spoke) for p in probes]), 4),
            "useful": round(sum(len(set(said[p.id].keys) & set(p.gold)) for p in needing) / spoken, 4) if spoken else None,
            "bytes": _spread(sizes), "items": _spread(counts),
            "stale_said": round(mean([float(bool(set(said[p.id].keys) & set(p.stale))) for p in probes if p.stale]), 4) if any(p.stale for p in probes) else None,
            "dead_said": sum(one.dead for one in said.values()),
        }  # fmt: skip

    def curve(self) -> list[dict[str, float]]:
        """Injection rate against recall, every probe, over the thresholds."""
        thresholds = sorted({*self.grid, *([self.shipped] if self.shipped is not None else [])})
        points = sweep.curve(self.probes, self.outcomes, self.dose, thresholds, self._weight)
        return [
            {"threshold": round(p.threshold, 5), "injected": round(p.injected, 4), "recall": round(p.recall, 4), "bytes": round(p.bytes, 1), "items": round(p.items, 3),
             "shipped": p.threshold == self.shipped, "tuned": p.threshold == self.threshold}
            for p in points
        ]  # fmt: skip

    def at_quiet(self) -> dict[str, Any]:
        """The most that is said of what is needed while at most so many quiet turns are disturbed, over all thresholds and probes."""
        points = self.curve()
        return {
            "system": self.name,
            "n": len(self.needing),
            **{
                str(cap): max((p["recall"] for p in points if p["injected"] <= cap), default=0.0)
                for cap in QUIET_CAPS
            },
        }

    def stale(self) -> dict[str, Any] | None:
        """After a change of mind: what was replaced among the first 5, and what holds among the first 2."""
        asked = [one for one in self.needing if one.stale]
        if not asked:
            return None
        return {
            "system": self.name, "n": len(asked),
            "stale_top5": sum(bool(set(self.keys(one)[:5]) & set(one.stale)) for one in asked),
            "stale_first": sum(bool(set(self.keys(one)[:1]) & set(one.stale)) for one in asked),
            "dead_top5": sum(any(entry.dead for entry in self.outcomes[one.id].ranked[:5]) for one in asked),
            "live_top2": sum(bool(set(self.keys(one)[:2]) & set(one.gold)) for one in asked),
            "live_top5": sum(bool(set(self.keys(one)[:5]) & set(one.gold)) for one in asked),
        }  # fmt: skip


def _degraded(rows: Sequence[Row]) -> list[str]:
    """Answers given with less than everything never pass as whole ones."""
    found = []
    for row in rows:
        for note, count in Counter(one.note for one in row.outcomes.values() if one.note).items():
            found.append(f"{row.name}: {count} answers were degraded: {note}")
    return found


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "mean": round(mean(values), 2), "p50": round(percentile(values, 0.5), 2), "p95": round(percentile(values, 0.95), 2), "total": round(sum(values))
    }  # fmt: skip


def _by(
    rows: Sequence[Row], boot: Bootstraps, group: Callable[[Probe], str]
) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        parts: dict[str, list[Probe]] = defaultdict(list)
        for one in row.needing if row.ranks else ():
            parts[group(one)].append(one)
        for name, probes in sorted(parts.items()):
            drawn = boot.of(probes)
            line: dict[str, Any] = {"system": row.name, "n": len(probes)}
            for measure in ("r1", "r5", "mrr"):
                line[measure] = drawn.mean(row.values(measure, probes)).as_dict()
            found[name].append(line)
    return dict(sorted(found.items()))


def _quiet_kinds(rows: Sequence[Row]) -> dict[str, list[dict[str, Any]]]:
    """Turns by kind of moment: how often each system looked, and spoke, as it is shipped."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row.shipped is None and row.tuned:
            continue
        parts: dict[str, list[Probe]] = defaultdict(list)
        for one in row.probes:
            if one.needs is not True:
                parts[one.kind].append(one)
        for name, probes in parts.items():
            said = [sweep.at(row.outcomes[one.id], row.dose, None) for one in probes]
            found[name].append(
                {
                    "system": row.name, "n": len(probes), "triggered": sum(row.outcomes[one.id].fired for one in probes), "injected": sum(one.spoke for one in said),
                    "bytes": round(mean([float(one.bytes) for one in said]), 1),
                }
            )  # fmt: skip
    return dict(sorted(found.items()))


def _differences(rows: Sequence[Row], boot: Bootstraps) -> list[dict[str, Any]]:
    """The product's retrieval against every ranker of the same filter, paired: all, and each language apart."""
    found = []
    for base in rows:
        if not base.name.startswith("product") or not base.ranks:
            continue
        filters = set(base.name.split("+")[1:])
        for other in rows:
            same = set(other.name.split("+")[1:]) - {"live"} == filters
            if (
                other is base
                or not other.ranks
                or other.name in PROFILES
                or not same
                or other.name == "always"
            ):
                continue
            groups = {"all": base.needing}
            for language in sorted({one.lang for one in base.needing}):
                groups[language] = [one for one in base.needing if one.lang == language]
            for name, probes in groups.items():
                for measure in ("r5", "mrr"):
                    interval = boot.of(probes).difference(
                        base.values(measure, probes), other.values(measure, probes)
                    )
                    found.append(
                        {
                            "system": base.name,
                            "against": other.name,
                            "of": name,
                            "measure": measure,
                            **interval.as_dict(),
                        }
                    )
    return found


def _oracle(rows: Sequence[Row], probes: Sequence[Probe]) -> dict[str, Any] | None:
    """What a perfect choice from the first 10 of every system together would find: the ceiling of any gate."""
    needing = [one for one in probes if one.gold]
    if not needing:
        return None
    values = []
    sizes = []
    for one in needing:
        pool = {key for row in rows if row.ranks and one.id in row.outcomes for key in row.keys(one)[:10]}
        values.append(recall_at(sorted(pool), one.gold, len(pool)))
        sizes.append(float(len(pool)))
    return {"recall": round(mean(values), 4), "pool": round(mean(sizes), 1), "n": len(needing)}


def _never_written(probes: Sequence[Probe]) -> dict[str, Any]:
    """Of the moments that need memory, the share whose fact is in no card, by kind."""
    needing = [one for one in probes if one.needs]
    missing = Counter(one.kind for one in needing if not one.gold)
    return {
        "needing": len(needing),
        "missing": sum(missing.values()),
        "share": round(sum(missing.values()) / len(needing), 4) if needing else 0.0,
        "kinds": dict(missing),
    }


def _streams(rows: Sequence[Row], probes: Sequence[Probe]) -> dict[str, Any]:
    """Bytes of whole conversations by system; `saved`: how much less working costs than full."""
    sessions = sorted({one.session for one in probes if one.session})
    lines = []
    for row in rows:
        by_session = dict.fromkeys(sessions, 0)
        turns = dict.fromkeys(sessions, 0)
        for one in row.probes:
            if one.session:
                said = sweep.at(row.outcomes[one.id], row.dose, None)
                by_session[one.session] += said.bytes
                turns[one.session] += said.spoke
        lines.append(
            {
                "system": row.name,
                "bytes": sum(by_session.values()),
                "turns_with": sum(turns.values()),
                "sessions": by_session,
            }
        )
    total = {line["system"]: line["bytes"] for line in lines}
    saved = (
        round(1 - total["working"] / total["full"], 4) if total.get("full") and "working" in total else None
    )
    return {
        "sessions": len(sessions),
        "turns": sum(bool(one.session) for one in probes),
        "rows": lines,
        "saved": saved,
    }


def _examples(
    rows: Sequence[Row], texts: Mapping[str, Mapping[str, Any]], count: int = 3
) -> list[dict[str, Any]]:
    """The same prompt, two doses: prompts to which full and working both say something, by how much they differ."""
    named = {row.name: row for row in rows}
    if not {"full", "working"} <= set(named):
        return []
    full, working = named["full"], named["working"]
    both = [
        one
        for one in full.probes
        if one.gold
        and full.outcomes[one.id].text
        and working.outcomes[one.id].text
        and set(working.outcomes[one.id].said or ()) & set(one.gold)
    ]
    both.sort(key=lambda one: (-(full.outcomes[one.id].bytes - working.outcomes[one.id].bytes), one.id))
    chosen, seen = [], set()
    for one in both:
        if one.lang not in seen or len(chosen) >= len({p.lang for p in both}):
            seen.add(one.lang)
            chosen.append(one)
        if len(chosen) == count:
            break
    return [
        {"prompt": one.text, "project": one.project, "gold": [texts[key]["l0"] for key in one.gold if key in texts],
         "doses": [{"system": row.name, "bytes": row.outcomes[one.id].bytes, "items": len(row.outcomes[one.id].said or ()), "text": row.outcomes[one.id].text} for row in (full, working)]}
        for one in chosen
    ]  # fmt: skip

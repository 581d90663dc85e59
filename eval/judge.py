"""The blind judge: pool what all systems say to a probe, have each card labelled once, score every system by the labels.

The judge is any agent that answers work orders, a command, or a model of Anthropic's API; the same checks hold for all three. Which order is of which probe and
card lies in `DIR/judge/<data set>/key*.json`, which is not given to a judge.
"""

from __future__ import annotations

import json
import random
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval import judge_orders, store, sweep
from eval.bootstrap import Bootstrap
from eval.data import Probe
from eval.judge_orders import LABELS, Moment
from eval.metrics import agreement, kappa, turn_score
from eval.run import dataset_of
from eval.tables import Row
from gitmem.model import fold

POOLED = 5
SECOND_SHARE = 0.2
Answerer = Callable[[str], str]


def command(
    out: Path,
    dataset: str | None,
    probes: int,
    delegate: Path | None,
    answer: Path | None,
    run: str | None,
    api: str | None,
    second: bool,
) -> str:
    """`python -m eval judge`; what to tell the person."""
    name = _chosen(out, dataset)
    work = Judging(out, name, probes, second)
    if delegate:
        return work.delegate(delegate)
    if answer:
        return work.read(answer)
    folder = out / "judge" / name / "orders"
    by: Answerer = _by_command(run) if run else _by_api(str(api))
    for _ in range(2):
        work.delegate(folder)
        for order in sorted(folder.glob("*.json")):
            if (
                not order.name.endswith(".answer.json")
                and not (folder / f"{order.stem}.answer.json").is_file()
            ):
                found = judge_orders.parsed(by((folder / f"{order.stem}.md").read_text(encoding="utf-8")))
                store.write_json(folder / f"{order.stem}.answer.json", found)
    return work.read(folder)


class Judging:
    """The judging of one data set. `second`: the other labelling, of a fifth of the probes, in an order of its own."""

    def __init__(self, out: Path, name: str, probes: int, second: bool):
        self.out, self.name, self._second = out, name, second
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        self.seed, self._rounds = run["seed"], run["bootstraps"]
        facts = dataset_of(out, name)
        self.cards: Mapping[str, Mapping[str, Any]] = facts["texts"]
        self.rows = [
            Row(one, found[1], facts["asked"], run["need_weight"])
            for one in facts["systems"]
            if (found := store.read(store.file_of(out, name, one["name"]))) is not None
        ]
        self.probes = drawn(facts["asked"], probes, self.seed)
        if not self.probes:
            raise ValueError(f"the data set `{name}` has no probes to judge")
        sealed = out / "followed" / f"{name}.json"
        self._followed = json.loads(sealed.read_text(encoding="utf-8")) if sealed.is_file() else {}
        self._salt = "s" if second else ""
        self._key = out / "judge" / name / f"key{'-second' if second else ''}.json"

    def asked(self) -> list[Probe]:
        """The probes of this labelling."""
        if not self._second:
            return self.probes
        count = max(1, round(SECOND_SHARE * len(self.probes)))
        return sorted(random.Random(f"{self.seed} second").sample(self.probes, count), key=lambda one: one.id)

    def delegate(self, folder: Path) -> str:
        """Write the orders of the stage that is due."""
        key = self._known()
        if not key["need"]:
            key["need"] = judge_orders.write(
                folder, "need", [self._moment(one) for one in self.asked()], self.seed, self._salt
            )
            store.write_json(self._key, key)
            return f"{len(key['need'])} orders in {folder}: did the moment need memory? Once answered, run this again for the cards."
        open_ = [one["order"] for one in key["need"] if judge_orders.answer_of(folder, one["order"]) is None]
        if open_:
            return f"{len(open_)} of {len(key['need'])} orders wait for an answer: {', '.join(open_)}"
        if not key["cards"]:
            moments = [self._moment(one, with_cards=True) for one in self.asked()]
            key["cards"] = judge_orders.write(folder, "cards", moments, self.seed, self._salt)
            store.write_json(self._key, key)
        waiting = [
            one["order"] for one in key["cards"] if judge_orders.answer_of(folder, one["order"]) is None
        ]
        return f"{len(key['cards'])} orders of cards in {folder}, {len(waiting)} without an answer"

    def read(self, folder: Path) -> str:
        """Take in the answers, and score once all are there."""
        key = self._known()
        orders = [*key["need"], *key["cards"]]
        missing = [one["order"] for one in orders if judge_orders.answer_of(folder, one["order"]) is None]
        if missing or not key["cards"]:
            return f"not answered yet: {', '.join(missing) or 'the cards; --delegate writes their orders'}"
        labels = labelled(key, folder, self._texts())
        store.write_json(self._key.with_name(f"labels{'-second' if self._second else ''}.json"), labels)
        first = self._key.with_name("labels.json")
        if not first.is_file():
            return (
                f"labels of the second judge are kept; the first labelling of `{self.name}` is not there yet"
            )
        other = self._key.with_name("labels-second.json")
        found = self.scored(json.loads(first.read_text(encoding="utf-8")))
        if other.is_file():
            found["second"] = agreed(
                json.loads(first.read_text(encoding="utf-8")), json.loads(other.read_text(encoding="utf-8"))
            )
        store.write_json(self.out / "judged" / f"{self.name}.json", found)
        return (
            f"{found['probes']} probes judged, {found['void']} labels void; python -m eval report {self.out}"
        )

    def scored(self, labels: Mapping[str, Any]) -> dict[str, Any]:
        """Every system by the labels of the cards it said."""
        moments: Mapping[str, Any] = labels["moments"]
        asked = [one for one in self.probes if one.id in moments]
        rows = []
        for row in self.rows:
            own = [one for one in asked if one in row.probes]
            if not own:
                continue
            said = {one.id: self._said(row, one) for one in own}
            given = {one.id: [moments[one.id]["cards"].get(key) for key in said[one.id]] for one in own}
            scores = [
                turn_score([x for x in given[one.id] if x], moments[one.id]["needed"], bool(said[one.id]))
                for one in own
            ]
            interval = Bootstrap([one.cluster for one in own], self._rounds, self.seed).mean(scores)
            counts = {label: sum(x == label for found in given.values() for x in found) for label in LABELS}
            silent = [one for one in own if not moments[one.id]["needed"]]
            rows.append(
                {
                    "system": row.name, "n": len(own), "composite": interval.as_dict(), **counts, "spoke": sum(bool(keys) for keys in said.values()),
                    "right_silence": f"{sum(not said[one.id] for one in silent)} of {len(silent)}",
                }
            )  # fmt: skip
        useful = ("necessary", "helpful")
        needing = [one for one in moments.values() if one["needed"]]
        return {
            "probes": len(asked), "needing": len(needing), "void": labels["void"], "rows": sorted(rows, key=lambda row: -row["composite"]["value"]),
            "decoys_useful": sum(one["cards"].get(one["decoy"]) in useful for one in moments.values() if one["decoy"]),
            "stale_useful": sum(one["cards"].get(one["superseded"]) in useful for one in moments.values() if one["superseded"]),
            "never_written": sum(not any(label in useful for label in one["cards"].values()) for one in needing),
        }  # fmt: skip

    def _said(self, row: Row, probe: Probe) -> tuple[str, ...]:
        """What a system says where it is judged: as shipped, else at its tuned threshold, else its first few."""
        return sweep.at(
            row.outcomes[probe.id], row.dose, None if row.shipped is not None else row.threshold
        ).keys

    def pool(self, probe: Probe) -> dict[str, str]:
        """Key -> where it comes from: `said`, `decoy` (a live card of another project) or `superseded` (an older version)."""
        found: dict[str, str] = {}
        for row in self.rows:
            if row.name != "everything" and probe in row.probes:
                found.update(
                    dict.fromkeys(
                        [key for key in self._said(row, probe)[:POOLED] if key in self.cards], "said"
                    )
                )
        lot = random.Random(f"{self.seed} {probe.id}")
        here = {"global", "personal", probe.project}
        others = sorted(
            key
            for key, card in self.cards.items()
            if card["live"] and card["scope"] not in here and key not in found
        )
        if others:
            found[lot.choice(others)] = "decoy"
        older = sorted(key for key in probe.stale if key in self.cards and key not in found)
        older = older or sorted(
            key for key, card in self.cards.items() if not card["live"] and key not in found
        )
        if older:
            found[lot.choice(older)] = "superseded"
        return found

    def _moment(self, probe: Probe, with_cards: bool = False) -> Moment:
        texts = self._texts()
        cards = {key: texts[key] for key in self.pool(probe)} if with_cards else {}
        return Moment(
            probe.id, probe.project, probe.previous, probe.text, self._followed.get(probe.id, ()), cards
        )

    def _texts(self) -> dict[str, str]:
        return {
            key: "\n".join(filter(None, (card["l0"], card["l1"], f"(of {card['scope']})")))
            for key, card in self.cards.items()
        }

    def _known(self) -> dict[str, Any]:
        if self._key.is_file():
            found = json.loads(self._key.read_text(encoding="utf-8"))
            if found["probes"] == [one.id for one in self.asked()]:
                return found
        pools = {one.id: self.pool(one) for one in self.asked()}
        moments = {
            one.id: {
                "decoy": next((key for key, why in pools[one.id].items() if why == "decoy"), None),
                "superseded": next((key for key, why in pools[one.id].items() if why == "superseded"), None),
                "words": [
                    one.previous,
                    one.text,
                    *(str(after["text"]) for after in self._followed.get(one.id, ())),
                ],
            }
            for one in self.asked()
        }
        return {"probes": [one.id for one in self.asked()], "moments": moments, "need": [], "cards": []}


def drawn(probes: Sequence[Probe], count: int, seed: int) -> list[Probe]:
    """So many probes, by the seed, in the order of their ids."""
    if len(probes) <= count:
        return sorted(probes, key=lambda one: one.id)
    return sorted(random.Random(seed).sample(list(probes), count), key=lambda one: one.id)


def labelled(key: Mapping[str, Any], folder: Path, texts: Mapping[str, str]) -> dict[str, Any]:
    """Answers as labels by probe and card. A label that is none, or whose citation is not found word for word, is void and left out.

    Raises:
        ValueError: a moment has no answer.
    """
    moments: dict[str, dict[str, Any]] = {}
    void = 0
    for order in key["need"]:
        answers = {
            one.get("n"): one for one in (judge_orders.answer_of(folder, order["order"]) or {})["moments"]
        }
        for moment in order["moments"]:
            given = answers.get(moment["n"])
            if given is None or not isinstance(given.get("needed"), bool):
                raise ValueError(
                    f"`{order['order']}` does not say whether moment {moment['n']} needed memory"
                )
            moments[moment["probe"]] = {
                **key["moments"][moment["probe"]],
                "needed": given["needed"],
                "cards": {},
            }
    for order in key["cards"]:
        answers = {
            one.get("n"): one for one in (judge_orders.answer_of(folder, order["order"]) or {})["moments"]
        }
        for moment in order["moments"]:
            listed = (answers.get(moment["n"]) or {}).get("cards") or []
            given = {one.get("n"): one for one in listed if isinstance(one, dict)}
            target = moments[moment["probe"]]
            for number, card in enumerate(moment["cards"], 1):
                label, citation = (
                    given.get(number, {}).get("label"),
                    str(given.get(number, {}).get("citation") or ""),
                )
                where = [texts[card]] if label == "irrelevant" else target["words"]
                if label in LABELS and any(cited(citation, words) for words in where):
                    target["cards"][card] = label
                else:
                    void += 1
    return {"moments": moments, "void": void}


def cited(citation: str, words: str) -> bool:
    """Whether the product's own quote check finds the citation in these words."""
    return bool(words) and fold.find(citation, words) is not None and fold.long_enough(citation, words)


def agreed(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """How far two labellings agree on the moments and cards that both labelled."""
    shared = sorted(set(first["moments"]) & set(second["moments"]))
    needs = [(first["moments"][one]["needed"], second["moments"][one]["needed"]) for one in shared]
    labels = [
        (label, second["moments"][one]["cards"][card])
        for one in shared
        for card, label in sorted(first["moments"][one]["cards"].items())
        if card in second["moments"][one]["cards"]
    ]
    (need_a, need_b), (a, b) = _columns(needs), _columns(labels)
    return {
        "probes": len(shared), "labels": len(labels), "need_agreement": round(agreement(need_a, need_b), 4), "need_kappa": round(kappa(need_a, need_b), 4),
        "agreement": round(agreement(a, b), 4), "kappa": round(kappa(a, b), 4),
    }  # fmt: skip


def _columns(pairs: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


def _chosen(out: Path, dataset: str | None) -> str:
    names = [one["name"] for one in json.loads((out / "run.json").read_text(encoding="utf-8"))["datasets"]]
    if dataset is None and len(names) == 1:
        return names[0]
    if dataset not in names:
        raise ValueError(f"--dataset is one of {', '.join(names)}")
    return dataset


def _by_command(line: str) -> Answerer:
    def ask(order: str) -> str:
        done = subprocess.run(shlex.split(line), input=order, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(f"`{line}` failed: {done.stderr.strip()[:300]}")
        return done.stdout

    return ask


def _by_api(model: str) -> Answerer:
    try:
        import anthropic
    except ImportError as error:
        raise ValueError("the package `anthropic` is not installed: pip install 'git-mem[eval]'") from error
    client = anthropic.Anthropic()

    def ask(order: str) -> str:
        with client.messages.stream(
            model=model, max_tokens=16_000, messages=[{"role": "user", "content": order}]
        ) as answer:
            return answer.get_final_text()

    return ask

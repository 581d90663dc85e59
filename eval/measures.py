"""Measures that no ranking gives: quotes, leaks, and missed moments of the local log."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval import config, datasets, store
from eval.config import Config, Unset
from eval.data import Dataset, digest
from eval.metrics import precision_recall
from eval.systems.product import Whole
from eval.world import Vectors, Worlds
from gitmem.model import fold
from gitmem.recall import log

PROFILES = ("full", "working", "personal")
MISSED_TURNS = 3


def take(conf: Config, out: Path, resume: bool, vectors: Vectors, skipped: list[str], tell: Any) -> list[str]:
    """Take the measures that the configuration names and store each; which were taken."""
    taken = []
    for name, options in conf.measures.items():
        kind = str((options or {}).get("kind", name))
        if kind not in KINDS:
            raise config.ConfigError(f"no measure `{kind}`; measures are {', '.join(sorted(KINDS))}")
        try:
            given = {
                key: value
                for key, value in config.filled(options or {}, conf.folder).items()
                if key != "kind"
            }
        except Unset as error:
            skipped.append(f"measure `{name}`: skipped, {error}")
            tell.line(skipped[-1])
            continue
        tell.step(name, 0, 1)
        found = KINDS[kind](conf, out, vectors, tell, **given)
        store.write_json(out / "measures" / f"{name}.json", {"kind": kind, "commit": store.commit(), **found})
        tell.line(f"{name}: taken")
        taken.append(name)
    return taken


# quotes


def quotes(
    conf: Config, out: Path, vectors: Vectors, tell: Any, pairs: Path, edits: int = 400
) -> dict[str, Any]:
    """The product's quote check on pairs of quote and source.

    A pair: `{"quote", "source", "label": pos | neg | policy, "kind", "lang"}`. `policy`: what the rules say of it, neither true nor false; counted apart.

    Args:
        edits: on so many true quotes one letter or digit is changed, which must be refused.
    """
    import json

    text = Path(pairs).read_text(encoding="utf-8")
    rows = (
        json.loads(text)
        if text.lstrip().startswith("[")
        else [json.loads(line) for line in text.splitlines() if line.strip()]
    )
    return {"data": digest(text), **judged_quotes(rows, random.Random(conf.seed), edits)}


def judged_quotes(rows: Sequence[dict[str, Any]], drawn: random.Random, edits: int) -> dict[str, Any]:
    groups: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    policy: dict[str, list[bool]] = defaultdict(list)
    wrong_span = 0
    true = []
    for row in rows:
        span = fold.find(row["quote"], row["source"])
        accepted = span is not None and fold.long_enough(row["quote"], row["source"])
        if row["label"] == "policy":
            policy[row["kind"]].append(accepted)
            continue
        groups[f"{row['lang']} {row['kind']}"].append((accepted, row["label"] == "pos"))
        if row["label"] == "pos" and accepted and span is not None:
            words = row["source"][span[0] : span[1]]
            wrong_span += fold.fold(words).text != fold.fold(row["quote"]).text
            if row["kind"] == "identity":
                true.append(row)
    everything = [pair for pairs in groups.values() for pair in pairs]
    precision, recall = precision_recall([a for a, _ in everything], [t for _, t in everything])
    passed = sum(
        _accepted(_edited(row["quote"], drawn), row["source"])
        for row in drawn.sample(true, min(edits, len(true)))
    )
    by_kind = {
        name: {"accepted": sum(a for a, _ in pairs), "true": sum(t for _, t in pairs), "pairs": len(pairs)}
        for name, pairs in sorted(groups.items())
    }
    return {
        "pairs": len(everything), "precision": round(precision, 4), "recall": round(recall, 4), "spans_that_differ": wrong_span,
        "edits_tried": min(edits, len(true)), "edits_accepted": passed, "by_kind": by_kind,
        "policy": {name: {"accepted": sum(found), "pairs": len(found)} for name, found in sorted(policy.items())},
    }  # fmt: skip


def _accepted(quote: str, source: str) -> bool:
    return fold.find(quote, source) is not None and fold.long_enough(quote, source)


def _edited(quote: str, drawn: random.Random) -> str:
    """The quote with one letter or digit changed into another."""
    at = drawn.choice([i for i, char in enumerate(quote) if char.isalnum()])
    for other in drawn.sample("kqz73ふ龙永", 8):
        if fold.fold(other).text != fold.fold(quote[at]).text:
            return quote[:at] + other + quote[at + 1 :]
    raise AssertionError


# leaks


def leaks(
    conf: Config, out: Path, vectors: Vectors, tell: Any, dataset: dict[str, Any], probes: int = 60
) -> dict[str, Any]:
    """A token of its own in every card and in an expired twin of each; then no probe in any project under any profile may print one of a card that it must not hear.

    Args:
        dataset: as in the configuration; only its cards and the texts of its probes count.
        probes: so many of them, drawn by the seed.
    """
    return leaked(datasets.load(dataset, conf.now), conf, out, vectors, tell, probes)


def leaked(
    given: Dataset, conf: Config, out: Path, vectors: Vectors, tell: Any, probes: int
) -> dict[str, Any]:
    twins = [
        replace(card, key=f"{card.key}-expired", date="2020-01-01", expires="2020-02-01", supersedes=())
        for card in given.cards
    ]
    cards = (*given.cards, *twins)
    tokens = {card.key: f"zq{digest(card.key)[:10]}" for card in cards}
    marked = tuple(
        replace(
            card,
            conclusion=f"{card.conclusion} {tokens[card.key]}",
            body=f"{card.body} {tokens[card.key]}".strip(),
        )
        for card in cards
    )
    worlds = Worlds(
        replace(given, name=f"{given.name}-marked", cards=marked),
        out / "worlds",
        conf.now,
        conf.seed,
        vectors,
        tell.step,
    )
    found: list[dict[str, str]] = []
    checked = 0
    try:
        world = worlds.of()
        owner = {tokens[world.key(item.id)]: item for item in world.all_items()}
        drawn = random.Random(conf.seed)
        chosen = drawn.sample(list(given.probes), min(probes, len(given.probes)))
        places = [*sorted(world.registry.projects), None]
        from eval.systems.base import Heard

        for number, probe in enumerate(chosen):
            tell.step("leaks", number, len(chosen))
            for profile in PROFILES:
                for project in places:
                    # the words of a card that may not be heard are the hardest probe of all
                    card = drawn.choice(cards)
                    for text in (probe.text, f"{card.conclusion} {tokens[card.key]}"):
                        asked = replace(probe, text=text, project=project, session="", turn=0)
                        answer = Whole(profile).answer(asked, world, Heard())
                        checked += 1
                        for token in set(re.findall(r"zq[0-9a-f]{10}", answer.text)):
                            item = owner[token]
                            if reason := _forbidden(item.scope, world.is_live(item.id), profile, project):
                                found.append(
                                    {
                                        "profile": profile,
                                        "project": str(project),
                                        "card": world.key(item.id),
                                        "why": reason,
                                    }
                                )
    finally:
        worlds.close()
    return {"data": given.hash(), "answers": checked, "leaks": len(found), "examples": found[:10]}


def _forbidden(scope: str, alive: bool, profile: str, project: str | None) -> str:
    if not alive:
        return "no longer live"
    if profile == "personal":
        return "" if scope == "personal" else "not personal"
    if scope == "personal":
        return "personal"
    return "of another project" if profile == "working" and scope not in ("global", project) else ""


# missed moments


def missed(conf: Config, out: Path, vectors: Vectors, tell: Any, memory: Path) -> dict[str, Any]:
    """From a memory's own log: searches that an agent made within 3 turns of a recall that said nothing to it."""
    from gitmem import config as settings
    from gitmem.git import locate

    found = locate.open_at(Path(memory), settings.from_process())
    if found is None:
        raise ValueError(f"`{memory}` is no memory")
    return missed_in(log.entries(found.state))


def missed_in(entries: Sequence[dict[str, Any]], within: int = MISSED_TURNS) -> dict[str, Any]:
    """A search is a missed moment when one of the last `within` automatic turns of the same agent and project was silent.

    Turns are told apart by session where the log names one: the newest session of that agent before the search counts.
    """
    turns: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    silent = spoken = searches = 0
    moments = []
    for entry in entries:
        who = str(entry.get("agent")), str(entry.get("project"))
        if entry.get("event") == "recall" and entry.get("automatic"):
            turns[who].append(entry)
            silent += not entry.get("said")
            spoken += bool(entry.get("said"))
        elif entry.get("event") == "search" and entry.get("agent") != "you":
            searches += 1
            before = turns[who][-within:]
            if before:
                newest = before[-1].get("session")
                before = [one for one in before if one.get("session") == newest]
            if any(not one.get("said") for one in before):
                moments.append(
                    {
                        "at": entry.get("at"),
                        "agent": who[0],
                        "project": who[1],
                        "found": len(entry.get("said") or []),
                    }
                )
    useful = sum(bool(one["found"]) for one in moments)
    return {
        "silent_turns": silent, "spoken_turns": spoken, "searches": searches, "missed": len(moments), "missed_and_found": useful,
        "share_of_silent": round(len(moments) / silent, 4) if silent else 0.0, "moments": moments[-20:],
    }  # fmt: skip


KINDS = {"quotes": quotes, "leaks": leaks, "missed": missed}

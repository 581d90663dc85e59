"""LoCoMo (Maharana et al., ACL 2024): ten long conversations with questions and the turns that answer them.

A conversation is a project. Cards are its one-sentence observations, or its turns with speaker and day. The turns named as evidence are gold; of
an observation, those it is said to come from. Category 5, the adversarial questions, has no answer and is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from eval.data import DEV, TEST, Card, Dataset, Probe, language, unique

DEVELOPMENT = frozenset({"26", "30", "41", "42"})
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop"}
_TURN = re.compile(r"D\d+:\d+")


def load(name: str, now: datetime, path: Path, by: str = "observations", limit: int | None = None) -> Dataset:
    """
    Args:
        by: `observations` or `turns`.
        limit: only the first so many conversations.
    """
    if by not in ("observations", "turns"):
        raise ValueError(f"LoCoMo's cards are `observations` or `turns`, not `{by}`")
    samples = json.loads(Path(path).read_text(encoding="utf-8"))
    cards: list[Card] = []
    probes: list[Probe] = []
    unfound = 0
    for sample in samples[:limit]:
        number = re.sub(r"\D", "", str(sample["sample_id"]))
        project = f"conversation-{number}"
        found = turns(sample, project) if by == "turns" else observations(sample, project)
        origin = {key: evidence for key, (_, evidence) in found.items()}
        cards.extend(card for card, _ in found.values())
        for at, question in enumerate(sample["qa"]):
            evidence = unique(
                turn for one in question.get("evidence") or () for turn in _TURN.findall(str(one))
            )
            if question["category"] not in CATEGORIES or not evidence:
                continue
            gold = tuple(key for key, turns_of in origin.items() if set(turns_of) & set(evidence))
            if not gold:
                unfound += 1
                continue
            probes.append(
                Probe(
                    f"{number}-{at}", str(question["question"]), project=project, lang=language(str(question["question"])), kind=CATEGORIES[question["category"]], gold=gold,
                    split=DEV if number in DEVELOPMENT else TEST, cluster=project,
                )
            )  # fmt: skip
    notes = (f"{unfound} questions have evidence in no card and are left out",) if unfound else ()
    return Dataset(name, tuple(cards), tuple(probes), notes=notes)


Found = dict[str, tuple[Card, tuple[str, ...]]]


def observations(sample: Mapping[str, Any], project: str) -> Found:
    """Key -> card and the turns it comes from."""
    out: Found = {}
    for session in _sessions(sample["conversation"]):
        day = _day(sample["conversation"].get(f"session_{session}_date_time", ""))
        by_speaker = sample["observation"].get(f"session_{session}_observation") or {}
        for speaker, said in by_speaker.items():
            for number, (text, origin) in enumerate(said):
                turns_of = [origin] if isinstance(origin, str) else list(origin)
                key = f"{project}-{session}-{speaker}-{number}"
                out[key] = (
                    Card(key, str(text), project, date=day, cluster=project),
                    tuple(t for one in turns_of for t in _TURN.findall(str(one))),
                )
    return out


def turns(sample: Mapping[str, Any], project: str) -> Found:
    out: Found = {}
    for session in _sessions(sample["conversation"]):
        stated = sample["conversation"].get(f"session_{session}_date_time", "")
        for turn in sample["conversation"][f"session_{session}"]:
            picture = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']} ({stated}): {turn.get('text', '')}{picture}"
            key = f"{project}-{turn['dia_id']}"
            out[key] = Card(key, text, project, date=_day(stated), cluster=project), (turn["dia_id"],)
    return out


def _sessions(conversation: Mapping[str, Any]) -> list[int]:
    found = [
        int(match[1])
        for key in conversation
        if (match := re.fullmatch(r"session_(\d+)", key)) and conversation[key]
    ]
    return sorted(found)


def _day(text: str) -> str:
    """`1:56 pm on 8 May, 2023` as `2023-05-08`."""
    match = re.search(r"(\d{1,2}) (\w+),? (\d{4})", text)
    if not match:
        return "2023-01-01"
    for form in ("%d %B %Y", "%d %b %Y"):
        try:
            return datetime.strptime(" ".join(match.groups()), form).date().isoformat()
        except ValueError:
            continue
    return "2023-01-01"

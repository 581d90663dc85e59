"""LongMemEval-S (Wu et al., ICLR 2025): 500 questions, each over its own history of about forty sessions.

A question's history is a project, a session's user turns are its cards, and those marked `has_answer` are gold; where none is marked, every
turn of the answer's sessions. Questions that end in `_abs` have no answer: silence is right.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from eval.data import Card, Dataset, Probe, digest, half, language


def load(name: str, now: datetime, path: Path, limit: int | None = None) -> Dataset:
    """
    Args:
        limit: only the first so many questions.
    """
    cards: list[Card] = []
    probes: list[Probe] = []
    unmarked = 0
    for question in json.loads(Path(path).read_text(encoding="utf-8"))[:limit]:
        project = f"q-{digest(question['question_id'])[:10]}"
        marked: list[str] = []
        whole: list[str] = []
        sessions = zip(
            question["haystack_session_ids"],
            question["haystack_dates"],
            question["haystack_sessions"],
            strict=True,
        )
        for at, (session, date, turns) in enumerate(sessions):
            for number, turn in enumerate(turns):
                if turn["role"] != "user" or not turn["content"].strip():
                    continue
                key = f"{project}-{at}-{number}"
                cards.append(Card(key, turn["content"], project, date=_day(date), cluster=project))
                if turn.get("has_answer"):
                    marked.append(key)
                if session in question["answer_session_ids"]:
                    whole.append(key)
        absent = str(question["question_id"]).endswith("_abs")
        unmarked += not absent and not marked
        text = str(question["question"])
        probes.append(
            Probe(
                str(question["question_id"]), text, project=project, lang=language(text), kind=str(question["question_type"]), gold=() if absent else tuple(marked or whole),
                needs=not absent, split=half(project), cluster=project,
            )
        )  # fmt: skip
    notes = (
        (f"{unmarked} questions mark no user turn: every turn of their sessions counts",) if unmarked else ()
    )
    return Dataset(name, tuple(cards), tuple(probes), notes=notes)


def _day(text: str) -> str:
    """`2023/05/20 (Sat) 02:21` as `2023-05-20`."""
    day = text[:10].replace("/", "-")
    try:
        return datetime.fromisoformat(day).date().isoformat()
    except ValueError:
        return "2023-01-01"

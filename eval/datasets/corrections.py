"""Changes of mind: what was said before and what replaced it. Asked about, only the later one is right.

A line: `{"kind", "gist": "old -> new", "now": {"text", "session", "ts"}, "prev": {"text"} | null}`.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from eval.data import Card, Dataset, Probe, digest, half, language
from eval.datasets.files import rows

PROJECT = "corrected"


def load(name: str, now: datetime, path: Path, around: Path | None = None) -> Dataset:
    """One pair of cards a correction, one probe in the words of the old one, and one in those of the gist.

    Args:
        around: a file of prompts, each of which becomes a card of the same project, so that there is something else to be found.
    """
    cards: list[Card] = []
    probes: list[Probe] = []
    for _, row in rows(path):
        new = row["now"]["text"]
        left, arrow, _ = row["gist"].partition("->")
        old = (row.get("prev") or {}).get("text") or left.strip()
        key = digest(row["gist"], new)[:8]
        day = str(row["now"].get("ts", "2026-01-01"))[:10]
        replaces = row["kind"] != "convention" and bool(arrow or row.get("prev"))
        if replaces:
            cards.append(Card(f"{key}-old", old, PROJECT, "convention", date=day, cluster=key))
        cards.append(
            Card(
                f"{key}-new",
                new,
                PROJECT,
                "convention",
                date=day,
                supersedes=(f"{key}-old",) if replaces else (),
                cluster=key,
            )
        )
        for kind, text in (("in the old words", old), ("by the gist", left.strip())):
            probes.append(
                Probe(
                    f"{key}-{kind}", text, project=PROJECT, lang=language(text), kind=kind, gold=(f"{key}-new",), stale=(f"{key}-old",) if replaces else (),
                    split=half(key), cluster=key,
                )
            )  # fmt: skip
    known = {one.conclusion for one in cards}
    if around is not None:
        for number, row in rows(around):
            if row["text"] not in known and len(row["text"]) >= 12:
                known.add(row["text"])
                cards.append(Card(f"around-{number}", row["text"], PROJECT, "convention"))
    return Dataset(name, tuple(cards), tuple(probes), measures=frozenset({"stale"}))

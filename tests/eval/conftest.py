"""One small run of the kit, made once: three kinds of questions, a changed mind, quiet turns, a conversation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval import config
from eval.run import Teller, run

CARDS = [
    {"key": "uv-old", "conclusion": "Make environments with conda", "date": "2025-10-01", "cluster": "env"},
    {"key": "uv", "conclusion": "Make environments with uv, one a project", "supersedes": ["uv-old"], "type": "preference", "cluster": "env"},
    {"key": "tide", "conclusion": "The tide gauge at Sines reports in feet", "scope": "harbour", "type": "pitfall"},
    {"key": "crane", "conclusion": "Crane bookings close at noon", "scope": "harbour", "type": "convention"},
    {"key": "kiln", "conclusion": "The kiln is fired on Thursdays at 1240 degrees", "scope": "pottery", "type": "convention"},
    {"key": "glaze", "conclusion": "釉料配方写在蓝色本子上", "scope": "pottery", "type": "fact"},
    {"key": "swim", "conclusion": "Swims on Friday mornings", "scope": "personal", "type": "habit"},
]  # fmt: skip
PROBES = [
    {"id": "p1", "text": "set up a conda environment for this", "project": "harbour", "gold": ["uv"], "stale": ["uv-old"], "split": "dev", "kind": "superseded words"},
    {"id": "p2", "text": "read the tide gauge at Sines", "project": "harbour", "gold": ["tide"], "split": "test", "kind": "paraphrase"},
    {"id": "p3", "text": "until when can a crane be booked", "project": "harbour", "gold": ["crane"], "split": "dev", "kind": "paraphrase"},
    {"id": "p4", "text": "when is the kiln fired and how hot", "project": "pottery", "gold": ["kiln"], "split": "test", "kind": "paraphrase"},
    {"id": "p5", "text": "釉料的配方在哪里", "project": "pottery", "gold": ["glaze"], "split": "dev", "kind": "paraphrase"},
    {"id": "p6", "text": "meet Ana on Friday at seven", "personal": True, "gold": ["swim"], "split": "test", "kind": "personal"},
    {"id": "p7", "text": "who mends the crane", "project": "harbour", "needs": True, "gold": [], "split": "dev", "kind": "never written: person"},
]  # fmt: skip
QUIET = [{"text": "run it again"}, {"text": "fix the typo"}, {"text": "继续"}, {"text": "show the diff"}]
STREAM = [
    {"session": "one", "ts": f"2026-05-30T09:0{i}:00Z", "project": "harbour", "text": text}
    for i, text in enumerate(["read the tide gauge at Sines", "now plot it", "and save the plot"])
]


def write(file: Path, rows: list[dict]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def make_config(place: Path, systems: str) -> Path:
    write(place / "cards.jsonl", CARDS)
    write(place / "probes.jsonl", PROBES)
    write(place / "quiet.jsonl", QUIET)
    write(place / "stream.jsonl", STREAM)
    file = place / "small.yaml"
    file.write_text(
        f"""name: small
title: A small set & its <tags>
now: 2026-06-01T09:00:00Z
bootstraps: 200
systems: [{systems}]
datasets:
  - name: small
    cards: cards.jsonl
    path: probes.jsonl
    measures: [stale, stream]
    prompts:
      - {{path: quiet.jsonl, turns: [0, 2], project: harbour, prefix: quiet}}
      - {{path: stream.jsonl, stream: true, needs: null, prefix: stream}}
  - {{name: absent, kind: locomo, path: "${{NO_SUCH_SET}}"}}
measures:
  leaks: {{dataset: {{name: small, cards: cards.jsonl, path: probes.jsonl}}, probes: 2}}
""",
        encoding="utf-8",
    )
    return file


SYSTEMS = "full, working, personal, product, bm25, bm25+scope+live, bm25-bigrams, dense, rrf, mem0, everything, silent, always"


class Quiet(Teller):
    """Keeps what would be told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def step(self, what: str, done: int, total: int) -> None:
        return None

    def line(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture(scope="session")
def small(tmp_path_factory, _hermetic) -> Path:
    """A folder of results of the small run; only read."""
    place = tmp_path_factory.mktemp("small")
    run(config.read(make_config(place, SYSTEMS)), place / "out", False, Quiet())
    return place / "out"

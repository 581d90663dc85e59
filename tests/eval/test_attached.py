"""Memories attached from outside, with a stand-in for what is not installed here."""

from __future__ import annotations

import sys
import types

import pytest

from eval import datasets
from eval.systems import attached
from eval.systems.base import Heard
from eval.world import opened
from tests.eval.conftest import CARDS, PROBES, write
from tests.eval.test_loaders import NOW


class Shelf:
    """Finds what shares most words."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def near(self, query: str) -> list[tuple[str, float]]:
        words = set(query.lower().split())
        scored = [(key, float(len(words & set(text.lower().split())))) for key, text in self.texts.items()]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


class EarlyMem0(Shelf):
    def add(self, messages, user_id, metadata, infer):
        assert infer is False
        self.texts[metadata["card"]] = messages[0]["content"]

    def search(self, query, user_id, limit):
        return {
            "results": [
                {"metadata": {"card": key}, "score": score} for key, score in self.near(query)[:limit]
            ]
        }


class LaterMem0(EarlyMem0):
    def search(self, query, *, top_k, filters):  # type: ignore[override]
        assert filters == {"user_id": attached.USER}
        return [{"metadata": {"card": key}, "score": score} for key, score in self.near(query)[:top_k]]


class Viking(Shelf):
    def __init__(self, path):
        super().__init__()

    def initialize(self):
        return None

    def wait_processed(self):
        return None

    def add_resource(self, path):
        from pathlib import Path

        self.texts = {file.stem: file.read_text(encoding="utf-8") for file in Path(path).iterdir()}
        return {"root_uri": "viking://resources/cards"}

    def find(self, query, target_uri, limit):
        rows = [
            types.SimpleNamespace(uri=f"{target_uri}/{key}/{key}.md", score=score)
            for key, score in self.near(query)[:limit]
        ]
        return types.SimpleNamespace(
            resources=[types.SimpleNamespace(uri=f"{target_uri}/.abstract.md", score=9.0), *rows]
        )


@pytest.fixture
def world(tmp_path):
    write(tmp_path / "cards.jsonl", CARDS)
    write(tmp_path / "probes.jsonl", PROBES)
    found = datasets.load(
        {"name": "small", "cards": tmp_path / "cards.jsonl", "path": tmp_path / "probes.jsonl"}, NOW
    )
    with opened(found, tmp_path / "worlds", NOW) as worlds:
        yield found, worlds.of()


@pytest.mark.parametrize("store", [EarlyMem0, LaterMem0])
def test_mem0_is_given_every_live_card_as_it_is_and_asked_in_its_own_way(world, store, monkeypatch):
    monkeypatch.setitem(sys.modules, "mem0", types.SimpleNamespace(Memory=store))
    monkeypatch.delenv("EVAL_MEM0_CONFIG", raising=False)
    found, here = world
    answer = attached.Mem0().answer(found.probes[1], here, Heard())
    assert answer.ranked[0].key == "tide"
    assert {one.key for one in answer.ranked} == {card["key"] for card in CARDS} - {"uv-old"}


def test_openviking_finds_cards_by_their_resources_and_passes_over_what_is_none(world, monkeypatch):
    monkeypatch.setitem(sys.modules, "openviking", types.SimpleNamespace(SyncOpenViking=Viking))
    found, here = world
    answer = attached.OpenViking().answer(found.probes[1], here, Heard())
    assert answer.ranked[0].key == "tide" and len(answer.ranked) == len(CARDS) - 1

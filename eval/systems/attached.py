"""Other memories behind the same interface, asked as their own plugins ask them. Off unless a configuration names them.

How to install and configure each: docs/evaluation.md. Neither takes part in a run of the project's own tests.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import tempfile
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.data import Probe
from eval.systems.base import DEPTH, Heard, Outcome, System, Unavailable, entry
from eval.systems.product import dose_of, query_of, shipped
from eval.world import World
from gitmem.index.catalogue import Item

USER = "evaluation"


def make(name: str) -> System:
    """The system, ready to be filled.

    Raises:
        Unavailable: it is not importable.
    """
    module, kind = {"mem0": ("mem0", Mem0), "openviking": ("openviking", OpenViking)}[name]
    if importlib.util.find_spec(module) is None:
        raise Unavailable(f"`{name}` is not installed: see docs/evaluation.md")
    return kind()


class _Attached(ABC):
    """A store that is filled once a memory with every live card, then searched once a probe."""

    name = about = ""
    threshold = None
    tuned = True

    def __init__(self) -> None:
        self.dose = replace(dose_of(shipped("full")), cross_step=0.0)
        self._filled: dict[int, tuple[World, Any]] = {}

    def answer(self, probe: Probe, world: World, heard: Heard) -> Outcome:
        if id(world) not in self._filled:
            cards = [item for item in world.all_items() if world.is_live(item.id)]
            self._filled[id(world)] = world, self.filled(cards)
        began = time.perf_counter()
        found = self.search(self._filled[id(world)][1], query_of(probe))
        ms = 1000 * (time.perf_counter() - began)
        items = {item.id: item for item in world.all_items()}
        ranked = [entry(world, items[card], score, self.dose.level) for card, score in found if card in items]
        return Outcome(probe.id, True, tuple(ranked[:DEPTH]), None, 0, ms)

    @abstractmethod
    def filled(self, cards: list[Item]) -> Any:
        """A store that holds these cards."""

    @abstractmethod
    def search(self, store: Any, text: str) -> list[tuple[str, float]]:
        """Ids of cards with scores, best first."""


def text_of(card: Item) -> str:
    return "\n".join(filter(None, (card.l0, *card.also, card.l1)))


class Mem0(_Attached):
    """mem0's own library, as its plugins call it: `add` without inference, so that the candidates are the same, and `search`.

    EVAL_MEM0_CONFIG names a JSON file with the configuration for `Memory.from_config`; without it mem0's default holds.
    """

    name, about = "mem0", "mem0, cards stored as they are"

    def filled(self, cards: list[Item]) -> Any:
        import json

        from mem0 import Memory

        file = os.environ.get("EVAL_MEM0_CONFIG")
        store = Memory.from_config(json.loads(Path(file).read_text(encoding="utf-8"))) if file else Memory()
        for card in cards:
            store.add(
                [{"role": "user", "content": text_of(card)}],
                user_id=USER,
                metadata={"card": card.id},
                infer=False,
            )
        return store

    def search(self, store: Any, text: str) -> list[tuple[str, float]]:
        # later versions take the user among the filters, and call the depth `top_k`
        takes = inspect.signature(store.search).parameters
        depth = {"top_k" if "top_k" in takes else "limit": DEPTH}
        who = {"user_id": USER} if "user_id" in takes else {"filters": {"user_id": USER}}
        found = store.search(text, **who, **depth)
        rows = found["results"] if isinstance(found, dict) else found
        return [
            (row["metadata"]["card"], float(row["score"]))
            for row in rows
            if (row.get("metadata") or {}).get("card")
        ]


class OpenViking(_Attached):
    """OpenViking in its embedded mode: one Markdown file a card as resources, asked through `find`.

    OPENVIKING_CONFIG_FILE names its own configuration, with its models.
    """

    name, about = "openviking", "OpenViking, one resource a card"

    def filled(self, cards: list[Item]) -> Any:
        import openviking

        room = Path(tempfile.mkdtemp(prefix="openviking-"))
        files = room / "cards"
        files.mkdir()
        for card in cards:
            (files / f"{card.id}.md").write_text(text_of(card), encoding="utf-8")
        client = openviking.SyncOpenViking(path=str(room / "store"))
        client.initialize()
        root = client.add_resource(path=str(files))["root_uri"]
        client.wait_processed()
        return client, root, {card.id for card in cards}

    def search(self, store: Any, text: str) -> list[tuple[str, float]]:
        client, root, cards = store
        found: dict[str, float] = {}
        for row in client.find(text, target_uri=root, limit=DEPTH * 2).resources:
            # a card's folder holds its own abstract and overview: the best of them counts
            for part in reversed(str(row.uri).split("/")):
                if (card := part.removesuffix(".md")) in cards:
                    found[card] = max(found.get(card, -1.0), float(row.score))
                    break
        return sorted(found.items(), key=lambda pair: -pair[1])

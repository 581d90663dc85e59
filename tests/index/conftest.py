"""The same memories and the same embedder as in the tests of recall."""

from tests.recall.conftest import _one_embedder, demo, make, today

__all__ = ["_one_embedder", "demo", "make", "today"]

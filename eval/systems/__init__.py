"""Systems by name: the rows of every table."""

from __future__ import annotations

from eval.systems.base import System
from eval.systems.plain import Always, Everything, Silent
from eval.systems.product import Retrieval, Whole
from eval.systems.rankers import FILTERS, Bigrams, Bm25, Dense, Fused

PROFILES = ("full", "working", "personal")
RANKERS = {one.kind: one for one in (Bm25, Bigrams, Dense, Fused)}
PLAIN = {"silent": Silent, "everything": Everything, "always": Always}
ATTACHED = ("mem0", "openviking")
DEFAULT = (
    "full",
    "working",
    "personal",
    "product",
    "bm25",
    "bm25-bigrams",
    "dense",
    "rrf",
    "everything",
    "silent",
    "always",
)


def make(spec: str) -> System:
    """A system by its name, filters behind it: `full`, `product+scope`, `bm25+scope+live`.

    Raises:
        ValueError: no such system or filter.
        Unavailable: it is attached from outside and not installed.
    """
    name, *filters = spec.split("+")
    if wrong := [one for one in filters if one not in FILTERS]:
        raise ValueError(f"no filter `{wrong[0]}`; filters are {', '.join(FILTERS)}")
    if name in RANKERS:
        return RANKERS[name](spec, tuple(filters))
    if name in ("product", "product-rrf"):
        # the product never says a dead card, so `live` would change nothing
        return Retrieval(spec, by_rank=name == "product-rrf", scoped="scope" in filters)
    if not filters and name in PROFILES:
        return Whole(name)
    if not filters and name in PLAIN:
        return PLAIN[name]()
    if not filters and name in ATTACHED:
        from eval.systems import attached

        return attached.make(name)
    known = ", ".join((*PROFILES, "product", "product-rrf", *RANKERS, *PLAIN, *ATTACHED))
    raise ValueError(f"no system `{spec}`; systems are {known}, with +scope and +live where it applies")

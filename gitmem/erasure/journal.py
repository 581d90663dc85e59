"""What a run has begun, so that the next one can finish it: `<state>/forget.json`, mode 600, gone at the end."""

from __future__ import annotations

from pathlib import Path

from gitmem.erasure.order import Order
from gitmem.learn import durable

NAME = "forget.json"


def write(state: Path, order: Order, new: frozenset[str]) -> None:
    """Before anything else. `new`: the ids whose tombstones are about to be written."""
    durable.write_json(state / NAME, {**order.as_json(), "new": sorted(new)})


def read(state: Path) -> tuple[Order, frozenset[str]] | None:
    """What was begun; None when nothing was, or the file is not one of these."""
    value = durable.read_json(state / NAME)
    try:
        return (Order.from_json(value), frozenset(value["new"])) if value is not None else None
    except (KeyError, TypeError, ValueError):
        return None


def is_open(state: Path) -> bool:
    return (state / NAME).exists()


def close(state: Path) -> None:
    (state / NAME).unlink(missing_ok=True)

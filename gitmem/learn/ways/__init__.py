"""The ways to a model, behind one interface: an order goes in, the text of an answer comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gitmem.learn.order import Order


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `tokens`: in and out together; `usd`: what it cost, None where nobody can tell."""

    text: str
    tokens: int = 0
    usd: float | None = None


class Unreachable(Exception):
    """No answer came: no network, overload, a time-out, a command that failed. The order is asked again later."""


class Late(Unreachable):
    """The time was up. Nobody is asked again in this run: each further question may take as long."""


class Declined(Exception):
    """The model would not answer this order, or its answer broke off. Asked again a few times, then given up."""


class Spent(Exception):
    """The spend cap is reached: nothing more is asked in this run."""


class Way(Protocol):
    """`name` stands in the commit and the summary: a model's, or `command`."""

    name: str

    def ask(self, order: Order) -> Reply:
        """The answer to an order.

        Raises:
            Unreachable, Declined, Spent
        """
        ...

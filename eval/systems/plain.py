"""The ends of the scale: everything, nothing, and always the first few."""

from __future__ import annotations

from dataclasses import replace

from eval.data import Probe
from eval.systems.base import Dose, Heard, Outcome, assembled, entry
from eval.systems.product import Retrieval, dose_of, shipped
from eval.world import World


class Silent:
    """Never says anything."""

    name, about, threshold, tuned = "silent", "always silent", None, False
    dose = Dose(0, 0, "l0")

    def answer(self, probe: Probe, world: World, heard: Heard) -> Outcome:
        return Outcome(probe.id, False, (), (), 0)


class Everything:
    """Every live card that the turn may hear, in every turn: what full context costs."""

    name, about, threshold, tuned = "everything", "full context: all live cards", None, False
    dose = Dose(1 << 30, 1 << 40, "l0+l1")

    def answer(self, probe: Probe, world: World, heard: Heard) -> Outcome:
        cards = [
            item
            for item in world.all_items()
            if world.is_live(item.id) and (item.scope == "personal") == probe.personal
        ]
        kept, size = assembled([entry(world, item, 1.0, self.dose.level) for item in cards], self.dose, None)
        return Outcome(probe.id, True, tuple(kept[:20]), tuple(one.key for one in kept), size)


class Always:
    """The first cards of the product's retrieval, in every turn, whatever their relevance."""

    name, about, threshold, tuned = "always", "always inject the top 5", None, False

    def __init__(self) -> None:
        self.dose = replace(dose_of(shipped("full")), cross_step=0.0)
        self._retrieval = Retrieval(self.name)

    def answer(self, probe: Probe, world: World, heard: Heard) -> Outcome:
        found = self._retrieval.answer(probe, world, heard)
        kept, size = assembled(found.ranked, self.dose, None)
        return replace(found, said=tuple(one.key for one in kept), bytes=size)

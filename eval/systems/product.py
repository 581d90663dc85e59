"""The product: each profile as it is shipped, and its retrieval without trigger and gate."""

from __future__ import annotations

import time
from dataclasses import replace

from eval.data import Probe
from eval.systems.base import DEPTH, Dose, Entry, Heard, Outcome, entry
from eval.world import World
from gitmem import whereabouts
from gitmem.identity import Caller
from gitmem.model.registry import Profile
from gitmem.recall import answer, gate, retrieve, scope
from gitmem.recall import session as sessions


def shipped(name: str) -> Profile:
    """A profile of the registry as `git mem init` writes it."""
    import yaml

    from gitmem import resources
    from gitmem.model import registry

    entries = yaml.safe_load(resources.read_text("templates/registry/profiles.yaml"))
    memory = {"format": 1, "embedder": "none"}
    return registry.build({"memory": memory, "profiles": {name: entries[name]}}).profiles[name]


def dose_of(profile: Profile) -> Dose:
    """What a profile may say. Its bar across languages moves with its threshold, so that one number is tuned."""
    step = max(0.0, profile.threshold_cross - profile.threshold)
    return Dose(profile.max_items, profile.max_bytes, profile.level, step)


class Whole:
    """A profile with everything it does: trigger, scope, gate, dose. What it says is what `gitmem.recall.answer.recall` says."""

    tuned = True

    def __init__(self, name: str):
        profile = shipped(name)
        self.name, self.profile_name = name, name
        self.about = f"the product, profile {name}"
        self.dose, self.threshold = dose_of(profile), profile.threshold

    def answer(self, probe: Probe, world: World, heard: Heard) -> Outcome:
        began = time.perf_counter()
        caller = world.caller(world.registry.profiles[self.profile_name])
        session = heard.session if probe.session else sessions.Session(turns=probe.turn)
        session.turns = probe.turn
        request = answer.Request(
            probe.text, world.now, from_cwd=probe.project, previous=probe.previous, in_session=True, explicit=False
        )  # fmt: skip
        found = answer.recall(request, caller, world.registry, session, world)
        ms = 1000 * (time.perf_counter() - began)
        shown = frozenset(session.shown)
        ranked = self._ranked(probe, world, caller, shown, found) if found.trace.fired else ()
        session.project = found.trace.project or session.project
        sessions.heard(session, found.text, [item.id for item in found.items])
        said = tuple(world.key(item.id) for item in found.items)
        return Outcome(
            probe.id,
            found.trace.fired,
            ranked,
            said,
            len(found.text.encode()),
            ms,
            "; ".join(found.trace.degraded),
            found.text,
        )

    def _ranked(
        self, probe: Probe, world: World, caller: Caller, shown: frozenset[str], found
    ) -> tuple[Entry, ...]:  # type: ignore[no-untyped-def]
        """What the gate would let through if its threshold were 0; everything else of the profile holds."""
        profile = replace(caller.profile, threshold=0.0, threshold_cross=0.0)
        heard = _scope(probe, world, caller)
        got = _retrieved(probe, world, heard)
        by_similarity = [
            one for one in got.candidates if world.registry.types[one.item.type].recalled == "similarity"
        ]
        passed, _ = gate.gate(by_similarity, profile, heard, shown, got.cards, {})
        crossing = {one.item.id for one in by_similarity if one.crossing}
        tasks = [
            entry(world, world.catalogue.by_id(item.id), 1.0, profile.level, always=True)
            for item in found.items
            if item.progress
        ]  # type: ignore[arg-type]
        return (
            *tasks,
            *(
                entry(world, one.item, one.relevance, profile.level, crossing=one.item.id in crossing)
                for one in passed[: DEPTH - len(tasks)]
            ),
        )


class Retrieval:
    """The product's retrieval with chains followed: ordered by relevance, or by reciprocal rank fusion. No trigger, no gate."""

    threshold = None
    tuned = True

    def __init__(self, name: str, *, by_rank: bool = False, scoped: bool = False):
        self.name, self._by_rank, self._scoped = name, by_rank, scoped
        self.about = (
            "the product's retrieval, no gate"
            + (", equal RRF instead of relevance" if by_rank else "")
            + (", within the project" if scoped else "")
        )
        self.dose = replace(dose_of(shipped("full")), cross_step=0.0)

    def answer(self, probe: Probe, world: World, heard: Heard) -> Outcome:
        began = time.perf_counter()
        profile = world.registry.profiles["personal" if probe.personal else "full"]
        if self._scoped and not probe.personal:
            profile = replace(profile, projects="current")
        within = _scope(probe, world, world.caller(profile))
        got = _retrieved(probe, world, within)
        scored = []
        for one in got.candidates:
            here = one.item.scope in (within.project, within.raised)
            value = one.fused if self._by_rank else one.relevance(here, got.cards)
            scored.append((value, one.item))
        scored.sort(key=lambda pair: (-pair[0], -pair[1].importance, pair[1].id))
        ranked = tuple(entry(world, item, value, self.dose.level) for value, item in scored[:DEPTH])
        return Outcome(probe.id, True, ranked, None, 0, 1000 * (time.perf_counter() - began))


def _scope(probe: Probe, world: World, caller: Caller) -> scope.Scope:
    from_prompt = whereabouts.project_of_prompt(probe.text, world.registry)
    project, origin = scope.current_project(caller.profile.project_from, None, probe.project, from_prompt)
    return scope.resolve(caller, world.registry, project, origin, from_prompt)


def _retrieved(probe: Probe, world: World, within: scope.Scope) -> retrieve.Retrieved:
    text = query_of(probe)
    return retrieve.retrieve(
        text, world.vector(text), world.catalogue, world.held.words, world.held.state, within, world.registry, world.now  # type: ignore[arg-type]
    )  # fmt: skip


def query_of(probe: Probe) -> str:
    """What is searched with, as recall makes it: a prompt too short to search with is read with the turn before it."""
    request = answer.Request(probe.text, None, previous=probe.previous)  # type: ignore[arg-type]
    return retrieve.clip(answer._with_previous(request, retrieve.query_terms))

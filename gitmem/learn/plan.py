"""What was judged and is not committed yet: `<state>/learning/plan.json`, mode 600.

The ids of the cards are drawn here, once: a run that was killed after its commit finds them in the memory and writes
nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path

from gitmem.learn import durable, rules, work
from gitmem.learn.candidate import FORGET, Candidate
from gitmem.learn.digest import Digest
from gitmem.learn.rules import Decision
from gitmem.learn.similar import Known
from gitmem.learn.turns import Turn
from gitmem.model import ids, when
from gitmem.model.layers import shorten


@dataclass(frozen=True, slots=True)
class Step:
    """One card to be written.

    Args:
        work, number: the candidate it is made of.
        session, started, host: of the conversation; `turn`: the whole turn that is quoted.
        targets: ids; `replaced`: what those cards say, for the summary.
    """

    work: str
    number: int
    id: str
    action: str
    host: str
    session: str
    started: str
    turn: Turn
    scope: str
    type: str
    conclusion: str
    quote: str
    confidence: float
    also: tuple[str, ...] = ()
    detail: str = ""
    targets: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    def valid_from(self, now: datetime) -> str:
        """When it was said; of a clock that runs ahead, now."""
        return when.stamp(min(when.parse(self.turn.at), now))


@dataclass(slots=True)
class Plan:
    """The steps of one batch. `models`: names of those that judged."""

    steps: list[Step] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

    def gone(self) -> set[str]:
        """Cards that will no longer be live."""
        return {
            target
            for step in self.steps
            if step.action in (rules.SUPERSEDE, rules.RETRACT)
            for target in step.targets
        }

    def known(self) -> list[Known]:
        """The cards that will be live."""
        gone = self.gone()
        return [
            as_known(step)
            for step in self.steps
            if step.action in (rules.PROMOTE, rules.SUPERSEDE) and step.id not in gone
        ]


def as_known(step: Step) -> Known:
    from gitmem.model import live

    return Known(
        step.id,
        step.scope,
        step.type,
        step.conclusion,
        live.strength(step.turn.role, False),
        step.turn.at,
        True,
    )


def step(
    key: str, number: int, one: Candidate, decision: Decision, digest: Digest, bits: Callable[[int], int]
) -> Step:
    """The card that a decision makes of a candidate."""
    turn = next(turn for turn in digest.turns if turn.number == one.turn)
    target = decision.targets[0] if decision.targets else None
    confirms = decision.action == rules.MERGE
    return Step(
        work=key,
        number=number,
        id=ids.new_id(bits),
        action=decision.action,
        host=digest.host,
        session=shorten(digest.session, 120),
        started=digest.started or turn.at,
        turn=replace(turn, queued=False),
        scope=one.scope,
        # a confirmation is of its target's type, a retraction of none
        type=target.type if confirms and target else "" if one.action == FORGET else one.type,
        conclusion=one.conclusion,
        quote=one.quote,
        confidence=one.confidence,
        also=() if confirms else one.also,
        detail="" if confirms else one.detail,
        targets=tuple(known.id for known in decision.targets),
        replaced=tuple(known.l0 for known in decision.targets),
    )


def place(state: Path) -> Path:
    return work.folder(state) / "plan.json"


def read(state: Path) -> Plan:
    """The plan; an empty one when there is none that can be read: its candidates are then judged again."""
    value = durable.read_json(place(state)) or {}
    try:
        steps = [
            Step(
                **{
                    **one,
                    "turn": Turn(**one["turn"]),
                    **{k: tuple(one[k]) for k in ("also", "targets", "replaced")},
                }
            )
            for one in value.get("steps", ())
        ]
        return Plan(steps, list(value.get("models", ())))
    except (TypeError, KeyError):
        return Plan()


def write(state: Path, plan: Plan) -> None:
    if plan.steps:
        durable.write_json(place(state), asdict(plan))
    else:
        place(state).unlink(missing_ok=True)

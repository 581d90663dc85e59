"""The desk: which questions are open, and what an answer changes. Whoever answers, it is the same desk.

Everything is on the disk before a method returns, and what is asked follows from what is there: a run that was killed
goes on where it stood, and an answer that comes twice, or to a question that is closed, changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitmem.authoring.commit import cards_now
from gitmem.context import Context
from gitmem.errors import MemError
from gitmem.git.write import Written
from gitmem.index import build
from gitmem.learn import append, candidate, distil, durable, plan, review, rules, work
from gitmem.learn.candidate import DONE, HERE, OPEN, PLANNED, WAITING, Candidate
from gitmem.learn.digest import Digest
from gitmem.learn.order import Order
from gitmem.learn.plan import Step
from gitmem.learn.rules import Against, Decision
from gitmem.learn.similar import Known, Shelf
from gitmem.learn.work import Work

MAX_OUTRUN = 3


@dataclass(frozen=True, slots=True)
class Held:
    """A digest, its file, and where learning stands with it."""

    file: Path
    digest: Digest
    work: Work


@dataclass(frozen=True, slots=True)
class Piece:
    """A distil order and what it is about."""

    order: Order
    held: Held
    number: int


class Desk:
    """Open for one run; the caller holds the learner's lock. `lost`: records with open candidates whose digest is gone."""

    def __init__(self, context: Context):
        self.context = context
        self._state = context.memory.state
        self.lost = 0
        self._held: dict[str, Held] = {}
        self._distil: dict[str, list[Order]] = {}
        self._plan = plan.read(self._state)
        self._asked = review.asked(self._state)
        self._shelf: tuple[tuple[str | None, int], Shelf] | None = None
        self._load()

    def _load(self) -> None:
        place = work.folder(self._state)
        if place.is_dir():
            durable.sweep(place)
        self.lost = work.tidy(self._state)
        for file, digest, record in work.all_of(self._state):
            self._held[record.key] = Held(file, digest, record)
        self._settle_plan()
        for held in self._held.values():
            self._named(held)
        works = self.works
        self._asked = {scope: one for scope, one in self._asked.items() if review.still_open(one, works)}

    @property
    def works(self) -> dict[str, Work]:
        return {key: held.work for key, held in self._held.items()}

    @property
    def held(self) -> list[Held]:
        """Every digest with its record, the oldest first."""
        return list(self._held.values())

    def _settle_plan(self) -> None:
        """After a kill: what is in the memory is done; what is planned nowhere is judged anew."""
        planned = [one for held in self._held.values() for one in held.work.candidates if one.fate == PLANNED]
        if not planned and not self._plan.steps:
            return
        steps = {step.id for step in self._plan.steps}
        catalogue = cards_now(self.context)
        try:
            there = {card for one in planned for card in one.cards if catalogue.path_of(card)}
            there |= {step.id for step in self._plan.steps if catalogue.path_of(step.id)}
        finally:
            catalogue.close()
        for held in self._held.values():
            for one in held.work.candidates:
                if one.fate == PLANNED and set(one.cards) <= there:
                    one.fate = DONE
                elif one.fate == PLANNED and not set(one.cards) <= steps:
                    one.fate, one.cards = OPEN, ()
            self._save(held)
        owners = {
            card: (key, number)
            for key, held in self._held.items()
            for number, one in enumerate(held.work.candidates)
            if one.fate == PLANNED
            for card in one.cards
        }
        self._plan.steps = [
            step for step in self._plan.steps if owners.get(step.id) == (step.work, step.number)
        ]
        plan.write(self._state, self._plan)

    def _named(self, held: Held) -> None:
        """Facts about a folder wait for it to become a project."""
        project = held.digest.project
        changed = held.work.project != project
        held.work.project = project
        if project in self.context.registry.projects:
            for one in held.work.candidates:
                if one.fate == WAITING and one.scope == HERE:
                    one.scope, one.fate, changed = str(project), OPEN, True
        if changed and held.work.candidates:
            self._save(held)

    def _save(self, held: Held) -> None:
        work.write(self._state, held.work)

    # what is open

    def pieces(self, rested: bool = True) -> list[Piece]:
        """Conversations to be distilled, the oldest first. `rested`: only those whose pause is over."""
        found = []
        for held in self._held.values():
            record = held.work
            if rested and record.held_back(self.context.now):
                continue
            number_of = [number for number in range(len(self._orders(held))) if number not in record.read]
            if number_of:
                orders = self._orders(held)
                found += [Piece(orders[number], held, number) for number in number_of]
        return found

    def _orders(self, held: Held) -> list[Order]:
        found = self._distil.get(held.work.key)
        if found is None:
            found = self._distil[held.work.key] = distil.orders(held.digest, self.context.registry)
        return found

    def reviews(self) -> list[Order]:
        """One order for each scope in which candidates are open, made where there is none yet."""
        for scope in sorted({one.scope for held in self._held.values() for _, one in held.work.open()}):
            if scope not in self._asked and (batch := self._batch(scope)) is not None:
                self._asked[scope] = batch
        review.remember(self._state, self._asked)
        return [self._asked[scope].order for scope in sorted(self._asked)]

    def _batch(self, scope: str) -> review.Batch | None:
        """The oldest open candidates of a scope; one that a card says word for word needs no model."""
        chosen: list[tuple[Work, Digest, int, Candidate]] = []
        for held in self._held.values():
            for number, one in held.work.open():
                if one.scope != scope:
                    continue
                if self._rests(one):
                    continue
                same = self._on_shelf().same(scope, one.conclusion) if one.action == candidate.FACT else None
                if same is not None and one.type != "task":
                    self._settled(held, number, one, same)
                    continue
                chosen.append((held.work, held.digest, number, one))
                if len(chosen) == review.BATCH:
                    return review.batch(scope, chosen, self._on_shelf())
        return review.batch(scope, chosen, self._on_shelf()) if chosen else None

    def _rests(self, one: Candidate) -> bool:
        return bool(one.extra.get("asked_at")) and one.extra["asked_at"] == _moment(self.context)

    def _settled(self, held: Held, number: int, one: Candidate, same: Known) -> None:
        try:
            self._take(held, number, one, rules.decide(one, rules.MERGE, [same]))
        except Against as against:
            one.drop(against.kind, str(against))
        self._save(held)
        plan.write(self._state, self._plan)

    def _on_shelf(self) -> Shelf:
        mark = (self.context.memory.tip, len(self._plan.steps))
        if self._shelf is None or self._shelf[0] != mark:
            if self._shelf is None or self._shelf[0][0] != mark[0]:
                with suppress(MemError, OSError):
                    # whatever is missing, review asks the index as it is
                    build.build(self.context.memory, self.context.registry, wait_s=30.0)
            self._shelf = (mark, Shelf(self.context, self._plan.known(), self._plan.gone()))
        return self._shelf[1]

    # what an answer changes

    def take(self, order_id: str, answer: Mapping[str, Any], model: str) -> str | None:
        """Take an answer in; what it was about, None when that question is not open.

        Raises:
            ValueError: it is no answer; nothing changed.
        """
        for piece in self.pieces(rested=False):
            if piece.order.id == order_id:
                self._distilled(piece, answer)
                return piece.order.subject
        for scope, batch in self._asked.items():
            if batch.order.id == order_id:
                self._reviewed(scope, batch, answer, model)
                return batch.order.subject
        return None

    def scope_of(self, order_id: str) -> str | None:
        """The scope of an open order."""
        found = [piece.order for piece in self.pieces(rested=False)] + [
            one.order for one in self._asked.values()
        ]
        return next((one.scope for one in found if one.id == order_id), None)

    def _distilled(self, piece: Piece, answer: Mapping[str, Any]) -> None:
        held = piece.held
        found = distil.candidates(answer, held.digest, piece.number, self.context.registry)
        held.work.candidates += found
        held.work.read = sorted({*held.work.read, piece.number})
        held.work.trouble = work.Trouble()
        self._named(held)
        self._save(held)

    def _reviewed(self, scope: str, batch: review.Batch, answer: Mapping[str, Any], model: str) -> None:
        rows = [self._row(row) for row in batch.rows]
        there = [(row, found) for row, found in zip(batch.rows, rows, strict=True) if found is not None]
        if model not in self._plan.models:
            self._plan.models.append(model)

        def take(row: review.Row, one: Candidate, decision: Decision) -> Known | None:
            return self._take(self._held[row.work], row.number, one, decision)

        # a candidate whose digest is gone keeps its number
        gone = Candidate(candidate.FACT, "", "", "", 0, 0, "", "", "", fate=candidate.DROPPED)
        review.judge(answer, batch, [found or gone for found in rows], take, self.context.now)
        del self._asked[scope]
        for row, one in there:
            if one.fate == OPEN:
                one.extra["asked_at"] = _moment(self.context)
            self._save(self._held[row.work])
        # last: a candidate that says it is planned and stands in no plan is judged anew
        plan.write(self._state, self._plan)
        review.remember(self._state, self._asked)

    def _row(self, row: review.Row) -> Candidate | None:
        held = self._held.get(row.work)
        if held is None or row.number >= len(held.work.candidates):
            return None
        return held.work.candidates[row.number]

    def _take(self, held: Held, number: int, one: Candidate, decision: Decision) -> Known | None:
        """Plan a decision; the card that will be live for it."""
        gone = self._plan.gone()
        if decision.action == rules.PROMOTE and one.type != "task":
            # said word for word by an earlier candidate of the order, or by somebody meanwhile
            same = self._on_shelf().same(one.scope, one.conclusion)
            if same is not None:
                try:
                    decision = rules.decide(one, rules.MERGE, [same])
                except Against as against:
                    one.drop(against.kind, str(against))
                    return None
        if taken := [target for target in decision.targets if target.id in gone]:
            one.drop("said already", f"`{taken[0].l0}` is replaced already")
            return None
        step = plan.step(held.work.key, number, one, decision, held.digest, self.context.random_bits)
        if decision.action == rules.MERGE and any(
            other.action == rules.MERGE and other.targets == step.targets and other.session == step.session
            for other in self._plan.steps
        ):
            one.drop("said already", "the conversation confirmed it already")
            return decision.targets[0]
        self._plan.steps.append(step)
        one.fate, one.outcome, one.cards = PLANNED, decision.action, (step.id,)
        one.targets = tuple(target.id for target in decision.targets)
        if decision.action in (rules.PROMOTE, rules.SUPERSEDE):
            return plan.as_known(step)
        return decision.targets[0] if decision.action == rules.MERGE else None

    def trouble(self, order: Order, why: str, *, answered: bool) -> None:
        """An order that got no usable answer. `answered`: something came back, and was none; that is borne three times."""
        for piece in self.pieces(rested=False):
            if piece.order.id == order.id:
                record = piece.held.work
                if not answered:
                    record.missed(self.context.now, why)
                elif record.failed(self.context.now, why):
                    record.give_up(piece.number, why)
                self._save(piece.held)
                return
        for scope, batch in list(self._asked.items()):
            if batch.order.id != order.id:
                continue
            for row in batch.rows:
                one = self._row(row)
                if one is None or one.fate != OPEN:
                    continue
                if answered:
                    review.unclear(one, why, self.context.now)
                    one.extra["asked_at"] = _moment(self.context)
                else:
                    one.extra["waits"] = why
                self._save(self._held[row.work])
            if answered:
                del self._asked[scope]
                review.remember(self._state, self._asked)
                return

    def reopen(self) -> int:
        """Open again what was given up; of how many conversations."""
        opened = [held for held in self._held.values() if held.work.reopen()]
        for held in opened:
            self._save(held)
        return len(opened)

    # what becomes of it

    def commit(self) -> tuple[Written | None, list[Step]]:
        """Commit what is planned; the commit, and the steps that are in it.

        Raises:
            Busy, Refused, GitFailed: nothing was written; the plan is kept.
        """
        if not self._plan.steps:
            return None, []
        done = append.append(self.context, self._plan)
        for refusal in done.refused:
            held = self._held.get(refusal.step.work)
            if held is None or refusal.step.number >= len(held.work.candidates):
                continue
            one = held.work.candidates[refusal.step.number]
            one.cards, one.outcome = (), ""
            one.tries += 1
            if refusal.outrun and one.tries < MAX_OUTRUN:
                one.fate = OPEN
            else:
                one.drop("refused", refusal.why)
            self._save(held)
        for step in done.done:
            if (held := self._held.get(step.work)) and step.number < len(held.work.candidates):
                held.work.candidates[step.number].fate = DONE
                self._save(held)
        self._plan = plan.Plan()
        plan.write(self._state, self._plan)
        return done.written, list(done.done)

    def at(self, context: Context) -> None:
        """Go on with the memory as it is now."""
        self.context = replace(context, now=self.context.now)


def _moment(context: Context) -> str:
    return context.now.isoformat()

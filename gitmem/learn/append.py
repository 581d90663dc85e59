"""Append: the plan becomes one commit whose checks hold, or nothing. A step that fails them leaves the batch, the rest goes on."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gitmem.authoring.commit import Change, ChecksFailed, cards_now, commit
from gitmem.checks.problem import SUPERSEDES
from gitmem.context import Context
from gitmem.errors import FormatError
from gitmem.git.write import Written
from gitmem.identity import Caller
from gitmem.index.catalogue import Catalogue
from gitmem.learn import order, rules
from gitmem.learn.plan import Plan, Step
from gitmem.model import card as cards
from gitmem.model import source as sources
from gitmem.model import when
from gitmem.model.card import Card, Evidence
from gitmem.model.registry import LEARNER
from gitmem.model.source import Source

_VERBS = (
    (rules.PROMOTE, "learned"),
    (rules.SUPERSEDE, "replaced"),
    (rules.MERGE, "confirmed"),
    (rules.RETRACT, "took back"),
)
_MOST_PARTS = 1000


@dataclass(frozen=True, slots=True)
class Refusal:
    """A step that did not pass. `outrun`: the memory changed meanwhile, so it deserves another look."""

    step: Step
    why: str
    outrun: bool


@dataclass(frozen=True, slots=True)
class Appended:
    """`written` None: nothing was left to write. `done`: the steps in the commit, or in the memory already."""

    written: Written | None
    done: tuple[Step, ...]
    refused: tuple[Refusal, ...]


def learner(context: Context) -> Context:
    """The same call as the built-in agent `learner`, deaf to whoever started it."""
    caller = Caller(LEARNER, None, context.registry.profiles["full"], ("all",), ("all",))
    env = replace(context.env, agent=None, token=None, host=None)
    return replace(context, caller=caller, env=env)


def append(context: Context, plan: Plan) -> Appended:
    """Commit a plan.

    Raises:
        Busy, Refused, GitFailed: nothing was written, and the plan holds.
    """
    steps = list(plan.steps)
    refused: list[Refusal] = []
    already: list[Step] = []
    made: list[Step] = []

    def make(here: Context) -> Change | None:
        catalogue = cards_now(here)
        try:
            already[:] = [step for step in steps if catalogue.path_of(step.id)]
            made[:] = [step for step in steps if step not in already]
            return _change(here, catalogue, made, plan.models) if made else None
        finally:
            catalogue.close()

    while steps:
        try:
            done = commit(learner(context), make)
        except ChecksFailed as failed:
            out = _at_fault(failed, made, refused)
            if not out:
                raise
            steps = _without(steps, out, refused)
            continue
        return Appended(done[0] if done else None, tuple(steps), tuple(refused))
    return Appended(None, (), tuple(refused))


def _at_fault(failed: ChecksFailed, made: Sequence[Step], refused: list[Refusal]) -> set[str]:
    """The steps that the problems speak of; of a source all that cite it."""
    out: set[str] = set()
    for problem in failed.report.errors:
        blamed = [step for step in made if step.id in problem.path]
        if not blamed and problem.path.startswith("sources/"):
            blamed = [
                step
                for step in made
                if _source_name(step) in problem.path and f"/{step.scope}/" in problem.path
            ]
        for step in blamed:
            if step.id not in out:
                out.add(step.id)
                refused.append(Refusal(step, problem.message, problem.code == SUPERSEDES))
    return out


def _without(steps: Iterable[Step], out: set[str], refused: list[Refusal]) -> list[Step]:
    """The other steps; one that stood on a step that is gone goes too, and is judged anew."""
    left: list[Step] = []
    gone = set(out)
    for step in steps:
        if step.id in gone:
            continue
        if gone & set(step.targets):
            gone.add(step.id)
            refused.append(Refusal(step, "the card it stood on did not pass", True))
        else:
            left.append(step)
    return left


def _change(context: Context, catalogue: Catalogue, steps: Sequence[Step], models: Sequence[str]) -> Change:
    files: dict[str, bytes | None] = {}
    cited: dict[tuple[str, int], str] = {}
    for group in _by_source(steps):
        for path, source in _sources(context, group):
            if source is not None:
                files[path[0]] = sources.dump(source)
            for number in path[1]:
                cited[_source_key(group[0]), number] = path[0]
    created = when.stamp(context.utc())
    for step in steps:
        path = cited[_source_key(step), step.turn.number]
        card = _card(context, step, path, created)
        files[cards.card_path(card, cards.slug(card.conclusion or ""))] = cards.dump(card)
    counts = Counter(step.action for step in steps)
    told = ", ".join(f"{verb} {counts[action]}" for action, verb in _VERBS if counts[action])
    only = steps[0]
    subject = (
        f"mem({only.type}): {only.conclusion}"
        if len(steps) == 1 and only.action in (rules.PROMOTE, rules.SUPERSEDE)
        else f"mem: {told}"
    )
    sessions = {step.session for step in steps}
    trailers = [("Mem-Prompt", f"{kind} {order.prompt_hash(kind)}") for kind in (order.DISTIL, order.REVIEW)]
    trailers += [("Mem-Model", name) for name in models]
    return Change(
        files, subject, _action(counts), [step.id for step in steps],
        sessions.pop() if len(sessions) == 1 else None, trailers,
    )  # fmt: skip


def _action(counts: Counter[str]) -> str:
    return next(action for action, _ in _VERBS if counts[action])


def _card(context: Context, step: Step, source: str, created: str) -> Card:
    evidence = (Evidence(source, step.turn.number, step.turn.role, step.quote),)
    common = {
        "id": step.id, "scope": step.scope, "created": created, "author": step.host, "session": step.session,
        "evidence": evidence,
    }  # fmt: skip
    if step.action == rules.RETRACT:
        return Card(**common, retracts=step.targets, body=f"Asked for: {step.conclusion}\n")  # type: ignore[arg-type]
    valid_from = step.valid_from(context.utc())
    if step.action == rules.MERGE:
        return Card(**common, type=step.type, corroborates=step.targets, valid_from=valid_from)  # type: ignore[arg-type]
    return Card(
        **common,  # type: ignore[arg-type]
        type=step.type,
        conclusion=step.conclusion,
        also=step.also,
        confidence=round(step.confidence, 2),
        valid_from=valid_from,
        supersedes=step.targets if step.action == rules.SUPERSEDE else (),
        body=step.detail.strip() + "\n" if step.detail.strip() else "",
    )


def _source_key(step: Step) -> str:
    return f"{step.host}\0{step.session}\0{step.scope}"


def _by_source(steps: Sequence[Step]) -> list[list[Step]]:
    groups: dict[str, list[Step]] = {}
    for step in steps:
        groups.setdefault(_source_key(step), []).append(step)
    return list(groups.values())


def _source_name(step: Step) -> str:
    """`20261003-091512-3fa9c1`: when the conversation began, and its name in short."""
    at = step.started.replace("-", "").replace(":", "").replace("T", "-")[:15]
    short = hashlib.sha256(f"{step.host}\0{step.session}".encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{at}-{short}"


def _sources(context: Context, group: Sequence[Step]) -> list[tuple[tuple[str, list[int]], Source | None]]:
    """Where the turns of one conversation stand: in sources that are there (None), else in one new part."""
    first = group[0]
    wanted = {step.turn.number: step.turn for step in group}
    found: list[tuple[tuple[str, list[int]], Source | None]] = []
    for part in range(1, _MOST_PARTS):
        name = _source_name(first) + (f"-p{part}" if part > 1 else "")
        head = Source(first.host, first.session, first.scope, _started(first), "session", ())
        path = sources.source_path(head, name)
        there = _read(context, path)
        if there is None:
            if wanted:
                turns = tuple(
                    sources.Turn(turn.number, turn.role, turn.at, turn.text)
                    for _, turn in sorted(wanted.items())
                )
                found.append(((path, list(wanted)), replace(head, turns=turns)))
            return found
        held = [
            number
            for number, turn in wanted.items()
            if (own := there.turn(number)) is not None and (own.role, own.text) == (turn.role, turn.text)
        ]
        if held and there.session == first.session:
            found.append(((path, held), None))
            for number in held:
                del wanted[number]
    raise FormatError(f"the session `{first.session}` has too many sources")


def _started(step: Step) -> str:
    return when.stamp(when.parse(step.started))


def _read(context: Context, path: str) -> Source | None:
    found = context.memory.git.run("cat-file", "blob", f"{context.memory.tip}:{path}", check=False)
    try:
        return sources.parse(found.out) if found.code == 0 else None
    except FormatError:
        return Source("", "", "", "", "session", ())

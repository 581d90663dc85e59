"""Learning: capture, distil, review, append.

    sessions -> digests -> candidates -> verdicts -> one commit

`through` asks a model question after question until none is open; `hand_out` and `take_in` do the same with somebody
else in the model's place. All three stand on the same desk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.context import Context
from gitmem.git import lock
from gitmem.git.locate import refreshed
from gitmem.git.write import Written
from gitmem.learn import answer, distil, durable, work
from gitmem.learn import digest as digests
from gitmem.learn.candidate import DROPPED, PLANNED, UNMATCHED, WAITING, Candidate
from gitmem.learn.capture import Outcome
from gitmem.learn.desk import Desk, Held
from gitmem.learn.order import Order
from gitmem.learn.plan import Step
from gitmem.learn.ways import Declined, Late, Spent, Unreachable, Way
from gitmem.model import when

Progress = Callable[[str, int, int], None]
# After so many orders in a row that nobody answered, nobody is there.
MOST_MISSES = 3


@dataclass(slots=True)
class Result:
    """What a run did.

    Args:
        read: pieces of conversations that were read, `empty` of them holding nothing; `hosts`: of which hosts.
        steps: the cards in the commit. `dropped`, `unmatched`: candidates that went, with their conversation.
        later: why orders are still open: the reason and how many. `waiting`: facts that wait for a project, by folder.
        gave_up: conversations that are not asked about any more, and why. `asked`, `failed`: questions, and those of them without a usable answer.
        calls, tokens, usd: what it took; `usd` None where nobody can tell.
        lost: records with open candidates whose digest was dropped for its age.
        unknown: answers to no open question.
    """

    read: int = 0
    empty: int = 0
    hosts: dict[str, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    written: Written | None = None
    dropped: list[tuple[Held, Candidate]] = field(default_factory=list)
    unmatched: list[tuple[Held, Candidate]] = field(default_factory=list)
    later: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    gave_up: list[tuple[Held, str]] = field(default_factory=list)
    failed: int = 0
    asked: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    lost: int = 0
    unknown: int = 0
    stopped: str = ""


@contextmanager
def desk(context: Context) -> Iterator[Desk]:
    """The desk, for one run at a time.

    Raises:
        Busy: another run is at work.
    """
    work.folder(context.memory.state).mkdir(parents=True, exist_ok=True, mode=0o700)
    with lock.held(context.memory.state / "learn.lock", 0, "learning"):
        yield Desk(context)


def through(
    context: Context, way: Way | None, *, stages: Sequence[str] = ("distil", "review", "append"),
    most: int | None = None, progress: Progress | None = None, at_once: bool = False,
) -> Result:  # fmt: skip
    """Ask a model everything that is open, and commit what comes of it.

    Args:
        way: None: nobody is asked, only what is judged already is committed.
        most: at most so many orders.
        at_once: also what failed a moment ago, as a person who mended something wants it; else after its pause.

    Raises:
        Busy: another run is at work, or the memory is.
    """
    with desk(context) as table:
        result, before = _begun(table)
        if way is not None:
            _ask(table, way, result, stages, most, progress, at_once)
        _finish(table, result, before, "append" in stages)
        return result


def _ask(
    table: Desk,
    way: Way,
    result: Result,
    stages: Sequence[str],
    most: int | None,
    progress: Progress | None,
    at_once: bool,
) -> None:
    misses = done = 0
    tried: set[str] = set()
    while most is None or done < most:
        order, left = _next(table, stages, tried, at_once)
        if order is None:
            return
        tried.add(order.id)
        result.asked += 1
        if progress:
            progress(f"{order.kind} {order.subject}", done, done + left)
        try:
            reply = way.ask(order)
        except Unreachable as none:
            table.trouble(order, str(none) or "nobody answered", answered=False)
            result.failed += 1
            misses += MOST_MISSES if isinstance(none, Late) else 1
            if misses >= MOST_MISSES:
                result.stopped = str(none)
                return
            continue
        except Declined as none:
            table.trouble(order, str(none) or "the model would not answer", answered=True)
            result.failed += 1
            continue
        except Spent as cap:
            result.stopped = str(cap)
            return
        finally:
            done += 1
        misses = 0
        result.calls += 1
        result.tokens += reply.tokens
        result.usd = None if result.usd is None or reply.usd is None else result.usd + reply.usd
        _taken(table, order, reply.text, way.name, result)


def _next(table: Desk, stages: Sequence[str], tried: set[str], at_once: bool) -> tuple[Order | None, int]:
    """The next question: conversations first, the oldest before the others, then the facts they gave."""
    if "distil" in stages:
        pieces = [piece for piece in table.pieces(rested=not at_once) if piece.order.id not in tried]
        if pieces:
            # one that failed before comes last, so that it holds nobody up
            pieces.sort(key=lambda piece: bool(piece.held.work.trouble.why))
            return pieces[0].order, len(pieces)
    if "review" in stages:
        reviews = [order for order in table.reviews() if order.id not in tried]
        if reviews:
            return reviews[0], len(reviews)
    return None, 0


def _taken(table: Desk, order: Order, text: str, model: str, result: Result) -> bool:
    """Take one answer in; one that cannot be read is asked for again."""
    try:
        subject = table.take(order.id, answer.parse(text), model)
    except ValueError as unreadable:
        table.trouble(order, f"answer could not be read: {unreadable}", answered=True)
        result.failed += 1
        return False
    if subject is None:
        result.unknown += 1
    return subject is not None


def ask_again(context: Context) -> int:
    """Open again what was given up; of how many conversations.

    Raises:
        Busy: another run is at work.
    """
    with desk(context) as table:
        return table.reopen()


def asked_about(context: Context, due: Outcome) -> list[Order]:
    """What would be asked about a conversation that is due and not captured yet."""
    unit = due.unit
    digest = digests.make(
        unit.conversation, unit.sessions, (), unit.conversation.turns,
        part=due.part, project=due.project, waits=due.waits, now=context.now,
    )  # fmt: skip
    return distil.orders(digest, context.registry)


def hand_out(context: Context, most: int | None = None) -> list[Order]:
    """Every question that is open and whose words the caller may read, those of conversations first.

    Raises:
        Busy: another run is at work.
    """
    with desk(context) as table:
        orders = [piece.order for piece in table.pieces(rested=False)] + table.reviews()
        return [order for order in orders if context.caller.reads(order.scope)][:most]


def take_in(context: Context, answers: Sequence[tuple[str, str]]) -> Result:
    """Take answers in that somebody gave, `(order id, text)`, and commit what comes of them.

    Raises:
        Busy: another run is at work, or the memory is.
    """
    name = context.caller.agent or context.caller.host or "by hand"
    with desk(context) as table:
        result, before = _begun(table)
        for order_id, text in answers:
            scope = table.scope_of(order_id)
            if scope is None or not context.caller.reads(scope):
                result.unknown += 1
                continue
            order = Order(order_id, "", scope, "", "", "")
            result.asked += 1
            result.calls += _taken(table, order, text, name, result)
        result.usd = None
        _finish(table, result, before, True)
        return result


def _begun(table: Desk) -> tuple[Result, dict[int, str]]:
    fates = {id(one): one.fate for held in table.held for one in held.work.candidates}
    for held in table.held:
        fates[id(held.work)] = _counted(held)
    return Result(lost=table.lost), fates


def _counted(held: Held) -> str:
    return f"{len(held.work.read)} {len(held.work.gave_up)}"


def _finish(table: Desk, result: Result, before: dict[int, str], appends: bool) -> None:
    """Commit, and say what changed since the run began."""
    if appends:
        # whoever wrote while a model was thinking
        table.at(table.context.with_memory(refreshed(table.context.memory)))
        result.written, result.steps = table.commit()
    for held in table.held:
        record = held.work
        read, given_up = map(int, before.get(id(record), "0 0").split())
        lost = len(record.gave_up) - given_up
        fresh = len(record.read) - read - lost
        if lost > 0:
            result.gave_up.append((held, record.gave_up_why))
        if fresh > 0:
            result.read += fresh
            result.hosts[record.host] = result.hosts.get(record.host, 0) + fresh
            result.empty += not record.candidates
        for one in record.candidates:
            if before.get(id(one)) == one.fate:
                continue
            if one.fate == DROPPED:
                result.dropped.append((held, one))
            elif one.fate == UNMATCHED:
                result.unmatched.append((held, one))
    for reason, count in pending(table).items():
        result.later[reason] = count
    for held in table.held:
        if count := sum(one.fate == WAITING for one in held.work.candidates):
            folder = held.digest.cwd or ""
            result.waiting[folder] = result.waiting.get(folder, 0) + count
    _note(table, result)


def pending(table: Desk) -> dict[str, int]:
    """What waits for a model, by reason."""
    found: dict[str, int] = {}

    def count(reason: str, number: int) -> None:
        if number:
            found[reason] = found.get(reason, 0) + number

    for piece in table.pieces(rested=False):
        count(piece.held.work.trouble.why or "not read yet", 1)
    for held in table.held:
        for _, one in held.work.open():
            count(
                f"facts to be judged: {one.extra['waits']}" if "waits" in one.extra else "facts to be judged",
                1,
            )
    count(
        "facts to be committed",
        sum(one.fate == PLANNED for held in table.held for one in held.work.candidates),
    )
    return found


def last_file(state: Path) -> Path:
    return work.folder(state) / "last.json"


def _note(table: Desk, result: Result) -> None:
    """When learning last ran and what came of it, for `status` and `doctor`."""
    durable.write_json(
        last_file(table.context.memory.state),
        {
            "at": when.stamp(table.context.utc()),
            "commit": result.written.commit if result.written else None,
            "cards": [step.id for step in result.steps],
            "calls": result.calls,
            "usd": result.usd,
            "stopped": result.stopped,
        },
    )


def note_failure(context: Context, why: str) -> None:
    """A run that could not even begin, for `status` and `doctor`."""
    note = last(context.memory.state) or {}
    with suppress(OSError):
        durable.write_json(
            last_file(context.memory.state), {**note, "failed": why, "failed_at": when.stamp(context.utc())}
        )


def last(state: Path) -> dict[str, object] | None:
    """The note of the last run; None when there was none."""
    return durable.read_json(last_file(state))

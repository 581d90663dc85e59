"""Which conversation is due, and what of it is new. A function of values: no clock, no file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gitmem.learn import injected
from gitmem.learn.cursor import Cursor
from gitmem.learn.turns import ASSISTANT, USER, Conversation, Turn
from gitmem.model import when
from gitmem.recall import cues

DUE = "due"
SHORT, OPEN, OLD, SAME = "short", "still going on", "too old", "nothing new"
SUB_AGENT, LEARNER = "sub-agent", "the learner's own"
OFF, OFF_THE_RECORD = "switched off", "off the record"
# Never captured, however much they grow; nothing is taken out of them either.
NEVER = (SUB_AGENT, LEARNER, OFF_THE_RECORD)

MIN_TYPED = 3
CONTEXT_TYPED = 3
IDLE = timedelta(minutes=30)
# A prompt without its answer: a long job, or a process that died.
UNANSWERED = timedelta(hours=4)
# A terminal that was left open for days holds a conversation that is over all the same.
LEFT_OPEN = timedelta(hours=24)
# A host writes its history after it called the hook.
LAG = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of a conversation beside its history.

    Args:
        ended_at: when a hook said that it ended; None where none did, or the host's hook says only that it goes on.
        open: a living process has it open.
        quiet: why memory is off in one of its folders.
        off_the_record: it was said in the session.
        since: sessions that went on no later than this are too old, unless they were captured before.
        elsewhere: keys of typed turns that other sessions' digests hold.
        pause: from when to when memory was off everywhere.
    """

    now: datetime
    ended_at: datetime | None = None
    open: bool = False
    quiet: str | None = None
    off_the_record: bool = False
    since: datetime | None = None
    elsewhere: Collection[str] = ()
    pause: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`fate`: `due`, or why not. `new`: the turns a digest would hold; `context`: those before them; `typed`: over all."""

    fate: str
    new: tuple[Turn, ...] = ()
    context: tuple[Turn, ...] = ()
    typed: int = 0


def judge(conversation: Conversation, cursor: Cursor | None, signs: Signs) -> Verdict:
    """Decide on a conversation.

    At least three typed turns over all of it make it due, those of the parent it was forked from and those captured
    before among them; a conversation that was captured before needs one new one.
    """
    told = (*conversation.before, *conversation.turns)
    typed = sum(turn.role == USER for turn in told)
    if conversation.sidechain:
        return Verdict(SUB_AGENT)
    if conversation.marked:
        return Verdict(LEARNER)
    if signs.off_the_record or any(_asks_for_silence(turn) for turn in told):
        return Verdict(OFF_THE_RECORD, typed=typed)
    if signs.quiet:
        return Verdict(OFF, typed=typed)
    captured = cursor is not None and cursor.digests > 0
    last = _time(conversation.last)
    if not captured and signs.since and last and last < signs.since:
        return Verdict(OLD, typed=typed)
    new, context = _slice(conversation, cursor, signs)
    if not any(turn.role == USER for turn in new):
        return Verdict(SAME, typed=typed)
    if typed < MIN_TYPED and not captured:
        return Verdict(SHORT, new, context, typed)
    return Verdict(DUE if _over(conversation, signs, last) else OPEN, new, context, typed)


def _asks_for_silence(turn: Turn) -> bool:
    """Whether the person asked that nothing be kept; a card that says the like is none of their words."""
    return turn.role == USER and cues.off_the_record(injected.strip(turn.text, ())) is not None


def _over(conversation: Conversation, signs: Signs, last: datetime | None) -> bool:
    """Whether nothing more is to be expected: the host says so, or it has been idle."""
    if conversation.ended:
        return True
    if last is None:
        return signs.ended_at is not None
    if signs.ended_at is not None and signs.ended_at >= last - LAG:
        return conversation.complete or signs.now - signs.ended_at >= LAG
    idle = signs.now - last
    if signs.open and idle < LEFT_OPEN:
        return False
    return idle >= (IDLE if conversation.complete else UNANSWERED)


def _slice(
    conversation: Conversation, cursor: Cursor | None, signs: Signs
) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """What no digest holds yet, and the last three exchanges before it."""
    known = set(cursor.known) if cursor else set()
    held = [
        turn.role == USER and (turn.key in known or turn.key in signs.elsewhere or _paused(turn, signs.pause))
        for turn in conversation.turns
    ]
    start = max((at + 1 for at, one in enumerate(held) if one), default=0)
    if cursor is not None and cursor.last:
        # the answers that the last digest holds; where the last turn is gone since, those below its number
        keys = [turn.key for turn in conversation.turns]
        if cursor.last in keys:
            start = max(start, keys.index(cursor.last) + 1)
        else:
            below = (at + 1 for at, turn in enumerate(conversation.turns) if turn.number <= cursor.number)
            start = max(start, max(below, default=0))
    # a typed turn before the last captured one may be new all the same: two terminals, or a return to an old branch
    early = [turn for at, turn in enumerate(conversation.turns[:start]) if turn.role == USER and not held[at]]
    new = (*early, *(turn for turn in conversation.turns[start:] if not _paused(turn, signs.pause)))
    told = [
        turn
        for turn in (*conversation.before, *conversation.turns[:start])
        if turn.role in (USER, ASSISTANT) and turn not in early and not _paused(turn, signs.pause)
    ]
    places = [at for at, turn in enumerate(told) if turn.role == USER][-CONTEXT_TYPED:]
    return new, tuple(told[places[0] :]) if places else ()


def _paused(turn: Turn, pause: tuple[datetime, datetime] | None) -> bool:
    moment = _time(turn.at)
    return pause is not None and moment is not None and pause[0] <= moment <= pause[1]


def _time(text: str) -> datetime | None:
    try:
        return when.parse(text) if text else None
    except ValueError:
        return None


def joined(chain: list[Conversation]) -> Conversation:
    """Sessions that are one conversation under several names, oldest first, as one. Numbers go on from one to the next."""
    first, last = chain[0], chain[-1]
    turns: list[Turn] = []
    for one in chain:
        offset = turns[-1].number if turns else 0
        turns.extend(replace(turn, number=turn.number + offset) for turn in one.turns)
    return replace(
        first,
        turns=tuple(turns),
        last=max(one.last for one in chain),
        title=last.title or first.title,
        cwd=first.cwd or last.cwd,
        ended=last.ended,
        sidechain=any(one.sidechain for one in chain),
        complete=last.complete,
        cut=last.cut,
        marked=any(one.marked for one in chain),
        undone=tuple(text for one in chain for text in one.undone),
        tool_errors=sum(one.tool_errors for one in chain),
        compactions=sum(one.compactions for one in chain),
        folders=tuple(dict.fromkeys(folder for one in chain for folder in one.folders)),
        unreadable=sum(one.unreadable for one in chain),
    )

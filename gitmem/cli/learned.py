"""What a run of learning did, for a person and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from gitmem.cli import output
from gitmem.cli.common import home
from gitmem.context import Context
from gitmem.identity import Caller
from gitmem.learn import rules
from gitmem.learn.plan import Step
from gitmem.learn.run import Result
from gitmem.model import ids
from gitmem.model.layers import shorten

_CARDS_SHOWN = 7
# With the columns before them a row stays within a hundred columns or so, Chinese included.
_SAID_BYTES = 52
_WORDS_BYTES = 44
_WHY = "why dropped: git mem inbox --dropped"
_ROWS = (
    (rules.PROMOTE, "new"),
    (rules.SUPERSEDE, "replaced"),
    (rules.MERGE, "confirmed"),
    (rules.RETRACT, "took back"),
)


def text(context: Context, result: Result, cap: float | None) -> str:
    """A summary to be read in ten seconds."""
    head: list[tuple[str, ...]] = []
    if result.read:
        head.append(("read", _read(result)))
    cards: list[tuple[str, ...]] = []
    for action, word in _ROWS:
        rows = [_row(step) for step in result.steps if step.action == action]
        cards += [(word if at == 0 else "", *row) for at, row in enumerate(rows)]
    more = len(cards) - _CARDS_SHOWN
    cards = cards[:_CARDS_SHOWN]
    tail: list[tuple[str, ...]] = []
    if more > 0 and result.written:
        tail.append(("", f"and {more} more: git mem log"))
    if retracted := [
        target for step in result.steps if step.action == rules.RETRACT for target in step.targets
    ]:
        erase = " ".join(map(ids.short, retracted[:3]))
        tail.append(("erase", f"taken back, and still in history; out of it too: git mem forget {erase}"))
    tail += [
        ("asked", f"to forget “{shorten(one.conclusion, _WORDS_BYTES)}”: no card says that")
        for _, one in result.unmatched[:2]
    ]
    if result.dropped:
        kinds = Counter(one.kind for _, one in result.dropped)
        tail.append(
            (
                "dropped",
                f"{len(result.dropped):<9}{', '.join(f'{kind} {count}' for kind, count in kinds.most_common())}",
            )
        )
    if result.gave_up:
        why = "; ".join(dict.fromkeys(why for _, why in result.gave_up[:2]))
        tail.append(("gave up", f"{len(result.gave_up):<9}{why}; to ask once more: git mem learn --again"))
    for reason, count in list(result.later.items())[:3]:
        tail.append(("later", f"{count:<9}{reason}"))
    for folder, count in list(result.waiting.items())[:2]:
        tail.append(("waiting", f"{count:<9}for `git mem project add` in {home(folder, context.env.home)}"))
    if result.stopped and result.stopped not in result.later:
        tail.append(("stopped", result.stopped))
    if result.written:
        commit = result.written.commit[:7]
        tail.append(("commit", f"{commit}, all checks green{_cost(result, cap)}"))
        why = f"    {_WHY}" if result.dropped else ""
        tail.append(("undo", f"all: git mem undo {commit}    one: git mem retract ID{why}"))
    elif result.calls:
        tail.append(
            ("cost", _cost(result, cap).removeprefix("; ") + (f"    {_WHY}" if result.dropped else ""))
        )
    if not (head or cards or tail):
        return "nothing new\n"
    return _aligned(head, cards, tail)


def for_caller(caller: Caller, result: Result) -> Result:
    """What an agent may hear of a run: what it read by other scopes' words stays between the learner and the person."""
    if caller.person:
        return result

    def heard(held: Any, one: Any) -> bool:
        return caller.reads(one.scope or held.digest.project or "personal")

    return replace(
        result,
        steps=[step for step in result.steps if caller.reads(step.scope)],
        dropped=[pair for pair in result.dropped if heard(*pair)],
        unmatched=[pair for pair in result.unmatched if heard(*pair)],
        gave_up=[
            (held, why) for held, why in result.gave_up if caller.reads(held.digest.project or "personal")
        ],
        # folders of no project: nobody has said yet who may read what was said there
        waiting=result.waiting if caller.reads("personal") else {},
    )


def _aligned(*blocks: list[tuple[str, ...]]) -> str:
    """Blocks of rows under one first column; each block has columns of its own after it."""
    first = max(output.width(row[0]) for rows in blocks for row in rows)
    lines = []
    for rows in blocks:
        lines += output.table(
            [(row[0] + " " * (first - output.width(row[0])), *row[1:]) for row in rows]
        ).splitlines()
    return "".join(f"{line}\n" for line in lines)


def _read(result: Result) -> str:
    hosts = ", ".join(f"{host} {count}" for host, count in sorted(result.hosts.items()))
    words = f"{_count(result.read, 'ended session')} ({hosts})"
    return words + (f"; {result.empty} held nothing worth keeping" if result.empty else "")


def _row(step: Step) -> tuple[str, ...]:
    own = step.action in (rules.PROMOTE, rules.SUPERSEDE)
    shown = ids.short(step.id if own or not step.targets else step.targets[0])
    said = step.conclusion if own or not step.replaced else step.replaced[0]
    if step.action == rules.SUPERSEDE:
        last = f"was {ids.short(step.targets[0])} {shorten(step.replaced[0], _WORDS_BYTES)}" + (
            f" and {len(step.targets) - 1} more" if len(step.targets) > 1 else ""
        )
    else:
        who = "you" if step.turn.role == "user" else "the agent"
        last = f"{who} {'to' if who == 'you' else 'in'} {step.host}: “{shorten(' '.join(step.quote.split()), _WORDS_BYTES)}”"
    return shown, step.scope, shorten(said, _SAID_BYTES), last


def _cost(result: Result, cap: float | None) -> str:
    if not result.calls:
        return ""
    words = f"; {_count(result.calls, 'call')}"
    if result.tokens:
        words += f", {max(1, round(result.tokens / 1000))}k tokens"
    if result.usd and cap is not None:
        words += f", {result.usd:.2f} of {cap:.2f} USD"
    return words


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def as_dict(result: Result) -> dict[str, Any]:
    """What `schemas/answers/learn.json` describes."""
    return {
        "read": result.read,
        "empty": result.empty,
        "hosts": result.hosts,
        "cards": [
            {
                "id": step.id, "action": step.action, "scope": step.scope, "type": step.type, "conclusion": step.conclusion,
                "quote": step.quote, "role": step.turn.role, "host": step.host, "session": step.session, "targets": list(step.targets),
            }
            for step in result.steps
        ],
        "dropped": [_dropped(held, one) for held, one in result.dropped],
        "asked_to_forget": [_dropped(held, one) for held, one in result.unmatched],
        "gave_up": [
            {"host": held.work.host, "session": held.work.session, "why": why} for held, why in result.gave_up
        ],
        "failed": result.failed,
        "later": result.later,
        "waiting": result.waiting,
        "commit": result.written.commit if result.written else None,
        "calls": result.calls,
        "tokens": result.tokens,
        "usd": result.usd,
        "stopped": result.stopped or None,
        "unknown": result.unknown,
    }  # fmt: skip


def _dropped(held: Any, one: Any) -> dict[str, Any]:
    return {
        "host": held.work.host, "session": held.work.session, "conclusion": one.conclusion, "scope": one.scope or None,
        "kind": one.kind, "why": one.why,
    }  # fmt: skip

"""learn, distil, review: the memory grows from ended conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gitmem import detach
from gitmem.cli import learned, output
from gitmem.cli.capturing import captured, connected, histories
from gitmem.cli.common import examples, home, json_option, note_branch, open_context
from gitmem.context import Context
from gitmem.errors import Busy, MemError, Refused, Usage
from gitmem.git.locate import refreshed
from gitmem.learn import background, run, timer
from gitmem.learn.capture import Report
from gitmem.learn.due import DUE
from gitmem.learn.ways import by_hand, choose
from gitmem.recall import log

# Below this a person is not asked.
ASKED_USD = 0.10


@click.command(
    epilog=examples(
        "git mem learn",
        "git mem learn --dry-run",
        "git mem learn --every 6h",
        "git mem learn --delegate ~/orders && git mem learn --answer ~/orders",
    )
)
@histories
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what would be read and about what it costs; ask nobody, write nothing",
)
@click.option(
    "--max", "most", type=click.IntRange(1), metavar="N", help="Ask at most N questions in this run"
)
@click.option(
    "--max-usd",
    type=click.FloatRange(0),
    metavar="USD",
    help="Spend at most this; it only lowers the memory's own cap",
)
@click.option(
    "--delegate",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the questions as files, for anybody to answer",
)
@click.option("--answer", type=click.Path(path_type=Path), metavar="FILE|DIR", help="Take answers in")
@click.option("--every", metavar="6h|off", help="Install a timer, for hosts without hooks; off takes it out")
@click.option(
    "--auto", is_flag=True, help="As hooks and timers call it: silent, only after a yes to learning"
)
@click.option("--again", is_flag=True, help="Ask once more about conversations that were given up")
@click.option("--yes", is_flag=True, help="Do not ask before spending")
@json_option
@click.pass_context
def learn(
    ctx: click.Context,
    hosts: tuple[str, ...],
    since: str | None,
    home_folder: Path | None,
    dry_run: bool,
    most: int | None,
    max_usd: float | None,
    delegate: Path | None,
    answer: Path | None,
    every: str | None,
    auto: bool,
    again: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Read conversations that ended, and keep what will matter again: each fact with the words it came from.

    Conversations are captured on this computer, a model reads them, and code checks every quote. Corrections replace the cards
    they correct. Most conversations hold nothing. All that a run writes is one commit.
    """
    if sum(map(bool, (delegate, answer, every, auto, dry_run))) > 1:
        raise Usage("choose one of --delegate, --answer, --every, --auto and --dry-run")
    context = open_context(ctx)
    if context.env.vars.get(background.GUARD):
        output.say("note: called by a reader of the learner's: nothing to do")
        return 0
    if every:
        _timer(context, every)
        return 0
    if auto:
        return _auto(context)
    if answer:
        return _told(context, run.take_in(context, by_hand.read(answer)), as_json, answered=True)
    if again:
        output.say(f"{_count(run.ask_again(context), 'conversation')} that had been given up")
    report = captured(context, hosts, since, home_folder, dry_run=dry_run)
    if not (hosts or home_folder or connected(context)):
        output.say("note: no host is connected; git mem connect lists them")
    if delegate:
        return _delegate(context, delegate, most, as_json)
    if dry_run:
        return _would(context, report, as_json)
    return _read(context, most, max_usd, yes, as_json)


def _read(context: Context, most: int | None, max_usd: float | None, yes: bool, as_json: bool) -> int:
    orders = run.hand_out(context)
    way = choose.choose(context, max_usd) if orders else None
    if orders and way is None:
        result = run.through(context, None)
        raise Refused(
            f"{_count(len(orders), 'question')} wait, and nobody reads",
            choose.hints(),
            [f"committed {result.written.commit[:7]}"] if result.written else [],
        )
    if orders and not _agreed(context, orders, yes):
        output.say("nothing was read")
        return 1
    try:
        result = run.through(context, way, most=most, progress=output.progress(), at_once=True)
    except KeyboardInterrupt:
        output.say("stopped; what was answered is kept: git mem learn goes on")
        return 130
    return _told(context, result, as_json, max_usd)


def _agreed(context: Context, orders: list[Any], yes: bool) -> bool:
    """Ask a person at a terminal, once before anything is ever sent, and before much is spent."""
    if yes or not context.env.terminal:
        return True
    usd = choose.estimate(context, orders)
    first = background.agreed(context.memory) is None
    if not first and (usd is None or usd < ASKED_USD):
        return True
    output.say(f"{_count(len(orders), 'question')} about your conversations; {choose.describe(context)}")
    if usd is not None:
        output.say(f"about {usd:.2f} USD, never more than {choose.cap(context):.2f}")
    if first:
        output.say(
            "what is sent: the words you typed and the final answers, secrets masked; git mem help privacy"
        )
    return click.confirm("read them?", default=False, err=True)


def _told(
    context: Context, result: run.Result, as_json: bool, max_usd: float | None = None, answered: bool = False
) -> int:
    result = learned.for_caller(context.caller, result)
    if as_json:
        output.as_json(learned.as_dict(result))
    else:
        output.answer(learned.text(context, result, choose.cap(context, max_usd)))
    if result.unknown:
        output.say(
            f"note: {_count(result.unknown, 'answer')} to no open question, or of a scope you may not read; "
            "git mem learn --delegate DIR says what is open"
        )
    if answered and not as_json and result.later:
        output.say("hint: git mem learn --delegate DIR writes the next questions")
    if result.failed and not as_json:
        output.say("hint: once that is mended, git mem learn asks again at once")
    if result.written:
        note_branch(context)
        _index(context)
    # something was asked, and no answer could be used
    return 1 if result.failed and result.failed >= result.asked else 0


def _index(context: Context) -> None:
    memory = refreshed(context.memory)
    detach.index(memory.root, memory.git.env)


def _delegate(context: Context, folder: Path, most: int | None, as_json: bool) -> int:
    orders = run.hand_out(context, most)
    files = by_hand.write(orders, folder, dict(context.env.vars)) if orders or folder.is_dir() else []
    if as_json:
        output.as_json(
            {
                "folder": str(folder.absolute()),
                "orders": [
                    {
                        "id": one.id,
                        "kind": one.kind,
                        "scope": one.scope,
                        "subject": one.subject,
                        "file": str(file),
                    }
                    for one, file in zip(orders, files, strict=True)
                ],
            }
        )
        return 0
    output.answer("".join(f"{file}\n" for file in files))
    if files:
        output.say(
            f"{_count(len(files), 'question')}; the answer to `x.md` goes beside it, as `x{by_hand.ANSWER}`"
        )
        output.say(f"hint: then git mem learn --answer {home(folder, context.env.home)}")
    else:
        output.say("nothing waits for an answer")
    return 0


def _would(context: Context, report: Report, as_json: bool) -> int:
    # what is not captured yet is asked about as it stands
    orders = run.hand_out(context) + [
        order for one in report.of(DUE) for order in run.asked_about(context, one)
    ]
    due = len(report.of(DUE))
    usd = choose.estimate(context, orders)
    reader = choose.describe(context)
    if as_json:
        output.as_json({"dry_run": True, "due": due, "questions": len(orders), "usd": usd, "reader": reader})
        return 0
    rows = [("due", f"{_count(due, 'conversation')} not captured yet"), ("questions", str(len(orders)))]
    rows.append(("reader", reader or "nobody: " + choose.hints()[0]))
    if usd is not None:
        rows.append(("cost", f"about {usd:.2f} USD, never more than {choose.cap(context):.2f}"))
    output.answer(output.table(rows))
    return 0


def _auto(context: Context) -> int:
    """Silent whatever happens; what went wrong stands in the log, and `doctor` shows it."""
    if not background.agreed(context.memory):
        return 0
    try:
        captured(context)
        result = run.through(context, choose.choose(context))
        if result.written:
            _index(context)
        entry: dict[str, Any] = {
            "event": "learned", "cards": len(result.steps), "calls": result.calls, "stopped": result.stopped or None,
            "commit": result.written.commit if result.written else None,
        }  # fmt: skip
    except Busy:
        return 0
    except MemError as error:
        entry = {"event": "learn failed", "error": error.message}
        run.note_failure(context, error.message)
    except OSError as error:
        entry = {"event": "learn failed", "error": f"{type(error).__name__}: {error.strerror or error}"}
        run.note_failure(context, entry["error"])
    log.append(context.memory.state, entry)
    return 0


def _timer(context: Context, every: str) -> None:
    if not context.caller.person:
        raise Refused("a timer is for people to install", ["run it in a terminal of your own"])
    place = context.env.home
    if place is None:
        raise Refused("cannot tell where timers are kept: HOME is not set")
    if every == "off":
        taken = timer.remove(place, context.env.vars)
        output.answer(
            f"took out  {', '.join(home(one, place) for one in taken)}\n" if taken else "no timer was there\n"
        )
        return
    made = timer.install(timer.minutes(every), context.memory.root, place, context.env.vars)
    output.answer(
        output.table(
            [("timer", f"{made.what}, in {home(made.place, place)}"), ("leave", "git mem learn --every off")]
        )
    )
    if background.agreed(context.memory) is None:
        context.memory.git.run("config", background.SETTING, "true")
        output.answer(
            f"learning  is on: {choose.describe(context) or 'nobody reads yet'}; git config mem.learn false\n"
        )
    if choose.describe(context) is None:
        for hint in choose.hints():
            output.say(f"hint: {hint}")


@click.command(epilog=examples("git mem distil", "git mem distil --max 5"))
@click.option("--max", "most", type=click.IntRange(1), metavar="N", help="Ask at most N questions")
@json_option
@click.pass_context
def distil(ctx: click.Context, most: int | None, as_json: bool) -> int:
    """Have captured conversations read for facts; nothing is judged or committed yet."""
    return _stage(ctx, ("distil",), most, as_json)


@click.command(epilog=examples("git mem review"))
@click.option("--max", "most", type=click.IntRange(1), metavar="N", help="Ask at most N questions")
@json_option
@click.pass_context
def review(ctx: click.Context, most: int | None, as_json: bool) -> int:
    """Have the facts that were found judged beside the cards that are there, and commit what holds."""
    return _stage(ctx, ("review", "append"), most, as_json)


def _stage(ctx: click.Context, stages: tuple[str, ...], most: int | None, as_json: bool) -> int:
    context = open_context(ctx)
    way = choose.choose(context)
    if way is None:
        raise Refused("nobody reads", choose.hints())
    return _told(
        context,
        run.through(context, way, stages=stages, most=most, progress=output.progress(), at_once=True),
        as_json,
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

"""consolidate: cards that are one too many."""

from __future__ import annotations

from pathlib import Path

import click

from gitmem.cli import output
from gitmem.cli.common import examples, json_option, note_branch, open_context
from gitmem.context import Context
from gitmem.errors import Refused
from gitmem.learn import answer as answers
from gitmem.learn import consolidate as core
from gitmem.learn.consolidate import Proposal, Question
from gitmem.learn.ways import Declined, Late, Spent, Unreachable, by_hand, choose
from gitmem.model import ids


@click.command(
    epilog=examples(
        "git mem consolidate",
        "git mem consolidate --scope web --apply",
        "git mem consolidate --delegate ~/orders && git mem consolidate --answer ~/orders",
    )
)
@click.option(
    "--scope", metavar="SCOPE", help="Only cards of global, personal or this project (default: all)"
)
@click.option(
    "--delegate",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the questions as files",
)
@click.option("--answer", type=click.Path(path_type=Path), metavar="FILE|DIR", help="Take answers in")
@click.option("--apply", "apply_", is_flag=True, help="Write what is proposed, in one commit")
@json_option
@click.pass_context
def consolidate(
    ctx: click.Context,
    scope: str | None,
    delegate: Path | None,
    answer: Path | None,
    apply_: bool,
    as_json: bool,
) -> int:
    """Find cards that say the same, or that a newer one makes untrue, and propose what to do.

    Nothing is written without --apply. A card that goes stays in history; `git mem undo` brings it back.
    """
    context = open_context(ctx)
    if apply_ and not context.caller.person:
        raise Refused("consolidating is for people", ["git mem consolidate shows what there would be to do"])
    scopes = [one for one in ("global", "personal", *context.registry.projects) if context.caller.reads(one)]
    if scope:
        if scope not in scopes:
            raise Refused(f"no scope `{scope}`", ["git mem project list"])
        scopes = [scope]
    asked = core.questions(context, scopes)
    if delegate:
        files = by_hand.write([one.order for one in asked], delegate, dict(context.env.vars))
        output.answer("".join(f"{file}\n" for file in files))
        output.say(
            f"then: git mem consolidate --answer {delegate}" if files else "nothing resembles anything"
        )
        return 0
    found, failed = _answered(asked, answer) if answer else _read(context, asked)
    if as_json:
        output.as_json({"proposals": [_as_dict(one) for one in found]})
    elif found and not apply_:
        output.answer(_text(found))
        output.say("hint: git mem consolidate --apply writes all of it; git mem retract ID one")
    if not found:
        if not as_json and not failed:
            output.answer("nothing to do\n")
        return 1 if failed else 0
    if apply_:
        written, made = core.apply(context, found)
        if not as_json:
            output.answer("".join(f"{one}\n" for one in made))
        output.say(f"commit {written.commit[:7]}; undo: git mem undo {written.commit[:7]}")
        note_branch(context)
    return 0


def _read(context: Context, asked: list[Question]) -> tuple[list[Proposal], int]:
    """What was proposed, and how many questions got no answer."""
    if not asked:
        return [], 0
    way = choose.choose(context)
    if way is None:
        raise Refused("nobody reads", choose.hints())
    show = output.progress()
    found: list[Proposal] = []
    failed = 0
    for number, question in enumerate(asked, 1):
        if show:
            show("reading", number, len(asked))
        try:
            found += core.proposals(answers.parse(way.ask(question.order).text), question)
        except (Unreachable, Declined, ValueError) as none:
            failed += 1
            output.say(f"note: no answer about {question.order.subject}: {none}")
            if isinstance(none, Late):
                failed += len(asked) - number
                break
        except Spent as cap:
            failed += len(asked) - number + 1
            output.say(f"note: {cap}")
            break
    return found, failed


def _answered(asked: list[Question], place: Path) -> tuple[list[Proposal], int]:
    by_id = {question.order.id: question for question in asked}
    found: list[Proposal] = []
    failed = 0
    for order_id, text in by_hand.read(place):
        question = by_id.get(order_id)
        if question is None:
            failed += 1
            output.say(
                f"note: `{order_id}` is no open question: git mem consolidate --delegate DIR asks anew"
            )
            continue
        try:
            found += core.proposals(answers.parse(text), question)
        except ValueError as none:
            failed += 1
            output.say(f"note: `{order_id}` could not be read: {none}")
    return found, failed


def _text(found: list[Proposal]) -> str:
    rows: list[tuple[str, ...]] = []
    for one in found:
        word = {"merge": "same", "supersede": "untrue now", "retract": "no memory"}[one.action]
        rows += [
            (word if at == 0 else "", ids.short(item.id), item.scope, item.l0)
            for at, item in enumerate(one.cards)
        ]
        if one.keep:
            rows.append(("  keep", ids.short(one.keep.id), one.keep.scope, one.keep.l0))
        rows.append(("  why", "", "", one.reason))
    return output.table(rows)


def _as_dict(one: Proposal) -> dict[str, object]:
    return {
        "action": one.action, "scope": one.scope, "cards": [item.id for item in one.cards],
        "keep": one.keep.id if one.keep else None, "reason": one.reason,
    }  # fmt: skip

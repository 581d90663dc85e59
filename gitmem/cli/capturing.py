"""capture: read conversations that ended, and keep what learning needs of them on this computer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from gitmem.cli import output
from gitmem.cli.common import examples, home, json_option, moment, open_context, options
from gitmem.context import Context
from gitmem.errors import Busy, MemError, Refused
from gitmem.learn import capture as capturing
from gitmem.learn import due, find
from gitmem.learn.capture import CAPTURED, Outcome, Report
from gitmem.model.layers import shorten
from gitmem.recall import log

_SHOWN = 40


# Which conversations to look at: of which hosts, since when, and where their files are.
histories = options(
    click.option(
        "--host",
        "hosts",
        multiple=True,
        type=click.Choice(find.HOSTS),
        metavar="HOST",
        help=f"Read this host ({', '.join(find.HOSTS)}; default: those that are connected)",
    ),
    click.option(
        "--since",
        metavar="DATE",
        help="What went on after this day (default: a host's first run takes 30 days)",
    ),
    click.option(
        "--home",
        "home_folder",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        metavar="DIR",
        help="Read the hosts of this home folder, all of them unless --host names some",
    ),
)


@click.command(
    epilog=examples(
        "git mem capture",
        "git mem capture --dry-run",
        "git mem capture --host codex --since 2026-11-01",
    )
)
@histories
@click.option("--dry-run", is_flag=True, help="Say what is due; write nothing")
@click.option("--auto", is_flag=True, help="As hooks call it: silent, and never in anybody's way")
@json_option
@click.pass_context
def capture(
    ctx: click.Context,
    hosts: tuple[str, ...],
    since: str | None,
    dry_run: bool,
    home_folder: Path | None,
    auto: bool,
    as_json: bool,
) -> None:
    """Read conversations that ended or have been idle for 30 minutes, and keep what learning needs of them.

    Kept on this computer, secrets masked: typed words, final answers, names of tools. Nothing is learned yet. A
    conversation needs three typed turns; one that was captured before, one new turn.
    """
    context = open_context(ctx)
    if auto:
        _auto(context)
        return
    report = captured(context, hosts, since, home_folder, dry_run=dry_run)
    if as_json:
        output.as_json(as_dict(report))
        return
    output.answer(text(context, report))
    if not (hosts or home_folder or connected(context)):
        output.say("no host is connected")
        output.say("hint: git mem connect lists them; git mem capture --host HOST reads one all the same")


def captured(
    context: Context,
    hosts: tuple[str, ...] = (),
    since: str | None = None,
    home_folder: Path | None = None,
    *,
    dry_run: bool = False,
) -> Report:
    """Capture what the options name, else what the connected hosts have.

    Raises:
        Refused, Busy
    """
    place = home_folder.absolute() if home_folder else context.env.home
    if place is None:
        raise Refused(
            "cannot tell where the hosts keep their sessions: HOME is not set", ["git mem capture --home DIR"]
        )
    return capturing.run(
        context,
        tuple(dict.fromkeys(hosts)) or (find.HOSTS if home_folder else connected(context)),
        home=place,
        variables={} if home_folder else context.env.vars,
        since=moment(since) if since else None,
        dry_run=dry_run,
        progress=output.progress(),
    )


def _auto(context: Context) -> None:
    try:
        captured(context)
    except Busy:
        return
    except (MemError, OSError) as error:
        log.append(context.memory.state, {"event": "capture failed", "error": str(error)[:300]})


def connected(context: Context) -> tuple[str, ...]:
    """The hosts that `git mem connect` noted in the memory's own configuration."""
    return tuple(host for host in find.HOSTS if context.memory.setting(f"mem.host.{host}.agent"))


def text(context: Context, report: Report) -> str:
    """A summary, and a line for each conversation that is taken."""
    if report.off:
        return f"off       {report.off}: nothing was read\n"
    taken = report.of(CAPTURED, due.DUE)
    rows = [("read", _read(report))]
    rows.append(("due" if report.dry_run else "captured", _count(len(taken), "conversation")))
    left = Counter(one.fate for one in report.outcomes if one not in taken)
    if left:
        rows.append(("left", ", ".join(f"{fate} {count}" for fate, count in left.most_common())))
    if waits := sorted({one.unit.conversation.cwd or "" for one in taken if one.waits}):
        places = ", ".join(home(one, context.env.home) for one in waits[:3]) + (
            ", …" if len(waits) > 3 else ""
        )
        rows.append(("waiting", f"for `git mem project add` in {places}"))
    if report.settled:
        rows.append(("taken up", f"{_count(report.settled, 'digest')} of projects registered since"))
    if report.dropped:
        rows.append(
            (
                "dropped",
                f"{_count(report.dropped, 'digest')} older than {context.registry.memory.retention_days} days",
            )
        )
    for tally in report.hosts:
        rows.extend(
            ("unreadable", f"{home(path, context.env.home)}: {why}") for path, why in tally.unreadable.items()
        )
    lines = output.table(rows)
    if taken:
        lines += "\n" + output.table([_row(one) for one in taken[:_SHOWN]])
    return lines + (f"… and {len(taken) - _SHOWN} more\n" if len(taken) > _SHOWN else "")


def _read(report: Report) -> str:
    parts = [f"{one.host} {one.read}" for one in report.hosts if one.read]
    words = _count(sum(one.read for one in report.hosts), "session") + (
        f" ({', '.join(parts)})" if parts else ""
    )
    same = sum(one.unchanged for one in report.hosts)
    old = sum(one.old for one in report.hosts)
    return words + (f"; unchanged {same}" if same else "") + (f"; older {old}" if old else "")


def _row(one: Outcome) -> tuple[str, ...]:
    conversation = one.unit.conversation
    first = next((turn.text for turn in conversation.turns if turn.role == "user"), "")
    return (
        conversation.host,
        one.unit.session[:8] if conversation.host != "hermes" else one.unit.session,
        one.project or ("waits" if one.waits else ""),
        f"{one.new} new of {one.typed}",
        shorten(" ".join((conversation.title or first).split()), 60),
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def as_dict(report: Report) -> dict[str, Any]:
    """What `schemas/answers/capture.json` describes."""
    return {
        "dry_run": report.dry_run,
        "off": report.off,
        "hosts": [
            {
                "host": one.host,
                "place": str(one.place),
                "read": one.read,
                "unchanged": one.unchanged,
                "old": one.old,
                "sub_agents": one.sub_agents,
                "unreadable": [{"path": str(path), "why": why} for path, why in one.unreadable.items()],
            }
            for one in report.hosts
        ],
        "sessions": [_as_dict(one) for one in report.outcomes],
        "settled": report.settled,
        "dropped": report.dropped,
    }


def _as_dict(one: Outcome) -> dict[str, Any]:
    conversation = one.unit.conversation
    return {
        "host": conversation.host,
        "session": one.unit.session,
        "sessions": list(one.unit.sessions),
        "fate": one.fate,
        "typed": one.typed,
        "new": one.new,
        "cwd": conversation.cwd,
        "project": one.project,
        "waiting": one.waits,
        "title": conversation.title,
        "started": conversation.started,
        "last": conversation.last,
        "part": one.part,
        "digest": None if one.file is None else str(one.file),
    }

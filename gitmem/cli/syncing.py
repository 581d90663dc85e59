"""sync and clone: one memory on several devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gitmem import autosync, config, detach
from gitmem.authoring.commit import cards_now
from gitmem.cli import output
from gitmem.cli.common import behind_words, examples, home, json_option, open_context
from gitmem.cli.setup import checks_words, hook_notes
from gitmem.context import Context
from gitmem.errors import Busy, MemError, Usage
from gitmem.git.locate import refreshed
from gitmem.hooks.place import install_into
from gitmem.model import ids, live
from gitmem.recall import log
from gitmem.sharing import clone as cloning
from gitmem.sharing import sync as core
from gitmem.sharing.sync import Report

_SHOWN = 6
# A sync in the background may have begun with the last write; mostly it is over soon.
_WAIT_S = 10.0


@click.command(epilog=examples("git mem sync", "git mem sync --always on", "git mem sync --accept-rewrite"))
@click.option("--remote", metavar="NAME", help="The remote (default: the branch's own, or origin)")
@click.option("--fetch-only", is_flag=True, help="Take what is there, and give nothing")
@click.option(
    "--accept-rewrite",
    is_flag=True,
    help="Take a branch that another device rewrote by forgetting; own cards stay",
)
@click.option(
    "--always", type=click.Choice(["on", "off"]), help="Sync after each write and at the start of sessions"
)
@click.option("--auto", is_flag=True, help="As it is started in the background: silent")
@json_option
@click.pass_context
def sync(
    ctx: click.Context,
    remote: str | None,
    fetch_only: bool,
    accept_rewrite: bool,
    always: str | None,
    auto: bool,
    as_json: bool,
) -> int:
    """Bring this memory and its git remote together: fetch, merge, check, push.

    New cards never conflict, settings merge by entry. Nothing is rewritten and nothing is forced. Offline it says so, and exits 0.
    """
    context = open_context(ctx)
    if auto:
        return _auto(context)
    if always:
        context.memory.git.run("config", "--local", autosync.SETTING, "true" if always == "on" else "false")
        output.say(
            "syncs in the background, at most once in 5 minutes: after a write and at the start of a session"
            if always == "on"
            else "syncs only when you say so: git mem sync"
        )
        if always == "off":
            return 0
    if accept_rewrite:
        from gitmem.cli.forgetting import accept_rewrite as accept
        from gitmem.sharing import remote as remotes

        name = remotes.name_of(context.memory, remote)
        accept(context, name)
        core.note(context, Report(name))
        return 0
    try:
        report = core.sync(context, remote, push=not fetch_only, wait_s=_WAIT_S)
    except MemError as error:
        if not isinstance(error, Busy):
            core.note_failure(context, error)
        raise
    if as_json:
        output.as_json(as_dict(report))
    else:
        output.answer(text(context, report))
    if report.taken:
        if not as_json:
            _forks(context, report)
        detach.index(context.memory.root, context.memory.git.env)
    return 1 if report.refused else 0


def _forks(context: Context, report: Report) -> None:
    """Say so when both sides replaced the same card: recall says one of the two, and a person may want the other."""
    now = context.with_memory(refreshed(context.memory))
    catalogue = cards_now(now)
    try:
        for card in report.cards:
            for root in live.roots(catalogue, card):
                ends = [
                    one
                    for one in live.chain(catalogue, root)
                    if live.status(catalogue, one, now.registry, now.now).live
                ]
                if len(ends) > 1 and any(
                    live.fork_losers(catalogue, one, now.registry, now.now) for one in ends
                ):
                    named = " ".join(map(ids.short, ends))
                    output.say(f"note: both sides replaced `{ids.short(root)}`: {named}; one of them is said")
                    output.say(f'hint: git mem supersede {named} "what holds now"')
                    return
    finally:
        catalogue.close()


def _auto(context: Context) -> int:
    try:
        report = core.sync(context)
        if report.taken:
            detach.index(context.memory.root, context.memory.git.env)
        if not (report.taken or report.given or report.refused):
            return 0
        entry: dict[str, Any] = {
            "event": "synced", "taken": report.taken, "given": report.given, "refused": report.refused[:300] or None,
        }  # fmt: skip
    except Busy:
        return 0
    except (MemError, OSError) as error:
        core.note_failure(context, error)
        entry = {"event": "sync failed", "error": str(error)}
    log.append(context.memory.state, entry)
    return 0


def text(context: Context, report: Report) -> str:
    """What came, what went, and what is worth knowing."""
    if report.offline:
        return f"offline  {report.remote} cannot be reached: {report.offline}\n"
    rows: list[tuple[str, ...]] = []
    if report.taken:
        cards = ", ".join(map(ids.short, report.cards[:_SHOWN])) + (
            f" and {len(report.cards) - _SHOWN} more" if len(report.cards) > _SHOWN else ""
        )
        rows.append(
            (
                "took",
                f"{_count(report.taken, 'commit')} from {report.remote}" + (f": {cards}" if cards else ""),
            )
        )
    if report.given:
        rows.append(("gave", f"{_count(report.given, 'commit')} to {report.remote}"))
    rows += [("settings" if at == 0 else "", words) for at, words in enumerate(report.settings[:_SHOWN])]
    if len(report.settings) > _SHOWN:
        rows.append(("", f"and {len(report.settings) - _SHOWN} more"))
    rows += [
        ("left out" if at == 0 else "", f"{path}: {why}")
        for at, (path, why) in enumerate(report.left_out[:_SHOWN])
    ]
    rows += [("behind", behind_words(context, Path(one))) for one in report.behind]
    if report.refused:
        rows += [
            ("refused" if at == 0 else "", line)
            for at, line in enumerate(report.refused.splitlines()[:_SHOWN])
        ]
    return output.table(rows) if rows else f"nothing to do: {report.remote} and this memory are the same\n"


def as_dict(report: Report) -> dict[str, Any]:
    """What `schemas/answers/sync.json` describes."""
    return {
        "remote": report.remote,
        "offline": report.offline or None,
        "taken": report.taken,
        "given": report.given,
        "cards": report.cards,
        "merged": report.merged,
        "settings": report.settings,
        "left_out": [{"path": path, "why": why} for path, why in report.left_out],
        "refused": report.refused or None,
        "behind": list(report.behind),
    }


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


@click.command(
    epilog=examples(
        "git mem clone git@git.example.org:you/memory.git", "git mem clone /media/stick/memory.git ~/memory"
    )
)
@click.argument("url")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--branch", metavar="NAME", help="The memory's branch there (default: the one that is checked out)"
)
@click.option("--strict", is_flag=True, help="Judge every move of the branch, as init --strict does")
@click.pass_context
def clone(ctx: click.Context, url: str, folder: Path | None, branch: str | None, strict: bool) -> None:
    """Take a memory that is on another device or a server, with its commit hooks. DIR is ~/memory if you name none."""
    from gitmem.authoring import init

    env = config.from_process()
    if (ctx.obj or {}).get("repo"):
        raise Usage("clone makes a memory: name the folder instead of --repo", [f"git mem clone {url} DIR"])
    place = init.place_for(env, str(folder) if folder else None)
    made = cloning.clone(env, url, place, branch)
    hooks = install_into(made.memory, strict)
    detach.index(made.memory.root, made.memory.git.env)
    where = home(made.memory.root, env.home)
    rows = [
        ("checks", checks_words(hooks)),
        (
            "default",
            "this one"
            if made.default in ("set", "same")
            else f"stays {made.other}; git config --global mem.repo {where}",
        ),
    ]
    output.answer(f"A copy of {url} in {where}\n{output.table(rows, '  ')}")
    for line in hook_notes(hooks):
        output.say(line)
    output.say("")
    output.say("Next")
    output.say("  git mem project add ID --path DIR   say where a project's folder is on this computer")
    output.say("  git mem connect                     let the agents here hear it")
    output.say(
        "  git mem sync                        bring both sides together; --always on does it by itself"
    )

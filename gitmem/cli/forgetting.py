"""The command that erases: forget."""

from __future__ import annotations

import sys
from typing import Any

import click

from gitmem import detach
from gitmem.cli import output
from gitmem.cli.common import examples, home, json_option, open_context
from gitmem.context import Context
from gitmem.errors import Usage
from gitmem.git.locate import refreshed
from gitmem.model import ids
from gitmem.model.layers import shorten


@click.command(
    epilog=examples(
        "git mem forget k3v9x2m",
        "git mem forget k3v9x2m w8e6b1g --yes",
        "git mem forget k3v9x2m --dry-run",
        "git mem --repo /srv/memory.git forget --server --yes",
    )
)
@click.argument("ids_", metavar="[ID]...", nargs=-1)
@click.option("--yes", is_flag=True, help="Do not ask first")
@click.option("--dry-run", is_flag=True, help="Show what would go, and stop")
@click.option("--keep-shared", is_flag=True, help="Leave the words where other cards hold them too")
@click.option("--server", is_flag=True, help="In a bare repository; without ID by what it was told to forget")
@click.option("--continue", "go_on", is_flag=True, help="Finish what was interrupted")
@json_option
@click.pass_context
def forget(
    ctx: click.Context,
    ids_: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    keep_shared: bool,
    server: bool,
    go_on: bool,
    as_json: bool,
) -> None:
    """Erase cards for good: from every commit, and from everything that is kept beside them here.

    To take a card back and keep it in history, use `git mem retract`.
    """
    from gitmem.erasure import accept, erase, plan, remains
    from gitmem.erasure.unfinished import unfinished

    context = open_context(ctx, unfinished="leave")
    erase.people_only(context)
    _place(context, server)
    if go_on:
        if ids_:
            raise Usage("--continue takes no ID", ["git mem forget --continue"])
        left = unfinished(context)
        erase.resume(context, _step)
        accept.resume(context.with_memory(refreshed(context.memory)))
        for one in left:
            words = f"{one.area} {one.words}: {one.mend}"
            output.say("finished what was interrupted" if one.owed else output.aimed(words))
        if not left:
            output.say("nothing was interrupted")
        elif any(one.owed for one in left):
            _index_again(context)
        return
    if left := unfinished(context):
        if any(one.owed for one in left):
            output.say("note: first finishing what was interrupted")
        erase.resume(context, _step)
        accept.resume(context.with_memory(refreshed(context.memory)))
        context = open_context(ctx)
    if server and not ids_:
        _by_tombstones(context, yes, dry_run)
        return
    made = plan.make(context, ids_, keep_shared)
    found = remains.transcripts(made.sessions, made.words, context.env.home, context.env.vars)
    if as_json:
        output.as_json(_as_json(context, made, found, dry_run))
    if not made.cards:
        for one in made.known:
            output.say(f"`{ids.short(one)}` was forgotten before")
        if not dry_run:
            _once_more(context, yes, ids_)
        return
    _show(context, made, quiet=as_json)
    plan.refuse_shared(made)
    if dry_run:
        output.say("nothing was changed")
        return
    if not _agreed(yes, ids_):
        output.say("nothing was changed")
        return
    outcome = erase.forget(context, made, _step, remains.said_again(found))
    if not as_json:
        output.answer("".join(f"{one}\n" for one in made.ids))
    _report(context, outcome, found)
    _index_again(context)


def _index_again(context: Context) -> None:
    """The index was thrown away with the words in it."""
    detach.index(context.memory.root, context.memory.git.env)


def accept_rewrite(context: Context, remote: str = "origin") -> None:
    """Take a branch that another device rewrote, and say what became of this clone's own cards."""
    from gitmem.erasure import accept, remains

    done = accept.accept(context, remote)
    _index_again(context)
    output.answer("".join(f"{one}\n" for one in done.again))
    output.say(f"took `{context.memory.branch}` of {remote} as it is now, {done.tip[:7]}")
    if done.again:
        output.say(f"{_count(len(done.again), 'card')} of this clone written again on top of it")
    rows = [("left out", ids.short(one), why) for one, why in done.left_out[:6]]
    for line in output.table(rows, "  ").splitlines():
        output.say(line)
    if len(done.left_out) > 6:
        output.say(f"  and {len(done.left_out) - 6} more")
    if done.differs:
        output.say(f"{remote} still held what was forgotten here; it needs this history in turn")
        output.say(f"  {remains.push_command(context.memory, remote, done.tip)}")


def _place(context: Context, server: bool) -> None:
    memory = context.memory
    if memory.bare and not server:
        raise Usage(
            f"`{memory.root}` is a bare repository, which others push to",
            ["to erase in it as well: git mem forget ID… --server"],
        )
    if server and not memory.bare:
        raise Usage("--server is for the bare repository that others push to", ["git mem forget ID…"])


def _agreed(yes: bool, named: tuple[str, ...]) -> bool:
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Usage(
            "forgetting cannot be undone and asks first; without a terminal it needs --yes",
            [f"git mem forget {' '.join(named)} --yes".replace("  ", " ")],
        )
    return click.confirm("Erase this for good?", default=False, err=True)


def _by_tombstones(context: Context, yes: bool, dry_run: bool) -> None:
    """On a server: in line with the branch's own list."""
    from gitmem.erasure import erase

    tombstones = context.registry.tombstones
    count = len(tombstones.cards)
    if not count and not tombstones.turns:
        output.say("nothing was forgotten on this branch yet")
        return
    output.say(f"erases here what `{context.memory.branch}` lists as forgotten: {_count(count, 'card')}")
    if dry_run or not _agreed(yes, ("--server",)):
        output.say("nothing was changed")
        return
    outcome = erase.purge(context.memory, tombstones, _step)
    _report(context, outcome, [])


def _once_more(context: Context, yes: bool, named: tuple[str, ...]) -> None:
    """Clear what a fetch from an old copy brought back since."""
    from gitmem.erasure import erase

    output.say("clears what came back since, with reflogs and whatever no ref keeps")
    if not _agreed(yes, named):
        output.say("nothing was changed")
        return
    outcome = erase.purge(context.memory, context.registry.tombstones, _step)
    _index_again(context)
    output.say(f"{_count(outcome.commits, 'commit')} rewritten on {_count(len(outcome.refs), 'ref')}")


def _show(context: Context, made: Any, quiet: bool) -> None:
    """What will go, in at most a dozen lines."""
    if quiet:
        return
    rows = []
    for one in made.cards[:6]:
        what = one.says or "(a card without words of its own)"
        rows.append(("erase" if one.asked else "with it", ids.short(one.id), one.scope, shorten(what, 60)))
        rows.extend(("", "", "words", f"“{shorten(' '.join(text.split()), 50)}”") for text in one.quotes[:2])
    for line in output.table(rows).splitlines():
        output.say(line)
    if len(made.cards) > 6:
        output.say(f"and {len(made.cards) - 6} more")
    number = _count(len(made.turns), "turn")
    commits = context.memory.git.run("rev-list", "--count", "--all", check=False).text() or "0"
    names = context.memory.git.lines("for-each-ref", "--format=%(refname:short)")
    others = [name for name in names if name != context.memory.branch]
    output.say(f"with {number} of what was said; history is rewritten ({commits} commits"
               + (f", also {', '.join(others[:4])}{' …' if len(others) > 4 else ''}" if others else "") + ")")  # fmt: skip
    output.say("reflogs go, and commits that no branch, tag or stash keeps; signatures of commits are lost")
    if made.revived:
        names = ", ".join(f"{ids.short(one)} ({shorten(says, 40)})" for one, says in made.revived[:3])
        output.say(f"may hold again: {names}")
    for path in made.briefs[:3]:
        output.say(f"{path}: the words become [forgotten]")
    if made.known:
        output.say(f"forgotten before: {', '.join(ids.short(one) for one in made.known)}")


def _report(context: Context, outcome: Any, found: list[Any]) -> None:
    """What was done, and what this computer cannot reach."""
    from gitmem.erasure import remains

    memory = context.memory
    output.say(
        f"forgotten here; {_count(outcome.commits, 'commit')} rewritten on {_count(len(outcome.refs), 'ref')}"
    )
    rows = []
    for name, url in remains.remotes(memory)[:3] if not memory.bare else []:
        rows.append(("remote", f"{name} ({url})"))
        known = outcome.refs.get(f"refs/remotes/{name}/{memory.branch}")
        rows.append(("", remains.push_command(memory, name, known)))
        rows.append(
            ("", "on a server of yours, there: git mem forget ID… --server --yes; else ask its host to purge")
        )
    rows.append(("clones", "in each: git mem sync --accept-rewrite"))
    for one in found[:3]:
        rows.append((one.host, f"its own session file: {home(one.path, context.env.home)}"))
    for name in remains.borrowed(memory)[:2]:
        rows.append(("objects", f"borrowed from {name}, which was not touched"))
    for name in outcome.kept_packs[:2]:
        rows.append(("objects", f"{name} marks a pack that git keeps whole; remove the mark and repeat"))
    rows.append(("backups", "of this folder, and notifications or caches of a hosted remote"))
    output.say("may remain elsewhere")
    for line in output.table(rows, "  ").splitlines():
        output.say(line)


def _as_json(context: Context, made: Any, found: list[Any], dry_run: bool) -> dict[str, Any]:
    from gitmem.erasure import remains

    return {
        "dry_run": dry_run,
        "cards": [{"id": c.id, "scope": c.scope, "says": c.says, "asked": c.asked} for c in made.cards],
        "turns": [{"host": h, "session": s, "turn": n} for h, s, n in sorted(made.turns)],
        "shared_with": [one for one, _ in made.shared],
        "may_hold_again": [one for one, _ in made.revived],
        "briefs": list(made.briefs),
        "forgotten_before": list(made.known),
        "remotes": [{"name": name, "url": url} for name, url in remains.remotes(context.memory)],
        "session_files": [{"host": f.host, "session": f.session, "path": str(f.path)} for f in found],
    }


def _step(words: str) -> None:
    if output.colour_on(sys.stderr):
        output.say(f"{words} …")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"

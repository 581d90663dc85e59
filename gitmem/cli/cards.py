"""Commands that write cards: add, new, edit, supersede, confirm, retract, undo."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote as quoted

import click

from gitmem.authoring import cards as authoring
from gitmem.authoring.cards import Done, Wish
from gitmem.cli import output
from gitmem.cli.common import (
    behind_words,
    examples,
    note_branch,
    open_context,
    options,
    project_here,
    standard_input,
)
from gitmem.context import Context
from gitmem.errors import Refused, Usage
from gitmem.model import ids

_card_options = options(
    click.option(
        "--type",
        "type_",
        metavar="TYPE",
        help="preference, convention, pitfall, fact, decision, result, habit, task or rule",
    ),
    click.option("-m", "--message", "body", metavar="BODY", help="More than the one line: how and why"),
    click.option("--body", "body_from", metavar="-", help="Read the body from standard input (-)"),
    click.option(
        "--also",
        multiple=True,
        metavar="TEXT",
        help="Another wording, above all in the other language; searched, never shown",
    ),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find it by"),
    click.option("--quote", metavar="TEXT", help="The user's exact words (for agents)"),
    click.option("--session", metavar="ID", help="The session they were said in"),
    click.option("--expires", metavar="DATE", help="Not recalled after this day, or `never`"),
)


@click.command(
    epilog=examples(
        'git mem add "Use pnpm here, never npm"',
        'git mem add "Reports go out on Fridays" --scope personal',
        'git mem add "Use uv for Python" --also "Python 用 uv" -m "One environment per project."',
        'id=$(git mem add "Staging runs on port 8443" --type fact)',
    )
)
@click.argument("conclusion", nargs=-1)
@_card_options
@click.option(
    "--scope",
    metavar="SCOPE",
    help="global, personal or a project id (default: the project of this folder, else global)",
)
@click.option("--supersedes", multiple=True, metavar="ID", help="The card that this one replaces")
@click.option("--force", is_flag=True, help="Write it although a card says nearly the same")
@click.pass_context
def add(
    ctx: click.Context,
    conclusion: tuple[str, ...],
    type_,
    body,
    body_from,
    also,
    tags,
    quote,
    session,
    expires,
    scope,
    supersedes,
    force,
) -> None:  # type: ignore[no-untyped-def]
    """Remember CONCLUSION, in one line of at most 200 bytes.

    Prints the new card's id. Inside a registered project it becomes a convention of that project, elsewhere a
    preference of yours everywhere.
    """
    context = open_context(ctx)
    text = _words(conclusion, context)
    wish = Wish(
        text,
        type_,
        scope,
        _body(body, body_from),
        also,
        tags,
        supersedes,
        quote,
        session,
        _expiry(expires),
        force,
    )
    here = project_here(context)
    done = authoring.add(context, wish, here)
    report(context, done)
    if here is None and scope is None and not supersedes and done.written is not None:
        _note_no_project(context)


@click.command(epilog=examples("git mem new", "git mem new --scope web --type decision"))
@click.option("--type", "type_", metavar="TYPE", help="The card's type")
@click.option("--scope", metavar="SCOPE", help="global, personal or a project id")
@click.pass_context
def new(ctx: click.Context, type_: str | None, scope: str | None) -> None:
    """Write a card in your editor: the first line is the conclusion, the rest the body."""
    context = open_context(ctx)
    _needs_terminal("new", 'git mem add "…" -m "…"')
    text = click.edit(_TEMPLATE, extension=".md", require_save=True)
    conclusion, body = _split(text or "")
    if not conclusion:
        raise Refused("nothing was written down, nothing saved")
    here = project_here(context)
    report(context, authoring.add(context, Wish(conclusion, type_, scope, body), here))
    if here is None and scope is None:
        _note_no_project(context)


@click.command(epilog=examples("git mem edit k3v9x2m", 'git mem edit k3v9x2m "Use uv, also in containers"'))
@click.argument("id")
@click.argument("conclusion", nargs=-1)
@_card_options
@click.pass_context
def edit(
    ctx: click.Context,
    id: str,
    conclusion: tuple[str, ...],
    type_,
    body,
    body_from,
    also,
    tags,
    quote,
    session,
    expires,
) -> None:  # type: ignore[no-untyped-def]
    """Replace card ID by an edited one; the old one stays in history.

    Without CONCLUSION your editor opens with the card's text.
    """
    context = open_context(ctx)
    from gitmem.authoring.commit import cards_now

    catalogue = cards_now(context)
    try:
        item = authoring.resolve(catalogue, id, context.caller)
    finally:
        catalogue.close()
    old = authoring.as_card(context, item)
    if conclusion:
        text, new_body = _words(conclusion, context), _body(body, body_from) or old.body
    else:
        _needs_terminal("edit", f'git mem supersede {id} "…"')
        edited = click.edit(f"{item.l0}\n\n{old.body}{_HELP}", extension=".md", require_save=True)
        text, new_body = _split(edited or "")
        if not text or (text == item.l0 and new_body.strip() == old.body.strip()):
            raise Refused("nothing was changed, nothing saved")
    wish = Wish(
        text,
        type_,
        None,
        new_body,
        also or old.also,
        tags or old.tags,
        (),
        quote,
        session,
        _expiry(expires),
        True,
    )
    report(context, authoring.supersede(context, [id], wish))


@click.command(
    epilog=examples(
        'git mem supersede m2c6v0h "未验证的条目标成青色"', 'git mem supersede a1b2 c3d4 "One card for both"'
    )
)
@click.argument("args", nargs=-1, required=True, metavar="ID... CONCLUSION")
@_card_options
@click.pass_context
def supersede(
    ctx: click.Context, args: tuple[str, ...], type_, body, body_from, also, tags, quote, session, expires
) -> None:  # type: ignore[no-untyped-def]
    """Replace the cards ID by a new one that says CONCLUSION. They stay in history, and old words find the new card."""
    context = open_context(ctx)
    if len(args) == 1:
        raise Usage(
            "supersede needs the card and what now holds",
            [f'git mem supersede {quoted(args[0])} "what now holds"'],
        )
    targets, words = list(args[:-1]), args[-1]
    wish = Wish(
        words, type_, None, _body(body, body_from), also, tags, (), quote, session, _expiry(expires), True
    )
    report(context, authoring.supersede(context, targets, wish))


@click.command(epilog=examples("git mem confirm k3v9x2m"))
@click.argument("id")
@click.pass_context
def confirm(ctx: click.Context, id: str) -> None:
    """Say card ID again: its lifetime starts anew."""
    context = open_context(ctx)
    done, item = authoring.confirm(context, id)
    output.answer(done.card.id + "\n")
    assert done.written is not None
    output.say(f"confirmed {ids.short(item.id)}: {item.l0}, commit {done.written.commit[:7]}")
    _undo_line(context)


@click.command(epilog=examples("git mem retract w8e6b1g", 'git mem retract w8e6b1g -m "the server is gone"'))
@click.argument("ids_", nargs=-1, required=True, metavar="ID...")
@click.option("-m", "--message", "reason", default="", metavar="REASON", help="Why it no longer holds")
@click.pass_context
def retract(ctx: click.Context, ids_: tuple[str, ...], reason: str) -> None:
    """Take the cards ID back: they are no longer recalled, and stay in history."""
    context = open_context(ctx)
    made, written = authoring.retract(context, ids_, reason)
    for card in made:
        output.answer(card.id + "\n")
        output.say(
            f"retracted {', '.join(ids.short(target) for target in card.retracts)} in `{card.scope}`, commit {written.commit[:7]}"
        )
    _undo_line(context)


@click.command(epilog=examples("git mem undo", "git mem undo 9b21d04"))
@click.argument("commit", required=False)
@click.pass_context
def undo(ctx: click.Context, commit: str | None) -> None:
    """Take back your last write on this computer, or the write of COMMIT. Nothing is lost: undoing the undo brings it back.

    Your last write may itself be an undo, so a second `git mem undo` brings the card back, and a third takes it
    back again. For an earlier write name its commit: git mem log.
    """
    from gitmem.authoring.undo import learned
    from gitmem.authoring.undo import undo as take_back

    context = open_context(ctx)
    run = None if commit else learned(context)
    done = take_back(context, commit)
    for card in done.retractions:
        output.answer(card.id + "\n")
    what = [f"{len(done.cards)} card{'s' if len(done.cards) != 1 else ''}"] if done.cards else []
    what.extend(done.files)
    kind = {"undo": "the undo ", "registry": "the settings of ", "brief": "the brief of "}.get(
        done.action, ""
    )
    output.say(
        f"took back {kind}{done.commit[:7]} {done.subject}: {', '.join(what)}, commit {done.written.commit[:7]}"
    )
    for card, by in done.left:
        output.say(f"stays: {ids.short(card)}, which {ids.short(by)} replaced since")
    if run:
        output.say(f"note: that was your own last write; what learning wrote since: git mem undo {run[:7]}")
    elif done.newer and not commit:
        output.say("note: that was your own last write on this computer; newer ones, of others: git mem log")
    _undo_line(context)


def _undo_line(context: Context) -> None:
    """How to take back what was just written, and where it went if that is not to be seen."""
    output.say(output.aimed("  undo        git mem undo"))
    note_branch(context)


def _note_no_project(context: Context) -> None:
    """In a repository that nobody registered, a card goes everywhere: say how it would stay there."""
    from gitmem.authoring.projects import surroundings

    if context.caller.person and surroundings(context.env.cwd, context.memory) is not None:
        output.say(output.aimed("note: this folder is no project yet: git mem project add"))


def report(context: Context, done: Done) -> None:
    """The id on stdout; where it went, who will hear it and how to take it back on stderr."""
    card = done.card
    output.answer(card.id + "\n")
    if done.written is None:
        output.say(
            f"already there, nothing written: {card.type} in `{card.scope}`, recorded {card.created[:10]}"
        )
        return
    verb = f"replaces {', '.join(ids.short(one) for one in card.supersedes)}, " if card.supersedes else ""
    output.say(f"{card.type} in `{card.scope}`, {verb}commit {done.written.commit[:7]}, live now")
    output.say(f"  heard by    {heard_by(context, card.scope, card.type or '')}")
    wider = (
        ""
        if card.scope in ("global", "personal") or card.supersedes
        else "wider       --scope global        "
    )
    output.say(output.aimed(f"  {wider}undo   git mem undo" if wider else "  undo        git mem undo"))
    if card.supersedes and done.similar:
        output.say("  look        these say nearly the same and still hold:")
        for item in done.similar[:3]:
            output.say(f"              {ids.short(item.id)}  {item.l0}")
    note_branch(context)
    for root in done.written.behind:
        output.say(f"note: {behind_words(context, root)}")


def heard_by(context: Context, scope: str, type_: str) -> str:
    """Which agents will hear a card, in words."""
    groups: dict[str, list[str]] = {}
    for agent in context.registry.agents.values():
        profile = context.registry.profiles.get(agent.profile)
        if profile is None or agent.status != "active" or not agent.reads(scope):
            continue
        if scope == "personal":
            where = "anywhere" if "personal" in profile.scopes or "personal" in agent.read else ""
        elif scope == "global":
            allowed = profile.global_types is None or type_ in profile.global_types
            where = "anywhere" if "global" in profile.scopes and allowed else ""
        elif "projects" in profile.scopes:
            where = "anywhere" if profile.projects == "all" else f"in `{scope}`"
        else:
            where = ""
        if where:
            groups.setdefault(where, []).append(agent.id)
    if not groups:
        return (
            "you (no agent is connected yet: git mem connect)"
            if not context.registry.agents
            else "no agent by itself; git mem search finds it"
        )
    ordered = sorted(groups.items(), key=lambda pair: pair[0] == "anywhere")
    return ", ".join(f"{' and '.join(names)} {where}" for where, names in ordered)


_HELP = "\n<!-- The first line is the conclusion (200 bytes), the rest the body. Delete everything to give up. -->\n"
_TEMPLATE = "\n" + _HELP


def _split(text: str) -> tuple[str, str]:
    """The edited text as conclusion and body; the helping comment is no part of it."""
    text = text.replace(_HELP.strip(), "").strip()
    first, _, rest = text.partition("\n")
    return first.strip(), rest.strip()


def _needs_terminal(command: str, instead: str) -> None:
    if not sys.stdin.isatty():
        raise Usage(f"`git mem {command}` opens your editor and needs a terminal", [instead])


def _words(words: tuple[str, ...], context: Context) -> str:
    if words == ("-",):
        return standard_input().strip()
    text = " ".join(words)
    if len(words) == 1 and authoring.looks_like_file(text, Path(context.env.cwd)):
        raise Usage(
            f"`{text}` is the name of a file here",
            [
                f"to take in the file: git mem import --dry-run {quoted(text)}",
                f'to remember the words: git mem add "the file {text} …"',
            ],
        )
    return text


def _body(body: str | None, body_from: str | None) -> str:
    if body_from is not None:
        if body_from != "-":
            raise Usage("--body takes `-` alone, for standard input", ['git mem add "…" -m "the body"'])
        return standard_input()
    return body or ""


def _expiry(text: str | None) -> str | None:
    if text in (None, "never"):
        return text
    from gitmem.model import when

    try:
        when.parse(text)  # type: ignore[arg-type]
    except ValueError:
        raise Usage(f"`{text}` is no date", ["--expires 2027-01-31, or --expires never"]) from None
    return text

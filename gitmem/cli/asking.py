"""recall, search, brief and why: what is heard, and why."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import Any

import click

from gitmem.cli import output
from gitmem.cli.common import (
    day,
    examples,
    json_option,
    note_branch,
    open_context,
    project_here,
    standard_input,
)
from gitmem.context import Context
from gitmem.errors import Refused, Usage
from gitmem.model import ids, when
from gitmem.model.layers import shorten
from gitmem.recall import log
from gitmem.recall.trace import Answer


@click.command(
    epilog=examples(
        'git mem recall "Set up the Python environment"',
        'git mem recall --profile working --explain "Set up the Python environment"',
        'git mem recall --at 2026-10-01 "which colour for unverified entries"',
        'echo "$PROMPT" | git mem recall --agent codex --session "$ID" -',
    )
)
@click.argument("prompt", nargs=-1)
@click.option("--agent", metavar="ID", help="Hear what this agent hears")
@click.option("--profile", metavar="NAME", help="full, working or personal; for an agent it only narrows")
@click.option("--project", metavar="ID", help="As if in this project")
@click.option("--cwd", type=click.Path(path_type=Path, file_okay=False), help="As if in this folder")
@click.option("--session", metavar="ID", help="The conversation: nothing is said twice in one")
@click.option(
    "--previous", metavar="TEXT", default="", help="The turn before, for prompts too short to search with"
)
@click.option("--at", metavar="REV|DATE", help="As of a commit or a day")
@click.option("--now", metavar="TIME", help="As if it were this time")
@click.option("--lexical", is_flag=True, help="By words alone, without the embedder")
@click.option("--strict", is_flag=True, help="Exit 1 when the answer is degraded")
@click.option("--explain", is_flag=True, help="Every candidate, and what became of it")
@json_option
@click.pass_context
def recall(
    ctx: click.Context,
    prompt: tuple[str, ...],
    agent,
    profile,
    project,
    cwd,
    session,
    previous,
    at,
    now,
    lexical,
    strict,
    explain,
    as_json,
) -> int:  # type: ignore[no-untyped-def]
    """Print the notes that an agent would get for PROMPT (`-`: from standard input), or nothing.

    Saying nothing is an answer: exit 0 and an empty stdout.
    """
    from gitmem.recall.turn import turn

    context = open_context(ctx, agent, profile, now)
    if project and project not in context.registry.projects:
        raise Refused(f"no project `{project}`", ["git mem project list"])
    text = _prompt(prompt)
    place = (context.env.cwd / cwd) if cwd else context.env.cwd
    shown: list[str] = []
    explicit = context.caller.person or (agent is not None and context.env.person and not session)
    if at:
        from gitmem.recall import past

        found = past.recall_at(
            context,
            text,
            at,
            now is not None,
            cwd=place,
            project=project,
            previous=previous,
            lexical=lexical,
            explain=explain,
        )
        shown.append(found.text)
    else:
        found = turn(
            context, text, session=session, cwd=place, project=project, previous=previous, explicit=explicit, lexical=lexical, explain=explain,
            automatic=False, emit=shown.append if explain or as_json else output.answer,
        )  # fmt: skip
        _name_invalid(context, found)
    if as_json:
        output.as_json(as_dict(found))
    elif explain:
        output.answer(explained(found))
    elif at:
        output.answer(found.text)
    if not found.text and not as_json and not explain and sys.stderr.isatty():
        _nearest(found, text)
    for reason in found.trace.degraded:
        if not as_json and (strict or sys.stderr.isatty()):
            output.say(f"degraded: {reason}")
    return 1 if strict and found.trace.degraded else 0


def as_dict(found: Answer) -> dict[str, Any]:
    """An answer for `--json`."""
    from dataclasses import asdict

    return {
        "status": found.status,
        "text": found.text,
        "items": [asdict(item) for item in found.items],
        "trace": found.trace.as_dict(),
    }


def explained(found: Answer) -> str:
    """The trace in words, then the very bytes."""
    return explain_trace(found.trace.as_dict()) + found.text


def explain_trace(trace: dict[str, Any]) -> str:
    """What recall did, stage by stage, from a trace's dict."""
    lines = [f"trigger   {'fired' if trace['fired'] else 'silent'} ({trace['trigger']})"]
    if not trace["fired"]:
        return "\n".join(lines) + "\n"
    lines.append(f"scope     {trace['scopes']}")
    if any(trace["aside"].values()):
        lines.append(
            "aside     " + ", ".join(f"{count} {words}" for words, count in trace["aside"].items() if count)
        )
    for reason in trace["degraded"]:
        lines.append(f"degraded  {reason}")
    shown = [one for one in trace["candidates"] if _telling(one)]
    if shown:
        lines.append("          words  vectors  relevance")
    for one in shown:
        words, vectors = one["words_rank"] or "-", one["vectors_rank"] or "-"
        value = "-" if one["relevance"] is None else f"{one['relevance']:.2f}"
        why = f": {one['why']}" if one["why"] else ""
        lines.append(
            f"{one['fate']:<9} {words!s:>5}  {vectors!s:>7}  {value:>9}  {ids.short(one['id'])}  {one['l0']}{why}"
        )
    rest = len(trace["candidates"]) - len(shown)
    if rest:
        lines.append(f"          and {rest} further from the prompt")
    lines.append(
        f"dose      {trace['items']} of {trace['max_items']} items, {trace['bytes']} of {trace['max_bytes']} bytes"
    )
    return "\n".join(lines) + "\n"


def _telling(one: dict[str, Any]) -> bool:
    """Candidates worth a line: what was said, what a chain led to, and what came near."""
    if one["fate"] in ("said", "shown", "shadow", "no room"):
        return True
    near = min(one["words_rank"] or 99, one["vectors_rank"] or 99)
    return near <= 4


def _nearest(found: Answer, text: str) -> None:
    """On a terminal, silence says what came nearest and where the bar is."""
    trace = found.trace
    if not trace.fired:
        output.say(f"nothing to say: {trace.trigger}")
    else:
        best = max(
            (one for one in trace.candidates if one.relevance is not None),
            key=lambda one: one.relevance or 0.0,
            default=None,
        )
        if best is None:
            output.say("nothing to say: no card comes near")
        else:
            reason = f", {best.why}" if (best.relevance or 0) >= trace.threshold and best.why else ""
            output.say(
                f"nothing to say: best card {ids.short(best.id)} at {best.relevance:.2f}, `{trace.profile}` speaks from {trace.threshold:.2f}{reason}"
            )
    words = " ".join(text.split()[:6])
    if words:
        output.say(output.aimed(f"hint: git mem search {quote(words[:60])} asks without the gate"))


def _name_invalid(context: Context, found: Answer) -> None:
    """Cards that failed the checks are left out and named."""
    if not found.trace.fired:
        return
    from gitmem.index import catalogue

    faults = [one for one in catalogue.faults_of(context.memory.state) if context.caller.reads_file(one[0])]
    for path, line, message in faults[:5]:
        output.say(f"left out: {path}:{line}: {message}")
    if len(faults) > 5:
        output.say(f"left out: {len(faults) - 5} more; git mem check --all names them")


@click.command(
    epilog=examples(
        "git mem search package manager", "git mem search 环境 --all", "git mem search --project web deploy"
    )
)
@click.argument("words", nargs=-1, required=True)
@click.option("--project", metavar="ID", help="Only this project (and what holds everywhere)")
@click.option("--everywhere", is_flag=True, help="In every scope that you may read")
@click.option("--scope", metavar="SCOPE", help="Only this scope: global, personal or a project id")
@click.option("--type", "type_", metavar="TYPE", help="Only cards of this type")
@click.option("--all", "all_", is_flag=True, help="Also cards that no longer hold, marked as what they are")
@click.option(
    "-n", "--limit", default=10, show_default=True, type=click.IntRange(1, 200), help="How many cards"
)
@click.option("--lexical", is_flag=True, help="By words alone")
@json_option
@click.pass_context
def search(
    ctx: click.Context,
    words: tuple[str, ...],
    project,
    everywhere,
    scope,
    type_,
    all_,
    limit,
    lexical,
    as_json,
) -> None:  # type: ignore[no-untyped-def]
    """Find cards by words and meaning: the retrieval of recall, without trigger and gate."""
    from gitmem.recall import find

    context = open_context(ctx)
    if project and project not in context.registry.projects:
        raise Refused(f"no project `{project}`", ["git mem project list"])
    text = standard_input(lenient=True) if words == ("-",) else " ".join(words)
    hits, degraded = find.search(
        context,
        text,
        here=project_here(context),
        project=project,
        everywhere=everywhere,
        scope=scope,
        type_=type_,
        dead_too=all_,
        limit=limit,
        lexical=lexical,
    )
    if as_json:
        output.as_json({"query": text, "degraded": degraded, "hits": [hit.as_dict() for hit in hits]})
        return
    told = False
    for hit in hits:
        if hit.weak and not told:
            told = True
            output.say("near in meaning, without a word of yours:")
        state = "" if hit.status == "live" else f"{hit.status}: "
        output.answer(
            f"{ids.short(hit.id)}  {hit.type:<10}  {hit.scope:<12}  {day(hit.date)}  {state}{hit.l0}\n"
        )
    behind = next((one for one in degraded if one.startswith("index ")), None)
    if not hits and behind:
        output.say(f"nothing found yet: the index covers {behind.removeprefix('index ')}; git mem index")
        degraded = [one for one in degraded if one != behind]
    elif not hits:
        output.say("no card found" + ("" if all_ else "; --all also looks at cards that no longer hold"))
    for reason in degraded:
        output.say(f"degraded: {reason}")


@click.command(
    epilog=examples(
        "git mem brief", "git mem brief --project web --profile working", "git mem brief --edit web"
    )
)
@click.option("--agent", metavar="ID", help="For this agent")
@click.option("--profile", metavar="NAME", help="full, working or personal")
@click.option("--project", metavar="ID", help="As if in this project")
@click.option(
    "--edit", metavar="PROJECT", help="Edit the project's standing brief in your editor (for people)"
)
@json_option
@click.pass_context
def brief(ctx: click.Context, agent, profile, project, edit, as_json) -> None:  # type: ignore[no-untyped-def]
    """Print what stands at the start of a session: rules, the project's brief, titles."""
    from gitmem.recall.brief import brief_text

    context = open_context(ctx, agent, profile)
    if edit:
        _edit_brief(context, edit)
        return
    text, cards = brief_text(context, project or project_here(context))
    if as_json:
        output.as_json({"text": text, "bytes": len(text.encode()), "cards": list(cards)})
    else:
        output.answer(text)
        if not text and sys.stderr.isatty():
            output.say("nothing stands here yet; git mem add --type rule, or git mem brief --edit PROJECT")


def _edit_brief(context: Context, project: str) -> None:
    from gitmem.authoring.commit import Change, commit
    from gitmem.recall.brief import standing_text

    if not context.caller.person:
        raise Refused("briefs are edited by people")
    if project not in context.registry.projects:
        raise Refused(f"no project `{project}`", ["git mem project list"])
    before = standing_text(context.memory.git, context.memory.tip, project)
    after = click.edit(before, extension=".md") if sys.stdin.isatty() else standard_input()
    if after is None or after == before:
        raise Refused("nothing was changed, nothing saved")
    made = commit(
        context,
        lambda _: Change(
            {f"briefs/{project}.md": after.replace("\r\n", "\n").encode()},
            f"mem: brief of {project}",
            "brief",
        ),
    )
    if made:
        output.say(f"brief of `{project}` saved, commit {made[0].commit[:7]}; undo: git mem undo")
        note_branch(context)


@click.command(epilog=examples("git mem why", "git mem why k3v9x2m"))
@click.argument("id", required=False)
@json_option
@click.pass_context
def why(ctx: click.Context, id: str | None, as_json: bool) -> None:
    """Explain the last automatic turn: what was asked, what was said, and why not more. With ID: what became of that card."""
    context = open_context(ctx)
    turn = log.read_last(context.memory.state)
    silent = log.last_silent(context.memory.state, turn["at"] if turn else "")
    if turn is None:
        raise Refused(
            "no automatic turn was answered here yet",
            ["git mem connect", 'git mem recall --explain "…"'],
            [_silent(silent)] if silent else [],
        )
    if id:
        prefix = ids.normal_prefix(id)
        if prefix is None:
            raise Usage(f"`{id}` is no card id", ["git mem search " + quote(id)])
        turn = {**turn, "candidates": [one for one in turn["candidates"] if one["id"].startswith(prefix)]}
    if as_json:
        kept = ("at", "agent", "trigger", "prompt")
        output.as_json({**turn, "silent": {key: silent.get(key) for key in kept} if silent else None})
        return
    if silent:
        output.answer(f"{_silent(silent)}\n\nthe last turn that was looked at\n")
    output.answer(
        f"turn      {_local(turn['at'])}, {turn['agent']} (`{turn['profile']}`)\nprompt    {' '.join(turn['prompt'].split())[:160]}\n"
    )
    if id and not turn["candidates"]:
        output.answer(f"card      {id} did not come near this prompt\n")
    output.answer(explain_trace(turn))


def _silent(turn: dict[str, Any]) -> str:
    """The last turn, which the trigger let pass, in one line."""
    prompt = " ".join(str(turn.get("prompt") or "").split())
    return (
        f"last turn: silent, {turn.get('trigger')}; {_local(str(turn.get('at')))}, {turn.get('agent')}: "
        f"{shorten(prompt, 80)}"
    )


def _local(at: str) -> str:
    """A time of the log on this computer's clock."""
    try:
        return f"{when.parse(at).astimezone():%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return at


def _prompt(words: tuple[str, ...]) -> str:
    if words == ("-",) or (not words and not sys.stdin.isatty()):
        return sys.stdin.buffer.read(4_000_000).decode("utf-8", "replace")
    if not words:
        raise Usage("a prompt is missing", ['git mem recall "Set up the Python environment"'])
    return " ".join(words)

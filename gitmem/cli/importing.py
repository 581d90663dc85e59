"""import: take in what is already written elsewhere."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from gitmem import detach
from gitmem.cli import output
from gitmem.cli.common import examples, home, json_option, note_branch, open_context, project_here
from gitmem.context import Context, author_email
from gitmem.errors import Busy, Refused, Usage

_SHOWN = 40


@click.command(
    "import",
    epilog=examples(
        "git mem import",
        "git mem import --dry-run claude-md .",
        "git mem import decisions docs/adr --scope web",
        "git mem import hermes",
        "git mem import jsonl cards.jsonl --scope personal",
    ),
)
@click.argument("kind", required=False)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--scope",
    metavar="SCOPE",
    help="Where the cards go (default: the project of the files' folder, else global)",
)
@click.option(
    "--as",
    "as_",
    type=click.Choice(["rule"]),
    help="Instruction files as rules, bullets whole; rules stand in every brief",
)
@click.option("--dry-run", is_flag=True, help="Show what would become what; write nothing")
@json_option
@click.pass_context
def import_(
    ctx: click.Context,
    kind: str | None,
    path: Path | None,
    scope: str | None,
    as_: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Take in the memory of another tool. Importing twice changes nothing.

    Without KIND it lists what is on this computer. Kinds: claude-code, claude-md, agents-md, codex, hermes,
    openclaw, decisions, jsonl.
    """
    from gitmem.imports import find, kinds, land

    context = open_context(ctx)
    found = find.found(context.env.home, context.env.cwd, context.env.vars) if context.env.home else []
    if kind is None and not dry_run:
        return _list(context, found, as_json)
    jobs = _jobs(context, found, kind, path)
    landed = []
    status = 0
    for job_kind, job_path, folder in jobs:
        own = scope or _scope_of(context, folder or job_path)
        reading = kinds.read(
            job_kind, job_path, home=context.env.home, as_rule=as_ == "rule",
            project=kinds.folder_project(job_path) if job_kind == "decisions" and not own else None, scope_of=partial(_scope_of, context),
        )  # fmt: skip
        entries = [replace(entry, scope=scope) for entry in reading.entries] if scope else reading.entries
        done = land.land(
            context.memory, context.registry, entries, kind=job_kind, email=author_email(context.memory), now=context.utc(),
            random_bits=context.random_bits, scope=own or "global", person=context.caller.person, dry_run=dry_run, progress=output.progress(),
        )  # fmt: skip
        landed.append((job_kind, job_path, reading, done))
        context = _again(context)
    if as_json:
        output.as_json([_as_dict(one, dry_run) for one in landed])
    else:
        for one in landed:
            _report(context, *one, dry_run=dry_run)
    if not dry_run and any(done.commit for _, _, _, done in landed):
        _index(context)
    return status


def _jobs(
    context: Context, found: list[Any], kind: str | None, path: Path | None
) -> list[tuple[str, Path, Path | None]]:
    from gitmem.imports import kinds

    if kind is not None and kind not in kinds.KINDS and path is None and (context.env.cwd / kind).exists():
        path, kind = Path(kind), _guess(context.env.cwd / kind)
    if kind is None:
        return [(one.kind, one.path, one.folder) for one in found if one.count]
    if path is not None:
        place = path.expanduser()
        return [(kind, place if place.is_absolute() else context.env.cwd / place, None)]
    known = [(one.kind, one.path, one.folder) for one in found if one.kind == kind and one.count]
    if not known and kind in kinds.KINDS:
        raise Refused(f"nothing of kind `{kind}` was found on this computer", [f"git mem import {kind} PATH"])
    return known or [(kind, context.env.cwd, None)]


def _guess(place: Path) -> str:
    """The kind of a file or folder by its name."""
    name = place.name.lower()
    if name in ("claude.md", "claude.local.md", ".claude"):
        return "claude-md"
    if name == "agents.md":
        return "agents-md"
    if name.endswith(".jsonl"):
        return "jsonl"
    if place.is_dir() or name.endswith(".json"):
        return "decisions"
    raise Usage(
        f"which kind is `{place.name}`?",
        ["git mem import KIND " + place.name, "git mem import -h lists the kinds"],
    )


def _scope_of(context: Context, place: str | Path) -> str | None:
    place = Path(place)
    return project_here(context, place if place.is_dir() else place.parent)


def _again(context: Context) -> Context:
    from gitmem.git import locate

    return context.with_memory(locate.refreshed(context.memory))


def _list(context: Context, found: list[Any], as_json: bool) -> int:
    if as_json:
        output.as_json(
            [{"kind": one.kind, "path": str(one.path), "count": one.count, "note": one.note} for one in found]
        )
        return 0
    rows = [
        (one.kind, f"{one.count} notes", home(one.path, context.env.home), one.note)
        for one in found
        if one.count or one.note
    ]
    output.answer(output.table(rows))
    if not rows:
        output.say("nothing to import was found on this computer")
    output.say("next   git mem import --dry-run          what all of it would become")
    output.say("       git mem import KIND [PATH]        take one in; git mem import -h lists the kinds")
    return 0


def _report(context: Context, kind: str, path: Path, reading: Any, done: Any, *, dry_run: bool) -> None:
    items = done.plan.items
    counts = done.plan.counts()
    words = ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "nothing in it"
    output.say(f"{kind}  {home(path, context.env.home)}: {words}")
    for number, item in enumerate(item for item in items if item.action in ("new", "changed")):
        if number == _SHOWN:
            output.say(f"  and {counts.get('new', 0) + counts.get('changed', 0) - _SHOWN} more")
            break
        if dry_run:
            output.answer(f"  {item.entry.type:<10}  {item.scope or '-':<12}  {item.entry.conclusion}\n")
    for item in items:
        if item.action == "refused":
            output.say(f"  left out  {item.entry.key}: {item.reason}")
        for note in item.notes:
            output.say(f"  note      {item.entry.key}: {note}")
    for left in reading.left_out:
        output.say(f"  left out  {left.key}: {left.reason}")
    for note in done.plan.notes:
        output.say(f"  note      {note}")
    if done.plan.new_projects:
        verb = "would register" if dry_run else "registered"
        names = sorted(done.plan.new_projects)
        output.say(
            f"  {verb} {len(names)} project{'s' if len(names) != 1 else ''}: {', '.join(names[:8])}{', …' if len(names) > 8 else ''}"
        )
    if done.commit:
        for one in done.ids if len(done.ids) <= 200 else ():
            output.answer(one + "\n")
        output.say(
            f"  commit {done.commit[:7]}: {len(done.ids)} card{'s' if len(done.ids) != 1 else ''}; undo: {output.aimed('git mem undo')} {done.commit[:7]}"
        )
        note_branch(context)
    elif dry_run:
        output.say("  nothing was written; without --dry-run it is")


def _as_dict(one: tuple[str, Path, Any, Any], dry_run: bool) -> dict[str, Any]:
    kind, path, reading, done = one
    return {
        "kind": kind,
        "path": str(path),
        "dry_run": dry_run,
        "commit": done.commit,
        "projects": sorted(done.plan.new_projects),
        "items": [
            {
                "key": item.entry.key,
                "action": item.action,
                "id": item.card_id,
                "type": item.entry.type,
                "scope": item.scope,
                "conclusion": item.entry.conclusion,
                "reason": item.reason,
                "notes": list(item.notes),
            }
            for item in done.plan.items
        ],
        "left_out": [{"key": left.key, "reason": left.reason} for left in reading.left_out],
        "notes": list(done.plan.notes),
    }


def _index(context: Context) -> None:
    """Words at once, so that recall can answer; vectors in the background."""
    from gitmem.index import build

    try:
        build.build(context.memory, context.registry, output.progress(), wait_s=5.0, with_vectors=False)
    except Busy:
        pass
    detach.index(context.memory.root, context.env.vars)

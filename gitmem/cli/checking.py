"""check, index and hooks: the memory's own health."""

from __future__ import annotations

from pathlib import Path

import click

from gitmem import config, identity, judge
from gitmem.checks import problem as problems
from gitmem.cli import output
from gitmem.cli.common import examples, json_option, note_other_memory, open_context
from gitmem.errors import NoMemory, Refused, Usage
from gitmem.git import locate
from gitmem.git.locate import Memory
from gitmem.registry import load


def _repository(ctx: click.Context) -> Memory:
    """The repository to judge: `--repo`, else the one around us, else the configured memory."""
    env = config.from_process()
    named = (ctx.obj or {}).get("repo")
    if not named:
        git = judge.hook_git(env.cwd, env.vars)
        found = locate.open_with(git)
        if found is not None and (
            found.registry_tree is not None
            or _marked(git)
            or "GIT_INDEX_FILE" in env.vars
            or "GIT_DIR" in env.vars
        ):
            return locate.supported(found)
    return locate.find(env, named, accept_cwd=True)


@click.command(
    epilog=examples(
        "git mem check",
        "git mem check --staged",
        "git mem check --range origin/main..main",
        "git mem check --all --only evidence,supersedes",
    )
)
@click.option(
    "--staged", is_flag=True, help="What is staged for the next commit (default, when something is)"
)
@click.option("--range", "range_", metavar="A..B", help="Every commit of a range, each by its own parent")
@click.option("--all", "all_", is_flag=True, help="Everything the memory holds")
@click.option(
    "--message",
    "message",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Also judge by the agent that this commit message names",
)
@click.option("--only", metavar="NAME,...", help="Only these checks: " + ", ".join(problems.NAMES))
@click.option("--fix", is_flag=True, help="Stage what can be mended safely: CRLF line ends")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "github"]),
    default="text",
    help="github: annotations of a workflow",
)
@json_option
@click.argument("paths", nargs=-1, type=click.Path())
@click.pass_context
def check(
    ctx: click.Context,
    staged: bool,
    range_: str | None,
    all_: bool,
    message: Path | None,
    only: str | None,
    fix: bool,
    format_: str,
    as_json: bool,
    paths: tuple[str, ...],
) -> int:
    """Check the memory: form, evidence, chains, what may change, rights, safety. Exits 1 when something is wrong.

    Without an option: what is staged, or the whole memory when nothing is.
    """
    chosen = [name.strip() for name in only.split(",")] if only else None
    for name in chosen or ():
        if name not in problems.NAMES:
            raise Usage(f"no check `{name}`", ["checks are " + ", ".join(problems.NAMES)])
    if sum((staged, bool(range_), all_)) > 1:
        raise Usage("choose one of --staged, --range and --all")
    memory = _repository(ctx)
    if not as_json:
        note_other_memory(memory, config.from_process())
    git = judge.hook_git(memory.root, config.from_process().vars)
    if fix:
        _fix(memory, git)
    if range_:
        base, dots, tip = range_.partition("..")
        if not dots or not base:
            raise Usage(f"`{range_}` is no range", ["git mem check --range origin/main..main"])
        report = judge.check_range(memory.root, base, tip.lstrip(".") or "HEAD")
    elif message is not None:
        report = judge.check_message(memory.root, message.absolute())
    elif staged or (not all_ and _anything_staged(git)):
        report = judge.check_staged(memory.root)
    else:
        tree = memory.tip if memory.registry_tree else "HEAD" if _marked(git) else None
        if tree is None:
            raise locate.moved(memory) or NoMemory(
                f"`{memory.root}` holds no memory on `{memory.branch}`", ["git mem init"]
            )
        report = judge.check_tree(memory.git, tree, _reading(output.progress()))
    found = problems.only(report.problems, chosen)
    if all_ or range_ or not report.committing:
        found = _for_the_caller(memory, found)
    report = problems.Report(found, report.files, report.committing)
    if as_json:
        output.as_json(
            {"ok": report.ok, "files": report.files, "problems": [one.as_dict() for one in report.problems]}
        )
    elif format_ == "github":
        output.answer(problems.github(report.problems))
    else:
        output.answer(report.render())
        if report.ok:
            warned = f", {len(report.problems)} warnings" if report.problems else ""
            output.say(
                f"ok: {report.files} file{'s' if report.files != 1 else ''} pass{'es' if report.files == 1 else ''}{warned}"
            )
    return 0 if report.ok else 1


def _for_the_caller(memory: Memory, found: tuple[problems.Problem, ...]) -> tuple[problems.Problem, ...]:
    """The problems without the words of scopes that an agent may not read; that there are some is no secret."""
    env = config.from_process()
    if env.person:
        return found
    caller = identity.resolve(env, load.current(memory), memory)
    shown = tuple(one for one in found if caller.reads_file(one.path))
    hidden = [one for one in found if one not in shown]
    for severity in sorted({one.severity for one in hidden}):
        count = sum(one.severity == severity for one in hidden)
        words = f"{count} problem{'s' if count != 1 else ''} in scopes that `{caller.name}` may not read"
        shown += (
            problems.Problem(locate.MARK, 1, problems.SCOPE, words, "let a person look", severity=severity),
        )
    return shown


def _marked(git) -> bool:  # type: ignore[no-untyped-def]
    """Whether what is checked out is a memory, whatever branch it is on (a detached HEAD in CI)."""
    return git.run("cat-file", "-e", f"HEAD:{locate.MARK}", check=False).code == 0


def _reading(show):  # type: ignore[no-untyped-def]
    return (lambda done, total: show("checking", done, total)) if show else None


def _anything_staged(git) -> bool:  # type: ignore[no-untyped-def]
    head = git.run("rev-parse", "--verify", "-q", "HEAD", check=False)
    if head.code != 0:
        return bool(git.run("ls-files", "-z", check=False).out)
    return git.run("diff-index", "--cached", "--quiet", "HEAD", check=False).code == 1


def _fix(memory: Memory, git) -> None:  # type: ignore[no-untyped-def]
    """Stage cards and sources with LF line ends; nothing else is touched."""
    listed = git.run(
        "diff",
        "--cached",
        "--name-only",
        "-z",
        "--diff-filter=AM",
        "--",
        "cards",
        "sources",
        "briefs",
        "registry",
    ).out
    for raw in listed.split(b"\0"):
        path = raw.decode("utf-8", "surrogateescape")
        if not path:
            continue
        data = git.run("cat-file", "blob", f":{path}").out
        if b"\r\n" in data:
            oid = git.run(
                "hash-object", "-w", "--no-filters", "--stdin", input=data.replace(b"\r\n", b"\n")
            ).text()
            git.run("update-index", "--cacheinfo", f"100644,{oid},{path}")
            output.say(f"mended {path}: CRLF to LF, staged")


@click.command(epilog=examples("git mem index", "git mem index --status", "git mem index --rebuild"))
@click.option("--rebuild", is_flag=True, help="Throw the index away and build it anew")
@click.option("--status", "status_", is_flag=True, help="Only say how much is covered")
@click.option("--quiet", is_flag=True, help="Say nothing; leave when somebody else is building")
@json_option
@click.pass_context
def index(ctx: click.Context, rebuild: bool, status_: bool, quiet: bool, as_json: bool) -> None:
    """Bring the index up to date. It is derived and disposable; it can be interrupted and goes on where it stopped."""
    from gitmem.errors import Busy
    from gitmem.index import build, catalogue, coverage

    context = open_context(ctx)
    memory, registry = context.memory, context.registry
    if rebuild:
        build.discard(memory)
    embedder = coverage.embedder_name(memory, registry)
    if status_:
        found = catalogue.open_for_reading(memory.state, whole=True)
        state = coverage.coverage(found, embedder) if found else coverage.Coverage(0, 0, 0, embedder)
        fresh = found is not None and found.tree == memory.tree
    else:
        try:
            state = build.build(
                memory, registry, None if quiet else output.progress(), wait_s=0.0 if quiet else 600.0
            )
        except Busy:
            if quiet:
                return
            raise
        fresh = True
    if as_json:
        output.as_json(
            {
                "fresh": fresh,
                "cards": state.cards,
                "words": state.worded,
                "vectors": state.embedded,
                "embedder": state.embedder,
            }
        )
    elif not quiet:
        word = "up to date" if fresh else "behind the memory"
        output.answer(
            f"index {word}: {state.worded} of {state.cards} cards by words, {state.embedded} with vectors ({state.embedder})\n"
        )


@click.group()
def hooks() -> None:
    """Install, inspect and run the memory's own git hooks."""


@hooks.command(
    "install",
    epilog=examples(
        "git mem hooks install",
        "git mem hooks install --strict",
        "git mem --repo /srv/memory.git hooks install --server",
    ),
)
@click.option("--strict", is_flag=True, help="Also judge every move of the branch, however it is made")
@click.option("--server", is_flag=True, help="In a bare repository: judge every push")
@click.option("--branch", metavar="NAME", help="With --server: the branch that is the memory")
@click.pass_context
def install_hooks(ctx: click.Context, strict: bool, server: bool, branch: str | None) -> int:
    """Put the commit hooks in. A hook that is there keeps running and comes back on uninstall.

    With --strict, git also refuses what the others do not see: cherry-pick, rebase, am, --no-verify, update-ref, and
    whatever would drop a commit of the memory. With --server, a bare repository refuses pushes that do not pass.
    """
    from gitmem.hooks import place

    if strict and server:
        raise Usage("--strict is for a memory one works in, --server for a bare repository that is pushed to")
    if branch and not server:
        raise Usage("--branch goes with --server")
    if server:
        memory = _bare(ctx)
        report, chosen = place.install_on_server(memory, branch)
    else:
        context = open_context(ctx)
        note_other_memory(context.memory, context.env)
        report = place.install_into(context.memory, strict)
    for change in report.changes:
        output.say(f"{change.name:<22} {change.action}{': ' + change.note if change.note else ''}")
    if server:
        output.say(f"pushes to `{chosen}` are judged; `{chosen}` is neither rewritten nor deleted")
    if not report.active:
        output.say(f"note: {report.elsewhere}")
        for hint in report.hints:
            output.say(f"hint: {hint}")
        return 1
    return 0


def _bare(ctx: click.Context) -> Memory:
    """The repository that `--server` means; nothing may have been pushed to it yet."""
    env = config.from_process()
    named = (ctx.obj or {}).get("repo")
    memory = locate.open_at(env.cwd / Path(named).expanduser(), env) if named else locate.here(env)
    if memory is None:
        raise NoMemory(f"`{named or env.cwd}` is not a git repository", ["git init --bare DIR"])
    return memory


def _hooked(ctx: click.Context) -> Memory:
    """The repository whose hooks are meant; a server where nothing was pushed yet is no memory, and has hooks all the same."""
    named = (ctx.obj or {}).get("repo")
    found = _bare(ctx) if named or locate.here(config.from_process()) else None
    return found if found is not None and found.bare else open_context(ctx).memory


@hooks.command("uninstall")
@click.pass_context
def uninstall_hooks(ctx: click.Context) -> None:
    """Take the commit hooks out; hooks that were there before are restored byte for byte."""
    from gitmem.hooks import place

    env = config.from_process()
    if not env.person:
        raise Refused("hooks are taken out by people", ["run it in a terminal of your own"])
    memory = _hooked(ctx)
    note_other_memory(memory, env)
    for change in place.uninstall_from(memory):
        output.say(f"{change.name:<22} {change.action}{': ' + change.note if change.note else ''}")


@hooks.command("status")
@json_option
@click.pass_context
def hooks_status(ctx: click.Context, as_json: bool) -> int:
    """Say which hooks are in, and whether git would run them."""
    from gitmem.hooks.place import states

    memory = _hooked(ctx)
    found = states(memory)
    if not as_json:
        note_other_memory(memory, config.from_process())
    if as_json:
        output.as_json(
            [
                {
                    "name": one.name,
                    "state": one.state,
                    "path": str(one.path),
                    "detail": one.detail,
                    "ok": one.ok,
                }
                for one in found
            ]
        )
    else:
        output.answer(output.table([(one.name, one.state, one.detail or "") for one in found]))
    return 0 if all(one.ok for one in found) else 1


@hooks.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run_hook(name: str, args: tuple[str, ...]) -> int:
    """What an installed hook calls."""
    from gitmem.hooks.run import main

    return main([name, *args])

"""uninstall: take out of this computer all that git mem put in, and keep the memory."""

from __future__ import annotations

import click

from gitmem import config
from gitmem.cli import output
from gitmem.cli.common import examples, home, open_context
from gitmem.cli.connecting import disconnected_text
from gitmem.context import Context
from gitmem.errors import NoMemory, Refused
from gitmem.git.run import clean
from gitmem.hooks.place import uninstall_from
from gitmem.hosts import connect as core
from gitmem.learn import timer


@click.command(epilog=examples("git mem uninstall", "git mem uninstall --yes"))
@click.option("--yes", is_flag=True, help="Do not ask first")
@click.pass_context
def uninstall(ctx: click.Context, yes: bool) -> int:
    """Disconnect every host, take out the commit hooks and the timer, and forget where the memory is.

    The memory itself stays, a plain git repository of Markdown files, and so does what hooks or settings said before.
    """
    env = config.from_process()
    if not env.person:
        raise Refused("uninstalling is for people", ["run it in a terminal of your own"])
    try:
        context: Context | None = open_context(ctx)
    except NoMemory:
        context = None
    if not yes:
        if not env.terminal:
            raise click.UsageError("without a terminal: git mem uninstall --yes", ctx)
        if not click.confirm("take git mem out of this computer? The memory stays.", default=False, err=True):
            output.say("nothing was changed")
            return 1
    for host in core.CONNECTABLE:
        found = core.found(context, env, host)
        if found.agent is not None or found.hooks:
            output.answer(disconnected_text(core.disconnect(context, env, host), env))
    rows: list[tuple[str, ...]] = []
    if env.home is not None and (taken := timer.remove(env.home, env.vars)):
        rows.append(("timer", ", ".join(home(one, env.home) for one in taken)))
    if context is not None:
        memory = context.memory
        if changes := uninstall_from(memory):
            rows.append(("hooks", ", ".join(f"{one.name} {one.action}" for one in changes)))
        git = clean(env.cwd, env.vars)
        named = git.run("config", "--global", "--type=path", "--get", "mem.repo", check=False).text()
        if named and named == str(memory.root):
            git.run("config", "--global", "--unset", "mem.repo")
            rows.append(("default", "mem.repo is no longer set"))
        rows.append(
            ("stays", f"the memory in {home(memory.root, env.home)}; delete the folder if you want it gone")
        )
    rows.append(("then", "pip uninstall git-mem"))
    output.answer(output.table(rows))
    return 0

"""mcp: the memory as tools for clients of the Model Context Protocol."""

from __future__ import annotations

import click

from gitmem import config
from gitmem.cli.common import examples
from gitmem.errors import MemError


@click.command(
    epilog=examples(
        "git mem mcp",
        "git mem mcp --agent codex",
        "claude mcp add memory -- git mem mcp --agent claude-code",
    )
)
@click.option("--agent", metavar="ID", help="Serve as this agent, with the token kept on this computer")
@click.pass_context
def mcp(ctx: click.Context, agent: str | None) -> None:
    """Serve recall, search, show, add and brief over standard input and output (Model Context Protocol).

    A client starts this. Who asks is GIT_MEM_AGENT with GIT_MEM_TOKEN, or --agent; without either it is a program
    without identity, with the profile `working`. It is never a person.
    """
    from gitmem.cli.reading import told
    from gitmem.hosts.mcp_calls import Calls

    try:
        from gitmem.hosts import mcp as protocol
    except ImportError as error:
        raise MemError(
            f"`git mem mcp` needs the MCP SDK: {error}",
            ["pip install 'git-mem[mcp]'", "uv tool install 'git-mem[mcp]'"],
        ) from error
    protocol.run(Calls(config.from_process(), (ctx.obj or {}).get("repo"), agent, told))

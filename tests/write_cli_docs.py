"""Write docs/cli.md from the help texts: `python -m tests.write_cli_docs`.

In: the commands of `gitmem.cli.main`. Out: one file, the same on every machine, as the width is fixed and nothing
of the environment is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from gitmem.cli.main import COMMANDS, EVERYDAY, OTHER, PLUMBING, git_mem

FILE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
WIDTH = 100
HEAD = """# Command line

Written by `python -m tests.write_cli_docs` from the help texts; do not edit it by hand.
`git mem -h` and `git mem COMMAND -h` print the same on a terminal.

A command that writes prints the ids it made on stdout, one a line, and everything else on stderr.

| exit code | meaning |
|---|---|
| 0 | done, also when there was nothing to say |
| 1 | refused, or a check failed; also a name that the memory does not know: of a card, project, type, scope, profile or agent |
| 2 | a command line that makes no sense: an unknown command or option, a missing argument, a value of no known form |
| 3 | busy, try again |
| 128 | no memory, or git failed |
"""
TITLES = {EVERYDAY: "Everyday commands", OTHER: "Other commands", PLUMBING: "Plumbing"}


def commands() -> Iterator[tuple[str, str, click.Command, click.Context]]:
    """`(section, words after "git mem", command, its context)`, subcommands after their group."""
    root = click.Context(git_mem, info_name="git mem", terminal_width=WIDTH, **git_mem.context_settings)
    for name, (section, *_) in COMMANDS.items():
        command = git_mem.get_command(root, name)
        assert command is not None, name
        yield from _walk(section, name, command, root)


def _walk(
    section: str, words: str, command: click.Command, parent: click.Context
) -> Iterator[tuple[str, str, click.Command, click.Context]]:
    here = click.Context(command, info_name=words.rsplit(" ", 1)[-1], parent=parent)
    yield section, words, command, here
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _walk(section, f"{words} {name}", inner, here)


def help_text(command: click.Command, context: click.Context) -> str:
    """The help as a terminal of the fixed width shows it."""
    text = click.unstyle(command.get_help(context))
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip("\n")


def page() -> str:
    """The whole file."""
    root = click.Context(git_mem, info_name="git mem", terminal_width=WIDTH, **git_mem.context_settings)
    parts = [HEAD, f"## git mem\n\n```text\n{help_text(git_mem, root)}\n```\n"]
    section = ""
    for found, words, command, context in commands():
        if found != section:
            section = found
            parts.append(f"## {TITLES[section]}\n")
        parts.append(f"### git mem {words}\n\n```text\n{help_text(command, context)}\n```\n")
    return "\n".join(parts)


def main() -> None:
    FILE.write_text(page(), encoding="utf-8")
    print(f"wrote {FILE}")


if __name__ == "__main__":
    main()

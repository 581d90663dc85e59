"""help and completion: how to go on, in words and in the shell."""

from __future__ import annotations

import click

from gitmem import resources
from gitmem.cli import output
from gitmem.cli.common import examples
from gitmem.errors import Usage

TOPICS = ("cards", "checks", "hosts", "privacy", "profiles")


@click.command(
    epilog=examples(
        "git mem completion bash >> ~/.bashrc",
        "git mem completion zsh >> ~/.zshrc",
        "git mem completion fish > ~/.config/fish/completions/git-mem.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what completes `git mem` and `git-mem` in SHELL; append it to the shell's start-up file."""
    from click.shell_completion import get_completion_class

    from gitmem.cli.main import git_mem

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(git_mem, {}, "git-mem", "_GIT_MEM_COMPLETE").source()
    output.answer(script.strip("\n") + "\n\n" + resources.read_text(f"templates/completion/git-mem.{shell}"))


@click.command(
    "help", epilog=examples("git mem help privacy", "git mem help add", "git mem help project add")
)
@click.argument("words", nargs=-1, metavar="[TOPIC|COMMAND]")
@click.pass_context
def help_(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Explain a topic (cards, checks, hosts, privacy, profiles) or a command."""
    top = ctx.find_root()
    if not words:
        output.answer(
            f"{top.get_help()}\n\nTopics: {', '.join(TOPICS)}. To read one: git mem help {TOPICS[0]}\n"
        )
        return
    if len(words) == 1 and words[0] in TOPICS:
        output.answer(resources.read_text(f"templates/help/{words[0]}.txt"))
        return
    here = top
    for word in words:
        command = here.command.get_command(here, word) if isinstance(here.command, click.Group) else None
        if command is None:
            raise Usage(
                f"no topic or command `{' '.join(words)}`", [f"topics are {', '.join(TOPICS)}", "git mem -h"]
            )
        here = click.Context(command, info_name=word, parent=here)
    output.answer(here.get_help() + "\n")

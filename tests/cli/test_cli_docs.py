"""The command line documents itself: help for everything, and a reference that cannot drift."""

from __future__ import annotations

import click
import pytest

from gitmem.cli.main import EVERYDAY, OTHER
from tests.write_cli_docs import FILE, commands, page

ALL = {words: (section, command) for section, words, command, _ in commands()}


def test_the_reference_is_what_the_help_texts_say() -> None:
    assert FILE.read_text(encoding="utf-8") == page(), "write it again: python -m tests.write_cli_docs"


@pytest.mark.parametrize("words", ALL)
def test_every_command_says_what_it_does(words: str) -> None:
    assert (ALL[words][1].help or "").strip()


@pytest.mark.parametrize("words", ALL)
def test_every_option_has_help(words: str) -> None:
    options = [one for one in ALL[words][1].params if isinstance(one, click.Option) and not one.hidden]
    assert [one.name for one in options if not (one.help or "").strip()] == []


@pytest.mark.parametrize(
    "words", [words for words, (section, _) in ALL.items() if section in (EVERYDAY, OTHER)]
)
def test_everyday_and_other_commands_show_an_example(words: str) -> None:
    command = ALL[words][1]
    if isinstance(command, click.Group) and not command.invoke_without_command:
        return  # its subcommands show them
    assert f"git mem {words}" in (command.epilog or "")

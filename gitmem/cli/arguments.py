"""What was typed, as text: bytes that are no UTF-8 never get past the command line."""

from __future__ import annotations

import re
from typing import Any

import click

from gitmem.errors import Usage

# Commands that only look something up: a byte that is none costs a word of the question.
READERS = frozenset({"search", "show", "recall", "list", "brief", "why", "log", "help"})
# Names of things on disk stay the bytes they are.
_PATHS = frozenset({"folder", "path", "paths", "place", "repo", "dir", "file"})
_HALF = re.compile("[\ud800-\udfff]")


class Text(click.types.StringParamType):
    """A word of the command line in which every byte that is no UTF-8 is U+FFFD, or (with `refuse`) an error."""

    def __init__(self, refuse: bool):
        self.refuse = refuse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = super().convert(value, param, ctx)
        if not isinstance(text, str) or not _HALF.search(text):
            return text
        whole = _HALF.sub("\ufffd", text)
        if self.refuse:
            raise Usage(
                f"`{whole}` has bytes that are not UTF-8", ["type it again, or convert it: iconv -t UTF-8"]
            )
        return whole


def whole_texts(command: click.Command, refuse: bool) -> None:
    """Have the words of a command and of its sub-commands converted."""
    for param in command.params:
        if param.type is click.STRING and param.name not in _PATHS:
            param.type = Text(refuse)
    if isinstance(command, click.Group):
        for one in command.commands.values():
            whole_texts(one, refuse)

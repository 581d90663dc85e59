"""The documents speak of the product as it is: their links lead somewhere, their commands and options exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from gitmem.cli.main import git_mem

ROOT = Path(__file__).resolve().parents[1]
READMES = ("README.md", "README.zh.md")
# Commands that do not exist yet. Only a section whose heading is one of `LATER` may name them.
NOT_YET = frozenset({"learn", "sync", "forget", "clone", "doctor", "mcp", "uninstall", "inbox", "consolidate", "capture", "distil", "review"})
LATER = ("Not yet", "还没有")

_FENCE = re.compile(r"^(?: {0,3})(```+|~~~+)")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"\bgit mem ((?:-{1,2}[\w-]+(?: [A-Z]+)? )*)([a-z][a-z-]*)((?: [a-z][a-z-]*)?)([^\n]*)")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z])(?![\w-])")


class Line(NamedTuple):
    """A line of a document with the heading it stands under; `code`: its code, inside a fence all of it."""

    number: int
    heading: str
    text: str
    code: tuple[str, ...]
    fenced: bool


def documents() -> list[Path]:
    """Every Markdown document; samples of cards and sources are none."""
    listed = [path for path in ROOT.rglob("*.md") if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)]
    return sorted(path for path in listed if path.relative_to(ROOT).parts[0] not in ("schemas", "tests", "build", "dist"))


def names() -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in documents()]


@cache
def lines(name: str) -> tuple[Line, ...]:
    return tuple(_lines((ROOT / name).read_text(encoding="utf-8")))


def _lines(text: str) -> Iterator[Line]:
    heading, fence = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        if fence:
            yield Line(number, heading, line, (line,), True)
            continue
        if found := _HEADING.match(line):
            heading = found[1]
        yield Line(number, heading, line, tuple(re.findall(r"`([^`]+)`", line)), False)


def test_the_readmes_show_the_two_commands() -> None:
    for name in READMES:
        fenced = {line.text.split("#")[0].strip() for line in lines(name) if line.fenced}
        assert {"make demo", "make test"} <= fenced, name


def test_both_readmes_show_the_same_commands() -> None:
    def shown(name: str) -> list[str]:
        return [line.text for line in lines(name) if line.fenced and line.text.startswith("$ ")]

    assert shown("README.md") == shown("README.zh.md")


@pytest.mark.parametrize("name", names())
def test_every_link_of_a_document_leads_somewhere(name: str) -> None:
    wrong = []
    for line in lines(name):
        for target in [] if line.fenced else _LINK.findall(re.sub(r"`[^`]*`", "", line.text)):
            if re.match(r"[a-z][a-z+.-]*:", target):
                continue
            place, _, anchor = target.partition("#")
            file = (ROOT / name).parent / place if place else ROOT / name
            if not file.exists():
                wrong.append(f"{name}:{line.number}: {target}")
            elif anchor and anchor not in _anchors(file.resolve().relative_to(ROOT).as_posix()):
                wrong.append(f"{name}:{line.number}: no heading #{anchor}")
    assert wrong == []


def _anchors(name: str) -> set[str]:
    found = [match[1] for line in lines(name) if not line.fenced and (match := _HEADING.match(line.text))]
    return {re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-") for title in found}


@pytest.mark.parametrize("name", names())
def test_every_command_of_a_document_exists(name: str) -> None:
    wrong = []
    for line in lines(name):
        for code in line.code:
            for part in re.split(r"(?= git mem )", " " + code):
                if (found := _COMMAND.search(part)) and (problem := _problem(line, *found.groups())):
                    wrong.append(f"{name}:{line.number}: {problem}")
    assert wrong == []


def _problem(line: Line, _before: str, word: str, second: str, rest: str) -> str | None:
    """What is wrong with `git mem WORD [SECOND] REST`; None when nothing is."""
    root = click.Context(git_mem)
    if word in NOT_YET:
        return None if line.heading in LATER else f"`git mem {word}` does not exist yet"
    command = git_mem.get_command(root, word)
    if command is None:
        return f"no command `git mem {word}`"
    asked = f"{second}{rest}"
    if isinstance(command, click.Group) and second.strip():
        inner = command.get_command(root, second.strip())
        if inner is None:
            return f"no command `git mem {word}{second}`"
        command, asked = inner, rest
    known = {name for one in (*command.params, *git_mem.params) if isinstance(one, click.Option) for name in one.opts} | {"-h", "--help"}
    # words in quotation marks, and what follows a comment or a column of spaces, are no options
    plain = re.split(r" # |  |[|;]", re.sub(r"\"[^\"]*\"|'[^']*'|“[^”]*”", "", asked))[0]
    unknown = [option for option in _OPTION.findall(plain) if option not in known]
    return f"`git mem {word}` has no {', '.join(unknown)}" if unknown else None


def test_a_command_that_exists_is_not_called_missing() -> None:
    root = click.Context(git_mem)
    assert [name for name in sorted(NOT_YET) if name in git_mem.list_commands(root)] == []


def test_the_documents_are_there() -> None:
    wanted = {"CHANGELOG.md", *READMES}
    wanted |= {f"docs/{name}.md" for name in ("architecture", "cards", "checks", "cli", "privacy", "profiles", "recall", "hosts/claude-code")}
    assert wanted - set(names()) == set()

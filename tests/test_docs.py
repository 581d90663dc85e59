"""The documents speak of the product as it is: their links lead somewhere, their commands and options exist."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from gitmem.checks import registry_files
from gitmem.checks.card import judge, judge_source
from gitmem.cli.main import git_mem
from gitmem.git.objects import REGULAR
from gitmem.hosts.connect import CONNECTABLE, HOSTS
from gitmem.model import card as cards

ROOT = Path(__file__).resolve().parents[1]
READMES = ("README.md", "README.zh.md")
# Commands that do not exist yet. Only a section whose heading is one of `LATER` may name them.
NOT_YET: frozenset[str] = frozenset()
LATER = ("Not yet", "还没有")

_FENCE = re.compile(r"^(?: {0,3})(```+|~~~+)")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"git mem ((?:-{1,2}[\w-]+(?: [A-Z]+)? )*)([a-z][a-z-]*)((?: [a-z][a-z-]*)?)([^\n]*)")
# What stands before a command: nothing, a prompt, a separator, or a column of spaces.
_CALLED = re.compile(r"(?:^|[$(:|&,;\"`]|\s\s)\s*$")
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
    listed = [
        path
        for path in ROOT.rglob("*.md")
        if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    ]
    return sorted(
        path
        for path in listed
        if path.relative_to(ROOT).parts[0] not in ("schemas", "tests", "build", "dist")
    )


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
        # in the reference the sentences of help texts are fenced too; its examples are indented
        if name == "docs/cli.md" and not line.text.startswith("  git mem "):
            continue
        for code in line.code:
            for found in _calls(code):
                if problem := _problem(line, *found.groups()):
                    wrong.append(f"{name}:{line.number}: {problem}")
    assert wrong == []


def _calls(code: str) -> Iterator[re.Match[str]]:
    """Each call of `git mem` in a line of code; words of an output in which it is the subject are none."""
    starts = [
        found.start() for found in re.finditer(r"\bgit mem ", code) if _CALLED.search(code[: found.start()])
    ]
    for start, end in pairwise([*starts, len(code)]):
        if match := _COMMAND.match(code[start:end].rstrip()):
            yield match


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
    known = {
        name
        for one in (*command.params, *git_mem.params)
        if isinstance(one, click.Option)
        for name in one.opts
    } | {"-h", "--help"}
    # words in quotation marks, and what follows a comment or a column of spaces, are no options
    plain = re.split(r" # |  |[|;]", re.sub(r"\"[^\"]*\"|'[^']*'|“[^”]*”", "", asked))[0]
    unknown = [option for option in _OPTION.findall(plain) if option not in known]
    return f"`git mem {word}` has no {', '.join(unknown)}" if unknown else None


def test_a_command_that_exists_is_not_called_missing() -> None:
    root = click.Context(git_mem)
    assert [name for name in sorted(NOT_YET) if name in git_mem.list_commands(root)] == []


def test_every_file_that_a_document_names_exists() -> None:
    wrong = []
    for name in names():
        for line in lines(name):
            for code in line.code if not line.fenced else ():
                if (
                    re.fullmatch(r"(?:gitmem|schemas|templates|tests|eval|docs)/[\w./-]+", code)
                    and not (ROOT / code).exists()
                ):
                    wrong.append(f"{name}:{line.number}: {code}")
    assert wrong == []


def test_the_card_and_the_source_of_the_format_page_pass_the_checks() -> None:
    text = (ROOT / "docs" / "cards.md").read_text(encoding="utf-8")
    data, words = (
        block.encode() for block in re.findall(r"^```markdown\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    )
    card = cards.parse(data)
    paths = {card.evidence[0].source: words}
    verdict = judge(cards.card_path(card), REGULAR, data, paths.get)
    assert (verdict.problems, judge_source(card.evidence[0].source, REGULAR, words)[1]) == ((), [])


def test_the_profile_page_shows_the_values_of_a_new_memory() -> None:
    rows = dict(_table("docs/profiles.md", "`full`"))
    for number, (name, profile) in enumerate(_registry("profiles").items()):
        for field in ("max_items", "max_bytes", "threshold", "threshold_cross", "support", "brief_bytes"):
            assert float(rows[field][number]) == float(profile[field]), (name, field)


def test_the_card_page_shows_the_types_of_a_new_memory() -> None:
    said = {
        "similarity": "by similarity",
        "progress": "when a prompt asks for progress",
        "brief": "never by similarity",
    }
    rows = dict(_table("docs/cards.md", "kind of memory"))
    types = _registry("types")
    assert [name.strip("`") for name in rows] == list(types)
    for name, rule in types.items():
        kind, lifetime, writers, recalled = rows[f"`{name}`"]
        assert kind.split(",")[0].split(" ")[0] == rule["kind"]
        assert lifetime == ("no end" if rule["lifetime_days"] == "none" else f"{rule['lifetime_days']} days")
        assert (writers, recalled.startswith(said[rule["recalled"]])) == (rule["writers"], True)


def test_every_dependency_has_its_reason_written_down() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *project["optional-dependencies"]["sentence-transformers"],
        *project["optional-dependencies"]["mcp"],
    ]
    text = (ROOT / "docs" / "decisions" / "0002-dependencies.md").read_text(encoding="utf-8")
    assert [one for one in {re.split(r"[<>=;\[ ]", line)[0] for line in wanted} if one not in text] == []


def _table(name: str, head: str) -> Iterator[tuple[str, list[str]]]:
    """Rows of the table whose first line holds `head`: first cell -> the others."""
    inside = False
    for line in lines(name):
        if line.text.startswith("|") and (inside or head in line.text):
            inside = True
            first, *rest = (cell.strip() for cell in line.text.strip("|").split("|"))
            if head not in line.text and set(first) - set("- "):
                yield first, rest
        elif inside:
            return


def _registry(name: str) -> dict:
    return registry_files.read(name, (ROOT / "templates" / "registry" / f"{name}.yaml").read_bytes())[0]


def test_the_readmes_name_the_hosts_that_can_be_connected_and_no_others() -> None:
    for name in READMES:
        for host in HOSTS:
            places = {line.heading in LATER for line in lines(name) if f"git mem connect {host}" in line.text}
            assert (False in places) == (host in CONNECTABLE), (name, host)


def test_the_documents_are_there() -> None:
    wanted = {"CHANGELOG.md", *READMES}
    wanted |= {
        f"docs/{name}.md"
        for name in (
            "architecture",
            "cards",
            "checks",
            "cli",
            "privacy",
            "profiles",
            "recall",
            "hosts/claude-code",
        )
    }
    assert wanted - set(names()) == set()

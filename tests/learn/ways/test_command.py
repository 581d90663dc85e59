"""Real commands in the model's place: a good one, and those that fail, hang, spawn, print without end."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

import pytest

from gitmem.errors import Refused
from gitmem.learn import order
from gitmem.learn.ways import Unreachable
from gitmem.learn.ways.command import CommandWay

ORDER = order.make(
    order.DISTIL, "shop", "BEGIN conversation x\n  bänke 烤箱\nEND conversation x", "a session"
)


@pytest.fixture
def program(tmp_path: Path):
    """`program("print(…)")`: the command line of a script."""

    def write(source: str) -> str:
        file = tmp_path / "reader.py"
        file.write_text(f"#!{sys.executable}\n{source}\n", encoding="utf-8")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return str(file)

    return write


def ask(line: str, timeout_s: float = 20.0) -> str:
    return CommandWay(line, dict(os.environ), timeout_s).ask(ORDER).text


def test_the_order_goes_in_whole_and_what_is_printed_comes_back(program):
    line = program(
        "import sys; text = sys.stdin.buffer.read().decode(); sys.stdout.buffer.write(text.encode())"
    )
    assert ask(line) == ORDER.text


def test_a_command_has_arguments_with_blanks_and_no_shell(program):
    line = program("import sys; print(sys.argv[1:])")
    assert ask(f"{line} 'two words' '$HOME; ls'").strip() == "['two words', '$HOME; ls']"


def test_an_agent_that_is_started_knows_that_it_serves_the_learner(program, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    line = program(
        "import os; print(os.environ['GIT_MEM_OFF'], os.environ['GIT_MEM_IN_LEARN'], os.environ.get('GIT_DIR'))"
    )
    assert ask(line).strip() == "1 1 None"


def test_a_failure_is_told_in_its_own_last_line(program):
    with pytest.raises(Unreachable, match="exit code 3: not logged in"):
        ask(
            program(
                "import sys; print('one', file=sys.stderr); print('not logged in', file=sys.stderr); sys.exit(3)"
            )
        )


def test_nothing_printed_is_no_answer(program):
    with pytest.raises(Unreachable, match="printed nothing"):
        ask(program("pass"))


def test_a_command_that_hangs_ends_with_all_that_it_started(program, tmp_path):
    mark = tmp_path / "still"
    child = f"import time; time.sleep(3); open({str(mark)!r}, 'w').close()"
    line = program(
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    )
    with pytest.raises(Unreachable, match="longer than"):
        ask(line, timeout_s=1.0)
    time.sleep(3.5)
    assert not mark.exists()


def test_a_command_that_prints_without_end_is_no_answer_and_fills_no_memory(program):
    with pytest.raises(Unreachable, match="more than"):
        ask(program("print('x' * 3_000_000)"))


def test_a_command_that_does_not_read_its_input_is_borne(program):
    assert ask(program("print('{}')")).strip() == "{}"


@pytest.mark.parametrize(
    ("line", "words"),
    [("", "is empty"), ("no-such-program -p", "no program"), ("'unfinished", "cannot be read")],
)
def test_a_command_that_cannot_be_run_is_refused_with_what_to_do(line, words):
    with pytest.raises(Refused, match=words) as caught:
        CommandWay(line, dict(os.environ))
    assert caught.value.hints

"""What is typed badly, where one stands wrongly, and what is said then."""

from __future__ import annotations

import os
import subprocess

import pytest

from gitmem.cli import output
from gitmem.git.run import Git
from gitmem.model.layers import cut, first_sentence, shorten
from gitmem.recall import log

BAD = b"bad \xff\xfe".decode("utf-8", "surrogateescape")


def git(place, *args: str) -> str:  # type: ignore[no-untyped-def]
    return Git(place, dict(os.environ)).run(*args).text()


def test_a_search_for_bytes_that_are_no_text_leaves_a_log_that_can_be_read(memory, run) -> None:
    assert run("search", "--lexical", BAD).code == 0
    ran = run("log", "--recalls")
    assert (ran.code, ran.err) == (0, "") and "bad \ufffd\ufffd" in ran.out


def test_lines_of_a_log_that_hold_halves_of_characters_are_still_shown(memory, run) -> None:
    memory.state.mkdir(exist_ok=True)
    with (memory.state / "log.jsonl").open("ab") as file:
        file.write(
            b'{"at": "2026-11-30T00:00:00Z", "event": "search", "said": [], "prompt": "old \\udcff"}\n'
        )
    assert log.entries(memory.state)[-1]["prompt"] == "old \ufffd"
    for args in (("log", "--recalls"), ("log", "--recalls", "--json")):
        assert run(*args).code == 0


@pytest.mark.parametrize("command", ["add", "retract", "confirm", "edit", "supersede"])
def test_writing_commands_refuse_bytes_that_are_no_text(memory, run, command) -> None:
    ran = run(command, BAD, "other")
    assert ran.code == 2 and "not UTF-8" in ran.err and "Traceback" not in ran.err
    assert git(memory.root, "rev-list", "--count", "main") == "1"


def test_standard_input_that_is_no_text_is_refused_for_a_card_and_read_for_a_search(memory, run) -> None:
    assert run("add", "-", input=b"bad \xff").code == 2
    assert run("add", "Use pnpm", "--body", "-", input=b"bad \xff").code == 2
    assert run("search", "--lexical", "-", input=b"bad \xff").code == 0


def test_layers_take_halves_of_characters() -> None:
    text = BAD * 40
    assert shorten(text, 20).endswith("…") and cut(text, 10) == "" and first_sentence(text)


def test_chinese_comes_through_where_python_takes_everything_for_ascii(memory, run) -> None:
    plain = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = run("add", "每个项目用 uv 建环境", env=plain, process=True)
    assert ran.code == 0, ran.err
    assert "每个项目用 uv 建环境" in run("list").out
    assert "每个项目" in run("search", "--lexical", "环境", env=plain, process=True).out


def test_a_second_undo_brings_the_card_back_and_a_third_takes_it_away(memory, run) -> None:
    run("add", "Use pnpm here")
    first = run("undo")
    assert ", commit " in first.err and "git mem undo" in first.err
    assert "pnpm" not in run("list").out
    assert "the undo" in run("undo").err
    assert "pnpm" in run("list").out
    run("undo")
    assert "pnpm" not in run("list").out


def test_an_undo_of_settings_says_that_it_was_settings(memory, run) -> None:
    run("project", "add", "atlas")
    assert "took back the settings of" in run("undo").err


def test_a_renamed_branch_is_named_with_its_cure_by_every_command(memory, run) -> None:
    git(memory.root, "branch", "-m", "main", "trunk")
    cure = f"git -C {memory.root} config mem.branch trunk"
    for args in (("status",), (), ("add", "x y"), ("list",), ("log",), ("init",)):
        ran = run(*args)
        assert ran.code == 128, args
        assert "the memory's branch `main` is gone; `trunk` holds one" in ran.err
        assert f"hint: {cure}" in ran.err
    assert cure in run("doctor").out
    git(memory.root, "config", "mem.branch", "trunk")
    assert run("status").code == 0


def test_whoever_named_a_wrong_memory_is_named(memory, run) -> None:
    assert "--repo names it" in run("--repo", "nowhere", "status").err
    ran = run("status", env={"GIT_MEM_REPO": "/nowhere"})
    assert "unset GIT_MEM_REPO" in ran.err and "mem.repo" not in ran.err


def test_standing_in_another_memory_is_said_and_commands_keep_to_the_one_meant(memory, home, run) -> None:
    other = home / "an other"
    assert run("init", str(other), "--no-hooks").code == 0
    ran = run("status", cwd=other)
    assert "note: this is about ~/memory; the folder here is another memory" in ran.err
    assert f"--repo '{other}'" in ran.err
    there = run("--repo", str(other), "status", cwd=other)
    assert "note:" not in there.err
    assert f"git mem --repo '{other}' hooks install" in there.out
    assert f"git mem --repo '{other}' hooks install" in run("--repo", str(other), "doctor").out


def test_a_path_with_a_space_is_quoted_in_the_command_that_init_prints(home, run) -> None:
    ran = run("init", str(home / "my memory"), "--no-hooks")
    assert f"git config --global mem.repo '{home / 'my memory'}'" in ran.out


def test_a_write_past_the_branch_that_is_checked_out_is_said_once(memory, run) -> None:
    git(memory.root, "checkout", "-q", "-b", "draft")
    for args in (("add", "Use pnpm here"), ("undo",), ("project", "add", "atlas")):
        assert run(*args).err.count("note: this went to `main`, which is not checked out in ~/memory") == 1


def test_adding_in_a_repository_that_is_no_project_says_so(memory, home, run) -> None:
    subprocess.run(["git", "init", "-q", str(home / "work")], check=True)
    ran = run("add", "Use pnpm here")
    assert "in `global`" in ran.err and "note: this folder is no project yet: git mem project add" in ran.err
    assert "no project yet" not in run("add", "Reports on Fridays", "--scope", "personal").err


def test_a_folder_belongs_to_one_project(memory, home, run) -> None:
    subprocess.run(["git", "init", "-q", str(home / "work")], check=True)
    assert run("project", "add", "web").code == 0
    ran = run("project", "add", "shop")
    assert ran.code == 1 and "belongs to project `web`" in ran.err and "--path DIR" in ran.err
    assert run("project", "add", "shop", "--path", str(home / "work")).code == 1
    assert run("project", "add").out == "web\n"
    (home / "elsewhere").mkdir()
    assert run("project", "add", "shop", "--path", str(home / "elsewhere")).code == 0


def test_the_memory_is_no_project(memory, run) -> None:
    assert "this is the memory itself" in run("project", "add", cwd=memory.root).err


def test_confirming_says_the_commit_and_how_to_take_it_back(memory, run) -> None:
    card = run("add", "Use pnpm here").out.strip()
    ran = run("confirm", card)
    assert ", commit " in ran.err and "git mem undo" in ran.err


def test_an_option_that_is_none_tells_how_to_say_a_text_that_looks_like_one(memory, run) -> None:
    ran = run("add", "--no-cache is needed")
    assert ran.code == 2 and "behind `--`" in ran.err


class Terminal:
    """A stream that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_progress_stays_away_from_a_terminal_that_knows_no_control_sequences(monkeypatch, variables) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert output.progress(Terminal()) is None  # type: ignore[arg-type]


def test_why_says_first_that_the_last_turn_was_silent(demo_memory, run) -> None:
    trace = {
        "prompt": "go on then", "profile": "working", "agent": "codex", "trigger": "a later turn without a cue", "fired": False,
        "project": None, "candidates": [], "bytes": 0, "degraded": [], "ms": 1.0,
    }  # fmt: skip
    log.recalled(demo_memory.state, trace, [], session="s", automatic=True)
    refused = run("why")
    assert refused.code == 1 and "last turn: silent, a later turn without a cue" in refused.err
    fired = {
        **trace, "prompt": "where were we", "trigger": "cue", "fired": True, "scopes": "", "aside": {}, "invalid": [],
        "project_from": "", "threshold": 0.5, "items": 0, "max_items": 2, "max_bytes": 600, "at": "2020-01-01T00:00:00+00:00",
        "commit": "",
    }  # fmt: skip
    log.last(demo_memory.state, {**fired, "session": "s", "said": []})
    ran = run("why")
    assert ran.code == 0 and ran.out.startswith("last turn: silent, a later turn without a cue; ")
    assert "go on then" in ran.out.splitlines()[0] and "turn      2020-01-01 00:00:00, codex" in ran.out
    import json

    assert json.loads(run("why", "--json").out)["silent"]["prompt"] == "go on then"


@pytest.mark.parametrize("day", ["2020-01-01", "2020-01-01T10:00:00Z"])
def test_a_card_that_is_over_already_is_refused_wherever_it_is_typed(memory, run, day) -> None:
    card = run("add", "Deploy from main").out.strip()
    for args in (
        ("add", "The sale ends on New Year"),
        ("supersede", card, "Deploy from next"),
        ("edit", card, "Deploy from next"),
    ):
        ran = run(*args, "--expires", day)
        assert ran.code == 2
        assert f"`{day}` is over" in ran.err and "--expires never" in ran.err
    assert [line.split()[0] for line in run("list").out.splitlines() if "Deploy from main" in line]


def test_an_import_of_a_card_that_is_over_already_says_so(memory, run, tmp_path) -> None:
    (tmp_path / "cards.jsonl").write_text(
        '{"conclusion": "The sale ends on New Year", "type": "fact", "scope": "global", "expires": "2020-01-01"}\n'
    )
    ran = run("import", "jsonl", str(tmp_path / "cards.jsonl"))
    assert ran.code == 0, ran.err
    assert "it expired on 2020-01-01: kept, and never said" in ran.err


@pytest.mark.parametrize("size", [10, 100])
def test_a_damaged_git_index_keeps_nobody_from_work_and_doctors_line_mends_it_without_loss(
    memory, run, size
) -> None:
    kept = run("add", "Deploy from main").out.strip()
    (memory.root / "mine.txt").write_text("mine\n")
    git(memory.root, "add", "mine.txt")
    os.truncate(memory.root / ".git" / "index", size)
    ran = run("add", "The oven service listens on port 9000")
    assert ran.code == 0 and "busy" not in ran.err
    assert "the git index of ~/memory is damaged, its files do not follow: git mem doctor" in ran.err
    assert kept[:7] in run("list").out
    assert "damaged" in run("forget", kept, "--yes").err
    said = run("doctor").out
    assert "FIX   git" in said and "is damaged" in said
    mend = next(line.strip() for line in said.splitlines() if line.strip().startswith("mv "))
    subprocess.run(mend, shell=True, check=True)
    assert "damaged" not in run("doctor").out
    assert run("add", "Commit messages are in English").code == 0
    assert git(memory.root, "status", "--porcelain") == "?? mine.txt"
    assert len(list(memory.root.glob("cards/**/*.md"))) == 3


def test_an_index_that_git_wrote_without_a_sum_is_whole(memory) -> None:
    from gitmem.git.worktrees import index_damaged

    file = memory.root / ".git" / "index"
    assert not index_damaged(file.parent)
    file.write_bytes(file.read_bytes()[:-20] + bytes(20))
    assert not index_damaged(file.parent)


def test_a_folder_whose_name_has_a_line_break_is_refused_and_nothing_is_made(home, run) -> None:
    ran = run("init", str(home / "a\nb"))
    assert ran.code == 2 and "line break" in ran.err
    assert not (home / "a\nb").exists() and not (home / "a").exists()


def test_off_everywhere_but_in_a_folder_that_is_not_there_says_so(memory, run, home) -> None:
    assert "there is no folder" in run("off", "--only", str(home / "nowhere")).err
    assert "there is no folder" not in run("off", "--only", str(home)).err

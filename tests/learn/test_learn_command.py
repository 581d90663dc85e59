"""`git mem learn` and its kin as whole commands, with a program in the model's place."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitmem import resources
from gitmem.git.run import Git
from gitmem.hooks.place import install_into
from tests.cli.test_answers import faults as schema_faults
from tests.learn import told as telling
from tests.learn.told import CWD, Claude, Codex

GOOD = "never migrate by hand, use make db"
SOAK = bool(os.environ.get("GIT_MEM_SOAK"))
READER = """\
import sys, time
from tests.learn.reader import Fact, of_text
text = sys.stdin.buffer.read().decode()
with open({log!r}, "a") as file:
    file.write("asked\\n")
time.sleep({pause})
sys.stdout.buffer.write(of_text(text, {facts}).encode())
"""
FACTS = (
    'Fact("never migrate by hand, use make db", "Run migrations with `make db`", also=("迁移用 make db",)), '
    'Fact("未验证的条目标成琥珀色", "未验证的条目标成琥珀色"), '
    'Fact("还是换成青色吧", "未验证的条目标成青色", replaces="琥珀色"), '
    'Fact("forget that about make db", "make db", forget=True, replaces="make db"), '
    'Fact("we have 412 tests at the moment", "The suite has 412 tests", type="fact")'
)


@pytest.fixture
def recent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions of yesterday: whole commands know no other time than the real one."""
    monkeypatch.setattr(telling, "DAY", datetime.now(UTC).replace(microsecond=0) - timedelta(days=1))


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    return tmp_path / "asked"


@pytest.fixture
def reads(home: Path, memory, run, tmp_path: Path, asked: Path, recent):
    """`reads(pause=0)`: a program answers; the shop is a project, Claude Code and Codex are connected."""

    def set_up(pause: float = 0.0, facts: str = FACTS) -> None:
        script = tmp_path / "reader.py"
        script.write_text(
            f"#!{sys.executable}\n" + READER.format(log=str(asked), pause=pause, facts=f"[{facts}]"),
            encoding="utf-8",
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        git = Git(memory.root, dict(os.environ))
        git.run("config", "mem.learnCommand", str(script))
        for host in ("claude-code", "codex"):
            (home / f".{host.removesuffix('-code')}").mkdir(exist_ok=True)
            done = run("connect", host)
            assert done.code == 0, done.err
        if run("project", "list", "--json").out.count('"shop"') == 0:
            assert run("project", "add", "shop", "--path", CWD).code == 0

    return set_up


def words(run) -> list[str]:
    return sorted(one["conclusion"] for one in json.loads(run("list", "--json").out)["cards"])


def test_a_run_is_told_in_a_few_lines_and_undone_in_one(reads, run, home, memory):
    # the memory's own hooks judge the learner's commits as anybody's
    install_into(memory)
    reads()
    Claude().talk("One", GOOD, "we have 412 tests at the moment").put(home)
    Codex(start=500).talk("nothing", "of", "note").put(home)
    done = run("learn")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert len(lines) <= 15
    assert lines[0] == "read     2 ended sessions (claude-code 1, codex 1); 1 held nothing worth keeping"
    assert (
        "Run migrations with `make db`  you to claude-code: “never migrate by hand, use make db”" in done.out
    )
    assert "dropped  1        version snapshot 1" in done.out
    commit = next(line for line in lines if line.startswith("commit")).split()[1].rstrip(",")
    assert f"git mem undo {commit}" in done.out
    assert run("undo", commit).code == 0
    assert words(run) == []


def test_a_correction_says_what_it_replaced_and_a_request_to_forget_how_to_erase(reads, run, home):
    reads()
    Claude().talk("One", "未验证的条目标成琥珀色", GOOD).put(home)
    run("learn")
    Codex(start=5000).talk("还是换成青色吧", "forget that about make db", "Three").put(home)
    out = run("learn").out
    assert "replaced" in out and "was " in out and "琥珀色" in out
    assert "took back" in out and "git mem forget" in out
    assert words(run) == ["未验证的条目标成青色"]


def test_the_json_of_every_form_fits_its_schema(reads, run, home, tmp_path):
    reads()
    Claude().talk("One", GOOD, "we have 412 tests at the moment").put(home)
    forms = [
        ("learn", "--dry-run", "--json"),
        ("learn", "--delegate", str(tmp_path / "orders"), "--json"),
        ("learn", "--json"),
        ("learn", "--json"),
    ]
    for form in forms:
        done = run(*form)
        assert done.code == 0, done.err
        assert schema_faults("learn", json.loads(done.out)) == []
    for form in (("inbox", "--json"), ("inbox", "--dropped", "--json")):
        assert schema_faults("inbox", json.loads(run(*form).out)) == []
    assert schema_faults("status", json.loads(run("status", "--json").out)) == []
    assert "version snapshot" in run("inbox", "--dropped").out


def test_a_dry_run_asks_nobody_and_writes_nothing(reads, run, home, asked, memory):
    reads()
    Claude().talk("One", GOOD, "Three").put(home)
    before = sorted(str(file) for file in memory.state.rglob("*") if "index" not in str(file))
    out = run("learn", "--dry-run").out
    assert "1 conversation not captured yet" in out
    assert not asked.exists() and words(run) == []
    assert [one for one in before if "digests" in one] == [
        str(f) for f in memory.state.rglob("*") if "digests" in str(f)
    ]


def test_a_second_run_says_that_there_is_nothing_new(reads, run, home, asked):
    reads()
    Claude().talk("One", GOOD, "Three").put(home)
    run("learn")
    count = len(asked.read_text().splitlines())
    assert run("learn").out == "nothing new\n"
    assert len(asked.read_text().splitlines()) == count


def test_without_a_reader_it_says_how_somebody_comes_to_read(memory, run, home, recent):
    run("project", "add", "shop", "--path", CWD)
    Claude().talk("One", GOOD, "Three").put(home)
    done = run("learn", "--host", "claude-code")
    assert done.code == 1
    assert "1 question wait, and nobody reads" in done.err or "nobody reads" in done.err
    assert "mem.learnCommand" in done.err and "--delegate" in done.err
    assert "not read yet" in run("inbox").out


def test_work_orders_go_out_and_answers_come_in(memory, run, home, recent, tmp_path):
    from tests.learn.reader import Fact, of_text

    run("project", "add", "shop", "--path", CWD)
    Claude().talk("One", GOOD, "Three").put(home)
    facts = [Fact(GOOD, "Run migrations with `make db`")]
    place = tmp_path / "orders"
    for _ in range(2):
        done = run("learn", "--host", "claude-code", "--delegate", str(place))
        files = [Path(line) for line in done.out.splitlines()]
        assert len(files) == 1
        (place / f"{files[0].stem}.answer.json").write_text(of_text(files[0].read_text(), facts))
        assert run("learn", "--answer", str(place)).code == 0
    assert words(run) == ["Run migrations with `make db`"]
    again = run("learn", "--answer", str(place))
    assert again.code == 0 and "no open question" in again.err
    assert run("learn", "--delegate", str(place)).out == ""
    assert list(place.iterdir()) == []


def test_a_reader_of_the_learners_starts_no_learning_itself(reads, run, asked, monkeypatch, home):
    reads()
    Claude().talk("One", GOOD, "Three").put(home)
    monkeypatch.setenv("GIT_MEM_IN_LEARN", "1")
    assert run("learn").code == 0
    assert not asked.exists()


def test_a_program_that_fails_leaves_everything_for_later_and_says_so(reads, run, home, memory, tmp_path):
    reads()
    Claude().talk("One", GOOD, "Three").put(home)
    Git(memory.root, dict(os.environ)).run(
        "config", "mem.learnCommand", f"{sys.executable} -c 'raise SystemExit(7)'"
    )
    out = run("learn").out
    assert "later" in out and "exit code 7" in out
    assert "exit code 7" in run("inbox").out
    # who mended it and asks again does not wait for the pause
    reads()
    assert run("learn").code == 0
    assert words(run) == ["Run migrations with `make db`"]


def waits_for(what, limit: float = 60.0) -> bool:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.2)
    return False


def ended(session: str, transcript: Path) -> str:
    event = {
        "session_id": session, "transcript_path": str(transcript), "cwd": CWD, "hook_event_name": "SessionEnd", "reason": "exit",
    }  # fmt: skip
    return json.dumps(event)


def test_with_no_command_typed_the_end_of_a_session_grows_the_memory(reads, run, home, memory):
    reads()
    run("connect", "claude-code", "--learn")
    (memory.state / "learning" / "began").unlink(missing_ok=True)
    told = Claude().talk("One", "未验证的条目标成琥珀色", "Three")
    run("hook", "claude-code", input=ended(told.session, told.put(home)), process=True)
    assert waits_for(lambda: words(run) == ["未验证的条目标成琥珀色"])
    (memory.state / "learning" / "began").unlink()
    told.talk("还是换成青色吧").put(home)
    run("hook", "claude-code", input=ended(told.session, told.put(home)), process=True)
    assert waits_for(lambda: words(run) == ["未验证的条目标成青色"])
    prompt = {
        "session_id": "next", "transcript_path": "/t", "cwd": CWD, "hook_event_name": "UserPromptSubmit",
        "prompt": "未验证的条目标成什么颜色?",
    }  # fmt: skip
    said = run("recall", "--project", "shop", prompt["prompt"]).out
    assert "青色" in said and "琥珀" not in said


def test_without_a_yes_the_end_of_a_session_is_only_captured(reads, run, home, memory, asked):
    reads()
    (memory.state / "learning" / "began").unlink(missing_ok=True)
    told = Claude().talk("One", GOOD, "Three")
    run("hook", "claude-code", input=ended(told.session, told.put(home)), process=True)
    assert waits_for(lambda: list((memory.state / "digests").glob("*/*.json")))
    assert not asked.exists()
    assert "only captured" in run("status").out


def test_ends_of_sessions_in_a_row_start_one_run(reads, run, home, memory):
    from gitmem import config
    from gitmem.learn import background

    reads()
    env = config.from_process()
    (memory.state / "learning" / "began").unlink(missing_ok=True)
    assert [background.start(memory, env) for _ in range(3)] == [True, False, False]


def test_connect_asks_nothing_without_a_terminal_and_an_option_decides(reads, run, memory):
    reads()
    assert "--learn" in run("connect", "codex").out
    assert "learning     on" in run("connect", "codex", "--learn").out
    git = Git(memory.root, dict(os.environ))
    assert git.run("config", "mem.learn").text() == "true"
    assert "learning     off" in run("connect", "codex", "--no-learn").out
    assert git.run("config", "mem.learn").text() == "false"


def test_doctor_tells_that_sessions_wait_and_how_to_mend_it(reads, run, home, memory):
    reads()
    run("connect", "codex", "--learn")
    Claude().talk("One", GOOD, "Three").put(home)
    run("capture")
    out = run("doctor").out
    assert "FIX" in out and "1 session waits, never ran" in out and "git mem learn --every 6h" in out
    run("learn")
    assert "last run just now" in run("doctor").out
    Git(memory.root, dict(os.environ)).run("config", "--unset", "mem.learnCommand")
    assert "nobody reads" in run("doctor").out


def test_two_runs_at_once_write_nothing_twice(reads, home, memory, run):
    reads(pause=0.5)
    Claude().talk("One", GOOD, "Three").put(home)
    Codex(start=500).talk("One", "未验证的条目标成琥珀色", "Three").put(home)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "gitmem", "learn"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    codes = sorted(one.wait(120) for one in running)
    for one in running:
        one.communicate()
    assert codes in ([0, 3], [0, 0])
    run("learn")
    assert words(run) == ["Run migrations with `make db`", "未验证的条目标成琥珀色"]
    assert run("check", "--all").code == 0


def test_a_run_killed_anywhere_loses_and_doubles_nothing(reads, home, memory, run):
    reads()
    for number in range(4):
        name = f"aaaaaaaa-0000-4000-8000-00000000010{number}"
        Claude(name, start=number * 1000).talk(
            "One", GOOD if number else "未验证的条目标成琥珀色", f"{number}"
        ).put(home)
    dice = random.Random(7)
    for _ in range(50 if SOAK else 8):
        one = subprocess.Popen(
            [sys.executable, "-m", "gitmem", "learn"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            one.wait(dice.uniform(0.1, 4.0))
        except subprocess.TimeoutExpired:
            os.killpg(one.pid, signal.SIGKILL)
            one.wait()
    assert run("learn").code == 0
    assert words(run) == ["Run migrations with `make db`", "未验证的条目标成琥珀色"]
    assert run("check", "--all").code == 0
    git = Git(memory.root, dict(os.environ))
    assert git.run("fsck", "--strict", check=False).code == 0
    assert run("learn").out == "nothing new\n"


def test_a_full_disk_leaves_everything_as_it_was(reads, home, memory, run, monkeypatch):
    from gitmem.learn import durable

    reads()
    Claude().talk("One", GOOD, "Three").put(home)
    run("capture")
    whole = durable.write_json

    def full(file, value, **options):
        if "learning" in str(file):
            raise OSError(28, "No space left on device")
        whole(file, value, **options)

    monkeypatch.setattr(durable, "write_json", full)
    done = run("learn")
    assert done.code != 0 and "no space left" in done.err
    assert words(run) == []
    monkeypatch.setattr(durable, "write_json", whole)
    assert run("learn").code == 0
    assert words(run) == ["Run migrations with `make db`"]


def test_a_clone_holds_no_word_of_a_conversation_that_no_card_cites(reads, home, memory, run, tmp_path):
    reads()
    Claude().talk("the zebra sleeps", GOOD, "the walrus too").put(home)
    run("learn")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(memory.root), str(clone)], check=True)
    out = subprocess.run(
        ["git", "-C", str(clone), "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    ).stdout
    assert GOOD.encode() in out
    assert b"zebra" not in out and b"walrus" not in out


def test_help_texts_have_examples(run):
    for name in ("learn", "distil", "review", "inbox"):
        assert "Examples" in run(name, "-h").out
    assert resources.read_text("templates/learn/distil.md")


CHATTY = "I am sorry, I found nothing."


def by_hand(run, place: Path, text: str):  # type: ignore[no-untyped-def]
    """Write `text` as the answer to every open question and take it in."""
    run("learn", "--host", "claude-code", "--delegate", str(place))
    for file in place.glob("*.md"):
        (place / f"{file.stem}.answer.json").write_text(text)
    return run("learn", "--answer", str(place))


def test_the_same_unreadable_answer_in_a_row_is_one_try(memory, run, home, recent, tmp_path):
    run("project", "add", "shop", "--path", CWD)
    Claude().talk("One", GOOD, "Three").put(home)
    for _ in range(4):
        done = by_hand(run, tmp_path / "orders", CHATTY)
        assert done.code == 1 and "answer could not be read" in done.out
        assert "held nothing" not in done.out
    assert "answer could not be read" in run("inbox").out


def test_a_conversation_that_is_given_up_is_told_kept_in_sight_and_asked_about_again(
    memory, run, home, recent, tmp_path
):
    from tests.learn.reader import Fact, of_text

    run("project", "add", "shop", "--path", CWD)
    Claude().talk("One", GOOD, "Three").put(home)
    place = tmp_path / "orders"
    for _ in range(3):
        done = by_hand(run, place, CHATTY)
        for file in (memory.state / "learning").glob("claude-code-*.json"):
            record = json.loads(file.read_text())
            # as if the pause were over
            record["trouble"]["not_before"] = ""
            file.write_text(json.dumps(record))
    assert "gave up  1" in done.out and "held nothing" not in done.out and "git mem learn --again" in done.out
    assert json.loads(run("inbox", "--dropped", "--json").out)["dropped"][0]["kind"] == "gave up"
    run("learn", "--host", "claude-code", "--again", "--delegate", str(place))
    facts = [Fact(GOOD, "Run migrations with `make db`")]
    for _ in range(2):
        for file in place.glob("*.md"):
            (place / f"{file.stem}.answer.json").write_text(of_text(file.read_text(), facts))
        assert run("learn", "--answer", str(place)).code == 0
        run("learn", "--host", "claude-code", "--delegate", str(place))
    assert words(run) == ["Run migrations with `make db`"]
    assert "gave up" not in run("inbox", "--dropped").out


def test_unreadable_verdicts_say_why_the_facts_wait(memory, run, home, recent, tmp_path):
    from tests.learn.reader import Fact, of_text

    run("project", "add", "shop", "--path", CWD)
    Claude().talk("One", GOOD, "Three").put(home)
    place = tmp_path / "orders"
    run("learn", "--host", "claude-code", "--delegate", str(place))
    for file in place.glob("*.md"):
        (place / f"{file.stem}.answer.json").write_text(
            of_text(file.read_text(), [Fact(GOOD, "Run migrations with `make db`")])
        )
    run("learn", "--answer", str(place))
    for _ in range(4):
        done = by_hand(run, place, CHATTY)
        assert done.code == 1 and "facts to be judged: answer could not be read" in done.out
    assert "answer could not be read" in run("inbox").out


def test_a_reader_that_fails_on_everything_is_exit_1_and_told_once(reads, run, home, memory):
    reads()
    Claude().talk("One", GOOD, "Three").put(home)
    Git(memory.root, dict(os.environ)).run(
        "config", "mem.learnCommand", f"{sys.executable} -c 'raise SystemExit(7)'"
    )
    done = run("learn")
    assert done.code == 1 and done.out.count("exit code 7") == 1 and "asks again at once" in done.err


def test_after_one_time_out_nobody_else_is_asked_in_that_run(reads, run, home, memory, asked):
    reads(pause=30)
    for number in range(3):
        Claude(f"aaaaaaaa-0000-4000-8000-00000000010{number}", start=number * 1000).talk(
            "One", GOOD, f"{number}"
        ).put(home)
    Git(memory.root, dict(os.environ)).run("config", "mem.learnTimeout", "2")
    done = run("learn")
    assert done.code == 1 and "longer than 2 s" in done.out
    assert asked.read_text().count("asked") == 1


def test_a_dry_run_counts_the_questions_of_what_is_not_captured_yet(reads, run, home):
    reads()
    Claude().talk("One", GOOD, "Three").put(home)
    Codex(start=500).talk("nothing", "of", "note").put(home)
    found = json.loads(run("learn", "--dry-run", "--json").out)
    assert (found["due"], found["questions"]) == (2, 2)


def test_a_row_of_the_summary_fits_a_terminal(reads, run, home):
    from gitmem.cli import output

    long = "we decided that the nightly export of the shop always goes through the staging bucket, because the old path lost files twice"
    reads(
        facts=f'Fact("{long}", "The nightly export of the shop always goes through the staging bucket, as the old path lost files", type="decision")'
    )
    Claude().talk("One", long, "Three").put(home)
    assert max(output.width(line) for line in run("learn").out.splitlines()) <= 140

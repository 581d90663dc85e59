"""Killed at any moment: the erasure is completed by the next command, or nothing happened."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem.git import lock
from tests.conftest import open_memory
from tests.erasure.conftest import HEAD, SECRET
from tests.erasure.scan import clean, git, holding

ROUNDS = 50 if os.environ.get("GIT_MEM_SOAK") else 8


def _begin(card: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "gitmem", "forget", card, "--yes"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _look(root: Path, card: str, run) -> str:  # type: ignore[no-untyped-def]
    """What came of it, once the next command has run."""
    done = run("add", f"The next thing {time.monotonic_ns()}", "--force", process=True)
    assert done.code == 0, done.err
    state = open_memory(root).state
    assert not any((state / name).exists() for name in ("forget.json", "erasing"))
    clean(root)
    here = list(root.glob(f"cards/**/*{card}.md"))
    if here:
        assert card not in git(root, "show", "main:registry/forgotten.yaml")
        return "nothing"
    assert card in git(root, "show", "main:registry/forgotten.yaml")
    assert holding(root, HEAD) == []
    return "all"


def test_killed_at_random_moments_all_or_nothing_of_it_has_happened(root, add, run):
    chance = random.Random(5)
    kept = add("Use pnpm here, never npm")
    (root / "first.txt").write_text("first\n")
    git(root, "add", "first.txt")
    git(root, "commit", "-qm", "A file by hand")
    (root / "first.txt").write_text("stashed\n")
    git(root, "stash", "-q")
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    first = add(f"{SECRET}-0")
    began = time.monotonic()
    assert _begin(first).wait() == 0
    took_s = time.monotonic() - began
    seen = {"all": 0, "nothing": 0}
    card = ""
    for number in range(1, ROUNDS + 1):
        card = card or add(f"{SECRET}-{number}", "--force")
        process = _begin(card)
        time.sleep(chance.uniform(0.25, 1.0) * took_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        what = _look(root, card, run)
        seen[what] += 1
        card = card if what == "nothing" else ""
        assert git(root, "status", "--porcelain") == "A  staged.txt\n"
        assert len(git(root, "stash", "list").splitlines()) == 1
        assert len(list(root.glob(f"cards/**/*{kept}.md"))) == 1
    print(seen, f"{took_s:.2f} s undisturbed")
    git(root, "stash", "pop", "-q")
    assert (root / "first.txt").read_text() == "stashed\n"


# The process dies right before the n-th call of the step that is named.
DRIVER = """
import os, signal, sys
from gitmem.erasure import accept, erase, journal, rewrite, roots, sweep, trees
name = sys.argv.pop(1)
where, what = name.split(".")
module = {"rewrite": rewrite, "trees": trees, "sweep": sweep, "journal": journal, "erase": erase, "accept": accept}[where]
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(module, what, die)
from gitmem.cli.main import run
run(sys.argv[1:])
"""
STEPS = (
    "erase.commit", "erase._erased", "rewrite._filter", "rewrite._carry_notes", "rewrite.bring", "rewrite._try_update",
    "rewrite._write_stash", "trees.bring_along", "trees._leftovers", "sweep.traces_of_git", "sweep.local_state", "sweep.objects_gone",
    "journal.close",
)  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_killed_before_each_step_the_next_command_finishes(root, add, run, step):
    (root / "first.txt").write_text("first\n")
    git(root, "add", "first.txt")
    git(root, "commit", "-qm", "A file by hand")
    card = add(SECRET)
    (root / "first.txt").write_text("stashed\n")
    git(root, "stash", "-q")
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, step, "forget", card, "--yes"], capture_output=True, timeout=60
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert _look(root, card, run) == ("nothing" if step == "erase.commit" else "all")
    git(root, "stash", "pop", "-q")
    assert (root / "first.txt").read_text() == "stashed\n"


ACCEPT = """
import sys
from pathlib import Path
from gitmem import config, context
from gitmem.erasure import accept
accept.accept(context.build(config.from_process(), sys.argv[1]))
"""


def test_a_clone_killed_while_it_accepts_keeps_its_cards(home, root, server, other, add, forget, run):
    chance = random.Random(7)
    took_s = 1.0
    for number in range(0, 20 if ROUNDS > 8 else 3):
        card = add(f"{SECRET}-{number}", "--force")
        git(root, "push", "-q", "origin", "main")
        git(other, "pull", "-q", "--ff-only")
        own = add(f"Only here: thing {number}", "--force", repo=other)
        forget(card)
        git(root, "push", "-q", "--force", "origin", "main")
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-c", ACCEPT, str(other)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if number:
            time.sleep(chance.uniform(0.2, 1.0) * took_s)
            process.send_signal(signal.SIGKILL)
        process.wait()
        took_s = time.monotonic() - began if not number else took_s
        next_one = add(f"The next thing {number}", "--force", repo=other)
        # where it had not begun, it is asked for again
        again = subprocess.run([sys.executable, "-c", ACCEPT, str(other)], capture_output=True)
        assert again.returncode == 0, again.stderr.decode()
        for one in (own, next_one):
            assert len(list(other.glob(f"cards/**/*{one}.md"))) == 1
        assert holding(other, HEAD) == []
        clean(other)
        git(other, "push", "-q", "origin", "main")
        git(root, "pull", "-q", "--ff-only", "origin", "main")


def _killed(step: str, *argv: str) -> None:
    done = subprocess.run([sys.executable, "-c", DRIVER, step, *argv], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def test_what_had_not_begun_is_told_alike_by_all_and_its_mark_is_cleared(memory, add, run):
    card = add(SECRET)
    for way in (("forget", "--continue"), ("add", "The parser is written by hand")):
        _killed("erase.commit", "forget", card, "--yes")
        words = f"forgetting was interrupted before anything was erased, {card[:7]} is still there: git mem forget {card[:7]}"
        assert words in run("status").out
        doctor = run("doctor").out
        assert (
            "was interrupted before anything was erased" in doctor and f"git mem forget {card[:7]}" in doctor
        )
        assert words in run("list").err
        assert words in run(*way).err
        assert not (memory.state / "forget.json").exists()
        assert "interrupted" not in run("doctor").out + run("status").out + run("list").err
        assert "nothing was interrupted" in run("forget", "--continue").err
    assert run("show", card).code == 0


def test_what_is_owed_is_told_alike_by_all_and_continue_finishes_it(root, memory, add, run):
    card = add(SECRET)
    _killed("rewrite._filter", "forget", card, "--yes")
    for said in (run("status").out, run("doctor").out, run("list").err):
        assert "was interrupted and is not finished" in said and "git mem forget --continue" in said
    assert "finished what was interrupted" in run("forget", "--continue").err
    assert "interrupted" not in run("doctor").out + run("status").out
    assert holding(root, HEAD) == []


@pytest.mark.parametrize("way", [("sync", "--accept-rewrite"), ("forget", "--continue"), ("add", "Another")])
def test_cards_that_a_killed_accepting_hides_are_told_of_and_come_back(other, stale, run, way):
    there = ("--repo", str(other))
    _killed("accept._write_again", *there, "sync", "--accept-rewrite")
    assert stale not in run(*there, "list").out
    for said in (run(*there, "status").out, run(*there, "doctor").out, run(*there, "list").err):
        assert "taking a rewritten branch was interrupted" in said and "sync --accept-rewrite" in said
    left = json.loads(run(*there, "status", "--json").out)["unfinished"]
    assert [one["code"] for one in left] == ["accept-open"]
    assert run(*there, *way).code == 0
    assert run(*there, "show", stale).code == 0
    assert "interrupted" not in run(*there, "doctor").out + run(*there, "status").out
    assert holding(other, HEAD) == []


def test_whoever_comes_by_while_somebody_accepts_neither_tells_of_it_nor_goes_on_with_it(other, stale, run):
    there = ("--repo", str(other))
    _killed("accept._write_again", *there, "sync", "--accept-rewrite")
    with lock.held(other / ".git" / "git-mem" / "accept.lock", 0.0, "somebody"):
        assert "interrupted" not in run(*there, "doctor").out + run(*there, "status").out
        assert run(*there, "index").code == 0
        assert stale not in run(*there, "list").out
    assert run(*there, "forget", "--continue").code == 0
    assert run(*there, "show", stale).code == 0


def test_a_mark_that_cannot_be_read_goes_with_continue(memory, run):
    (memory.state / "forget.json").write_text("{}")
    assert "before anything was erased" in run("doctor").out
    assert run("forget", "--continue").code == 0
    assert "interrupted" not in run("doctor").out

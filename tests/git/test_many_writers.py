"""Many writers at once, writers that die, and git's own housekeeping between them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.git import run as runner
from gitmem.git import write as writing
from gitmem.git.write import Draft
from tests.conftest import open_memory
from tests.git.test_write import git, put, status

# Long runs, for before a release.
SOAK = os.environ.get("GIT_MEM_SOAK") == "1"
SCRIPT = """
import sys
from gitmem.cli.main import run
sys.stdout.reconfigure(write_through=True)
words = sys.argv[2:]
codes = [run(["--repo", sys.argv[1], "add", f"The {word} server of {word[::-1]} answers on port {9000 + n}", "--type", "fact"]) for n, word in enumerate(words)]
sys.exit(max(codes))
"""


def _word(seed: int) -> str:
    return "".join(random.Random(seed).choices("bcdfghjklmnpqrstvwxz", k=9))


def _start(*command: str, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *command], stdout=stdout, stderr=subprocess.PIPE)


def _work_of_a_person(root: Path) -> tuple[str, ...]:
    """Something staged, something changed, something new and something intended; and what all of it looks like."""
    (root / "registry/projects.yaml").write_text("# staged\n")
    git(root, "add", "registry/projects.yaml")
    (root / "registry/projects.yaml").write_text("# staged\n# and changed since\n")
    (root / "notes.txt").write_text("new\n")
    (root / "intended.md").write_text("intended\n")
    git(root, "add", "-N", "intended.md")
    return _looks(root)


def _looks(root: Path) -> tuple[str, ...]:
    return (
        status(root),
        git(root, "diff", "--cached", "--", "registry", "notes.txt"),
        git(root, "diff", "--", "registry", "intended.md"),
        git(root, "ls-files", "-s", "--", "registry", "notes.txt", "intended.md"),
        (root / "registry/projects.yaml").read_text(),
    )


def test_processes_in_two_worktrees_lose_no_card_and_touch_no_work_of_a_person(memory, home, run):
    """Sixteen with twenty cards each when GIT_MEM_SOAK=1, else six with five."""
    count, each = (16, 20) if SOAK else (6, 5)
    root, side = memory.root, home / "side"
    git(root, "worktree", "add", "-q", "-b", "side", str(side))
    before = {tree: _work_of_a_person(tree) for tree in (root, side)}
    started = time.monotonic()
    writers = [
        _start("-c", SCRIPT, str((root, side)[n % 2]), *(_word(1000 * n + i) for i in range(each)))
        for n in range(count)
    ]
    said = [writer.communicate(timeout=900)[1].decode() for writer in writers]
    took = time.monotonic() - started
    assert [writer.returncode for writer in writers] == [0] * count, said
    errors = [line for one in said for line in one.splitlines() if line.startswith("error:")]
    assert errors == []
    total = count * each
    assert git(root, "rev-list", "--count", f"{memory.tip}..main") == f"{total}\n"
    assert len(git(root, "ls-tree", "-r", "--name-only", "main", "cards").splitlines()) == total
    assert {tree: _looks(tree) for tree in (root, side)} == before
    assert run("check", "--all").code == 0
    assert run("check", "--range", f"{memory.tip}..main").code == 0
    assert git(root, "fsck", "--strict", "--no-dangling") == ""
    if SOAK:
        print(f"{total} cards from {count} processes in {took:.1f} s")


def _in_a_child(work: Callable[[], object]) -> int:
    """Run `work` in a forked process; its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_writer_killed_at_any_git_command_leaves_the_repository_clean(memory, run, monkeypatch):
    """It dies before its first command, its second, and so on, until it gets through."""
    root = memory.root
    run("status")
    plain = runner.Git.run
    for moment in range(60):
        before = open_memory(root)

        def work(moment: int = moment, before=before) -> None:  # type: ignore[no-untyped-def]
            left = [moment]

            def dying(self, *args, **more):  # type: ignore[no-untyped-def]
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)
                return plain(self, *args, **more)

            monkeypatch.setattr(runner.Git, "run", dying)
            files = {f"briefs/{moment}.md": b"words\n", "registry/projects.yaml": f"# {moment}\n".encode()}
            writing.write(before, lambda _: Draft(files, f"mem: {moment}"))

        code = _in_a_child(work)
        assert code in (0, 9)
        assert git(root, "fsck", "--strict", "--no-dangling") == ""
        assert run("status").code == 0
        assert status(root) == "", f"killed before git command {moment}"
        assert not (memory.state / "owed.json").exists()
        moved = git(root, "rev-parse", "main").strip() != before.tip
        assert moved == (root / f"briefs/{moment}.md").exists()
        if code == 0:
            break
    assert code == 0 and moment > 8
    put(memory, "briefs/after.md")
    assert status(root) == ""


@pytest.mark.parametrize("what", ["writer", "index"])
def test_a_command_killed_at_random_moments_leaves_everything_whole(memory, run, what):
    """Fifty moments when GIT_MEM_SOAK=1, else eight; nothing is mended by hand in between."""
    root = memory.root
    chance = random.Random(7 if what == "writer" else 8)
    acknowledged: set[str] = set()
    for number in range(50 if SOAK else 8):
        if what == "writer":
            words = [_word(1000 + 10 * number + i) for i in range(3)]
            victim = _start("-c", SCRIPT, str(root), *words, stdout=subprocess.PIPE)
        else:
            done = run(
                "add", f"The {_word(5000 + number)} of {number} is kept on the shelf", "--type", "fact"
            )
            assert done.code == 0, done.err
            acknowledged.add(done.out.strip())
            victim = _start("-m", "gitmem", "--repo", str(root), "index", "--rebuild", stdout=subprocess.PIPE)
        time.sleep(chance.uniform(0.1, 1.2))
        victim.send_signal(signal.SIGKILL)
        out, _ = victim.communicate()
        acknowledged.update(out.decode().split() if what == "writer" else ())
        # the git it had started may be at work a moment longer
        time.sleep(0.05)
        assert git(root, "fsck", "--strict", "--no-dangling") == ""
        assert run("status").code == 0
        assert status(root) == ""
        found = run("search", "shelf" if what == "index" else "server")
        assert found.code == 0, found.err
    done = run("add", "The next writer finds everything in order")
    assert done.code == 0, done.err
    assert status(root) == ""
    assert run("check", "--all").code == 0
    cards = git(root, "ls-tree", "-r", "--name-only", "main", "cards").splitlines()
    assert len(cards) == int(git(root, "rev-list", "--count", f"{memory.tip}..main"))
    assert acknowledged and acknowledged <= {Path(path).stem[-10:] for path in cards}
    assert run("index").code == 0
    assert run("index", "--status").out.startswith(
        f"index up to date: {len(cards)} of {len(cards)} cards by words"
    )


def test_what_a_dead_writer_owed_is_not_forgotten_by_the_next_one(memory, monkeypatch):
    root = memory.root
    with monkeypatch.context() as patch:
        patch.setattr(writing, "settle_debts", lambda *_: ())
        put(memory, "briefs/one.md")
    assert status(root) == "D  briefs/one.md\n"
    put(memory, "briefs/two.md")
    assert status(root) == ""
    assert (root / "briefs/one.md").exists() and (root / "briefs/two.md").exists()


def test_a_work_tree_whose_index_is_busy_gets_its_files_with_the_next_command(memory, run, monkeypatch):
    from gitmem.git import deliver

    root = memory.root
    with monkeypatch.context() as patch:
        patch.setattr(deliver, "_deliver", lambda *_: False)
        done = put(memory, "briefs/one.md")
    assert done.behind == (root,)
    assert run("list").code == 0
    assert status(root) == ""


def test_git_may_collect_garbage_meanwhile(memory):
    root = memory.root
    collecting = subprocess.Popen(
        ["sh", "-c", "for i in 1 2 3 4 5 6; do git gc -q; git pack-refs --all; done"],
        cwd=root,
        stderr=subprocess.PIPE,
    )
    written = 0
    while collecting.poll() is None or written < 10:
        put(memory, f"briefs/{written}.md", f"words {written}\n")
        written += 1
    assert collecting.communicate()[1] == b""
    assert git(root, "rev-list", "--count", f"{memory.tip}..main") == f"{written}\n"
    assert git(root, "fsck", "--strict", "--no-dangling") == ""
    assert status(root) == ""


def test_an_index_of_ours_that_is_broken_is_made_anew(memory):
    put(memory, "briefs/one.md")
    Path(memory.state / "writer/index").write_bytes(b"no index")
    put(memory, "briefs/two.md")
    assert status(memory.root) == ""


def test_nothing_of_a_writer_stays_behind(memory):
    put(memory)
    left = sorted(path.name for path in (memory.state / "writer").iterdir())
    assert left == ["HEAD", "commondir", "holds", "index", "info"]
    assert sorted(path.name for path in memory.state.iterdir() if path.is_file()) == ["write.lock"]


def test_of_two_that_replace_one_card_at_once_one_wins_and_the_other_is_told(memory, run):
    old = run("add", "The station answers on port 9001", "--type", "fact").out.strip()
    writers = [
        _start(
            "-m",
            "gitmem",
            "--repo",
            str(memory.root),
            "supersede",
            old,
            f"The station answers on port {9100 + n}",
        )
        for n in range(4)
    ]
    said = [(writer.communicate(timeout=60)[1].decode(), writer.returncode) for writer in writers]
    assert sorted(code for _, code in said) == [0, 1, 1, 1], said
    assert all(
        "was already superseded" in words or "superseded" in words for words, code in said if code == 1
    ), said
    assert run("check", "--all").code == 0
    assert len(run("list").out.splitlines()) == 1

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

from gitmem.git import run as runner
from gitmem.git import write as writing
from gitmem.git.write import Draft
from tests.conftest import open_memory
from tests.git.test_write import git, put, status

SCRIPT = """
import sys
from gitmem.cli.main import run
words = sys.argv[2:]
codes = [run(["--repo", sys.argv[1], "add", f"The {word} server of {word[::-1]} answers on port {9000 + n}", "--type", "fact"]) for n, word in enumerate(words)]
sys.exit(max(codes))
"""


def _word(seed: int) -> str:
    return "".join(random.Random(seed).choices("bcdfghjklmnpqrstvwxz", k=9))


def _start(*command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def test_sixteen_processes_with_five_cards_each_lose_none(memory, home, run):
    root = memory.root
    git(root, "worktree", "add", "-q", "-b", "side", str(home / "side"))
    places = [root, home / "side"]
    writers = [
        _start("-c", SCRIPT, str(places[n % 2]), *(_word(10 * n + i) for i in range(5))) for n in range(16)
    ]
    said = [writer.communicate(timeout=120)[1].decode() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 16, said
    assert git(root, "rev-list", "--count", f"{memory.tip}..main") == "80\n"
    assert len(git(root, "ls-tree", "-r", "--name-only", "main", "cards").splitlines()) == 80
    assert status(root) == status(home / "side") == ""
    assert run("check", "--all").code == 0
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


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


def test_a_command_killed_at_random_moments_leaves_the_repository_clean(memory, run):
    root = memory.root
    chance = random.Random(7)
    for number in range(12):
        writer = _start("-c", SCRIPT, str(root), _word(1000 + number))
        time.sleep(chance.uniform(0.1, 0.8))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        # the git it had started may be at work a moment longer
        time.sleep(0.05)
        git(root, "fsck", "--strict")
        assert run("status").code == 0
        assert status(root) == ""
    done = run("add", "The next writer finds everything in order")
    assert done.code == 0, done.err
    assert status(root) == ""
    assert run("check", "--all").code == 0
    cards = git(root, "ls-tree", "-r", "--name-only", "main", "cards").splitlines()
    assert len(cards) == int(git(root, "rev-list", "--count", f"{memory.tip}..main"))


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
    assert left == ["HEAD", "commondir", "index", "info"]
    assert sorted(path.name for path in memory.state.iterdir() if path.is_file()) == ["write.lock"]

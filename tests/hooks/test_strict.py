"""`--strict`: every way the memory's branch can move is judged, and none of git's other work is hindered."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitmem.git import write as writing
from gitmem.hooks import place
from tests.checks.by_hand import Hand, make
from tests.conftest import open_memory

BAD = "cards/global/2026/11/09/2026-11-09-n0tacard00.md"


@pytest.fixture
def strict(memory) -> Hand:  # type: ignore[no-untyped-def]
    """A memory whose hooks are strict, with a good card on `main` and on `side`, and a bad one on `evil`."""
    here = Hand(memory.root)
    here.card(make("first"))
    here.commit()
    here.git("branch", "side")
    here.git("checkout", "-q", "-b", "evil")
    here.stage(BAD, "no card at all\n")
    here.commit()
    here.git("checkout", "-q", "main")
    assert place.install_into(memory, strict=True).active
    return here


def _tip(hand: Hand) -> str:
    return hand.git("rev-parse", "main").strip()


def _stays(hand: Hand, *args: str, **env: str) -> str:
    """A command that must not move the memory; its words."""
    before = _tip(hand)
    done = hand.run(*args, **env)
    assert _tip(hand) == before, (args, done.stdout, done.stderr)
    assert done.returncode != 0, (args, done.stdout, done.stderr)
    return done.stderr


def _pick(hand: Hand) -> str:
    return _stays(hand, "cherry-pick", "evil")


def _rebase(hand: Hand) -> str:
    return _stays(hand, "rebase", "evil")


def _am(hand: Hand) -> str:
    patch = hand.git("format-patch", "-1", "--stdout", "evil")
    Path(hand.root.parent / "bad.patch").write_text(patch)
    return _stays(hand, "am", str(hand.root.parent / "bad.patch"))


def _plumbing(hand: Hand) -> str:
    tree = hand.git("rev-parse", "evil^{tree}").strip()
    commit = hand.git("commit-tree", "-p", "main", "-m", "by plumbing", tree).strip()
    _stays(hand, "update-ref", "refs/heads/main", commit, "main")
    return _stays(hand, "update-ref", "refs/heads/main", commit)


def _no_verify(hand: Hand) -> str:
    hand.stage(BAD, "no card at all\n")
    return _stays(hand, "commit", "--no-verify", "-q", "-m", "forced")


def _no_verify_elsewhere(hand: Hand) -> str:
    """From a linked worktree, with the branch checked out there."""
    hand.git("checkout", "-q", "side")
    linked = Hand(hand.root.parent / "linked")
    hand.git("worktree", "add", "-q", str(linked.root), "main")
    return _no_verify(linked)


def _fast_forward(hand: Hand) -> str:
    return _stays(hand, "merge", "--ff-only", "evil")


def _true_merge(hand: Hand) -> str:
    return _stays(hand, "merge", "--no-ff", "--no-verify", "-m", "merged", "evil")


def _fetch_into(hand: Hand) -> str:
    hand.git("checkout", "-q", "side")
    return _stays(hand, "fetch", "-q", ".", "evil:main")


def _push_here(hand: Hand) -> str:
    hand.git("checkout", "-q", "side")
    return _stays(hand, "push", "-q", "--no-verify", ".", "evil:main")


def _branch_force(hand: Hand) -> str:
    hand.git("checkout", "-q", "side")
    return _stays(hand, "branch", "-f", "main", "evil")


def _fast_import(hand: Hand) -> str:
    stream = (
        "commit refs/heads/main\ncommitter A <you@example.com> 1700000000 +0000\ndata 3\nbad\n"
        f"from refs/heads/main^0\nM 100644 inline {BAD}\ndata 3\nbad\n\ndone\n"
    )
    before = _tip(hand)
    done = subprocess.run(
        ["git", "fast-import", "--quiet", "--force"],
        cwd=hand.root,
        input=stream,
        capture_output=True,
        text=True,
    )
    assert _tip(hand) == before and done.returncode != 0, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "way",
    [
        _pick,
        _rebase,
        _am,
        _plumbing,
        _no_verify,
        _no_verify_elsewhere,
        _fast_forward,
        _true_merge,
        _fetch_into,
        _push_here,
        _branch_force,
        _fast_import,
    ],
    ids=lambda way: way.__name__.strip("_"),
)
def test_every_way_round_pre_commit_is_stopped(strict, way):
    words = way(strict)
    assert f"{BAD}:1: SCHEMA" in words, words
    assert "`main` stays where it was" in words


def _amend(hand: Hand) -> str:
    return _stays(hand, "commit", "--amend", "-q", "-m", "other words")


def _reset(hand: Hand) -> str:
    return _stays(hand, "reset", "-q", "--hard", "HEAD~1")


def _rebase_away(hand: Hand) -> str:
    return _stays(hand, "rebase", "-q", "--onto", "HEAD~2", "HEAD~1")


def _delete(hand: Hand) -> str:
    hand.git("checkout", "-q", "side")
    return _stays(hand, "branch", "-D", "main")


def _rename(hand: Hand) -> str:
    return _stays(hand, "branch", "-m", "main", "old")


def _delete_ref(hand: Hand) -> str:
    return _stays(hand, "update-ref", "-d", "refs/heads/main")


def _delete_packed(hand: Hand) -> str:
    hand.git("pack-refs", "--all")
    _stays(hand, "update-ref", "-d", "refs/heads/main", "main")
    return _delete(hand)


@pytest.mark.parametrize(
    "way",
    [_amend, _reset, _rebase_away, _delete, _rename, _delete_ref, _delete_packed],
    ids=lambda way: way.__name__.strip("_"),
)
def test_no_commit_of_the_memory_is_dropped_and_the_way_out_is_printed(strict, way):
    strict.card(make("second"))
    strict.commit()
    words = way(strict)
    assert "git mem undo" in words and "git mem hooks uninstall" in words, words


def test_what_passes_the_checks_moves_the_branch_however_it_is_made(strict):
    strict.git("checkout", "-q", "side")
    strict.card(make("picked"))
    strict.commit()
    strict.git("checkout", "-q", "main")
    strict.card(make("between"))
    strict.commit()
    for args in (("cherry-pick", "side"), ("merge", "-q", "-m", "merged", "side")):
        before = _tip(strict)
        strict.git(*args)
        assert _tip(strict) != before
    strict.card(make("plain"))
    strict.commit("--no-verify")
    tree = strict.git("rev-parse", "main^{tree}").strip()
    commit = strict.git("commit-tree", "-p", "main", "-m", "nothing new", tree).strip()
    strict.git("update-ref", "refs/heads/main", commit)
    assert _tip(strict) == commit


def test_git_mem_itself_writes_and_takes_back_under_strict(strict, run):
    before = _tip(strict)
    said = run("add", "The staging server of atlas answers on port 9101", "--type", "fact")
    assert said.code == 0, said.err
    assert run("retract", said.out.strip()).code == 0
    assert run("undo").code == 0
    assert run("project", "add", "atlas").code == 0
    assert strict.git("rev-list", "--count", f"{before}..main") == "4\n"
    assert run("check", "--all", "--only", "schema,evidence").code == 0


def test_what_git_mem_announces_starts_no_second_check_and_opens_no_other_move(strict, run, memory):
    """The note of a writer that was killed speaks of one move from one commit, and lets no other pass."""
    log = strict.root.parent / "started"
    hook = strict.root / ".git/hooks/reference-transaction"
    real = hook.read_text()
    hook.write_text(real.replace('try "$python" -P', f'echo started >>"{log}"; try "$python" -P', 1))
    assert run("add", "Backups of web run at four in the morning", "--type", "fact").code == 0
    assert not log.exists() or "started" not in log.read_text()
    hook.write_text(real)
    here = open_memory(memory.root)
    evil = strict.git("rev-parse", "evil").strip()
    older = strict.git("rev-parse", "main~1").strip()
    for note in (f"{older} {evil}", f"{here.tip} {older}", ""):
        (here.state / writing.MOVING).write_text(f"{note}\n")
        _stays(strict, "update-ref", "refs/heads/main", evil)
        _stays(strict, "update-ref", "refs/heads/main", older)


def test_an_erasure_passes_while_it_is_open_and_not_afterwards(strict, memory):
    first = strict.git("rev-parse", "main~1").strip()
    mark = memory.state / "erasing"
    mark.touch()
    strict.git("update-ref", "refs/heads/main", first)
    assert _tip(strict) == first
    mark.unlink()
    _stays(strict, "update-ref", "refs/heads/main", f"{first}~1")


def test_the_rest_of_git_goes_on_as_ever(strict, home):
    """Housekeeping, stashes, tags, notes, other branches, worktrees, fetches and a detached HEAD."""
    root = strict.root
    bare = home / "hub.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(root), str(bare)], check=True)
    strict.git("remote", "add", "hub", str(bare))
    strict.git("fetch", "-q", "hub")
    strict.git("pack-refs", "--all")
    strict.card(make("loose"))
    strict.commit()
    strict.git("gc", "-q", "--prune=now")
    strict.git("pack-refs", "--all", "--prune")
    (root / "registry/projects.yaml").write_text("# a note\n")
    strict.git("stash", "-q")
    strict.git("stash", "pop", "-q")
    strict.git("checkout", "-q", "--", ".")
    strict.git("tag", "v1")
    strict.git("tag", "-d", "v1")
    strict.git("notes", "add", "-m", "seen", "main")
    strict.git("branch", "more")
    strict.git("branch", "-m", "more", "less")
    strict.git("branch", "-D", "less")
    strict.git("worktree", "add", "-q", "-b", "linked", str(home / "linked"))
    strict.git("worktree", "remove", str(home / "linked"))
    strict.git("branch", "-D", "evil")
    strict.git("checkout", "-q", "--detach")
    strict.git("checkout", "-q", "main")
    strict.git("reset", "-q", "--hard", "HEAD")
    strict.git("symbolic-ref", "HEAD", "refs/heads/side")
    strict.git("symbolic-ref", "HEAD", "refs/heads/main")
    strict.git("reflog", "expire", "--expire=now", "--all")
    assert strict.git("status", "--porcelain") == ""


def test_a_move_of_another_ref_starts_no_python(strict):
    env = {"GIT_TRACE": "1"}
    done = strict.run("update-ref", "refs/heads/other", "main", **env)
    assert done.returncode == 0
    assert "reference-transaction" in done.stderr and "rev-parse" not in done.stderr
    hook = (strict.root / ".git/hooks/reference-transaction").read_text()
    assert hook.index("*refs/heads/*)") < hook.index("is_memory || exit 0")


def test_a_branch_of_another_name_is_the_memory_where_the_configuration_says_so(strict):
    strict.git("config", "mem.branch", "side")
    strict.git("update-ref", "refs/heads/main", "evil")
    done = strict.run("update-ref", "refs/heads/side", "evil")
    assert done.returncode != 0 and "SCHEMA" in done.stderr


def test_an_agents_rights_hold_for_a_commit_that_no_hook_saw(strict, run):
    assert run("project", "add", "atlas").code == 0
    assert (
        run("agent", "add", "narrow", "--profile", "working", "--read", "atlas", "--write", "atlas").code == 0
    )
    card = make("wide", author="narrow")
    strict.card(card)
    words = _stays(strict, "commit", "--no-verify", "-q", "-m", "wide\n\nMem-Agent: narrow")
    assert "`narrow` may not write in `global`" in words


def test_an_earlier_hook_still_runs_and_comes_back(memory):
    hand = Hand(memory.root)
    hook = memory.common_dir / "hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    text = f'#!/bin/sh\ncat >>"{memory.root.parent}/seen"\necho "$1" >>"{memory.root.parent}/seen"\n'
    hook.write_text(text)
    hook.chmod(0o755)
    place.install_into(memory, strict=True)
    hand.git("branch", "other")
    seen = (memory.root.parent / "seen").read_text()
    assert "refs/heads/other\nprepared\n" in seen and "committed\n" in seen
    place.uninstall_from(memory)
    assert hook.read_text() == text
    assert hand.git("config", "--get", "mem.strict", check=False) == ""
    assert not (memory.common_dir / "hooks/pre-commit").exists()


def test_strict_stays_until_the_hooks_are_taken_out(strict, run, memory):
    hook = memory.common_dir / "hooks/reference-transaction"
    assert "strict" in run("status").out
    hook.unlink()
    assert run("hooks", "status").code == 1
    assert "reference-transaction" in run("doctor").out
    assert run("hooks", "install").code == 0
    assert hook.exists() and run("hooks", "status").code == 0
    assert run("hooks", "uninstall").code == 0
    assert not hook.exists()
    assert run("hooks", "install").code == 0
    assert not hook.exists()


def test_an_agent_does_not_take_the_hooks_out(strict, run, memory):
    for env in ({"GIT_MEM_AGENT": "codex"}, {"CLAUDECODE": "1"}):
        assert run("hooks", "uninstall", env=env).code == 1
    assert (memory.common_dir / "hooks/reference-transaction").exists()


def test_init_makes_a_strict_memory(home, run):
    assert run("init", "--strict", "--no-hooks").code == 2
    made = run("init", "--strict")
    assert made.code == 0, made.err
    hand = Hand(home / "memory")
    hand.stage(BAD, "no card\n")
    assert "SCHEMA" in _stays(hand, "commit", "--no-verify", "-q", "-m", "forced")
    assert run("add", "A strict memory takes good cards").code == 0


def test_a_library_runs_no_hooks_and_is_met_at_push_at_recall_and_by_the_check(strict, run, home):
    """libgit2 knows no hooks at all, so here strict cannot hold: the next gate does."""
    import pygit2

    good = _tip(strict)
    repository = pygit2.Repository(str(strict.root))
    index = pygit2.Index()
    index.read_tree(repository.head.peel(pygit2.Tree))
    blob = repository.create_blob(b"no card at all\n")
    index.add(pygit2.IndexEntry(BAD, blob, pygit2.enums.FileMode.BLOB))
    who = pygit2.Signature("A", "you@example.com")
    repository.create_commit(
        "refs/heads/main", who, who, "by library", index.write_tree(repository), [repository.head.target]
    )
    assert _tip(strict) != good
    hub = home / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True)
    assert run("--repo", str(hub), "hooks", "install", "--server").code == 0
    strict.git("remote", "add", "hub", str(hub))
    assert strict.run("push", "-q", "hub", "main").returncode != 0
    refused = strict.run("push", "-q", "--no-verify", "hub", "main")
    assert refused.returncode != 0 and "SCHEMA" in refused.stderr
    assert run("check", "--all").code == 1
    assert run("check", "--range", f"{good}..main").code == 1
    assert run("index").code == 0
    recalled = run("recall", "About first there is something to say")
    assert "About first" in recalled.out and "n0tacard00" in recalled.err

"""A bare repository that others push to, and clones that do not know yet."""

from __future__ import annotations

from gitmem import judge
from gitmem.erasure import accept
from tests.erasure.conftest import HEAD, SECRET
from tests.erasure.scan import clean, git, holding


def _in_server(server, run, *ids):  # type: ignore[no-untyped-def]
    return run("--repo", str(server), "forget", *ids, "--server", "--yes")


def test_the_server_erases_what_was_pushed_by_force_and_refuses_a_stale_push(root, server, other, run, stale):
    # what the branch was before it was rewritten still has a name there
    git(server, "branch", "rescue", git(other, "rev-parse", "origin/main").strip())
    assert holding(server, HEAD)
    done = _in_server(server, run)
    assert done.code == 0, done.err
    assert holding(server, HEAD) == []
    clean(server)
    # what a hook of the server would be asked about a push of the stale clone
    git(server, "fetch", "-q", str(other), "main:refs/heads/incoming")
    report = judge.check_range(server, "main", "refs/heads/incoming")
    assert not report.ok
    assert any("was forgotten" in one.message for one in report.errors)


def test_the_server_erases_by_id_and_the_pusher_takes_its_history(root, server, run, add, opened):
    card = add(SECRET)
    kept = add("Use pnpm here, never npm")
    git(root, "push", "-q", "origin", "main")
    done = _in_server(server, run, card)
    assert done.code == 0, done.err
    assert done.out.strip() == card
    assert holding(server, HEAD) == []
    clean(server)
    report = accept.accept(opened(root))
    assert report.again == ()
    assert holding(root, HEAD) == []
    assert git(root, "rev-parse", "main") == git(server, "rev-parse", "main")
    assert run("show", kept).code == 0
    assert git(root, "status", "--porcelain") == ""


def test_both_sides_that_erase_alike_make_the_same_history(root, server, run, add, forget):
    card = add(SECRET)
    add("Use pnpm here, never npm")
    git(root, "push", "-q", "origin", "main")
    forget(card)
    assert _in_server(server, run, card).code == 0
    assert git(root, "rev-parse", "main~1") == git(server, "rev-parse", "main~1")


def test_a_bare_repository_wants_the_word_for_it_and_a_clone_does_not(server, root, run, add):
    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    assert run("--repo", str(server), "forget", card, "--yes").code == 2
    assert run("forget", card, "--server", "--yes").code == 2
    assert holding(server, HEAD)


def test_the_rewritten_history_passes_as_a_push_of_all_of_it(root, server, run, add, forget):
    first = add("Colour unverified entries amber")
    second = add(SECRET, "--supersedes", first)
    add("Colour unverified entries teal", "--supersedes", second)
    forget(second)
    clean(root)
    start = git(root, "rev-list", "--max-parents=0", "main").strip()
    assert judge.check_range(root, start, "main").ok


def test_a_stale_clone_keeps_its_other_cards(root, server, other, run, add, forget, opened):
    card = add(SECRET)
    both = add("Use pnpm here, never npm")
    git(root, "push", "-q", "origin", "main")
    git(other, "pull", "-q")
    own = add("The staging server listens on port 8443", repo=other)
    newer = add("The staging server listens on port 9443", "--supersedes", own, repo=other)
    citing = add("Rotate it weekly, that password", "--quote", SECRET, "--session", "s-1", repo=other)
    run("--repo", str(other), "project", "add", "web")
    in_web = add("Build with make", "--scope", "web", "--type", "convention", repo=other)
    (other / "mine.txt").write_text("mine\n")
    git(other, "add", "mine.txt")
    run("--repo", str(other), "index")
    forget(card)
    git(root, "push", "--force", "-q", "origin", "main")
    report = accept.accept(opened(other))
    assert set(report.again) == {own, newer, in_web}
    assert [one for one, _ in report.left_out] == [citing]
    assert holding(other, HEAD) == []
    clean(other)
    assert git(other, "status", "--porcelain") == "A  mine.txt\n"
    for one in (both, own, newer, in_web):
        assert run("--repo", str(other), "show", one).code == 0
    assert git(other, "merge-base", "--is-ancestor", "origin/main", "main") == ""
    git(other, "push", "-q", "origin", "main")
    assert judge.check_range(server, git(root, "rev-parse", "main").strip(), "main").ok


def test_cards_of_agents_are_written_again_as_theirs(root, server, other, run, add, forget, opened):
    agents = "codex:\n  profile: working\n  read: [all]\n  write: [all]\n  status: active\n"
    (root / "registry/agents.yaml").write_text(agents)
    git(root, "commit", "-qam", "An agent")
    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    git(other, "pull", "-q")
    said = ("--quote", "keep the logs for thirty days", "--session", "s-2")
    own = add("Keep logs thirty days", *said, repo=other, env={"GIT_MEM_AGENT": "codex"})
    taken = run("--repo", str(other), "retract", own).out.strip()
    forget(card)
    git(root, "push", "--force", "-q", "origin", "main")
    report = accept.accept(opened(other))
    assert set(report.again) == {own, taken}
    assert report.left_out == ()
    clean(other)


def test_two_devices_that_forgot_apart_come_together(root, server, other, run, add, forget, opened):
    here = add(SECRET)
    there = add("the production password is FROBOZZ-sesame-42")
    both = add("Use pnpm here, never npm")
    git(root, "push", "-q", "origin", "main")
    git(other, "pull", "-q")
    own = add("The staging server listens on port 8443", repo=other)
    forget(here)
    git(root, "push", "--force", "-q", "origin", "main")
    forget(there, repo=other)
    report = accept.accept(opened(other))
    assert (report.again, report.differs) == ((own,), True)
    assert holding(other, HEAD, "FROBOZZ") == []
    clean(other)
    git(other, "push", "-q", f"--force-with-lease=main:{report.tip}", "origin", "main")
    report = accept.accept(opened(root))
    assert (report.again, report.differs) == ((), False)
    assert holding(root, HEAD, "FROBOZZ") == []
    clean(root)
    assert git(root, "rev-parse", "main") == git(other, "rev-parse", "main")
    for one in (both, own):
        assert run("show", one).code == 0


def test_accepting_says_what_became_of_the_clones_own_cards(
    root, server, other, run, add, forget, opened, capsys
):
    from gitmem.cli.forgetting import accept_rewrite

    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    git(other, "pull", "-q")
    own = add("The staging server listens on port 8443", repo=other)
    again = add("Rotate it weekly, that password", "--quote", SECRET, "--session", "s-1", repo=other)
    forget(card)
    git(root, "push", "--force", "-q", "origin", "main")
    tip = git(root, "rev-parse", "main").strip()
    accept_rewrite(opened(other))
    out, err = capsys.readouterr()
    assert out == f"{own}\n"
    assert err == (
        f"took `main` of origin as it is now, {tip[:7]}\n"
        "1 card of this clone written again on top of it\n"
        f"  left out  {again[:7]}  its words were forgotten\n"
    )


def test_a_remote_that_is_merely_old_brings_nothing_back(root, server, add, forget, opened):
    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    forget(card)
    report = accept.accept(opened(root))
    assert report.differs
    assert holding(root, HEAD) == []
    clean(root)


def test_what_a_fetch_from_an_old_copy_brought_back_goes_by_forgetting_once_more(
    root, server, run, add, forget
):
    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    forget(card)
    git(root, "fetch", "-q")
    assert holding(root, HEAD)
    assert run("forget", card).code == 2
    done = forget(card)
    assert "was forgotten before" in done.err
    assert holding(root, HEAD) == []
    clean(root)


def test_the_printed_push_passes_the_hooks_of_the_pusher(root, memory, server, add, forget):
    import shlex
    import sys

    from gitmem.hooks import install

    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    assert install.install(memory.common_dir, None, sys.executable).active
    err = forget(card).err
    line = next(line for line in err.splitlines() if "push --force" in line)
    git(root, *shlex.split(line.strip())[1:])
    assert git(root, "rev-parse", "main") == git(server, "rev-parse", "main")


def test_a_clone_killed_before_its_cards_were_written_again_loses_none(
    root, server, other, run, add, forget, opened, monkeypatch
):
    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    git(other, "pull", "-q")
    own = add("The staging server listens on port 8443", repo=other)
    forget(card)
    git(root, "push", "--force", "-q", "origin", "main")

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    for step in ("_move", "_write_again", "_keep_left_out"):
        with monkeypatch.context() as patch:
            patch.setattr(accept, step, die)
            try:
                accept.accept(opened(other))
            except Killed:
                pass
    # the next command that writes goes on by itself
    new = add("Use pnpm here, never npm", repo=other)
    for one in (own, new):
        assert run("--repo", str(other), "show", one).code == 0
    assert holding(other, HEAD) == []
    clean(other)


def test_a_plain_pull_brings_nothing_back_on_either_side(root, memory, server, other, run, add, forget):
    """Merging the old history into the new one, or the new one into the old, is refused by the commit hooks."""
    import subprocess
    import sys

    from gitmem.hooks import install
    from tests.conftest import open_memory

    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    git(other, "pull", "-q")
    add("The staging server listens on port 8443", repo=other)
    git(other, "push", "-q", "origin", "main")
    forget(card)
    for place in (root, other):
        assert install.install(open_memory(place).common_dir, None, sys.executable).active
    tip = git(root, "rev-parse", "main")
    pull = ["git", "pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]
    done = subprocess.run(pull, cwd=root, capture_output=True, text=True)
    assert done.returncode != 0
    assert "was forgotten" in done.stderr
    git(root, "merge", "--abort")
    assert git(root, "rev-parse", "main") == tip
    git(root, "push", "--force", "-q", "--no-verify", "origin", "main")
    add("Use pnpm here, never npm", repo=other)
    done = subprocess.run(pull, cwd=other, capture_output=True, text=True)
    assert done.returncode != 0
    assert "was forgotten" in done.stderr
    assert "git mem sync --accept-rewrite" in done.stderr


def test_under_strict_hooks_and_a_judging_server(root, memory, server, other, run, add, opened):
    """Force is refused there: the server erases by id, every clone takes its history, a stale push is refused."""
    import subprocess

    from gitmem.hooks import place
    from tests.conftest import open_memory

    said = run("--repo", str(server), "hooks", "install", "--server")
    assert said.code == 0, said.err
    for clone in (root, other):
        assert place.install_into(open_memory(clone), strict=True).active
    card = add(SECRET)
    kept = add("Use pnpm here, never npm")
    git(root, "push", "-q", "origin", "main")
    git(other, "pull", "-q", "--ff-only")
    own = add("The staging server listens on port 8443", repo=other)
    assert run("forget", card, "--yes").code == 0
    assert holding(root, HEAD) == []
    forced = subprocess.run(
        ["git", "push", "--force", "origin", "main"], cwd=root, capture_output=True, text=True
    )
    assert forced.returncode != 0
    done = _in_server(server, run, card)
    assert done.code == 0, done.err
    assert holding(server, HEAD) == []
    for refspec in ("main", "main:refs/heads/elsewhere"):
        stale = subprocess.run(
            ["git", "push", "--force", "--no-verify", "origin", refspec],
            cwd=other,
            capture_output=True,
            text=True,
        )
        assert stale.returncode != 0
        assert "pre-receive hook declined" in stale.stderr
    assert "was forgotten" in stale.stderr
    assert holding(server, HEAD) == []
    for clone, again in ((root, ()), (other, (own,))):
        report = accept.accept(opened(clone))
        assert (report.again, report.differs) == (again, False)
        git(clone, "push", "-q", "origin", "main")
        assert holding(clone, HEAD) == []
        clean(clone)
        git(root, "pull", "-q", "--ff-only", "origin", "main")
    for one in (kept, own):
        assert run("show", one).code == 0
    clean(server)

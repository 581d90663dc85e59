"""Writing through real git: what the person has in work stays, whatever shape the repository is in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitmem import config
from gitmem.errors import Busy, GitFailed, Refused
from gitmem.git import locate
from gitmem.git.write import Draft, write
from tests.conftest import ROOT, open_memory

NOTE = "briefs/one.md"
PROJECTS = "registry/projects.yaml"


def git(cwd: Path, *args: str, check: bool = True, input: str | None = None, **env: str) -> str:
    import os

    done = subprocess.run(
        ["git", *args], cwd=cwd, capture_output=True, text=True, input=input, env={**os.environ, **env}
    )
    assert not check or done.returncode == 0, (args, done.stdout, done.stderr)
    return done.stdout


def status(root: Path) -> str:
    return git(root, "status", "--porcelain=v1", "--untracked-files=all")


def put(memory, path: str = NOTE, text: str = "words\n"):  # type: ignore[no-untyped-def]
    return write(memory, lambda _: Draft({path: text.encode()}, f"mem: {path}"))


@pytest.fixture
def root(memory) -> Path:  # type: ignore[no-untyped-def]
    return memory.root


def test_a_write_is_one_commit_with_only_its_files(memory, root):
    done = put(memory)
    assert git(root, "rev-parse", "main").strip() == done.commit
    assert git(root, "rev-parse", "main^").strip() == memory.tip == done.parent
    assert git(root, "diff", "--name-status", "main^", "main") == f"A\t{NOTE}\n"
    assert status(root) == ""
    assert (root / NOTE).read_text() == "words\n"
    assert git(root, "reflog", "-1", "--format=%gs", "main") == f"commit: mem: {NOTE}\n"


def test_what_is_staged_changed_untracked_and_intended_stays_as_it_is(memory, root):
    put(memory, "briefs/old.md", "old\n")
    (root / "briefs/old.md").write_text("changed\n")
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    (root / "staged.txt").write_text("and changed again\n")
    (root / "untracked.txt").write_text("untracked\n")
    (root / "later.md").write_text("intended\n")
    git(root, "add", "-N", "later.md")
    git(root, "rm", "-q", ".gitattributes")
    (root / "registry/types.yaml").unlink()
    before, index = status(root), git(root, "ls-files", "-s")
    done = put(memory)
    assert status(root) == before
    assert git(root, "diff", "--name-status", "main^", "main") == f"A\t{NOTE}\n"
    assert [
        line for line in git(root, "ls-files", "-s").splitlines() if NOTE not in line
    ] == index.splitlines()
    assert (root / "later.md").read_text() == "intended\n"
    assert (root / "staged.txt").read_text() == "and changed again\n"
    assert not (root / "registry/types.yaml").exists()
    assert done.behind == ()


def test_a_registry_file_the_person_is_editing_is_not_overwritten(memory, root):
    mine = (root / PROJECTS).read_text() + "# mine\n"
    (root / PROJECTS).write_text(mine)
    put(memory, PROJECTS, "web:\n  name: web\n")
    assert (root / PROJECTS).read_text() == mine
    assert status(root) == f" M {PROJECTS}\n"


def test_a_registry_file_the_person_staged_stays_staged(memory, root):
    (root / PROJECTS).write_text("# staged\n")
    git(root, "add", PROJECTS)
    (root / PROJECTS).write_text("# changed\n")
    put(memory, PROJECTS, "web:\n  name: web\n")
    assert git(root, "show", f":{PROJECTS}") == "# staged\n"
    assert (root / PROJECTS).read_text() == "# changed\n"


def test_an_untracked_file_in_the_way_is_the_persons(memory, root):
    (root / "briefs").mkdir()
    (root / NOTE).write_text("mine\n")
    put(memory)
    assert (root / NOTE).read_text() == "mine\n"
    assert git(root, "show", f"main:{NOTE}") == "words\n"


def test_a_folder_that_is_a_link_is_not_written_through(memory, root, home):
    (home / "elsewhere").mkdir()
    (root / "briefs").symlink_to(home / "elsewhere")
    put(memory)
    assert list((home / "elsewhere").iterdir()) == []
    assert git(root, "show", f"main:{NOTE}") == "words\n"


def test_a_sparse_checkout_stays_sparse(memory, root):
    git(root, "update-index", "--refresh")  # the fixture is a copy
    put(memory, "briefs/old.md", "old\n")
    git(root, "sparse-checkout", "set", "--no-cone", "/*", "!/registry/")
    assert not (root / PROJECTS).exists()
    put(memory, PROJECTS, "web:\n  name: web\n")
    assert status(root) == ""
    assert not (root / PROJECTS).exists()


def test_a_message_the_person_is_typing_is_not_touched(memory, root):
    (root / ".git/COMMIT_EDITMSG").write_text("half a thought")
    put(memory)
    assert (root / ".git/COMMIT_EDITMSG").read_text() == "half a thought"


def test_another_branch_may_be_checked_out(memory, root):
    git(root, "checkout", "-q", "-b", "side")
    (root / "x").write_text("x")
    git(root, "add", "x")
    put(memory)
    assert status(root) == "A  x\n"
    assert not (root / NOTE).exists()
    assert git(root, "rev-parse", "--abbrev-ref", "HEAD") == "side\n"
    assert git(root, "show", f"main:{NOTE}") == "words\n"
    assert NOTE not in git(root, "ls-tree", "-r", "--name-only", "side")


def test_a_detached_head_stays_where_it_is(memory, root):
    git(root, "checkout", "-q", "--detach")
    put(memory)
    assert git(root, "rev-parse", "HEAD").strip() == memory.tip
    assert status(root) == ""
    assert git(root, "show", f"main:{NOTE}") == "words\n"


def test_from_a_linked_worktree_the_branch_and_its_own_checkout_move(memory, root, home):
    git(root, "worktree", "add", "-q", "-b", "side", str(home / "side"))
    linked = open_memory(home / "side")
    put(linked)
    assert git(root, "show", f"main:{NOTE}") == "words\n"
    assert (root / NOTE).read_text() == "words\n"
    assert status(root) == status(home / "side") == ""
    assert not (home / "side" / NOTE).exists()


def test_a_branch_checked_out_twice_is_brought_along_twice(memory, root, home):
    git(root, "worktree", "add", "-q", "-f", str(home / "twin"), "main")
    put(memory)
    assert (root / NOTE).read_text() == (home / "twin" / NOTE).read_text() == "words\n"
    assert status(root) == status(home / "twin") == ""


def test_a_worktree_whose_folder_is_gone_does_not_matter(memory, root, home):
    import shutil

    git(root, "worktree", "add", "-q", "-f", str(home / "gone"), "main")
    shutil.rmtree(home / "gone")
    put(memory)
    assert status(root) == ""


def test_a_bare_repository_is_written_to(memory, root, home):
    git(home, "clone", "-q", "--bare", str(root), "bare.git")
    bare = open_memory(home / "bare.git")
    put(bare)
    assert git(home / "bare.git", "show", f"main:{NOTE}") == "words\n"
    assert git(home / "bare.git", "fsck", "--strict") == ""


def test_an_unborn_branch_gets_its_first_commit(home):
    git(home, "init", "-q", "fresh")
    fresh = locate.open_at(home / "fresh", config.from_process())
    assert fresh is not None and fresh.tip is None
    done = put(fresh)
    assert done.parent is None
    assert status(home / "fresh") == ""
    assert git(home / "fresh", "rev-list", "--count", "main") == "1\n"


def test_a_memory_that_is_a_submodule_gets_its_files(memory, root, home):
    git(home, "init", "-q", "outer")
    outer = home / "outer"
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "mem")
    git(outer, "commit", "-q", "-m", "submodule")
    inner = open_memory(outer / "mem")
    put(inner)
    assert (outer / "mem" / NOTE).read_text() == "words\n"
    assert status(outer / "mem") == ""
    assert status(outer) == " M mem\n"


def _diverged(root: Path) -> None:
    """Two branches that conflict in one file, `main` checked out."""
    (root / "f").write_text("base\n")
    git(root, "add", "f")
    git(root, "commit", "-q", "-m", "base")
    git(root, "checkout", "-q", "-b", "side")
    for text in ("side\n", "side again\n"):
        (root / "f").write_text(text)
        git(root, "commit", "-q", "-am", text.strip())
    git(root, "checkout", "-q", "main")
    (root / "f").write_text("main\n")
    git(root, "commit", "-q", "-am", "main")


@pytest.mark.parametrize(
    "command, word",
    [
        (["merge", "side"], "merge"),
        (["rebase", "side"], "rebase"),
        (["cherry-pick", "side~1"], "cherry-pick"),
        (["revert", "main~1"], "revert"),
    ],
)
def test_in_the_middle_of_an_operation_a_write_is_busy_and_names_it(memory, root, command, word):
    _diverged(root)
    git(root, *command, check=False)
    before, tip = status(root), git(root, "rev-parse", "main")
    with pytest.raises(Busy) as refused:
        put(memory)
    assert f"in the middle of a {word}, nothing written" in refused.value.message
    assert refused.value.hints == (f"git -C {root} {word} --continue", f"git -C {root} {word} --abort")
    assert (status(root), git(root, "rev-parse", "main")) == (before, tip)


def test_between_two_commits_of_a_stopped_series_a_write_is_busy(memory, root):
    _diverged(root)
    git(root, "cherry-pick", "side~1", "side", check=False)
    git(root, "checkout", "--theirs", "f")
    git(root, "add", "f")
    git(root, "commit", "-q", "-m", "picked")
    assert not (root / ".git/CHERRY_PICK_HEAD").exists()
    with pytest.raises(Busy, match="cherry-pick"):
        put(memory)


def test_an_operation_on_another_branch_is_no_reason_to_wait(memory, root, home):
    _diverged(root)
    git(root, "worktree", "add", "-q", str(home / "side"), "side")
    git(home / "side", "merge", "main", check=False)
    assert "UU f" in status(home / "side")
    put(memory)
    assert status(root) == ""


def test_an_index_that_git_holds_is_named_and_never_taken_away(memory, root):
    lock = root / ".git/index.lock"
    lock.touch()
    with pytest.raises(Busy) as refused:
        put(memory)
    assert str(lock) in refused.value.message
    assert lock.exists()
    lock.unlink()
    put(memory)
    assert status(root) == ""


@pytest.mark.parametrize("hook", ["pre-commit", "prepare-commit-msg", "commit-msg"])
def test_a_hook_that_refuses_leaves_everything_as_it_was(memory, root, hook):
    _hook(root, hook, "echo no thanks >&2; exit 1")
    (root / "x").write_text("x")
    git(root, "add", "x")
    before = (status(root), git(root, "rev-parse", "main"), git(root, "for-each-ref"))
    with pytest.raises(Refused) as refused:
        put(memory)
    assert refused.value.details == ["no thanks"] or refused.value.details == ("no thanks",)
    assert (status(root), git(root, "rev-parse", "main"), git(root, "for-each-ref")) == before


def _hook(root: Path, name: str, text: str) -> None:
    hook = root / ".git/hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{text}\n")
    hook.chmod(0o755)


def test_a_hook_sees_the_commit_being_made_and_no_other_change(memory, root, home):
    put(memory, "cards/global/a.md")
    put(memory, "sources/global/a.md")
    (root / "mine.txt").write_text("staged by the person")
    git(root, "add", "mine.txt")
    _hook(
        root,
        "pre-commit",
        f"git diff --cached --name-status >'{home}/staged'; git diff --name-status >'{home}/unstaged'; ls -A >'{home}/files'",
    )
    put(memory, "cards/global/b.md")
    assert (home / "staged").read_text() == "A\tcards/global/b.md\n"
    assert (home / "unstaged").read_text() == ""
    assert (home / "files").read_text().split() == [".git", ".gitattributes", "cards", "registry"]


def test_a_relative_hooks_path_counts_from_the_work_tree(memory, root):
    git(root, "config", "core.hooksPath", ".hooks")
    (root / ".hooks").mkdir()
    (root / ".hooks/pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (root / ".hooks/pre-commit").chmod(0o755)
    with pytest.raises(Refused):
        put(open_memory(root))


def _gpg(root: Path, home: Path, body: str) -> None:
    program = home / "gpg"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    git(root, "config", "commit.gpgsign", "true")
    git(root, "config", "gpg.program", str(program))


def test_signing_is_honoured(memory, root, home):
    _gpg(
        root,
        home,
        'cat >/dev/null; echo "[GNUPG:] SIG_CREATED " >&2; printf -- "-----BEGIN PGP SIGNATURE-----\\nfake\\n-----END PGP SIGNATURE-----\\n"',
    )
    put(open_memory(root))
    assert "gpgsig -----BEGIN PGP SIGNATURE-----" in git(root, "cat-file", "-p", "main")


def test_a_signature_that_cannot_be_made_is_no_hooks_fault_and_changes_nothing(memory, root, home):
    _gpg(root, home, "cat >/dev/null; echo 'gpg: no secret key' >&2; exit 2")
    tip = git(root, "rev-parse", "main")
    with pytest.raises(GitFailed) as refused:
        put(open_memory(root))
    assert "could not be signed" in refused.value.message
    assert (status(root), git(root, "rev-parse", "main")) == ("", tip)


def test_without_an_identity_the_two_commands_are_given(memory, root, home):
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    with pytest.raises(Refused) as refused:
        put(open_memory(root))
    assert [hint.split(" ")[3] for hint in refused.value.hints] == ["user.name", "user.email"]
    assert status(root) == ""


def test_when_somebody_commits_in_between_both_survive(memory, root):
    calls = []

    def make(seen) -> Draft:  # type: ignore[no-untyped-def]
        calls.append(seen.tip)
        if len(calls) == 1:
            (root / "theirs").write_text("theirs")
            git(root, "add", "theirs")
            git(root, "commit", "-q", "-m", "theirs")
        return Draft({NOTE: b"words\n"}, "mem: mine")

    done = write(memory, make)
    assert len(calls) == 2 and calls[0] != calls[1]
    assert git(root, "log", "--format=%s", "-2", "main") == "mem: mine\ntheirs\n"
    assert done.parent == calls[1]
    assert status(root) == ""


def test_nothing_is_written_when_there_is_nothing_to_write(memory, root):
    assert write(memory, lambda _: None) is None
    assert git(root, "rev-parse", "main").strip() == memory.tip


def test_a_file_can_be_taken_out_again(memory, root):
    put(memory)
    write(memory, lambda _: Draft({NOTE: None}, "mem: out"))
    assert not (root / NOTE).exists()
    assert status(root) == ""


def test_two_writers_wait_for_one_another_and_not_for_ever(memory, root):
    from gitmem.git import lock

    with lock.held(memory.state / "write.lock", 0.0, "the memory"), pytest.raises(Busy) as refused:
        write(memory, lambda _: Draft({NOTE: b"x\n"}, "mem: x"), timeout_s=0.1)
    assert "busy: process" in refused.value.message


def test_a_project_whose_hook_calls_us_is_left_alone(memory, root, home, run):
    """In a linked worktree git exports GIT_DIR to hooks, and the commit's author with it."""
    project = home / "project"
    git(home, "init", "-q", "project")
    git(project, "commit", "-q", "--allow-empty", "-m", "first")
    git(project, "worktree", "add", "-q", "-b", "side", str(home / "linked"))
    linked = home / "linked"
    (linked / "code.py").write_text("pass\n")
    git(linked, "add", "code.py")
    import sys

    _hook(
        project,
        "pre-commit",
        f'PYTHONPATH="{ROOT}" "{sys.executable}" -m gitmem add "Hooks write to the memory alone" >"{home}/id" 2>"{home}/words"',
    )
    git(linked, "commit", "-q", "-m", "code", "--author", "Some Body <some@example.com>")
    assert (home / "id").read_text().strip(), (home / "words").read_text()
    assert git(linked, "show", "--format=", "--name-only", "HEAD") == "code.py\n"
    assert git(linked, "ls-files") == "code.py\n"
    assert status(linked) == status(project) == ""
    assert (
        git(root, "log", "-1", "--format=%s|%ae", "main")
        == "mem(preference): Hooks write to the memory alone|you@example.com\n"
    )
    assert status(root) == ""


def test_hostile_git_variables_reach_neither_repository(memory, root, home, run):
    git(home, "init", "-q", "project")
    project = home / "project"
    (project / "secret.env").write_text("TOKEN=1\n")
    git(project, "add", "secret.env")
    before = git(project, "ls-files", "-s")
    hostile = {
        "GIT_DIR": str(project / ".git"),
        "GIT_WORK_TREE": str(project),
        "GIT_INDEX_FILE": str(project / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(project / ".git/objects"),
        "GIT_AUTHOR_NAME": "Some Body",
        "GIT_AUTHOR_EMAIL": "some@example.com",
        "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.email",
        "GIT_CONFIG_VALUE_0": "other@example.com",
    }
    ran = run("add", "Only the memory is written to", env=hostile, process=True, cwd=project)
    assert ran.code == 0, ran.err
    assert git(project, "ls-files", "-s") == before
    assert git(project, "rev-list", "--all") == ""
    assert git(root, "log", "-1", "--format=%ae", "main") == "you@example.com\n"
    assert not git(root, "log", "-1", "--format=%ad", "--date=format:%Y", "main").startswith("2001")
    assert set(git(root, "diff", "--name-only", "main^", "main").split("/")[0]) <= set("cardsources")


def test_the_pre_commit_framework_works_beside_us(memory, root, home):
    pytest.importorskip("pre_commit")
    import sys

    (root / ".pre-commit-config.yaml").write_text(
        "repos:\n- repo: local\n  hooks:\n  - id: listed\n    name: listed\n    language: system\n"
        f'    entry: sh -c \'for f; do echo "$f" >>"{home}/seen"; done\' --\n    stages: [pre-commit]\n'
    )
    git(root, "add", ".pre-commit-config.yaml")
    git(root, "commit", "-q", "-m", "config")
    put(memory, "cards/global/before.md")
    subprocess.run([sys.executable, "-m", "pre_commit", "install"], cwd=root, check=True, capture_output=True)
    put(memory, "cards/global/after.md")
    assert (home / "seen").read_text() == "cards/global/after.md\n"
    assert status(root) == ""


CARD = "cards/global/2026/01/02/2026-01-02-{}.md"
# Seen from a hook: what is staged, what a comparison of files with the index finds, and the files that lie there.
LOOK = """#!/bin/sh
git diff --cached --name-status HEAD >"{out}.staged"
git diff-files --name-status >"{out}.differs"
git ls-files -v | grep '^S' | cut -c3- >"{out}.left"
ls -A >"{out}.files"
"""


@pytest.mark.parametrize(
    "between", ["nothing", "a commit", "a card taken out", "a refused write", "history gone back"]
)
@pytest.mark.parametrize("large", [0, 2_000_000])
def test_a_later_write_commits_its_own_files_alone_whatever_came_between(
    memory, root, tmp_path, monkeypatch, between, large
):
    monkeypatch.setattr("gitmem.git.write.LARGE", large)
    out = tmp_path / "seen"
    for name in ("a", "b"):
        put(memory, CARD.format(name))
    put(memory, "sources/global/codex/2026/01/one.md")
    if between == "a commit":
        for name in (CARD.format("plain"), "briefs/plain.md"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("plain\n")
            git(root, "add", name)
        git(root, "commit", "-q", "-m", "by hand")
    elif between == "a card taken out":
        git(root, "rm", "-q", CARD.format("b"))
        git(root, "commit", "-q", "-m", "by hand")
    elif between == "a refused write":
        _hook(root, "pre-commit", "exit 1\n")
        with pytest.raises(Refused):
            put(memory, CARD.format("refused"))
    elif between == "history gone back":
        git(root, "reset", "-q", "--hard", "HEAD~2")
    before = git(root, "ls-tree", "-r", "--name-only", "HEAD").split()
    _hook(root, "pre-commit", LOOK.format(out=out).split("\n", 1)[1])
    put(memory, CARD.format("new"))
    now = git(root, "ls-tree", "-r", "--name-only", "HEAD").split()
    assert sorted(now) == sorted([*before, CARD.format("new")])
    assert out.with_suffix(".staged").read_text() == f"A\t{CARD.format('new')}\n"
    assert out.with_suffix(".differs").read_text() == ""
    left = out.with_suffix(".left").read_text().split("\n")[:-1]
    assert sorted(left) == sorted(one for one in before if one.startswith(("cards/", "sources/")))
    files = set(out.with_suffix(".files").read_text().split())
    assert files - {".git"} == {one.split("/")[0] for one in now} - {"sources"}
    assert status(root) == ""

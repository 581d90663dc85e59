"""A memory in every shape that git gives a repository: each command works there, or says plainly why not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitmem.errors import GitFailed
from gitmem.git import write as writing
from tests.conftest import open_memory
from tests.git.test_write import git, put, status

READING = (
    ("status",),
    ("list",),
    ("show", "{id}"),
    ("search", "station", "table"),
    ("recall", "how is the station table stored"),
    ("brief",),
    ("log",),
    ("path",),
    ("project", "list"),
    ("check", "--all"),
    ("index",),
    ("hooks", "status"),
)


def _plain(root: Path, home: Path) -> Path:
    return root


def _linked(root: Path, home: Path) -> Path:
    git(root, "worktree", "add", "-q", "-b", "side", str(home / "linked"))
    return home / "linked"


def _linked_on_the_branch(root: Path, home: Path) -> Path:
    git(root, "checkout", "-q", "-b", "other")
    git(root, "worktree", "add", "-q", str(home / "linked"), "main")
    return home / "linked"


def _worktree_config(root: Path, home: Path) -> Path:
    git(root, "config", "extensions.worktreeConfig", "true")
    place = _linked(root, home)
    git(place, "config", "--worktree", "user.name", "Another Name")
    return place


def _relative_worktree(root: Path, home: Path) -> Path:
    """As `git worktree add --relative-paths` leaves it, but for the extension that git here may not know."""
    place = _linked(root, home)
    (place / ".git").write_text("gitdir: ../memory/.git/worktrees/linked\n")
    (root / ".git/worktrees/linked/gitdir").write_text("../../../../linked/.git\n")
    return place


def _submodule(root: Path, home: Path) -> Path:
    around = home / "around"
    git(home, "init", "-q", "around")
    git(around, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(root), "mind")
    git(around, "commit", "-q", "-m", "with a memory")
    return around / "mind"


def _bare(root: Path, home: Path) -> Path:
    git(home, "clone", "-q", "--bare", str(root), "bare.git")
    return home / "bare.git"


def _shallow(root: Path, home: Path) -> Path:
    git(home, "clone", "-q", "--depth", "1", f"file://{root}", "shallow")
    return home / "shallow"


def _detached(root: Path, home: Path) -> Path:
    git(root, "checkout", "-q", "--detach", "HEAD~1")
    return root


def _sparse(root: Path, home: Path) -> Path:
    git(root, "sparse-checkout", "set", "--no-cone", "/*", "!/cards/")
    return root


def _crlf(root: Path, home: Path) -> Path:
    git(home, "-c", "core.autocrlf=true", "clone", "-q", str(root), "crlf")
    git(home / "crlf", "config", "core.autocrlf", "true")
    return home / "crlf"


def _separate(root: Path, home: Path) -> Path:
    git(home, "clone", "-q", "--separate-git-dir", str(home / "apart.git"), str(root), "apart")
    return home / "apart"


def _alternates(root: Path, home: Path) -> Path:
    git(home, "clone", "-q", "--shared", str(root), "shared")
    return home / "shared"


SHAPES = (_plain, _linked, _linked_on_the_branch, _worktree_config, _relative_worktree, _submodule, _bare, _shallow, _detached,
          _sparse, _crlf, _separate, _alternates)  # fmt: skip
# Those that git itself tells apart by where it is called from.
NAMED = (_linked, _linked_on_the_branch, _worktree_config, _submodule, _bare, _shallow, _detached, _sparse)


@pytest.mark.parametrize(
    ("shape", "way"),
    [*((shape, "folder") for shape in SHAPES), *((shape, "option") for shape in NAMED)],
    ids=lambda value: value if isinstance(value, str) else value.__name__.strip("_"),
)
def test_commands_read_and_write_in_every_shape(memory, home, run, shape, way):
    said = run("add", "The station table is stored in one file", "--type", "fact")
    assert said.code == 0, said.err
    put(open_memory(memory.root), "briefs/later.md")
    git(memory.root, "config", "--global", "--unset", "mem.repo")
    place = shape(memory.root, home)
    git(place, "config", "mem.accepted", "true")
    call = (
        (lambda *args: run(*args, cwd=place))
        if way == "folder"
        else (lambda *args: run("--repo", str(place), *args))
    )
    bare = shape is _bare
    before = None if bare else status(place)
    assert call("hooks", "install").code == 0
    for line in READING:
        done = call(*(said.out.strip() if word == "{id}" else word for word in line))
        assert done.code == 0, (line, done.err, done.out)
        assert "Traceback" not in done.err
    assert "one file" in call("recall", "how is the station table stored").out
    tip = git(place, "rev-parse", "main")
    assert call("add", "Figures of the station are drawn in blue", "--type", "preference").code == 0
    assert git(place, "rev-parse", "main~1") == tip
    if not bare:
        assert status(place) == before
    if shape is _submodule:
        assert git(place.parent, "diff", "--cached", "--name-only") == ""


def test_in_an_unborn_repository_recall_is_silent_and_the_first_write_works(home, run):
    place = home / "unborn"
    git(home, "init", "-q", "-b", "main", "unborn")
    done = run("recall", "anything", cwd=place)
    assert (done.code, done.out) in ((0, ""), (128, ""))
    assert run("init", str(place)).code == 0
    assert run("--repo", str(place), "add", "The first card of all is here").code == 0


def test_a_partial_clone_says_what_is_missing_or_reads_what_is_there(memory, home, run):
    assert run("add", "The station table is stored in one file", "--type", "fact").code == 0
    git(memory.root, "config", "uploadpack.allowFilter", "true")
    git(memory.root, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(home, "clone", "-q", "--filter=blob:none", f"file://{memory.root}", "partial")
    place = home / "partial"
    call = lambda *args: run("--repo", str(place), *args)  # noqa: E731
    assert "one file" in call("recall", "how is the station table stored").out
    assert call("check", "--all").code == 0
    assert call("add", "Figures of the station are drawn in blue").code == 0
    assert status(place) == ""
    # with the promise broken there is no answer to give, but an error that git words itself
    git(home, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{memory.root}", "hollow")
    git(home / "hollow", "remote", "set-url", "origin", str(home / "gone"))
    for args in (("recall", "how is the station table stored"), ("list",), ("check", "--all")):
        done = run("--repo", str(home / "hollow"), *args)
        assert "Traceback" not in done.err, done.err
        assert done.code in (0, 1, 128), (args, done)


@pytest.mark.parametrize("line", [("status",), ("list",), ("add", "A card for sha256"), ("recall", "a card"), ("check", "--all"),
                                  ("hooks", "install")])  # fmt: skip
def test_a_memory_in_a_sha256_repository_is_refused_in_plain_words(memory, home, run, line):
    place = home / "longer"
    git(home, "init", "-q", "-b", "main", "--object-format=sha256", "longer")
    for name in ("registry", ".gitattributes"):
        source = memory.root / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, place / name)
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "a memory")
    done = run("--repo", str(place), *line)
    assert done.code == 128
    assert "keeps its objects as sha256, which a memory cannot use yet" in done.err


def test_a_format_that_git_does_not_know_is_told_as_such(memory, run):
    git(memory.root, "config", "core.repositoryFormatVersion", "1")
    git(memory.root, "config", "extensions.refStorage", "reftable")
    done = run("--repo", str(memory.root), "status")
    assert done.code == 128
    assert ("Traceback" not in done.err and "reftable" in done.err) or "extension" in done.err


def test_a_repository_of_somebody_else_gets_gits_own_advice_once(memory, run):
    done = run("status", env={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert done.code == 128
    assert done.err.count("safe.directory") == 1
    assert f"git config --global --add safe.directory {memory.root}" in done.err
    allowed = {
        "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1",
        "GIT_CONFIG_GLOBAL": str(memory.root.parent / "allowing"),
    }
    shutil.copy(memory.root.parent / ".gitconfig", allowed["GIT_CONFIG_GLOBAL"])
    subprocess.run(
        [
            "git",
            "config",
            "--file",
            allowed["GIT_CONFIG_GLOBAL"],
            "--add",
            "safe.directory",
            str(memory.root),
        ],
        check=True,
    )
    assert run("status", env=allowed).code == 0
    assert run("add", "Somebody else owns this folder", env=allowed).code == 0


def test_a_signing_program_that_never_ends_costs_a_bounded_time_and_is_named(memory, home, monkeypatch):
    program = home / "gpg"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    git(memory.root, "config", "commit.gpgsign", "true")
    git(memory.root, "config", "gpg.program", str(program))
    monkeypatch.setattr(writing, "COMMIT_TIMEOUT_S", 1.0)
    tip = git(memory.root, "rev-parse", "main")
    with pytest.raises(GitFailed) as refused:
        put(open_memory(memory.root))
    assert "`git commit` did not end within 1 s, nothing written" in refused.value.message
    assert "commit.gpgsign" in " ".join(refused.value.hints)
    assert (status(memory.root), git(memory.root, "rev-parse", "main")) == ("", tip)
    git(memory.root, "config", "--unset", "commit.gpgsign")
    put(open_memory(memory.root))


def test_the_writer_is_whom_git_says_also_by_a_conditional_configuration(memory, home, run):
    (home / "other.config").write_text("[user]\n\tname = Other\n\temail = other@example.com\n")
    with (home / ".gitconfig").open("a") as file:
        file.write(f'[includeIf "onbranch:main"]\n\tpath = {home}/other.config\n')
    git(memory.root, "remote", "add", "origin", "https://git.example.com/me/memory.git")
    assert run("add", "Whoever git says wrote this").code == 0
    said = git(memory.root, "var", "GIT_AUTHOR_IDENT").split(">")[0].split("<")[1]
    assert git(memory.root, "log", "-1", "--format=%ae", "main").strip() == said == "other@example.com"


ODD = [
    b"cards/new\nline.md",
    b"cards/ta\tb.md",
    b'cards/quo"te.md',
    b"cards/\xff.md",
    "cards/记忆.md".encode(),
]


@pytest.mark.parametrize("name", ODD, ids=["newline", "tab", "quote", "no text", "chinese"])
def test_odd_names_are_refused_escaped_and_in_valid_json(memory, run, name):
    root = memory.root
    place = os.fsencode(root) + b"/" + name
    Path(os.fsdecode(place)).parent.mkdir(exist_ok=True)
    Path(os.fsdecode(place)).write_bytes(b"no card\n")
    subprocess.run([b"git", b"add", b"--", name], cwd=root, check=True)
    for args in (("--staged",), ("--all",)):
        if args == ("--all",):
            git(root, "commit", "-q", "--no-verify", "-m", "odd")
        done = run("check", *args, cwd=root)
        assert done.code == 1, done.err
        assert "\n\tline" not in done.out and "\udcff" not in done.out
        answer = json.loads(run("check", *args, "--json", cwd=root).out)
        assert answer["ok"] is False and len(answer["problems"]) >= 1
    assert run("add", "The others go on as before").code == 0
    assert run("recall", "do the others go on").code == 0


def test_a_lock_of_git_that_is_not_ours_is_named_with_its_age_and_left(memory, run):
    lock = memory.root / ".git/index.lock"
    lock.write_text("")
    os.utime(lock, (1_700_000_000, 1_700_000_000))
    done = run("add", "Nobody takes a lock away")
    assert done.code == 3
    assert str(lock) in done.err and " old" in done.err and lock.exists()


def test_every_command_finds_the_same_memory_from_a_folder_inside_it(memory, run):
    assert run("add", "The station table is stored in one file").code == 0
    inside = next(path for path in (memory.root / "cards").rglob("*") if path.is_dir())
    git(memory.root, "config", "--global", "--unset", "mem.repo")
    assert run("path", cwd=inside).out.strip() == str(memory.root)
    assert run("check", "--staged", cwd=inside).code == 0

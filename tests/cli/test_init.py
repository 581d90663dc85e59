"""`git mem init`: a memory, or nothing and the reason."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import open_memory


def git(place: Path, *args: str, code: int = 0) -> str:
    done = subprocess.run(["git", *args], cwd=place, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout


def web(home: Path) -> Path:
    """A project in `~/src/web` with a remote and a file."""
    place = home / "src" / "web"
    place.mkdir(parents=True)
    git(place, "init", "-q")
    git(place, "remote", "add", "origin", "git@git.example.com:web.git")
    (place / "main.ts").write_text("export {}\n")
    return place


def with_hosts(home: Path) -> None:
    """Notes that a host kept: two of Claude Code about one project, three of Codex."""
    notes = home / ".claude" / "projects" / "-home-src-web" / "memory"
    notes.mkdir(parents=True)
    for number in (1, 2):
        (notes / f"note{number}.md").write_text(
            f"---\nname: note {number}\ndescription: a note\ntype: user\n---\nNote number {number} of the web project.\n"
        )
    codex = home / ".codex" / "memories"
    codex.mkdir(parents=True)
    (codex / "MEMORY.md").write_text(
        "# Memory\n\n- Use tabs in Go\n- Deploy on Mondays only\n- Keep notebooks out of git\n"
    )


def test_init_inside_a_project_says_what_it_made_found_and_left_alone(home, run):
    place = web(home)
    with_hosts(home)
    before = git(place, "status", "--porcelain", "--ignored")
    ran = run("init", cwd=place)
    assert ran.code == 0
    assert ran.out == (
        "Made a memory in ~/memory (this project was not touched)\n"
        "  checks    commit hooks are in; a bad card cannot be committed\n"
        "  default   git config --global mem.repo ~/memory\n"
    )
    assert ran.err == (
        "\n"
        "Found on this computer\n"
        "  claude-code  1 project, 2 notes of its own\n"
        "  codex        3 notes of its own\n"
        "  this folder  git.example.com/web, not yet a project\n"
        "\n"
        "Next\n"
        "  git mem project add                this folder becomes `web`\n"
        "  git mem import --dry-run           what the 5 notes would become\n"
        "  git mem connect claude-code codex  let them read and write it\n"
    )
    assert git(place, "status", "--porcelain", "--ignored") == before
    assert git(home, "config", "--global", "mem.repo").strip() == str(home / "memory")


def test_init_with_nothing_around_still_says_what_comes_next(home, run):
    ran = run("init")
    assert ran.out.startswith("Made a memory in ~/memory\n")
    assert ran.err == '\nNext\n  git mem add "…"  remember something\n'


def test_a_new_memory_is_one_commit_on_its_branch_with_a_clean_work_tree(home, run):
    assert run("init", process=True).code == 0
    memory = open_memory(home / "memory")
    assert memory.branch == "main" == git(memory.root, "config", "mem.branch").strip()
    assert (
        git(memory.root, "log", "--format=%s %(trailers:key=Mem-Action,valueonly,separator=%x2C)")
        == "mem: init registry\n"
    )
    assert git(memory.root, "status", "--porcelain") == ""
    assert git(memory.root, "ls-files").split() == [
        ".gitattributes", *(f"registry/{name}.yaml" for name in ("agents", "forgotten", "memory", "profiles", "projects", "types")),
    ]  # fmt: skip
    assert run("check", "--all", cwd=memory.root).code == 0


def test_the_hooks_of_a_new_memory_refuse_a_bad_card(home, run):
    run("init")
    memory = home / "memory"
    card = memory / "cards" / "global" / "2026" / "11" / "09" / "2026-11-09-n3f5t8kwq1.md"
    card.parent.mkdir(parents=True)
    card.write_text("no fence\n")
    git(memory, "add", "-A")
    refused = subprocess.run(["git", "commit", "-m", "x"], cwd=memory, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "SCHEMA" in refused.stderr


def test_init_again_changes_nothing_and_puts_missing_hooks_in(home, run):
    run("init")
    memory = home / "memory"
    tip = git(memory, "rev-parse", "HEAD")
    (memory / ".git" / "hooks" / "pre-commit").unlink()
    ran = run("init")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "~/memory is a memory already; nothing was written to it\n"
        "  checks    commit hooks are in; a bad card cannot be committed\n"
        "  default   this one (git config --global mem.repo ~/memory)\n"
    )
    assert git(memory, "rev-parse", "HEAD") == tip
    assert (memory / ".git" / "hooks" / "pre-commit").exists()


def test_a_second_memory_does_not_take_the_place_of_the_first(home, run):
    run("init")
    ran = run("init", "second", "--branch", "notes", "--no-hooks")
    assert "  checks    no commit hooks; git mem hooks install puts them in\n" in ran.out
    assert (
        "  default   stays ~/memory; to use this one: git config --global mem.repo ~/work/second\n" in ran.out
    )
    assert open_memory(home / "work" / "second").branch == "notes"
    assert git(home, "config", "--global", "mem.repo").strip() == str(home / "memory")


def test_without_an_identity_init_gives_the_two_commands_and_leaves_nothing_behind(home, run):
    (home / ".gitconfig").write_text("")
    ran = run("init", process=True)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "error: git does not know who you are\n"
        'hint: git config --global user.name "Your Name"\n'
        "hint: git config --global user.email you@example.com\n"
    )
    assert not (home / "memory").exists()
    assert (home / ".gitconfig").read_text() == ""


def test_a_repository_with_commits_is_refused_and_untouched(home, run):
    place = web(home)
    git(place, "add", "-A")
    git(place, "commit", "-qm", "first")
    before = sorted(place.rglob("*")), (place / ".git" / "config").read_text()
    ran = run("init", str(place))
    assert ran.code == 1
    assert ran.err == (
        f"error: `{place}` is a git repository with commits of its own and no memory on `main`, nothing changed\n"
        f"hint: git mem init {place}-memory\n"
    )
    assert (sorted(place.rglob("*")), (place / ".git" / "config").read_text()) == before


def test_a_folder_with_files_is_refused_and_untouched(home, run):
    place = home / "notes"
    place.mkdir()
    (place / "todo.txt").write_text("milk\n")
    assert run("init", str(place)).code == 1
    assert [path.name for path in place.iterdir()] == ["todo.txt"]


def test_an_empty_clone_becomes_a_memory_on_the_branch_it_is_on(home, run):
    place = home / "clone"
    git(home, "init", "-q", "-b", "trunk", str(place))
    git(place, "remote", "add", "origin", "ssh://git.example.com/me/memory")
    assert run("init", str(place)).code == 0
    assert open_memory(place).branch == "trunk"
    assert git(place, "status", "--porcelain", "--branch").splitlines() == ["## trunk"]


def test_a_folder_inside_another_repository_becomes_a_memory_of_its_own(home, run):
    place = web(home)
    assert run("init", "inner", cwd=place).code == 0
    assert open_memory(place / "inner").root == place / "inner"
    assert git(place, "config", "--get", "mem.branch", code=1) == ""


def test_defaults_of_other_formats_do_not_reach_a_memory(home, run):
    env = {"GIT_DEFAULT_HASH": "sha256", "GIT_DEFAULT_REF_FORMAT": "reftable"}
    assert run("init", env=env).code == 0
    assert git(home / "memory", "rev-parse", "--show-object-format").strip() == "sha1"


def test_a_sha256_repository_is_told_so_and_left_as_it_was(home, run):
    place = home / "new"
    git(home, "init", "-q", "--object-format=sha256", str(place))
    before = (place / ".git" / "config").read_text()
    ran = run("init", str(place))
    assert ran.code == 128
    assert ran.err.startswith(
        f"error: `{place}` keeps its objects as sha256, which a memory cannot use yet\n"
    )
    assert (place / ".git" / "config").read_text() == before
    assert not (place / ".git" / "git-mem").exists()


def test_a_hook_of_the_persons_template_that_refuses_leaves_nothing_behind(home, run):
    template = home / "template" / "hooks"
    template.mkdir(parents=True)
    (template / "commit-msg").write_text("#!/bin/sh\necho no ticket >&2\nexit 1\n")
    (template / "commit-msg").chmod(0o755)
    git(home, "config", "--global", "init.templateDir", str(home / "template"))
    ran = run("init", "deep/er/memory")
    assert ran.code == 1
    assert "no ticket" in ran.err
    assert not (home / "work" / "deep").exists()


def test_a_hooks_path_that_is_set_for_every_repository_is_reported(home, run):
    git(home, "config", "--global", "core.hooksPath", str(home / "shared-hooks"))
    ran = run("init")
    assert ran.code == 0
    assert "  checks    commit hooks are in, but git does not run them here\n" in ran.out
    assert f"note: core.hooksPath is `{home}/shared-hooks`" in ran.err
    assert "hint: to run this repository's own hooks:" in ran.err


def test_a_configuration_that_cannot_be_written_costs_the_default_and_not_the_memory(home, run):
    (home / ".gitconfig.lock").write_text("")
    ran = run("init")
    assert ran.code == 0
    assert "  default   could not be set; do it by hand: git config --global mem.repo ~/memory\n" in ran.out

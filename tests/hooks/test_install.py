"""Hooks are put in, run by real commits, merges and pushes, and taken out again without a trace."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitmem import config
from gitmem.git import locate, write
from gitmem.hooks.elsewhere import chain_line
from gitmem.hooks.install import HOOKS, inspect, install, uninstall

# Stands where the interpreter stands: notes how it was called and leaves with the status it was told.
RECORDER = """#!/bin/sh
[ "$2" != -c ] || exit "$(cat '{log}/import-status')"
what=$4
[ "$2" = -m ] || what=$3
printf '%s' "$*" >'{log}/'"$what.args"
[ "$what" != pre-push ] || cat >'{log}/pre-push.stdin'
pwd >'{log}/'"$what.cwd"
printf '%s' "${{GIT_INDEX_FILE-}}" >'{log}/'"$what.index"
git diff --cached --name-only >'{log}/'"$what.staged" 2>/dev/null
echo "ours $what" >>'{log}/order'
status=$(cat '{log}/status')
[ "$status" != TERM ] || kill -TERM $$
exit "$status"
"""
FOREIGN = """#!/bin/sh
echo "foreign {name} $*" >>'{log}/order'
{more}
exit {status}
"""


class World:
    """A memory called `my 记忆`, a recorder for an interpreter, and git with an environment of its own."""

    def __init__(self, tmp: Path) -> None:
        self.tmp = tmp
        self.log = tmp / "the log"
        self.log.mkdir()
        (self.log / "status").write_text("0")
        (self.log / "import-status").write_text("0")
        self.python = tmp / "it's 解释器" / "python"
        self.script(self.python, RECORDER.format(log=self.log))
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(tmp),
            "GIT_CONFIG_GLOBAL": str(tmp / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for key, value in {
            "user.name": "Lin",
            "user.email": "lin@example.com",
            "init.defaultBranch": "main",
        }.items():
            self.git("config", "--global", key, value, cwd=tmp)
        self.repo = tmp / "my 记忆"
        self.git("init", "-q", str(self.repo), cwd=tmp)
        for key in ("user.name", "user.email"):
            self.git("config", key, "lin@example.com")
        self.write("registry/memory.yaml")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "memory")
        self.common = self.repo / ".git"
        self.hooks = self.common / "hooks"
        shutil.rmtree(self.hooks, ignore_errors=True)

    def script(self, path: Path, text: str, mode: int = 0o755) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def foreign(self, name: str, more: str = "", status: int = 0, mode: int = 0o755) -> Path:
        text = FOREIGN.format(name=name, log=self.log, more=more, status=status)
        return self.script(self.hooks / name, text, mode)

    def write(self, name: str, text: str = "a\n", where: Path | None = None) -> None:
        path = (where or self.repo) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, *command: str, cwd: Path | None = None, env: dict | None = None, stdin: str = ""):
        return subprocess.run(
            command,
            cwd=cwd or self.repo,
            env=env or self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def git(self, *args: str, cwd: Path | None = None) -> str:
        done = self.run("git", *args, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, name: str = "b.md", cwd: Path | None = None, env: dict | None = None):
        self.write(name, where=cwd)
        self.git("add", name, cwd=cwd)
        return self.run("git", "commit", "-q", "-m", "more", cwd=cwd, env=env)

    def install(self, setting: str | None = None, scope: str | None = None):
        return install(self.common, setting, str(self.python), hooks_path_scope=scope)

    def order(self) -> list[str]:
        path = self.log / "order"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def logged(self, name: str) -> str:
        return (self.log / name).read_text()

    def orphan(self) -> None:
        """Stand on a branch that was never a memory, with a commit."""
        self.git("checkout", "-q", "--orphan", "notes")
        self.git("rm", "-rqf", ".")
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "notes")
        self.order()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def snapshot(folder: Path) -> dict[str, tuple]:
    """Type, mode and content of everything below a folder, but for our own local state."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if "git-mem" in path.parts:
            continue
        info = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (stat.filemode(info.st_mode), content)
    return found


def states(world: World, setting: str | None = None, **more) -> dict[str, str]:
    return {state.name: state.state for state in inspect(world.common, setting, **more)}


# A memory's commits, merges and pushes


def test_a_commit_starts_the_pinned_interpreter_with_what_git_passed(world):
    world.install()
    assert world.commit().returncode == 0
    assert world.order() == ["ours pre-commit", "ours commit-msg"]
    assert world.logged("pre-commit.args") == "-P -m gitmem.hooks.run pre-commit"
    assert world.logged("commit-msg.args") == "-P -m gitmem.hooks.run commit-msg .git/COMMIT_EDITMSG"


@pytest.mark.parametrize("status", ["1", "2", "TERM"])
def test_a_check_that_refuses_or_is_killed_stops_the_commit(world, status):
    world.install()
    (world.log / "status").write_text(status)
    before = world.git("rev-parse", "HEAD")
    assert world.commit().returncode == 1
    assert world.git("rev-parse", "HEAD") == before
    assert world.git("diff", "--cached", "--name-only") == "b.md"
    assert world.order() == ["ours pre-commit"]


def test_a_clean_merge_runs_pre_merge_commit_and_a_fast_forward_post_merge(world):
    world.install()
    world.git("checkout", "-q", "-b", "side")
    world.commit("side.md")
    world.git("checkout", "-q", "main")
    world.order()
    world.git("merge", "-q", "side")
    assert world.order() == ["ours post-merge"]
    world.git("checkout", "-q", "side")
    world.commit("side2.md")
    world.git("checkout", "-q", "main")
    world.commit("main2.md")
    world.order()
    (world.log / "status").write_text("1")
    assert world.run("git", "merge", "-q", "--no-edit", "side").returncode == 1
    assert world.order() == ["ours pre-merge-commit"]


def test_post_merge_never_fails(world):
    world.foreign("post-merge", status=3)
    world.install()
    (world.log / "status").write_text("1")
    assert world.run(str(world.hooks / "post-merge"), "0").returncode == 0
    assert world.order() == ["foreign post-merge 0", "ours post-merge"]
    world.python.unlink()
    silent = world.run(str(world.hooks / "post-merge"), "0")
    assert (silent.returncode, silent.stderr) == (0, "")


def test_a_linked_worktree_runs_the_hooks_on_its_own_index(world):
    world.install()
    tree = world.tmp / "linked 树"
    world.git("worktree", "add", "-q", "-b", "side", str(tree))
    assert world.commit("in-tree.md", cwd=tree).returncode == 0
    assert world.order() == ["ours pre-commit", "ours commit-msg"]
    assert world.logged("pre-commit.cwd").strip() == str(tree)
    assert world.logged("pre-commit.staged") == "in-tree.md\n"


def test_commit_a_and_a_partial_commit_show_the_check_what_is_committed(world):
    world.install()
    world.commit("one.md")
    world.commit("two.md")
    world.write("one.md", "changed\n")
    world.git("commit", "-q", "-a", "-m", "all")
    assert world.logged("pre-commit.index").endswith("index.lock")
    assert world.logged("pre-commit.staged") == "one.md\n"
    world.write("one.md", "again\n")
    world.write("two.md", "again\n")
    world.git("add", "two.md")
    world.git("commit", "-q", "-m", "partial", "one.md")
    assert "next-index" in world.logged("pre-commit.index")
    assert world.logged("pre-commit.staged") == "one.md\n"
    assert world.git("diff", "--cached", "--name-only") == "two.md"


@pytest.mark.parametrize("reads", [True, False])
def test_the_pushed_refs_reach_the_earlier_hook_and_ours_byte_for_byte(world, reads):
    more = f"cat >'{world.log}/foreign.stdin'" if reads else ""
    world.foreign("pre-push", more)
    world.install()
    remote = world.tmp / "remote.git"
    world.git("init", "-q", "--bare", str(remote))
    tip = world.git("rev-parse", "HEAD")
    world.git("branch", "other")
    world.git("push", "-q", str(remote), "main", "other")
    zero = "0" * 40
    expected = (
        f"refs/heads/main {tip} refs/heads/main {zero}\nrefs/heads/other {tip} refs/heads/other {zero}\n"
    )
    assert world.logged("pre-push.stdin") == expected
    assert not reads or world.logged("foreign.stdin") == expected
    assert world.order() == [f"foreign pre-push {remote} {remote}", "ours pre-push"]
    assert world.logged("pre-push.args") == f"-P -m gitmem.hooks.run pre-push {remote} {remote}"
    (world.log / "status").write_text("1")
    world.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "more")
    assert world.run("git", "push", "-q", str(remote), "main").returncode == 1


def test_a_push_of_the_memory_is_checked_whatever_branch_is_checked_out(world):
    world.install()
    world.orphan()
    remote = world.tmp / "remote.git"
    world.git("init", "-q", "--bare", str(remote))
    world.git("push", "-q", str(remote), "notes")
    assert world.order() == []
    world.git("push", "-q", str(remote), "main")
    assert world.order() == ["ours pre-push"]


def test_nothing_to_push_is_no_line_at_all(world):
    world.foreign("pre-push", f"cat >'{world.log}/foreign.stdin'")
    world.install()
    assert world.run(str(world.hooks / "pre-push"), "origin", "url").returncode == 0
    assert world.logged("foreign.stdin") == ""


# Branches that are no memory


def test_a_branch_that_was_no_memory_is_left_in_silence(world):
    world.install()
    world.orphan()
    (world.log / "status").write_text("1")
    done = world.commit()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert world.order() == []


def test_the_earlier_hook_runs_on_a_branch_that_is_no_memory(world):
    world.foreign("pre-commit", status=5)
    world.install()
    world.orphan()
    assert world.commit().returncode == 1
    assert world.order() == ["foreign pre-commit "]


def test_the_first_commit_of_a_memory_is_checked_and_of_another_branch_is_not(world):
    world.install()
    world.git("checkout", "-q", "--orphan", "fresh")
    world.commit()
    assert world.order() == ["ours pre-commit", "ours commit-msg"]
    world.git("checkout", "-q", "--orphan", "bare")
    world.git("rm", "-rqf", ".")
    world.commit()
    assert world.order() == []


def test_a_commit_that_would_end_a_memory_is_checked(world):
    world.install()
    world.git("rm", "-q", "registry/memory.yaml")
    (world.log / "status").write_text("1")
    assert world.run("git", "commit", "-q", "-m", "end").returncode == 1
    assert world.order() == ["ours pre-commit"]


def test_a_merge_that_would_bring_a_memory_in_is_checked(world):
    world.install()
    world.orphan()
    world.git("merge", "-q", "--no-edit", "--allow-unrelated-histories", "main")
    assert "ours pre-merge-commit" in world.order()


def test_when_git_cannot_look_the_check_runs(world):
    world.install()
    world.orphan()
    (world.tmp / "junk").write_text("junk")
    world.run(str(world.hooks / "pre-commit"), env={**world.env, "GIT_INDEX_FILE": str(world.tmp / "junk")})
    assert world.order() == ["ours pre-commit"]


# Which program checks


@pytest.mark.parametrize("variables", [{}, {"LC_ALL": "C"}])
def test_an_empty_environment_is_enough(world, variables):
    world.install()
    assert world.commit(env={"PATH": "/usr/bin:/bin", **variables}).returncode == 0
    assert world.order() == ["ours pre-commit", "ours commit-msg"]


def without_interpreter(world: World) -> None:
    world.python.unlink()


def with_dangling_interpreter(world: World) -> None:
    world.python.unlink()
    world.python.symlink_to(world.tmp / "removed")


def with_interpreter_that_does_not_start(world: World) -> None:
    world.script(world.python, "#!/no/such/loader\n")


def with_interpreter_that_lost_gitmem(world: World) -> None:
    (world.log / "import-status").write_text("1")
    world.script(world.python, "#!/bin/sh\nexit 1\n")


BROKEN = [
    without_interpreter,
    with_dangling_interpreter,
    with_interpreter_that_does_not_start,
    with_interpreter_that_lost_gitmem,
]


@pytest.mark.parametrize("broken", BROKEN)
def test_without_its_interpreter_the_hook_uses_git_mem_on_the_path(world, broken: Callable):
    world.install()
    broken(world)
    world.script(world.tmp / "my bin" / "git-mem", RECORDER.format(log=world.log))
    path = f"{world.tmp / 'my bin'}:{world.env['PATH']}"
    assert world.commit(env={**world.env, "PATH": path}).returncode == 0
    assert world.logged("commit-msg.args") == "hooks run commit-msg .git/COMMIT_EDITMSG"
    (world.log / "status").write_text("1")
    assert world.commit("c.md", env={**world.env, "PATH": path}).returncode == 1


@pytest.mark.parametrize("broken", BROKEN)
def test_without_any_program_a_commit_is_refused_with_the_way_out(world, broken: Callable):
    world.install()
    broken(world)
    done = world.commit()
    assert done.returncode == 1
    assert done.stderr.endswith(
        "error: cannot check this commit, so it is refused: "
        f"`{world.python}` does not run git mem, and there "
        "is no `git-mem` on PATH\nhint: install git-mem again, then: git mem hooks install\n"
    )
    remote = world.tmp / "remote.git"
    world.git("init", "-q", "--bare", str(remote))
    pushed = world.run("git", "push", "-q", str(remote), "main")
    assert pushed.returncode == 1 and "cannot check this push" in pushed.stderr


def test_without_any_program_a_branch_that_is_no_memory_commits_in_silence(world):
    world.install()
    world.python.unlink()
    world.orphan()
    done = world.commit()
    assert (done.returncode, done.stderr) == (0, "")


def test_a_refusal_is_not_taken_for_a_missing_program(world):
    world.install()
    (world.log / "status").write_text("1")
    assert "cannot check" not in world.commit().stderr


def test_a_package_called_gitmem_in_the_memory_is_not_imported(world):
    install(world.common, None, sys.executable)
    trap = world.tmp / "sprung"
    world.write("gitmem/__init__.py", f"open({str(trap)!r}, 'w')\n")
    world.commit()
    assert not trap.exists()


# Hooks that were there


def test_the_earlier_hook_runs_first_with_the_same_arguments(world):
    world.foreign("pre-commit")
    world.foreign("commit-msg")
    world.install()
    assert world.commit().returncode == 0
    assert world.order() == [
        "foreign pre-commit ",
        "ours pre-commit",
        "foreign commit-msg .git/COMMIT_EDITMSG",
        "ours commit-msg",
    ]


def test_the_earlier_hook_stops_the_commit_with_its_own_status(world):
    world.foreign("pre-commit", status=7)
    world.install()
    assert world.commit().returncode == 1
    assert world.run(str(world.hooks / "pre-commit")).returncode == 7
    assert world.order() == ["foreign pre-commit "] * 2


def test_what_the_earlier_hook_stages_is_checked(world):
    world.foreign("pre-commit", "echo more >added.md; git add added.md")
    world.install()
    world.commit()
    assert world.logged("pre-commit.staged") == "added.md\nb.md\n"


def test_a_hook_that_git_would_not_run_is_kept_and_not_run(world):
    world.foreign("pre-commit", status=1, mode=0o644)
    world.install()
    assert world.commit().returncode == 0
    assert "foreign pre-commit " not in world.order()


def test_an_earlier_hook_that_calls_the_hook_again_comes_to_an_end(world):
    again = '"$(git rev-parse --git-common-dir)"/hooks/pre-commit'
    world.foreign("pre-commit", again)
    world.install()
    assert world.commit().returncode == 0
    assert world.order().count("foreign pre-commit ") == 1


def test_uninstall_puts_back_the_same_bytes_modes_and_links(world):
    for name, mode in zip(HOOKS, (0o755, 0o750, 0o644, 0o500), strict=False):
        world.foreign(name, f"# {name}", mode=mode)
    world.script(world.tmp / "tools" / "hook.sh", "#!/bin/sh\n")
    (world.hooks / "post-merge").symlink_to("../../../tools/hook.sh")
    world.foreign("pre-rebase")
    before = snapshot(world.common)
    world.install()
    assert snapshot(world.common) != before
    assert [change.action for change in uninstall(world.common)] == ["restored"] * 5
    assert snapshot(world.common) == before


def test_uninstall_leaves_nothing_where_nothing_was(world):
    world.install()
    assert {change.action for change in uninstall(world.common)} == {"removed"}
    assert list(world.hooks.iterdir()) == []
    assert uninstall(world.common) == ()


def test_uninstall_leaves_a_hook_that_took_our_place_and_says_so(world):
    world.foreign("pre-commit", "# earlier")
    world.install()
    later = world.foreign("pre-commit", "# later").read_bytes()
    changes = {change.name: change for change in uninstall(world.common)}
    assert changes["pre-commit"].action == "left alone"
    assert (world.hooks / "pre-commit").read_bytes() == later
    assert b"# earlier" in (world.hooks / "pre-commit.before-git-mem").read_bytes()


def test_installing_again_changes_nothing(world):
    world.foreign("pre-commit")
    assert {change.action for change in world.install().changes} == {"installed"}
    before = {path: path.stat() for path in world.hooks.iterdir()}
    report = world.install()
    assert {change.action for change in report.changes} == {"unchanged"}
    assert report.active and report.hints == ()
    assert {path: path.stat() for path in world.hooks.iterdir()} == before


def test_an_older_hook_of_ours_is_replaced_and_the_kept_one_is_not_touched(world):
    world.foreign("pre-commit")
    world.install()
    kept = (world.hooks / "pre-commit.before-git-mem").stat()
    path = world.hooks / "pre-commit"
    today = path.read_bytes()
    path.write_bytes(today + b"# of another version\n")
    assert states(world)["pre-commit"] == "outdated"
    assert {change.name: change.action for change in world.install().changes}["pre-commit"] == "updated"
    assert path.read_bytes() == today
    assert (world.hooks / "pre-commit.before-git-mem").stat() == kept


def test_a_hook_that_took_our_place_is_not_moved_over_the_one_we_keep(world):
    world.foreign("pre-commit", "# earlier")
    world.install()
    world.foreign("pre-commit", "# later")
    before = snapshot(world.hooks)
    report = world.install()
    assert snapshot(world.hooks) == before
    assert not report.active
    (hint,) = report.hints
    assert world.run("sh", "-c", hint.removeprefix("keep one of the two: ")).returncode == 0
    assert world.install().active
    world.commit()
    assert world.order()[:2] == ["foreign pre-commit ", "ours pre-commit"]


def test_an_install_that_died_half_way_is_completed(world):
    foreign = world.foreign("pre-commit").read_bytes()
    os.link(world.hooks / "pre-commit", world.hooks / "pre-commit.before-git-mem")
    assert world.install().active
    assert (world.hooks / "pre-commit.before-git-mem").read_bytes() == foreign
    assert states(world)["pre-commit"] == "ours (chained)"


def test_many_installs_at_once_keep_the_earlier_hook(world):
    foreign = {name: world.foreign(name, f"# {name}").read_bytes() for name in HOOKS}
    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(lambda _: world.install(), range(24)))
    assert all(report.active for report in reports)
    assert {name: (world.hooks / f"{name}.before-git-mem").read_bytes() for name in HOOKS} == foreign
    assert set(states(world).values()) == {"ours (chained)"}
    assert len(list(world.hooks.iterdir())) == 10


def test_a_framework_that_runs_our_hook_as_its_legacy_one_is_not_chained_in_a_circle(world):
    world.foreign("pre-commit")
    world.install()
    # What `pre-commit install` does: our hook moves aside and is called from the new one.
    (world.hooks / "pre-commit").rename(world.hooks / "pre-commit.legacy")
    text = '#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n"$0.legacy" "$@"\n'
    framework = world.script(world.hooks / "pre-commit", text).read_bytes()
    assert states(world)["pre-commit"] == "ours (chained)"
    assert world.install().active
    assert (world.hooks / "pre-commit").read_bytes() == framework
    assert world.commit().returncode == 0
    assert world.order()[:2] == ["foreign pre-commit ", "ours pre-commit"]
    uninstall(world.common)
    world.commit("c.md")
    assert world.order() == ["foreign pre-commit "]


# Hooks that git looks for elsewhere


@pytest.mark.parametrize("scope", ["local", "global"])
def test_a_foreign_hooks_path_is_reported_and_the_printed_command_helps(world, scope):
    folder = world.tmp / "shared hooks"
    world.script(folder / "pre-commit", FOREIGN.format(name="shared", log=world.log, more="", status=0))
    world.git("config", f"--{scope}", "core.hooksPath", str(folder))
    before = snapshot(folder)
    report = world.install(str(folder), scope)
    assert snapshot(folder) == before
    assert not report.active
    assert str(folder) in report.elsewhere
    assert states(world, str(folder))["pre-commit"] == "foreign only"
    assert states(world, str(folder))["pre-push"] == "missing"
    world.commit()
    assert world.order() == ["foreign shared "]
    command = report.hints[0].partition(": ")[2]
    assert world.run("sh", "-c", command, cwd=world.tmp).returncode == 0
    world.commit("c.md")
    assert world.order() == ["ours pre-commit", "ours commit-msg"]
    setting = None if scope == "local" else world.git("config", "--type=path", "core.hooksPath")
    assert world.install(setting).active
    assert set(states(world, setting).values()) == {"ours"}


def test_the_printed_lines_chain_both_hooks_and_do_nothing_in_other_repositories(world):
    folder = world.tmp / "shared hooks"
    world.git("config", "--global", "core.hooksPath", str(folder))
    for name in HOOKS:
        own = f"cat >'{world.log}/shared.stdin'" if name == "pre-push" else ""
        more = f"{chain_line(name)}\necho 'shared {name}' >>'{world.log}/order'\n{own}"
        world.script(folder / name, f"#!/bin/sh\n{more}\n")
    report = world.install(str(folder), "global")
    assert [line for line in report.hints if line.endswith(chain_line("pre-commit"))]
    assert [line for line in report.hints if line.endswith(chain_line("pre-push"))]
    assert set(states(world, str(folder)).values()) == {"ours (chained)"}
    world.commit()
    assert world.order() == ["ours pre-commit", "shared pre-commit", "ours commit-msg", "shared commit-msg"]
    remote = world.tmp / "remote.git"
    world.git("init", "-q", "--bare", str(remote))
    world.git("push", "-q", str(remote), "main")
    assert world.order() == ["ours pre-push", "shared pre-push"]
    assert world.logged("shared.stdin") == world.logged("pre-push.stdin") != ""
    (world.log / "status").write_text("1")
    assert world.commit("c.md").returncode == 1
    assert world.order() == ["ours pre-commit"]
    other = world.tmp / "other"
    world.git("init", "-q", str(other))
    assert world.commit(cwd=other).returncode == 0
    assert world.order() == ["shared pre-commit", "shared commit-msg"]


@pytest.mark.parametrize("setting", [".git/hooks", ".husky", "", "/dev/null"])
def test_a_hooks_path_that_cannot_serve_all_worktrees_is_no_success(world, setting):
    report = world.install(setting, "local")
    assert not report.active
    assert "--unset-all core.hooksPath" in report.hints[0]
    assert len(report.hints) == (1 if setting in ("", "/dev/null") else 3)


def test_a_relative_hooks_path_is_judged_in_each_worktree(world):
    world.install()
    tree = world.tmp / "linked"
    world.git("worktree", "add", "-q", str(tree))
    world.git("config", "core.hooksPath", ".git/hooks")
    assert set(states(world, ".git/hooks").values()) == {"ours"}
    assert set(states(world, ".git/hooks", worktree=tree).values()) == {"missing"}


def test_nothing_is_written_through_a_hooks_folder_that_is_a_link(world):
    shared = world.tmp / "shared"
    world.script(shared / "pre-commit", "#!/bin/sh\nexit 0\n")
    world.hooks.symlink_to(shared)
    before = snapshot(shared)
    report = world.install()
    assert not report.active
    assert snapshot(shared) == before
    assert uninstall(world.common) == ()
    assert world.run("sh", "-c", report.hints[0].partition(": ")[2]).returncode == 0
    assert world.install().active
    assert snapshot(shared) == before


def test_only_the_hooks_folder_and_our_own_lock_are_written(world):
    world.foreign("pre-commit")

    def others() -> dict:
        return {
            name: entry
            for name, entry in snapshot(world.tmp).items()
            if "/hooks/" not in name and "/git-mem" not in name
        }

    before = others()
    world.install()
    world.install(str(world.tmp / "nowhere"))
    uninstall(world.common)
    assert others() == before
    assert [path.name for path in (world.common / "git-mem").iterdir()] == ["hooks.lock"]


# How hooks stand


def test_inspect_names_each_state(world):
    assert set(states(world).values()) == {"missing"}
    world.foreign("commit-msg")
    world.foreign("pre-push")
    world.install()
    (world.hooks / "pre-commit").chmod(0o644)
    world.foreign("pre-push", "# took our place")
    (world.hooks / "post-merge").unlink()
    assert states(world) == {
        "pre-commit": "not executable",
        "commit-msg": "ours (chained)",
        "pre-merge-commit": "ours",
        "pre-push": "foreign only",
        "post-merge": "missing",
    }
    assert [state.name for state in inspect(world.common, None) if state.ok] == [
        "commit-msg",
        "pre-merge-commit",
    ]


def test_a_hook_that_lost_its_executable_bit_or_its_interpreter_is_mended_by_install(world):
    world.install()
    (world.hooks / "pre-commit").chmod(0o644)
    world.install()
    assert states(world)["pre-commit"] == "ours"
    moved = world.python.rename(world.python.with_name("python3"))
    state = inspect(world.common, None)[0]
    assert (state.state, state.detail) == ("outdated", f"its interpreter `{world.python}` is gone")
    world.python = moved
    world.install()
    assert states(world)["pre-commit"] == "ours"


def test_an_unknown_hook_is_refused(world):
    with pytest.raises(ValueError, match="post-office"):
        install(world.common, None, str(world.python), names=["post-office"])


# What git mem itself commits


def written(world: World, judged: bool, body: str = "") -> list[str]:
    """Commit a file as git mem does; the hooks of ours that started a check."""
    memory = locate.open_at(world.repo, config.read(world.env, world.repo))
    assert memory is not None
    files = {"registry/note.yaml": body.encode() or b"a: 1\n"}
    write.write(memory, lambda _: write.Draft(files, "mem: note", judged=judged))
    return world.order()


def test_a_commit_that_git_mem_has_judged_is_not_judged_again_by_its_hooks(world):
    world.install()
    assert written(world, judged=False) == ["ours pre-commit", "ours commit-msg"]
    assert written(world, judged=True, body="b: 1\n") == []
    assert world.commit().returncode == 0
    assert world.order() == ["ours pre-commit", "ours commit-msg"]


def test_an_earlier_hook_still_runs_where_git_mem_has_judged_and_what_it_changes_is_judged_again(world):
    world.foreign("pre-commit")
    world.install()
    assert written(world, judged=True) == ["foreign pre-commit "]
    world.script(
        world.hooks / "pre-commit.before-git-mem", "#!/bin/sh\necho more >extra.txt\ngit add extra.txt\n"
    )
    assert written(world, judged=True, body="b: 1\n") == ["ours pre-commit", "ours commit-msg"]


def test_a_message_that_another_hook_changed_is_judged_again(world):
    world.install()
    world.script(world.hooks / "prepare-commit-msg", '#!/bin/sh\nprintf "\\nMem-Agent: somebody\\n" >>"$1"\n')
    assert written(world, judged=True) == ["ours commit-msg"]


def test_a_note_of_a_killed_writer_lets_no_other_tree_pass(world):
    world.install()
    room = world.common / "git-mem" / "writer"
    room.mkdir(parents=True)
    (room / "judged").write_text("4b825dc642cb6eb9a060e54bf8d69288fbee4904\n")
    assert written(world, judged=False) == ["ours pre-commit", "ours commit-msg"]
    assert not (room / "judged").exists()

"""What a started hook asks the checks and prints; nothing but a finished check lets a commit pass."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from gitmem.errors import Busy
from gitmem.hooks import after
from gitmem.hooks.run import main, pushed_ranges

ZERO = "0" * 40


@dataclass
class Answer:
    text: str = ""
    ok: bool = True
    problems: list = field(default_factory=list)

    def render(self) -> str:
        return self.text


class Checks:
    """Stands for the engine: notes its calls and hands out what is queued."""

    def __init__(self) -> None:
        self.calls: list[tuple] = []
        self.answers: list[Answer | BaseException] = []

    def answer(self, *call) -> Answer:
        self.calls.append(call)
        answer = self.answers.pop(0) if self.answers else Answer()
        if isinstance(answer, BaseException):
            raise answer
        return answer


@pytest.fixture
def checks(monkeypatch) -> Checks:
    checks = Checks()
    module = ModuleType("gitmem.judge")
    for name in ("check_staged", "check_message", "check_range"):
        setattr(module, name, lambda *call, name=name: checks.answer(name, *call))
    monkeypatch.setitem(sys.modules, "gitmem.judge", module)
    return checks


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Path:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Lin")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "lin@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    path = tmp_path / "repo"
    git(tmp_path, "init", "-q", "-b", "main", str(path))
    monkeypatch.chdir(path)
    commit(path, "one")
    return path


def git(cwd: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(path: Path, message: str) -> str:
    git(path, "commit", "-q", "--allow-empty", "-m", message)
    return git(path, "rev-parse", "HEAD")


def push(monkeypatch, *lines: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return main(["pre-push", "origin", "url"])


@pytest.mark.parametrize("name", ["pre-commit", "pre-merge-commit"])
def test_commits_and_merges_are_judged_by_what_is_staged(name, checks, repo, capsys):
    assert main([name]) == 0
    assert checks.calls == [("check_staged", repo)]
    assert capsys.readouterr() == ("", "")


def test_a_message_is_found_from_where_git_started_the_hook(checks, repo):
    assert main(["commit-msg", ".git/COMMIT_EDITMSG"]) == 0
    assert checks.calls == [("check_message", repo, repo / ".git/COMMIT_EDITMSG")]


def test_a_refusal_is_the_report_on_stderr_and_1(checks, repo, capsys):
    checks.answers = [Answer("a.md:9: EVIDENCE x\nerror: 1 problem in 1 of 3 files", ok=False, problems=[1])]
    assert main(["pre-commit"]) == 1
    assert capsys.readouterr() == ("", "a.md:9: EVIDENCE x\nerror: 1 problem in 1 of 3 files\n")


def test_a_warning_is_printed_and_lets_the_commit_pass(checks, repo, capsys):
    checks.answers = [Answer("a.md:9: SAFETY names a credential file", problems=[1])]
    assert main(["pre-commit"]) == 0
    assert "SAFETY" in capsys.readouterr().err


@pytest.mark.parametrize("crash", [KeyError("x"), SystemExit(0), RecursionError(), Busy("a `b`", ["wait"])])
@pytest.mark.parametrize("hook", [["pre-commit"], ["pre-merge-commit"], ["commit-msg", "file"]])
def test_a_crash_never_lets_a_commit_pass(crash, hook, checks, repo, capsys):
    checks.answers = [crash]
    assert main(hook) == 1
    out, err = capsys.readouterr()
    error, *hints = err.splitlines()
    assert out == ""
    assert error.startswith("error: git mem check failed: ")
    assert hints and all(hint.startswith("hint: ") for hint in hints)


def test_an_error_of_ours_keeps_its_words_and_hints(checks, repo, capsys):
    checks.answers = [Busy("a merge is under way in `here`", ["git merge --continue"])]
    assert main(["pre-commit"]) == 1
    assert capsys.readouterr().err == (
        "error: git mem check failed: a merge is under way in `here`\nhint: git merge --continue\n"
    )


@pytest.mark.parametrize("argv", [[], ["post-office"], ["commit-msg"]])
def test_a_call_that_makes_no_sense_is_refused(argv, checks, repo, capsys):
    assert main(argv) == 1
    assert checks.calls == []


def test_an_engine_that_cannot_be_imported_refuses(repo, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "gitmem.judge", None)
    assert main(["pre-commit"]) == 1
    assert capsys.readouterr().err.startswith("error: git mem check failed: ModuleNotFoundError")


def test_a_push_is_judged_from_what_the_remote_has_to_what_it_gets(checks, repo, monkeypatch):
    one, two = git(repo, "rev-parse", "HEAD"), commit(repo, "two")
    assert push(monkeypatch, f"refs/heads/main {two} refs/heads/main {one}") == 0
    assert checks.calls == [("check_range", repo, one, two)]


def test_a_new_branch_and_a_remote_commit_never_fetched_have_no_base(checks, repo, monkeypatch):
    tip, unknown = git(repo, "rev-parse", "HEAD"), "1" * 40
    push(monkeypatch, f"a {tip} a {ZERO}", f"b {tip} b {unknown}", f"c {tip} c {tip}")
    assert checks.calls == [("check_range", repo, None, tip), ("check_range", repo, tip, tip)]


def test_a_deleted_branch_is_not_judged(checks, repo, monkeypatch):
    assert push(monkeypatch, f"(delete) {ZERO} refs/heads/old {git(repo, 'rev-parse', 'HEAD')}") == 0
    assert push(monkeypatch) == 0
    assert checks.calls == []


def test_tags_are_peeled_and_a_tag_of_a_file_is_not_judged(repo):
    tip = git(repo, "rev-parse", "HEAD")
    git(repo, "tag", "-a", "v1", "-m", "v1")
    blob = git(repo, "hash-object", "-w", "/dev/null")
    git(repo, "tag", "-a", "file", blob, "-m", "file")
    lines = [f"t {git(repo, 'rev-parse', name)} t {ZERO}" for name in ("v1", "file")]
    assert pushed_ranges(repo, lines) == [(None, tip)]


@pytest.mark.parametrize("line", [f"a {'2' * 40} a {ZERO}", "three fields only", "a  b c d e"])
def test_a_tip_that_is_absent_or_a_line_of_another_form_refuses_the_push(line, checks, repo, monkeypatch):
    assert push(monkeypatch, line) == 1


def test_one_bad_range_of_several_refuses_and_every_one_is_judged(checks, repo, monkeypatch, capsys):
    one, two = git(repo, "rev-parse", "HEAD"), commit(repo, "two")
    checks.answers = [Answer("bad", ok=False, problems=[1]), Answer()]
    assert push(monkeypatch, f"a {one} a {ZERO}", f"b {two} b {ZERO}") == 1
    assert len(checks.calls) == 2
    assert capsys.readouterr().err == "bad\n"


def test_a_merge_is_judged_afterwards_and_only_warned_about(checks, repo, capsys):
    git(repo, "checkout", "-q", "-b", "side")
    tip = commit(repo, "two")
    git(repo, "checkout", "-q", "main")
    before = git(repo, "rev-parse", "HEAD")
    git(repo, "merge", "-q", "side")
    checks.answers = [Answer("bad", ok=False, problems=[1])]
    assert main(["post-merge", "0"]) == 0
    assert checks.calls == [("check_range", repo, before, tip)]
    assert capsys.readouterr().err == "bad\n"
    checks.answers = [KeyError("x")]
    assert main(["post-merge", "0"]) == 0
    assert main(["post-merge", "1"]) == 0
    assert len(checks.calls) == 2


def test_a_hook_starts_without_heavy_imports(repo):
    code = (
        "import sys, gitmem.hooks.run; "
        "print([m for m in ('click','yaml','jsonschema','pygit2','numpy','whoosh') if m in sys.modules])"
    )
    root = Path(after.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_the_refresh_after_a_merge_runs_on_its_own_without_git_s_variables(repo, tmp_path, monkeypatch):
    seen = tmp_path / "seen.json"
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "names = [n for n in os.environ if n.startswith('GIT_')]\n"
        "data = {'argv': sys.argv[1:], 'env': names, 'cwd': os.getcwd()}\n"
        "null = os.stat(os.devnull)\n"
        "data['silent'] = all(os.path.samestat(os.fstat(n), null) for n in range(3))\n"
        "data['leader'] = os.getsid(0) == os.getpid()\n"
        f"open({str(seen) + '.new'!r}, 'w').write(json.dumps(data))\n"
        f"os.replace({str(seen) + '.new'!r}, {str(seen)!r})\n"
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("GIT_DIR", str(repo / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "elsewhere")
    after.after_merge(repo)
    deadline = time.monotonic() + 20
    while not seen.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    data = json.loads(seen.read_text())
    assert data["argv"] == ["-P", "-m", "gitmem", "--repo", str(repo), "index", "--quiet"]
    assert not {"GIT_DIR", "GIT_INDEX_FILE"} & set(data["env"])
    assert data["leader"] and data["silent"]

"""Moves of the memory's branch: those of a local repository under `--strict`, and those that a server is asked for.

In: the lines that git gives the hook. Out: reports, one that is not ok for every move that must not happen. Nothing is
written: on a server the objects that arrived are not even part of the repository yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gitmem import judge
from gitmem.checks.problem import Report
from gitmem.git import locate
from gitmem.git.locate import MARK, Memory
from gitmem.git.run import Git

_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A move that is refused for itself, whatever its commits hold; in the form of a report."""

    message: str
    hints: tuple[str, ...] = ()

    @property
    def problems(self) -> list[str]:
        return [self.message]

    @property
    def ok(self) -> bool:
        return False

    def render(self) -> str:
        return "".join(
            f"{line}\n" for line in (f"error: {self.message}", *map("hint: {}".format, self.hints))
        )


_AGAINST_REWRITE = (
    "git mem undo takes the last write back, git mem retract any card; both append",
    "git mem sync brings two devices together without a rebase",
    "to rewrite it all the same: git mem hooks uninstall, and git mem hooks install --strict afterwards",
)


_AGAINST_REPLACING = (
    "git mem sync, then it pushes what is yours",
    "after a forgetting, on this server: git mem --repo REPOSITORY forget ID... --server --yes",
)


def moved(cwd: Path, lines: Iterable[str]) -> Iterator[Report | Refusal]:
    """Judge what a transaction would do to the memory's branch; other refs are none of our business.

    Args:
        lines: `<old> <new> <ref>`. `old` is all zeros also where git was not told what to expect.
    """
    git = judge.hook_git(cwd, None)
    memory = locate.open_with(git)
    if memory is None:
        raise ValueError("git called this hook outside a repository")
    for old, new, ref in _updates(lines):
        if ref != memory.ref or new == memory.tip or _only_packed(memory, old, new):
            continue
        if memory.tip is not None and not _is_memory(git, memory.tip) and not _is_memory(git, new):
            continue
        reports = list(_grown(git, memory, new, _AGAINST_REWRITE))
        yield from reports
        if not all(report.ok for report in reports):
            yield Refusal(
                f"`{memory.branch}` stays where it was",
                (
                    "a cherry-pick, rebase, am or merge that stopped here is ended with its --abort",
                    "files and index may be ahead of the branch now, see git status; git reset --hard puts back what the "
                    "branch holds, and takes what was not committed with it",
                ),
            )


def _only_packed(memory: Memory, old: str, new: str) -> bool:
    """Whether git takes the branch's own file away because `packed-refs` says the same now, as `git gc` does.

    The hook hears of that as of a deletion. A true one holds the lock of `packed-refs` meanwhile, as it has to take the
    branch out there, too.
    """
    if new.strip("0") or not old.strip("0") or (memory.common_dir / "packed-refs.lock").exists():
        return False
    try:
        packed = (memory.common_dir / "packed-refs").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return f"{old} {memory.ref}" in packed.splitlines()


def received(cwd: Path, lines: Iterable[str]) -> Iterator[Report | Refusal]:
    """Judge a push to a bare repository: the memory's branch only grows, by commits that pass; so does any branch
    that holds a memory, but for how it moves."""
    git = judge.hook_git(cwd, None)
    memory = locate.open_with(git)
    if memory is None:
        raise ValueError("git called this hook outside a repository")
    for old, new, ref in _updates(lines):
        if ref == memory.ref:
            yield from _grown(git, memory, new, _AGAINST_REPLACING)
        elif ref.startswith(_HEADS) and new.strip("0") and _is_memory(git, new):
            known = [one for one in (old, memory.tip) if one and one.strip("0")]
            yield judge.check_commits(git, [new, "--not", *known])


def _grown(git: Git, memory: Memory, new: str, way_out: tuple[str, ...]) -> Iterator[Report | Refusal]:
    """The memory's branch goes from its tip to `new`."""
    if not new.strip("0"):
        yield Refusal(f"`{memory.branch}` holds the memory and is not deleted or renamed", way_out)
    elif new.startswith("ref:"):
        yield Refusal(f"`{memory.branch}` holds the memory and does not become a link to another branch")
    elif memory.tip is None:
        yield judge.check_commits(git, [new])
    elif git.run("merge-base", "--is-ancestor", memory.tip, new, check=False).code != 0:
        yield Refusal(f"`{memory.branch}` only grows: this would drop commits that it holds", way_out)
    else:
        yield judge.check_commits(git, [f"{memory.tip}..{new}"])


def _updates(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    for line in filter(str.strip, lines):
        fields = line.split(" ", 2)
        if len(fields) != 3:
            raise ValueError(f"git wrote a line that this hook does not know: `{line}`")
        yield fields[0], fields[1], fields[2]


def _is_memory(git: Git, commit: str) -> bool:
    return git.run("cat-file", "-e", f"{commit}:{MARK}", check=False).code == 0

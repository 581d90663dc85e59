"""What an installed hook starts: `python -P -m gitmem.hooks.run NAME ARGS...` in the memory repository.

In: the hook's name and arguments, and on stdin the refs for those hooks that git tells them. Out: the checks' own words on stderr and an
exit code. A check that cannot finish refuses: only post-merge, which comes too late for that, always exits 0.
The environment is passed on as git made it, because it names the index that is being committed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol


class Report(Protocol):
    """What the checks hand back; `problems` may hold warnings when `ok` is true."""

    @property
    def problems(self) -> list: ...
    @property
    def ok(self) -> bool: ...
    def render(self) -> str: ...


def main(argv: list[str]) -> int:
    """Run one hook.

    Args:
        argv: the hook's name, then what git gave it.

    Returns:
        0 when git may go on, 1 when it may not.
    """
    name, *arguments = argv or [""]
    try:
        hook = _HOOKS.get(name)
        if hook is None:
            raise ValueError(f"no hook is called `{name}`")
        allowed = True
        for report in hook(Path.cwd(), arguments):
            if report.problems or not report.ok:
                print(report.render().rstrip("\n"), file=sys.stderr)
            allowed = allowed and report.ok
    # A library that ends the program must not end it as a success either.
    except (Exception, SystemExit) as error:
        print("\n".join(_failure(error)), file=sys.stderr)
        allowed = False
    return 0 if allowed or name == "post-merge" else 1


def _pre_commit(cwd: Path, arguments: list[str]) -> Iterable[Report]:
    from gitmem.judge import check_staged

    yield check_staged(cwd)


def _commit_msg(cwd: Path, arguments: list[str]) -> Iterable[Report]:
    from gitmem.judge import check_message

    # Relative to the working directory as git hands it, `.git/COMMIT_EDITMSG` as a rule.
    yield check_message(cwd, cwd / arguments[0])


def _pre_push(cwd: Path, arguments: list[str]) -> Iterable[Report]:
    ranges = pushed_ranges(cwd, sys.stdin.read().splitlines())
    if not ranges:
        return
    from gitmem.judge import check_range

    for base, tip in ranges:
        yield check_range(cwd, base, tip)


def _pre_receive(cwd: Path, arguments: list[str]) -> Iterable[Report]:
    from gitmem.hooks.moves import received

    yield from received(cwd, sys.stdin.read().splitlines())


def _reference_transaction(cwd: Path, arguments: list[str]) -> Iterable[Report]:
    if arguments[:1] != ["prepared"]:
        return
    from gitmem.hooks.moves import moved

    yield from moved(cwd, sys.stdin.read().splitlines())


def _post_merge(cwd: Path, arguments: list[str]) -> Iterable[Report]:
    before, after = _commits(cwd, ["ORIG_HEAD", "HEAD"])
    if arguments[:1] == ["1"] or after is None or before == after:
        return  # `git merge --squash` recorded nothing; pre-commit will see what it staged
    from gitmem.hooks.after import after_merge
    from gitmem.judge import check_range

    after_merge(cwd)
    yield check_range(cwd, before, after)


def pushed_ranges(cwd: Path, lines: Iterable[str]) -> list[tuple[str | None, str]]:
    """The commits to judge for a push, each range once.

    Args:
        lines: `<local ref> <local object> <remote ref> <remote object>`, as git writes them for pre-push.

    Returns:
        (base, tip) as commit ids, in the order of the lines. The base is None when the remote has no such ref
        or holds a commit that was never fetched: then everything that is on no remote counts. Deleted refs,
        and tags of something that is no commit, are left out.

    Raises:
        ValueError: a line of another form, or a tip that is not in this repository.
    """
    pairs = []
    for line in filter(str.strip, lines):
        fields = line.split(" ")
        if len(fields) != 4:
            raise ValueError(f"git wrote a line that pre-push does not know: `{line}`")
        if fields[1].strip("0"):
            pairs.append((fields[1], fields[3]))
    if not pairs:
        return []
    commits = _commits(cwd, [name for pair in pairs for name in pair])
    ranges: dict[tuple[str | None, str], None] = {}
    for (tip_name, _), tip, base in zip(pairs, commits[0::2], commits[1::2], strict=True):
        if tip is not None:
            ranges[base, tip] = None
        elif _lookup(cwd, [tip_name]) == [None]:
            raise ValueError(f"object `{tip_name}` is not in this repository")
    return list(ranges)


def _commits(cwd: Path, names: list[str]) -> list[str | None]:
    """The commit that each revision names, tags peeled; None when it is absent or no commit."""
    return _lookup(cwd, [f"{name}^{{commit}}" for name in names])


def _lookup(cwd: Path, names: list[str]) -> list[str | None]:
    from gitmem import config
    from gitmem.git.run import Git

    # As git called us, in its environment; a commit that is not here is an answer and not worth a fetch.
    git = Git(cwd, config.from_process().vars)
    asked = "".join(f"{name}\n" for name in names).encode()
    answer = git.run(
        "cat-file", "--batch-check=%(objectname)", input=asked, env={"GIT_NO_LAZY_FETCH": "1"}
    ).text()
    # An absent one is answered with its name and a word, `… missing`.
    return [None if " " in line else line for line in answer.splitlines()]


def _failure(error: BaseException) -> list[str]:
    """One line on a check that could not finish, and its hints. `gitmem.errors` itself may be what broke."""
    message = getattr(error, "message", None) or f"{type(error).__name__}: {error}".rstrip(": ")
    first, *_ = str(message).splitlines() or [""]
    hints = getattr(error, "hints", ()) or (
        "git mem doctor",
        "if git mem was moved or updated: git mem hooks install",
    )
    return [f"error: git mem check failed: {first}", *(f"hint: {hint}" for hint in hints)]


_HOOKS: dict[str, Callable[[Path, list[str]], Iterable[Report]]] = {
    "pre-commit": _pre_commit,
    "pre-merge-commit": _pre_commit,
    "commit-msg": _commit_msg,
    "pre-push": _pre_push,
    "post-merge": _post_merge,
    "pre-receive": _pre_receive,
    "reference-transaction": _reference_transaction,
}

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Sync: fetch, judge, merge, push. Nothing is rewritten, nothing is forced, and a stop comes before any change.

fetch -> is it this memory, and whole? -> forward or merge -> push, again when somebody was faster
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from shlex import quote

from gitmem import judge
from gitmem.authoring.commit import subject
from gitmem.checks.problem import APPEND_ONLY, SCOPE, Problem
from gitmem.context import Context
from gitmem.erasure import remains
from gitmem.errors import MemError, Refused
from gitmem.git import lock, objects, write
from gitmem.git.locate import MARK, Memory, refreshed
from gitmem.git.write import Draft
from gitmem.learn import durable
from gitmem.model import when
from gitmem.model.card import id_of_path
from gitmem.sharing import merge, registry_merge, remote
from gitmem.sharing.remote import Incoming, Offline

ATTEMPTS = 6
_TOLD = ("cards", "registry", "briefs")


@dataclass(slots=True)
class Report:
    """What a sync did.

    Args:
        offline: why the remote could not be reached; then nothing else happened.
        taken, given: commits that came, and that went. `cards`: ids of new cards that came.
        merged: a merge commit was made.
        settings: registry entries that came with it, in words. `left_out`: new cards that do not pass, with the reason.
        refused: the server's words, when it did not take ours.
    """

    remote: str = ""
    offline: str = ""
    taken: int = 0
    given: int = 0
    cards: list[str] = field(default_factory=list)
    merged: bool = False
    settings: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    refused: str = ""
    behind: tuple[str, ...] = ()


class Stopped(Refused):
    """Both sides cannot be brought together as they are; nothing was changed."""


def sync(context: Context, wanted: str | None = None, *, push: bool = True, wait_s: float = 0.0) -> Report:
    """Bring this memory and its remote together. `wait_s`: how long to wait for another sync that is at work.

    Raises:
        Busy: another sync is at work, or a work tree is in the middle of something.
        Stopped, Refused: it cannot be; nothing was changed.
        GitFailed: git itself failed.
    """
    memory = context.memory
    with lock.held(memory.state / "sync.lock", wait_s, "sync"):
        report = Report(remote.name_of(memory, wanted))
        try:
            _attempts(context, report, push)
        except Offline as none:
            report.offline = str(none)
        note(context, report)
        return report


def _attempts(context: Context, report: Report, push: bool) -> None:
    env = {} if context.env.terminal else {"GIT_ASKPASS": "true"}
    for _ in range(ATTEMPTS):
        memory = refreshed(context.memory)
        if memory.tip is None:
            raise Refused("there is nothing to sync: the memory has no commit", ["git mem init"])
        with remote.fetched(memory, report.remote, env) as incoming:
            theirs = incoming.commit if incoming else None
            if incoming is not None:
                _take(context.with_memory(memory), incoming, report)
        memory = refreshed(memory)
        assert memory.tip is not None
        given = 0 if theirs == memory.tip else _count(memory, theirs, memory.tip)
        if not push or theirs == memory.tip:
            break
        done = remote.push(memory, report.remote, memory.tip, env)
        if done.behind:
            continue
        if done.refused:
            report.refused = done.refused
            return
        report.given += given
        remote.note_seen(memory, report.remote, memory.tip)
        return
    else:
        report.refused = "others push faster than this could; try again"
        return
    if theirs is not None:
        remote.note_seen(memory, report.remote, theirs)


def _take(context: Context, incoming: Incoming, report: Report) -> None:
    """Bring their commits in, once they are judged: of what is refused nothing stays here."""
    memory, theirs = context.memory, incoming.commit
    ours = str(memory.tip)
    beside = replace(context, memory=incoming.memory)
    _is_memory(beside.memory, report.remote, theirs)
    if remains.brings_back(beside.memory, theirs, context.registry.forgotten):
        raise _holds_forgotten(beside, report.remote, theirs)
    _not_rewritten(context, beside, report.remote, theirs)
    base = beside.memory.git.run("merge-base", ours, theirs, check=False).text()
    if not base:
        raise Stopped(
            f"`{report.remote}` holds another memory: no commit in common, nothing changed",
            [f"git -C {quote(str(memory.root))} remote -v", "git mem clone URL DIR takes the other one"],
        )
    if base == theirs:
        return
    _judged(beside, base, theirs, report)
    incoming.keep()
    before = _registry(memory, ours)
    if base == ours:
        written = write.forward(memory, theirs, f"sync: forward to {report.remote}")
    else:
        written = _merge(context, theirs, report)
    report.taken += _count(memory, ours, theirs)
    if written is not None:
        report.behind = tuple(map(str, written.behind))
        report.cards += [
            card
            for one in objects.changes(memory.git, ours, written.commit, "cards")
            if one.old is None and (card := id_of_path(one.path))
        ]
        report.settings += _settings(before, _registry(memory, written.commit))


def _is_memory(memory: Memory, name: str, theirs: str) -> None:
    git = memory.git
    if git.run("cat-file", "-e", f"{theirs}:{MARK}", check=False).code != 0:
        raise Stopped(
            f"`{memory.branch}` of `{name}` is no memory, nothing changed",
            [f"git -C {quote(str(memory.root))} remote -v"],
        )


def _holds_forgotten(context: Context, name: str, theirs: str) -> Stopped:
    """The way to bring a remote the history without the words; never over what others gave it meanwhile."""
    memory = context.memory
    ids = " ".join(sorted(one for one in _cards(memory, theirs) if one in context.registry.forgotten)[:3])
    server = f"where git mem judges what is pushed, on that server: git mem --repo REPOSITORY forget {ids} --server --yes"
    if _gave_more(context, theirs):
        hints = [
            "others gave it more meanwhile; take that, without the words: git mem sync --accept-rewrite",
            "it then prints the push that this remote needs",
        ]
    else:
        hints = ["it needs this history: " + remains.push_command(memory, name, theirs)]
    return Stopped(f"`{name}` still holds what was forgotten here, nothing changed", [*hints, server])


def _cards(memory: Memory, commit: str) -> set[str]:
    return {card for one in objects.entries(memory.git, commit, "cards") if (card := id_of_path(one.path))}


def _gave_more(context: Context, theirs: str) -> bool:
    """Whether a commit holds a card, a setting or a brief that never stood in our history, but for what was forgotten."""
    memory = context.memory
    log = memory.git.run(
        "log", "--format=", "--raw", "--no-abbrev", "--no-renames", "-m", memory.ref, "--", *_TOLD
    ).text()
    known = {(line.split("\t", 1)[1], line.split()[3]) for line in log.split("\n") if line.startswith(":")}
    return any(
        (one.path, one.oid) not in known and id_of_path(one.path) not in context.registry.forgotten
        for one in objects.entries(memory.git, theirs, *_TOLD)
    )


def _not_rewritten(context: Context, beside: Context, name: str, theirs: str) -> None:
    """Refuse a branch that no longer leads to where it stood; what it had is kept."""
    memory, git = context.memory, beside.memory.git
    seen = remote.seen(memory, name)
    if seen is None or git.run("merge-base", "--is-ancestor", seen, theirs, check=False).code == 0:
        return
    if git.run("cat-file", "-e", f"{seen}^{{commit}}", check=False).code != 0:
        return
    kept = remote.keep_rescue(memory, name, seen)
    accept = "take it, with this device's own cards on top: git mem sync --accept-rewrite"
    if judge.forgotten_at(git, theirs).cards - context.registry.forgotten:
        raise Stopped(f"another device forgot something and rewrote `{name}`, nothing changed", [accept])
    lease = quote(f"--force-with-lease={memory.branch}:{theirs}")
    raise Stopped(
        f"`{name}` was rewritten since the last sync: it no longer holds {seen[:7]}, nothing changed",
        [
            f"if somebody meant it, {accept}",
            f"if nobody did: {kept} keeps what it had; "
            f"git -C {quote(str(memory.root))} push {lease} {name} {kept}:{memory.ref} puts it back",
        ],
    )


def _judged(context: Context, base: str, theirs: str, report: Report) -> None:
    """What came is judged commit by commit; a change to what never changes stops, a bad new card is named."""
    memory = context.memory
    found = judge.check_range(memory.root, base, theirs, dict(memory.git.env))
    stops = [
        one
        for one in found.errors
        if one.check == APPEND_ONLY or (one.check == SCOPE and not one.path.startswith("cards/"))
    ]
    if stops:
        first = stops[0]
        raise Stopped(
            f"`{report.remote}` has commits that a memory does not allow, nothing changed",
            [
                f"on the device that made them: git mem check --range {base[:10]}..{theirs[:10]} names every one",
                "undo them there, with git revert, and sync again",
            ],
            [f"{one.path}: {one.message}" for one in (first, *stops[1:4])],
        )
    report.left_out += [(one.path, one.message) for one in found.errors if _new(one)]


def _new(one: Problem) -> bool:
    return one.path.startswith(("cards/", "sources/", "registry/", "briefs/"))


def _merge(context: Context, theirs: str, report: Report) -> write.Written | None:
    memory = context.memory
    reader = objects.open_bulk(memory.git, str(memory.common_dir))
    blobs = objects.Blobs(reader)

    def make(now: Memory) -> Draft | None:
        ours = str(now.tip)
        base = now.git.run("merge-base", ours, theirs).text()
        if base == theirs:
            return None
        done = merge.merge(
            merge.tree_of(now, base),
            merge.tree_of(now, ours),
            merge.tree_of(now, theirs),
            blobs.__getitem__,
            merge.by_lines(now),
        )
        if done.stops:
            raise _conflict(now, report.remote, done.stops)

        def approve(commit: str) -> None:
            found = judge.check_commit(now.git, commit, [ours, theirs])
            if not found.ok:
                first = found.errors[0]
                raise Stopped(
                    f"merged with `{report.remote}` the memory would not pass its checks, nothing changed",
                    [f"{first.path}: {first.message}"],
                )

        host = report.remote
        return Draft(
            done.files,
            subject(f"mem: merge {host}"),
            trailers=[("Mem-Action", "sync")],
            merges=theirs,
            approve=approve,
        )

    try:
        written = write.write(memory, make)
    finally:
        reader.close()
    report.merged = report.merged or written is not None
    return written


def _conflict(memory: Memory, name: str, stops: dict[str, str]) -> Stopped:
    where = quote(str(memory.root))
    return Stopped(
        f"{len(stops)} file{'s' if len(stops) > 1 else ''} cannot be merged by rule, nothing changed",
        [f"merge by hand: git -C {where} pull --no-rebase {name} {memory.branch}", "then: git mem sync"],
        [f"{path}: {why}" for path, why in list(stops.items())[:8]],
    )


def _registry(memory: Memory, commit: str) -> dict[str, str]:
    found = {}
    for one in objects.entries(memory.git, commit, "registry"):
        data = memory.git.run("cat-file", "blob", one.oid).out
        found[one.path] = data.decode("utf-8", "replace")
    return found


def _settings(before: dict[str, str], after: dict[str, str]) -> list[str]:
    found = []
    for path in sorted(after):
        if before.get(path, "") != after[path]:
            name = path.removeprefix("registry/").removesuffix(".yaml")
            try:
                found += [
                    f"{name}: {words}" for words in registry_merge.changes(before.get(path, ""), after[path])
                ]
            except Exception as error:
                found.append(f"{name}: changed ({type(error).__name__})")
    return found


def _count(memory: Memory, old: str | None, new: str) -> int:
    asked = [new, f"^{old}"] if old else [new]
    return int(memory.git.run("rev-list", "--count", *asked).text())


def note_file(memory: Memory):  # type: ignore[no-untyped-def]
    return memory.state / "sync.json"


def note(context: Context, report: Report) -> None:
    """Keep what a sync did, for `status` and `doctor`."""
    durable.write_json(
        note_file(context.memory),
        {
            "at": when.stamp(context.utc()),
            "remote": report.remote,
            "offline": report.offline or None,
            "refused": report.refused or None,
            "taken": report.taken,
            "given": report.given,
        },
        sync=False,
    )


def note_failure(context: Context, error: MemError | OSError) -> None:
    """A sync that stopped, and what helps, for `status` and `doctor`."""
    note = durable.read_json(note_file(context.memory)) or {}
    why = error.message if isinstance(error, MemError) else str(error)
    hints = error.hints if isinstance(error, MemError) else []
    failed = {"failed": why, "failed_at": when.stamp(context.utc()), "mend": hints[0] if hints else None}
    durable.write_json(note_file(context.memory), {**note, **failed}, sync=False)


@dataclass(frozen=True, slots=True)
class Standing:
    """How this memory stands with its remote. Times are RFC 3339; `failed`: why the last sync stopped, `mend`: what helps."""

    remote: str
    last: str | None = None
    refused: str | None = None
    failed: str | None = None
    mend: str | None = None
    ahead: int = 0


def standing(memory: Memory) -> Standing | None:
    """None where there is no remote."""
    names = memory.git.lines("remote")
    if not names:
        return None
    note = durable.read_json(note_file(memory)) or {}
    name, last = str(note.get("remote") or names[0]), note.get("at")
    seen = remote.seen(memory, name)
    ahead = (
        memory.git.run("rev-list", "--count", f"{seen}..{memory.tip}", check=False).text()
        if seen and memory.tip
        else ""
    )
    return Standing(
        name, last, note.get("refused"), note.get("failed"), note.get("mend"), int(ahead or 0),
    )  # fmt: skip

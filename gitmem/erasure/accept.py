"""Take a branch that another device rewrote, keep what only this clone has, and erase here what was forgotten there.

    fetch -> note where we stood -> move the branch -> write our own cards again -> erase the rest

Where we stood is kept under a ref until the end, so that a run that is killed loses no card; the next one goes on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from gitmem import judge
from gitmem.authoring import registry_edit
from gitmem.authoring.commit import Change, ChecksFailed, commit
from gitmem.checks import registry_files
from gitmem.context import Context
from gitmem.erasure import erase, rewrite, roots
from gitmem.errors import Busy, FormatError, Refused
from gitmem.git import lock, objects
from gitmem.git.deliver import note_debts, settle_debts
from gitmem.git.locate import MARK, refreshed
from gitmem.git.worktrees import work_trees
from gitmem.identity import Caller
from gitmem.model import card as cards
from gitmem.model import source as sources
from gitmem.model.card import Card, id_of_path
from gitmem.model.registry import LEARNER, Tombstones

OURS, THEIRS = "refs/git-mem/accepting/ours", "refs/git-mem/accepting/theirs"
LEFT_OUT = "left-out"
BEGUN = "accepting"
_UNIONS = ("projects", "agents", "profiles", "types")


@dataclass(frozen=True, slots=True)
class Report:
    """What became of it.

    Args:
        tip: the commit that was taken.
        again: ids of this clone's own cards, written again on top of it.
        left_out: (id, why) of those that were not; their files lie in `<state>/left-out/`, but for what was forgotten.
        outcome: what was erased here.
        differs: their commit is no part of the branch now, as it held what was forgotten here; they need ours in turn.
    """

    tip: str
    again: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    outcome: erase.Outcome
    differs: bool = False


def accept(context: Context, remote: str = "origin") -> Report:
    """Take the memory's branch as `remote` has it.

    Raises:
        Refused: it is no memory; nothing was changed.
        Busy: a work tree is in the middle of something.
        GitFailed: the remote cannot be reached.
    """
    erase.people_only(context)
    erase.resume(context)
    with _alone(context, erase.WAIT_S):
        memory = refreshed(context.memory)
        roots.refuse_when_unfit(memory)
        git = memory.git
        if not is_open(context):
            git.run("fetch", "-q", "--no-tags", "--no-write-fetch-head", remote, f"+{memory.ref}:{THEIRS}")
            theirs = git.run("rev-parse", "--verify", f"{THEIRS}^{{commit}}").text()
            try:
                _refuse(context.with_memory(memory), remote, theirs)
            except BaseException:
                git.run("update-ref", "-d", THEIRS)
                raise
            (memory.state / BEGUN).touch(mode=0o600)
            git.run("update-ref", OURS, memory.tip or "")
        return _go_on(context.with_memory(memory))


def _alone(context: Context, wait_s: float) -> AbstractContextManager[int]:
    """Whoever goes on with it, and whoever begins it: one at a time."""
    return lock.held(context.memory.state / "accept.lock", wait_s, "taking a rewritten branch")


def is_open(context: Context) -> bool:
    """Whether a run was begun and has not come to its end."""
    return all(_resolved(context, name) for name in (OURS, THEIRS))


def was_killed(context: Context) -> bool:
    """Whether a run was begun and nobody is at it."""
    return is_open(context) and not lock.taken(context.memory.state / "accept.lock")


def resume(context: Context) -> Report | None:
    """Finish a run that was killed; None when there is none, or when somebody is at it."""
    state = context.memory.state
    if not (state / BEGUN).exists() and not is_open(context):
        return None
    try:
        with _alone(context, 0.0):
            if is_open(context):
                return _go_on(context.with_memory(refreshed(context.memory)))
            (state / BEGUN).unlink(missing_ok=True)
            return None
    except Busy:
        return None


def _go_on(context: Context) -> Report:
    memory = context.memory
    ours, theirs = _resolved(context, OURS), _resolved(context, THEIRS)
    assert ours is not None and theirs is not None
    forgotten = judge.forgotten_at(memory.git, theirs, ours)
    _move(context, ours, theirs)
    context = context.with_memory(refreshed(memory))
    again, left_out = _write_again(context, ours, forgotten)
    outcome = erase.purge(refreshed(memory), forgotten)
    for name in (OURS, THEIRS):
        memory.git.run("update-ref", "-d", name)
    (memory.state / BEGUN).unlink(missing_ok=True)
    tip = refreshed(memory).tip or ""
    differs = memory.git.run("merge-base", "--is-ancestor", theirs, tip, check=False).code != 0
    return Report(theirs, tuple(again), tuple(left_out), outcome, differs)


def _resolved(context: Context, name: str) -> str | None:
    found = context.memory.git.run("rev-parse", "--verify", "-q", f"{name}^{{commit}}", check=False)
    return found.text() or None


def _refuse(context: Context, remote: str, theirs: str) -> None:
    git = context.memory.git
    if git.run("cat-file", "-e", f"{theirs}:{MARK}", check=False).code != 0:
        raise Refused(f"`{remote}` holds no memory on `{context.memory.branch}`, nothing was changed")


def _move(context: Context, ours: str, theirs: str) -> None:
    """The branch and its work trees; once it stands on theirs there is nothing to move."""
    with lock.held(context.memory.state / "write.lock", 30.0, "the memory"):
        memory = refreshed(context.memory)
        git = memory.git
        if memory.tip and git.run("merge-base", "--is-ancestor", theirs, memory.tip, check=False).code == 0:
            return
        trees = work_trees(memory)
        settle_debts(memory, trees)
        paths = [change.path for change in objects.changes(git, memory.tip, theirs)]
        note_debts(memory, trees, paths)
        if memory.tip != ours:
            # somebody wrote in between: that is ours too
            git.run("update-ref", OURS, memory.tip or ours)
        mark = memory.state / rewrite.MARK
        mark.touch(mode=0o600)
        try:
            git.run("update-ref", "-m", "git mem: accepted a rewrite", memory.ref, theirs, memory.tip or "")
        finally:
            mark.unlink(missing_ok=True)
        settle_debts(replace(memory, tip=theirs), trees)


@dataclass(frozen=True, slots=True)
class _Own:
    """A card that only this clone has, with its file and the sources it cites."""

    card: Card
    files: dict[str, bytes]


def _write_again(
    context: Context, ours: str, forgotten: Tombstones
) -> tuple[list[str], list[tuple[str, str]]]:
    """The clone's own cards, oldest first, in as few commits as their authors allow; each once."""
    found, left_out = _own(context, ours, forgotten)
    if forgotten != context.registry.tombstones:
        commit(context, lambda here: _own_tombstones(here, forgotten))
        context = context.with_memory(refreshed(context.memory))
    files = _own_registry(context, ours)
    if files:
        commit(context, lambda _: Change(files, "mem: entries of this clone", "registry"))
        context = context.with_memory(refreshed(context.memory))
    again: list[str] = []
    for by_agent, run in groupby(found, key=lambda own: own.card.author in context.registry.agents):
        context = context.with_memory(refreshed(context.memory))
        here = _as_learner(context) if by_agent else context
        for part in _passing(here, list(run)):
            if isinstance(part, tuple):
                left_out.append(part)
            else:
                again.extend(part)
    _keep_left_out(context, found, left_out)
    return again, left_out


def _passing(context: Context, run: Sequence[_Own]) -> list[list[str] | tuple[str, str]]:
    """Commit a run of cards; where it does not pass as a whole, one by one."""
    files = {path: data for own in run for path, data in own.files.items()}
    count = len(run)
    subject = f"mem: {count} card{'s' if count != 1 else ''} of this clone, on the rewritten history"
    names = [own.card.id for own in run]
    try:
        commit(context, lambda _: Change(files, subject, "add", names))
        return [names]
    except ChecksFailed as error:
        if count == 1:
            return [(names[0], error.report.errors[0].message)]
    parts: list[list[str] | tuple[str, str]] = []
    for own in run:
        parts += _passing(context.with_memory(refreshed(context.memory)), [own])
    return parts


def _as_learner(context: Context) -> Context:
    """Cards of several agents in one commit: what only the built-in agent may write."""
    return replace(context, caller=Caller(LEARNER, None, context.caller.profile, ("all",), ("all",)))


def _own(context: Context, ours: str, forgotten: Tombstones) -> tuple[list[_Own], list[tuple[str, str]]]:
    git = context.memory.git
    there = {id_of_path(one.path) for one in objects.entries(git, context.memory.tip or "", "cards")}
    present = {one.path for one in objects.entries(git, context.memory.tip or "", "sources")}
    mine = {one.path: one for one in objects.entries(git, ours, "cards", "sources")}
    reader = objects.open_light(git)
    found: list[_Own] = []
    left_out: list[tuple[str, str]] = []
    try:
        for path, entry in mine.items():
            card_id = id_of_path(path) if path.startswith("cards/") else None
            if card_id is None or card_id in there or card_id in forgotten.cards:
                continue
            data = reader.blob(entry.oid)
            card = cards.read(data)[0]
            if card is None:
                left_out.append((card_id, "it cannot be read as a card"))
                continue
            if _says_forgotten(card, forgotten):
                left_out.append((card_id, "its words were forgotten"))
                continue
            files = {path: data}
            gone = False
            for item in card.evidence:
                source = mine.get(item.source)
                if source is None:
                    continue
                words = reader.blob(source.oid)
                gone = gone or _cites_forgotten(item.source, words, item.turn, forgotten)
                if item.source not in present:
                    files[item.source] = words
            if gone:
                left_out.append((card_id, "its words were forgotten"))
            else:
                found.append(_Own(card, files))
    finally:
        reader.close()
    return _in_order(found), left_out


def _in_order(found: list[_Own]) -> list[_Own]:
    """Oldest first, and every card behind those it points at."""
    by_id = {own.card.id: own for own in found}
    out: dict[str, _Own] = {}

    def put(own: _Own, path: frozenset[str]) -> None:
        for _, target in own.card.edges():
            if target in by_id and target not in out and target not in path:
                put(by_id[target], path | {target})
        out[own.card.id] = own

    for own in sorted(found, key=lambda one: (one.card.created, one.card.id)):
        if own.card.id not in out:
            put(own, frozenset({own.card.id}))
    return list(out.values())


def _says_forgotten(card: Card, forgotten: Tombstones) -> bool:
    texts = (card.conclusion or "", *card.also, *(item.quote for item in card.evidence))
    return any(text and forgotten.knows(text) for text in texts)


def _cites_forgotten(path: str, data: bytes, number: int, forgotten: Tombstones) -> bool:
    try:
        source = sources.parse(data)
    except FormatError:
        return False
    turn = source.turn(number)
    return (*sources.told_in(path, source), number) in forgotten.turns or (
        turn is not None and forgotten.knows(turn.text)
    )


def _own_tombstones(context: Context, forgotten: Tombstones) -> Change | None:
    """What only this clone forgot is forgotten on their branch too."""
    new = sorted(forgotten.cards - context.registry.forgotten)
    return erase.tombstones_change(context, forgotten, f"mem: forgot {len(new)} of this clone", new)


def _own_registry(context: Context, ours: str) -> dict[str, bytes]:
    """Registry files with the entries, and briefs, that only this clone has. An entry that both have is theirs."""
    git = context.memory.git
    out: dict[str, bytes] = {}
    for name in _UNIONS:
        path = f"registry/{name}.yaml"
        texts = [
            git.run("cat-file", "blob", f"{rev}:{path}", check=False) for rev in (ours, context.memory.tip)
        ]
        mine, theirs = (registry_files.read(name, one.out)[0] if one.code == 0 else {} for one in texts)
        text = texts[1].out.decode("utf-8", "replace")
        for key, entry in mine.items():
            if key not in theirs:
                text = registry_edit.put(text, key, entry)
        if text.encode() != texts[1].out:
            out[path] = text.encode()
    there = {one.path for one in objects.entries(git, context.memory.tip or "", "briefs")}
    for one in objects.entries(git, ours, "briefs"):
        if one.path not in there:
            out[one.path] = git.run("cat-file", "blob", one.oid).out
    return out


def _keep_left_out(context: Context, found: Sequence[_Own], left_out: Sequence[tuple[str, str]]) -> None:
    """Files of cards that did not pass, for the person to look at."""
    names = {one for one, _ in left_out}
    for own in found:
        if own.card.id in names:
            place: Path = context.memory.state / LEFT_OUT / f"{own.card.id}.json"
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            kept = {path: data.decode("utf-8", "replace") for path, data in own.files.items()}
            place.write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")

"""Take back a write: a retraction for the cards it added, the old text again for registry and briefs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote

from gitmem.authoring.cards import retraction
from gitmem.authoring.commit import Change, cards_now, commit
from gitmem.context import Context
from gitmem.errors import Refused
from gitmem.git import objects
from gitmem.git.write import DEVICE, DEVICE_SETTING, Written
from gitmem.index.catalogue import Catalogue
from gitmem.model import ids, live
from gitmem.model.card import Card
from gitmem.model.live import Facts
from gitmem.model.registry import LEARNER, Agent

_SEARCH = 5000
_AGENTS = "registry/agents.yaml"


@dataclass(frozen=True, slots=True)
class Undone:
    """The commit that was taken back, its subject, the cards and files that were.

    Args:
        action: what it was, as in its trailer; `undo` when an undo was taken back.
        cards: those that no longer hold or, of an undo that was taken back, hold again.
        left: cards that later ones replaced, which stay: (card, its successor).
        newer: commits of others, or of other devices, that came after it.
    """

    commit: str
    subject: str
    action: str
    cards: tuple[str, ...]
    files: tuple[str, ...]
    retractions: tuple[Card, ...]
    written: Written
    left: tuple[tuple[str, str], ...] = ()
    newer: int = 0


def undo(context: Context, commit_name: str | None = None) -> Undone:
    """Take back the last write that the caller made in this copy of the memory, or the named commit.

    The last write may itself be an undo; then what it took back holds again.

    Raises:
        Refused: there is none, it was taken back already, it is somebody else's (for agents), or a host's
            connection stands on it.
    """
    target = _named(context, commit_name) if commit_name else _last_own(context)
    subject = context.memory.git.run("log", "-1", "--format=%s", target).text()
    parents = context.memory.git.run("log", "-1", "--format=%P", target).text().split()
    if len(parents) != 1:
        raise Refused(
            f"`{target[:7]}` is no single write of the memory", ["name a commit that adds cards: git mem log"]
        )
    changes = objects.changes(context.memory.git, parents[0], target)
    if not context.caller.person and _agent_of(context, target) != (
        context.caller.agent or context.caller.host
    ):
        raise Refused(f"`{target[:7]}` is not a write of `{context.caller.name}`")
    _refuse_connected(context, parents[0], target, changes)
    action = _trailer(context, target, "Mem-Action")
    made: dict[str, tuple] = {}

    def make(here: Context) -> Change:
        catalogue = cards_now(here)
        try:
            added = [
                c.path.removesuffix(".md")[-ids.LENGTH :]
                for c in changes
                if c.path.startswith("cards/") and c.old is None and c.new
            ]
            facts = [found for one in added if (found := catalogue.facts(one)) is not None]
            open_, left = _open(catalogue, facts, here.now)
            texts = _old_texts(here, changes)
            if not open_ and not texts:
                raise _nothing_open(target, added, facts, left)
            retractions: list[Card] = []
            files: dict[str, bytes | None] = dict(texts)
            if open_:
                change, retractions = retraction(here, open_, f"undo of {target[:7]}", "undo")
                files.update(change.files)
            back = [target for one in open_ for target in one.targets("retracts")]
            made["cards"] = tuple(dict.fromkeys(back)) or tuple(one.id for one in open_)
            made["left"] = tuple(left)
            made["files"] = tuple(texts)
            made["retractions"] = tuple(retractions)
            return Change(
                files,
                _subject(subject),
                "undo",
                [card.id for card in retractions],
                trailers=[("Mem-Undo", target)],
            )
        finally:
            catalogue.close()

    done = commit(context, make)
    assert done is not None
    newer = int(
        context.memory.git.run("rev-list", "--count", "--no-merges", f"{target}..{done[0].parent}").text()
    )
    return Undone(
        target,
        subject,
        action,
        made["cards"],
        made["files"],
        made["retractions"],
        done[0],
        made["left"],
        newer,
    )


def _open(
    catalogue: Catalogue, facts: Sequence[Facts], now: datetime
) -> tuple[list[Facts], list[tuple[str, str]]]:
    """Of a commit's cards those that can be taken back, and those that others replaced since, with who did."""
    open_ = [one for one in facts if not live.retracted_by(catalogue, one.id, now)]
    left: list[tuple[str, str]] = []
    while True:
        ids_ = {one.id for one in open_}
        by = {
            one.id: [n for n in live.superseded_by(catalogue, one.id, now) if n not in ids_] for one in open_
        }
        held = [one for one in open_ if by[one.id]]
        if not held:
            return open_, left
        left += [(one.id, by[one.id][0]) for one in held]
        open_ = [one for one in open_ if not by[one.id]]


def _nothing_open(
    target: str, added: Sequence[str], facts: Sequence[Facts], left: Sequence[tuple[str, str]]
) -> Refused:
    if left:
        return Refused(
            f"what `{target[:7]}` wrote was replaced since",
            [f"first take back the replacement: git mem retract {ids.short(by)}" for _, by in left[:3]],
        )
    if added and not facts:
        return Refused(
            f"the cards of `{target[:7]}` are left out because of faults: nobody hears them",
            ["git mem check --all names what is wrong with them"],
        )
    return Refused(
        f"`{target[:7]}` was taken back already, or changed nothing that can be taken back", ["git mem log"]
    )


def _subject(subject: str) -> str:
    """`mem: undo: …`, and `mem: redo: …` for an undo that is taken back."""
    for was, now in (("mem: undo: ", "mem: redo: "), ("mem: redo: ", "mem: undo: ")):
        if subject.startswith(was):
            return now + subject.removeprefix(was)
    return f"mem: undo: {subject}"


def _refuse_connected(context: Context, parent: str, target: str, changes: list[objects.Change]) -> None:
    """An agent that a host is on this computer cannot be taken back from under it.

    Raises:
        Refused: without the commit a connected host's agent is gone, revoked, or has another token.
    """
    if not any(change.path == _AGENTS for change in changes):
        return
    before, after = _agents(context, parent), _agents(context, target)
    for key, found in context.memory.config.items():
        if not (key.startswith("mem.host.") and key.endswith(".agent")) or not found:
            continue
        host, was, is_ = key[len("mem.host.") : -len(".agent")], before.get(found[-1]), after.get(found[-1])
        if is_ is None or is_ == was or is_.status != "active":
            continue
        if was is None or was.status != "active" or was.token_sha256 != is_.token_sha256:
            raise Refused(
                f"`{target[:7]}` registered the agent `{found[-1]}`, which the connection of `{host}` stands on",
                [
                    *(
                        [f"what a run of learning wrote: git mem undo {run[:7]}"]
                        if (run := learned(context))
                        else []
                    ),
                    f"git mem disconnect {host}",
                    "an earlier write: git mem log, then git mem undo COMMIT",
                ],
            )


def learned(context: Context) -> str | None:
    """The newest commit of the memory, when a run of learning made it."""
    tip = context.memory.tip
    return tip if tip and _trailer(context, tip, "Mem-Agent") == LEARNER else None


def _agents(context: Context, commit: str) -> dict[str, Agent]:
    from gitmem.registry import load

    def blob(path: str) -> bytes | None:
        found = context.memory.git.run("cat-file", "blob", f"{commit}:{path}", check=False)
        return found.out if path == _AGENTS and found.code == 0 else None

    return load.from_entries(blob).agents


def _old_texts(context: Context, changes: list[objects.Change]) -> dict[str, bytes | None]:
    """Registry files and briefs as they were before, where nobody changed them since."""
    found: dict[str, bytes | None] = {}
    for change in changes:
        if not change.path.startswith(("registry/", "briefs/")):
            continue
        now = context.memory.git.run(
            "rev-parse", "--verify", "-q", f"{context.memory.tip}:{change.path}", check=False
        ).text()
        if now != (change.new.oid if change.new else ""):
            raise Refused(
                f"`{change.path}` was changed again since",
                [f"git -C {quote(str(context.memory.root))} log -p -- {quote(change.path)}"],
            )
        found[change.path] = (
            context.memory.git.run("cat-file", "blob", change.old.oid).out if change.old else None
        )
    return found


def _last_own(context: Context) -> str:
    """The newest write that this caller made in this copy of the memory, an undo included; never what a sync brought."""
    memory = context.memory
    log = memory.git.run(
        "log", f"-{_SEARCH}", "-z", "--topo-order", "--no-merges",
        f"--format=%H%n%P%n{_value('Mem-Action')}%n{_value('Mem-Agent,key=Mem-Host')}%n{_value(DEVICE)}", memory.ref,
    ).text()  # fmt: skip
    here = memory.setting(DEVICE_SETTING)
    alone = not memory.git.lines("remote")
    for entry in log.split("\0"):
        commit, parents, action, agent, device = (entry.split("\n") + [""] * 5)[:5]
        # the commit that made the memory is nothing to take back
        if not parents or not action or action == "forget":
            continue
        # commits of earlier versions name no device
        if device != here and (device or not alone):
            continue
        if (agent or None) == (context.caller.agent or context.caller.host):
            return commit
    whose = "yours" if context.caller.person else context.caller.name
    raise Refused(
        f"there is no write of {whose} to take back on this computer",
        ["what was written elsewhere, by its commit: git mem log, then git mem undo COMMIT"],
    )


def _value(keys: str) -> str:
    return f"%(trailers:key={keys},valueonly,separator=%x2C)"


def _named(context: Context, name: str) -> str:
    if re.fullmatch(r"[0-9a-f]{4,64}", name):
        found = context.memory.git.run("rev-parse", "--verify", "-q", f"{name}^{{commit}}", check=False)
        if (
            found.code == 0
            and context.memory.git.run(
                "merge-base", "--is-ancestor", found.text(), context.memory.ref, check=False
            ).code
            == 0
        ):
            return found.text()
    if _is_card(context, name):
        hints = [f"to take back one card: git mem retract {name}", "git mem log"]
    else:
        hints = ["your last write: git mem undo", "the ids of commits: git mem log"]
    raise Refused(f"no commit `{name}` in the memory", hints)


def _is_card(context: Context, name: str) -> bool:
    prefix = ids.normal_prefix(name)
    if prefix is None:
        return False
    catalogue = cards_now(context)
    try:
        return any(context.caller.reads(item.scope) for item in catalogue.by_prefix(prefix))
    finally:
        catalogue.close()


def _agent_of(context: Context, commit: str) -> str | None:
    return _trailer(context, commit, "Mem-Agent,key=Mem-Host") or None


def _trailer(context: Context, commit: str, key: str) -> str:
    found = context.memory.git.run("log", "-1", f"--format=%(trailers:key={key},valueonly)", commit)
    return found.text().strip()

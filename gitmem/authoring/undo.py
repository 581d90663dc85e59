"""Take back a write: a retraction for the cards it added, the old text again for registry and briefs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitmem.authoring.cards import retraction
from gitmem.authoring.commit import Change, cards_now, commit
from gitmem.context import Context
from gitmem.errors import Refused
from gitmem.git import objects
from gitmem.git.write import Written
from gitmem.model import ids
from gitmem.model.card import Card

_SEARCH = 200


@dataclass(frozen=True, slots=True)
class Undone:
    """The commit that was taken back, its subject, the cards and files that were."""

    commit: str
    subject: str
    cards: tuple[str, ...]
    files: tuple[str, ...]
    retractions: tuple[Card, ...]
    written: Written


def undo(context: Context, commit_name: str | None = None) -> Undone:
    """Take back the caller's own last write, or the named commit.

    Raises:
        Refused: there is none, it was taken back already, or it is somebody else's (for agents).
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
            from gitmem.model import live

            open_ = [one for one in facts if not live.retracted_by(catalogue, one.id, here.now)]
            texts = _old_texts(here, changes)
            if not open_ and not texts:
                raise Refused(
                    f"`{target[:7]}` was taken back already, or changed nothing that can be taken back",
                    ["git mem log"],
                )
            retractions: list[Card] = []
            files: dict[str, bytes | None] = dict(texts)
            if open_:
                change, retractions = retraction(here, open_, f"undo of {target[:7]}", "undo")
                files.update(change.files)
            made["cards"] = tuple(one.id for one in open_)
            made["files"] = tuple(texts)
            made["retractions"] = tuple(retractions)
            return Change(
                files,
                f"mem: undo: {subject}",
                "undo",
                [card.id for card in retractions],
                trailers=[("Mem-Undo", target)],
            )
        finally:
            catalogue.close()

    done = commit(context, make)
    assert done is not None
    return Undone(target, subject, made["cards"], made["files"], made["retractions"], done[0])


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
                [f"git -C {context.memory.root} log -p -- {change.path}"],
            )
        found[change.path] = (
            context.memory.git.run("cat-file", "blob", change.old.oid).out if change.old else None
        )
    return found


def _last_own(context: Context) -> str:
    """The newest write of this caller that was not taken back yet."""
    log = context.memory.git.run(
        "log", f"-{_SEARCH}", "-z", "--first-parent", "--format=%H%n%ae%n%(trailers:key=Mem-Action,valueonly,separator=%x2C)%n%(trailers:key=Mem-Agent,key=Mem-Host,valueonly,separator=%x2C)%n%(trailers:key=Mem-Undo,valueonly,separator=%x2C)", context.memory.ref,
    ).text()  # fmt: skip
    undone: set[str] = set()
    for entry in log.split("\0"):
        commit, _, action, agent, undo_of = (entry.split("\n") + [""] * 5)[:5]
        if commit in undone:
            # an undo that was undone takes nothing back
            continue
        if undo_of:
            undone.add(undo_of)
            continue
        if action and action != "forget" and (agent or None) == (context.caller.agent or context.caller.host):
            return commit
    raise Refused(
        f"there is no write of {'yours' if context.caller.person else context.caller.name} to take back",
        ["git mem log"],
    )


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
    hints = ["git mem log"]
    if ids.normal_prefix(name):
        hints.insert(0, f"to take back one card: git mem retract {name}")
    raise Refused(f"no commit `{name}` in the memory", hints)


def _agent_of(context: Context, commit: str) -> str | None:
    return (
        context.memory.git.run(
            "log", "-1", "--format=%(trailers:key=Mem-Agent,key=Mem-Host,valueonly)", commit
        )
        .text()
        .strip()
        or None
    )

"""Forget: tombstones first, then history without what they name, then every trace beside history.

    journal -> commit the tombstones -> rewrite beside -> move all refs -> indexes, files -> traces -> objects

A run that is killed before the tombstones are committed has done nothing; after that, the next one goes on from the
journal. Every step may be done twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.authoring import registry_edit
from gitmem.authoring.commit import Change, commit
from gitmem.checks import registry_files
from gitmem.context import Context
from gitmem.erasure import journal, remains, rewrite, roots, sweep, trees
from gitmem.erasure import plan as plans
from gitmem.erasure.order import Order
from gitmem.erasure.plan import Plan
from gitmem.errors import Busy, Refused
from gitmem.git import lock
from gitmem.git.deliver import settle_debts
from gitmem.git.locate import Memory, refreshed
from gitmem.git.worktrees import work_trees
from gitmem.model import frontmatter
from gitmem.model.registry import Tombstones
from gitmem.registry import load

FILE = "registry/forgotten.yaml"
WAIT_S = 30.0
Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done.

    Args:
        commits: how many were rewritten.
        refs: those that moved, with the object they named before.
        kept_packs: marks of packs that git may not touch.
    """

    commits: int = 0
    refs: Mapping[str, str] = field(default_factory=dict)
    kept_packs: tuple[str, ...] = ()


def forget(
    context: Context, plan: Plan, step: Step | None = None, extra: Tombstones | None = None
) -> Outcome:
    """Erase what a plan names. `extra`: turns that are known to hold the words beyond those cited.

    Raises:
        Refused, Busy: nothing was forgotten.
    """
    people_only(context)
    plans.refuse_shared(plan)
    with _alone(context.memory):
        _finish(context, step)
        memory = refreshed(context.memory)
        context = context.with_memory(memory)
        roots.refuse_when_unfit(memory)
        wanted = Tombstones(frozenset(plan.ids), plan.turns) | (extra or Tombstones())
        order = plan.order(context.registry.tombstones | wanted)
        order = order.with_words(plans.words_of(memory, order))
        journal.write(memory.state, order, frozenset(plan.ids))
        try:
            commit(context, lambda here: _tombstones(here, plan, wanted))
        except BaseException:
            # a kill takes no such way out, and the next run looks whether the tombstones are there
            if not are_committed(refreshed(memory), frozenset(plan.ids)):
                journal.close(memory.state)
            raise
        return _erased(refreshed(memory), order, step)


def resume(context: Context, step: Step | None = None) -> bool:
    """Finish what was begun and killed; False when there is nothing to finish.

    Raises:
        Busy: somebody is at it, or a work tree is in the middle of something.
    """
    if not journal.is_open(context.memory.state):
        return False
    with _alone(context.memory):
        return _finish(context, step) is not None


def purge(memory: Memory, tombstones: Tombstones, step: Step | None = None) -> Outcome:
    """Bring a repository in line with tombstones that it holds already: on a server, after a push, in another clone."""
    with _alone(memory):
        roots.refuse_when_unfit(memory)
        order = Order.by(tombstones)
        order = order.with_words(plans.words_of(memory, order))
        journal.write(memory.state, order, frozenset())
        return _erased(memory, order, step)


@contextlib.contextmanager
def _alone(memory: Memory) -> Iterator[None]:
    """Nobody else forgets, learns or syncs: what they hold in hand might be written after it was cleared."""
    with contextlib.ExitStack() as stack:
        for name, what in (
            ("forget", "forgetting"),
            ("learn", "learning"),
            ("capture", "capture"),
            ("sync", "sync"),
        ):
            stack.enter_context(lock.held(memory.state / f"{name}.lock", WAIT_S, what))
        yield


def people_only(context: Context) -> None:
    if not context.caller.person:
        raise Refused(
            f"`{context.caller.name}` may not forget: that is for people",
            ["git mem retract ID takes a card back; it stays in history"],
        )


def _finish(context: Context, step: Step | None) -> Outcome | None:
    """Go on with an open journal, or close it where nothing had happened. Under the locks."""
    memory = refreshed(context.memory)
    if not journal.is_open(memory.state):
        return None
    begun = journal.read(memory.state)
    if begun is None or not are_committed(memory, begun[1]):
        rewrite.clear(memory)
        journal.close(memory.state)
        return None
    return _erased(memory, begun[0], step)


def are_committed(memory: Memory, wanted: frozenset[str]) -> bool:
    """Whether the tombstones of these cards stand: from then on the rest is owed."""
    return wanted <= load.current(memory).forgotten


def _erased(memory: Memory, order: Order, step: Step | None) -> Outcome:
    """Everything behind the tombstones. Under the locks, with the journal open."""
    say = step or (lambda _: None)
    commits, refs = 0, dict[str, tuple[str, str]]()
    state = memory.state
    with lock.held(state / "write.lock", WAIT_S, "the memory") as held:
        roots.refuse_when_unfit(memory)
        settle_debts(memory, work_trees(memory))
        roots.forget_sightings(memory)
        say("rewriting history")
        for _ in range(5):
            moves = rewrite.prepare(memory, order)
            if not rewrite.move(memory, moves):
                continue
            commits, refs = commits + moves.commits, {**moves.refs, **refs}
            trees.bring_along(memory, order)
            # a plain `git commit` in between may have been made of an index that still had the card
            if not remains.still_there(memory, memory.ref, order.cards):
                break
        else:
            raise Busy("the refs move faster than this could be rewritten", ["git mem forget --continue"])
        say("clearing reflogs and local files")
        sweep.traces_of_git(memory, order)
        sweep.local_state(memory, order)
        say("dropping objects that nothing names any more")
        kept = sweep.objects_gone(memory, held)
        rewrite.clear(memory)
        journal.close(state)
    return Outcome(commits, {name: old for name, (old, _) in sorted(refs.items())}, tuple(kept))


def _tombstones(context: Context, plan: Plan, wanted: Tombstones) -> Change | None:
    """The registry's list with what a plan names; None where it stands there already."""
    again = plans.make(context, plan.ids, plan.keep_shared) if plan.ids else plan
    if set(again.ids) - set(plan.ids) or (again.shared and not plan.keep_shared):
        raise Refused(
            "the memory changed in between, nothing was forgotten", ["ask again: git mem forget ID"]
        )
    before = context.registry.tombstones
    keys = before.keys or (f"{context.random_bits(256):064x}",)
    whole = before | wanted | Tombstones(keys=keys[:1], hashes=frozenset(plan.hashes(keys[0])))
    if whole == before or not (plan.ids or wanted.turns - before.turns):
        return None
    count = len(plan.ids)
    return tombstones_change(context, whole, f"mem: forgot {count} card{'s' if count != 1 else ''}", plan.ids)


def tombstones_change(
    context: Context, whole: Tombstones, subject: str, cards: Sequence[str]
) -> Change | None:
    """The commit by which the registry lists `whole` as forgotten; None where it does already."""
    kept = context.memory.git.run("cat-file", "blob", f"{context.memory.tip}:{FILE}", check=False)
    text = kept.out.decode("utf-8", "replace") if kept.code == 0 else ""
    data = written(text, whole).encode()
    return Change({FILE: data}, subject, "forget", cards) if data != kept.out else None


def written(text: str, tombstones: Tombstones) -> str:
    """The text of `registry/forgotten.yaml` with these tombstones, its comments kept."""
    if registry_files.read("forgotten", text.encode())[1]:
        text = ""
    for key in ("cards", "turns", "keys", "hashes"):
        text = registry_edit.drop(text, key)
    pairs: list[tuple[str, object]] = [("cards", sorted(tombstones.cards))]
    if tombstones.turns:
        turns = sorted(tombstones.turns)
        pairs.append(("turns", [{"host": h, "session": s, "turn": str(n)} for h, s, n in turns]))
    if tombstones.hashes:
        pairs += [("keys", list(tombstones.keys)), ("hashes", sorted(tombstones.hashes))]
    body = "\n".join(frontmatter.dump_yaml(pairs)) + "\n"
    return (text.rstrip("\n") + "\n" if text.strip() else "") + body

"""A person's own history: captured sessions as probes, and the memory as it was in the week before each.

A probe sees the turn before it and the snapshot of the memory strictly older than its week (Monday, UTC), nothing later. Where the memory is younger than
every turn, as when it was just made of them, the cards said before that week stand for the snapshot. What followed it, up to 6 turns, is
written to a file of its own, which only a judge reads; no system is given it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from eval.data import Card, Dataset, Probe, digest, half, language
from eval.datasets.files import week_of
from gitmem import config
from gitmem.git import locate, objects
from gitmem.git.locate import Memory
from gitmem.learn import digest as digests
from gitmem.learn.turns import Turn
from gitmem.model import card as cards

FOLLOWED = 6


def load(
    name: str, now: datetime, memory: Path, since: str | None = None, limit: int | None = None
) -> Dataset:
    """Probes of every digest of the memory at `memory`.

    Args:
        since: only turns from this day on. limit: only the newest so many.
    """
    found = locate.open_at(Path(memory), config.from_process())
    if found is None or found.registry_tree is None:
        raise ValueError(f"`{memory}` is no memory")
    snapshots: dict[str, str] = {}
    probes: list[Probe] = []
    turns = [(probe, at) for probe, at in probes_of(found) if not since or at[:10] >= str(since)]
    early = 0
    for probe, at in turns:
        monday = week_of(at)
        if monday not in snapshots:
            snapshots[monday] = commit_before(found, monday)
        if not snapshots[monday]:
            early += 1
            continue
        probes.append(replace(probe, snapshot=snapshots[monday]))
    if early and not probes:
        return _by_days(name, found, turns, limit)
    probes = probes[-limit:] if limit else probes
    notes = (f"{early} turns are older than the memory and are left out",) if early else ()
    return Dataset(
        name,
        (),
        tuple(probes),
        memory=str(Path(memory).resolve()),
        notes=notes,
        measures=frozenset({"stream"}),
    )


def _by_days(name: str, memory: Memory, turns: Sequence[tuple[Probe, str]], limit: int | None) -> Dataset:
    """Each turn is asked of the cards that hold since a day before its week."""
    probes = [replace(probe, snapshot=week_of(at)[:10]) for probe, at in turns]
    note = "the memory is younger than its conversations: each turn is asked of the cards that were said before its week"
    return Dataset(
        name,
        tuple(cards_of(memory)),
        tuple(probes[-limit:] if limit else probes),
        notes=(note,),
        measures=frozenset({"stream"}),
    )


def cards_of(memory: Memory) -> list[Card]:
    """The memory's cards as those of a data set, but for rules, confirmations and what was taken back."""
    found = objects.entries(memory.git, memory.tip, "cards") if memory.tip else []
    with closing(objects.open_bulk(memory.git, str(memory.common_dir))) as blobs:
        read = [card for entry in found if (card := cards.read(blobs.blob(entry.oid))[0]) is not None]
    gone = {target for card in read for target in card.retracts}
    kept = {card.id for card in read if card.type not in (None, "rule") and card.conclusion} - gone
    return [
        Card(
            card.id,
            card.conclusion or "",
            card.scope,
            card.type or "fact",
            card.also,
            card.body,
            (card.valid_from or card.created)[:10],
            tuple(one for one in card.supersedes if one in kept),
            card.id,
            (card.expires or "never")[:10],
        )
        for card in read
        if card.id in kept
    ]


def probes_of(memory: Memory) -> list[tuple[Probe, str]]:
    """Every typed turn with its time, oldest conversation first."""
    found = []
    for session, (turns, project, host) in _conversations(memory).items():
        before = ""
        number = 0
        for turn in turns:
            if turn.role != "user" or not turn.text.strip():
                continue
            name = digest(host, session)[:10]
            found.append(
                (
                    Probe(
                        f"{name}-{turn.number}", turn.text, project=project, lang=language(turn.text), kind="own turn, first" if number == 0 else "own turn, later", needs=None,
                        split=half(session), cluster=name, previous=before, session=name, turn=number,
                    ),
                    turn.at,
                )
            )  # fmt: skip
            before = turn.text
            number += 1
    return found


def followed(memory: Memory) -> dict[str, list[dict[str, str]]]:
    """What came after each probe: at most 6 turns, roles and texts. For the judge alone."""
    out = {}
    for session, (turns, _, host) in _conversations(memory).items():
        for at, turn in enumerate(turns):
            if turn.role == "user" and turn.text.strip():
                after = turns[at + 1 : at + 1 + FOLLOWED]
                out[f"{digest(host, session)[:10]}-{turn.number}"] = [
                    {"role": one.role, "text": one.text} for one in after
                ]
    return out


def seal(dataset: Dataset, place: Path) -> None:
    """Write what followed the probes of conversations, apart from everything that a system is given."""
    found = _later_probes(dataset.probes)
    if dataset.memory:
        memory = locate.open_at(Path(dataset.memory), config.from_process())
        found = followed(memory) if memory is not None else {}
    if found:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        place.chmod(0o600)


def _later_probes(probes: Sequence[Probe]) -> dict[str, list[dict[str, str]]]:
    """Where only the person's turns are known: the next of them."""
    sessions: dict[str, list[Probe]] = {}
    for one in sorted(probes, key=lambda one: one.turn):
        if one.session:
            sessions.setdefault(one.session, []).append(one)
    return {
        one.id: [{"role": "user", "text": later.text} for later in turns[at + 1 : at + 1 + FOLLOWED]]
        for turns in sessions.values()
        for at, one in enumerate(turns)
    }


def commit_before(memory: Memory, moment: str) -> str:
    """The memory's last commit strictly before a moment; empty when there is none."""
    stamp = int(datetime.fromisoformat(moment).timestamp()) - 1
    return memory.git.run("rev-list", "-1", f"--before={stamp}", memory.ref).text()


def _conversations(memory: Memory) -> Mapping[str, tuple[Sequence[Turn], str | None, str]]:
    """Session -> its turns over all its digests in order, its project, its host."""
    out: dict[str, tuple[list[Turn], str | None, str]] = {}
    for _, one in digests.all_of(memory.state):
        kept, _, _ = out.setdefault(one.session, ([], one.project, one.host))
        known = {turn.number for turn in kept}
        kept.extend(turn for turn in one.turns if turn.number not in known)
        kept.sort(key=lambda turn: turn.number)
    return out

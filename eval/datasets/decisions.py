"""Decision records with superseded-by chains, imported as `git mem import decisions` imports them.

One probe an edge: somebody asks in the words of the old record (its title), in its project, and needs what holds now: the ends of the
chain. What was replaced is stale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from eval.data import Dataset, Probe, half, language
from gitmem.imports import decisions
from gitmem.imports.entry import Entry
from gitmem.imports.projects import project_id


def load(name: str, now: datetime, path: Path) -> Dataset:
    data = Path(path).read_bytes()
    reading = decisions.read_json(data, str(path))
    named: dict[str, Entry] = {_key(entry): entry for entry in reading.entries}
    after: dict[str, list[str]] = {}
    for key, entry in named.items():
        for old in entry.supersedes_keys:
            after.setdefault(f"{_scope(entry)}/{old}", []).append(key)
    probes = []
    for old, successors in sorted(after.items()):
        for successor in sorted(successors):
            ends = sorted(_ends(successor, after))
            stale = sorted(_before(ends, named) | {old})
            cluster = ends[0]
            probes.append(
                Probe(
                    f"{old} -> {successor}", named[old].conclusion, project=_scope(named[old]), lang=language(named[old].conclusion), kind="superseded words",
                    gold=tuple(ends), stale=tuple(one for one in stale if one not in ends), split=half(cluster), cluster=cluster,
                )
            )  # fmt: skip
    notes = tuple(f"{one.key}: {one.reason}" for one in reading.left_out)
    return Dataset(name, (), tuple(probes), decisions=data, notes=notes, measures=frozenset({"stale"}))


def _scope(entry: Entry) -> str:
    return project_id(entry.project_name or "") or "global"


def _key(entry: Entry) -> str:
    return f"{_scope(entry)}/{entry.key}"


def _ends(start: str, after: Mapping[str, Sequence[str]]) -> set[str]:
    found, queue, seen = set(), [start], set()
    while queue:
        current = queue.pop()
        if current in seen:
            continue
        seen.add(current)
        if after.get(current):
            queue.extend(after[current])
        else:
            found.add(current)
    return found


def _before(ends: Sequence[str], named: Mapping[str, Entry]) -> set[str]:
    found: set[str] = set()
    queue = list(ends)
    while queue:
        entry = named[queue.pop()]
        for old in entry.supersedes_keys:
            key = f"{_scope(entry)}/{old}"
            if key not in found:
                found.add(key)
                queue.append(key)
    return found

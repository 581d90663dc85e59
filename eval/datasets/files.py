"""Cards, probes and prompts as JSON lines: the project's own sets, and anybody's.

A card: `{"key", "conclusion", "scope", "type", "also", "body", "date", "expires", "supersedes", "cluster"}`, the first two required.
A probe: the fields of `eval.data.Probe`, `id` and `text` required. A prompt: `{"text"}`, with `session`, `ts`, `id` where it is real.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from eval.data import Card, Dataset, Probe, digest, half, language
from gitmem.model import when

_CARD = {one.name for one in fields(Card)}
_PROBE = {one.name for one in fields(Probe)}


def load(
    name: str, now: datetime, cards: Path, path: Path | None = None, measures: list[str] | None = None
) -> Dataset:
    """A set of a file with cards and one with probes."""
    made = tuple(card(row, cards, number) for number, row in rows(cards))
    clusters = {one.key: one.cluster or one.key for one in made}
    probes = tuple(probe(row, path, number, clusters) for number, row in rows(path)) if path else ()
    known = set(clusters)
    for one in probes:
        if missing := (set(one.gold) | set(one.stale)) - known:
            raise ValueError(f"`{path}`: the probe `{one.id}` names the unknown card `{sorted(missing)[0]}`")
    return Dataset(name, made, probes, measures=frozenset(measures or ()))


def card(row: dict[str, Any], file: Path, number: int) -> Card:
    unknown = set(row) - _CARD
    if unknown or not row.get("key") or not row.get("conclusion"):
        raise ValueError(
            f"`{file}`:{number} "
            + (f"has the unknown key `{sorted(unknown)[0]}`" if unknown else "needs `key` and `conclusion`")
        )
    return Card(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})


def probe(row: dict[str, Any], file: Path | None, number: int, clusters: dict[str, str]) -> Probe:
    unknown = set(row) - _PROBE
    if unknown or not row.get("id") or not row.get("text"):
        raise ValueError(
            f"`{file}`:{number} "
            + (f"has the unknown key `{sorted(unknown)[0]}`" if unknown else "needs `id` and `text`")
        )
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    gold = given.get("gold", ())
    given.setdefault("needs", bool(gold))
    given.setdefault("lang", language(given["text"]))
    given.setdefault(
        "cluster", clusters[gold[0]] if gold and gold[0] in clusters else given.get("session") or given["id"]
    )
    given.setdefault("split", half(given["cluster"]))
    return Probe(**given)


def prompts(
    path: Path,
    turns: list[int] | None = None,
    project: str | None = None,
    needs: bool | None = False,
    prefix: str = "prompt",
    limit: int | None = None,
    stream: bool = False,
    weekly: bool = False,
) -> Iterator[Probe]:
    """Real prompts as probes: alone as some turn of a session (`turns`: 0 is the first), or as the streams they are.

    Args:
        needs: what is known about them: False: routine, silence is right; None: nothing.
        stream: by `session`, in the order of `ts`; each sees the turn before it.
        weekly: each is asked of the cards that are strictly older than its week.
    """
    found = [row for _, row in rows(path)][:limit]
    if stream:
        yield from _streams(found, project, needs, prefix, weekly)
        return
    for number, row in enumerate(found):
        for turn in turns or [0]:
            yield Probe(
                f"{prefix}-{number}-{turn}", row["text"], project=row.get("project", project), lang=language(row["text"]), kind=f"routine, {'first' if turn == 0 else 'later'} turn",
                needs=needs, split=half(f"{prefix}-{number}"), cluster=f"{prefix}-{number}", turn=turn,
            )  # fmt: skip


def _streams(
    found: list[dict[str, Any]], project: str | None, needs: bool | None, prefix: str, weekly: bool
) -> Iterator[Probe]:
    sessions: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        sessions.setdefault(str(row.get("session", "one")), []).append(row)
    for session, turns in sessions.items():
        turns.sort(key=lambda row: str(row.get("ts", "")))
        before = ""
        for number, row in enumerate(turns):
            yield Probe(
                f"{prefix}-{digest(session)[:8]}-{number}", row["text"], project=row.get("project", project), lang=language(row["text"]),
                kind="in stream, first turn" if number == 0 else "in stream, later turn", needs=row.get("needs", needs), split=half(session), cluster=session,
                previous=before, session=session, turn=number, snapshot=week_of(str(row["ts"]))[:10] if weekly else "",
            )  # fmt: skip
            before = row["text"]


def week_of(at: str) -> str:
    """The Monday, 0:00 UTC, of the week in which a moment lies."""
    moment = when.parse(at)
    return (
        (moment - timedelta(days=moment.weekday()))
        .replace(hour=0, minute=0, second=0, microsecond=0)
        .isoformat()
    )


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers and objects of a file of JSON lines.

    Raises:
        ValueError: naming the line that is none.
    """
    with Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    value = json.loads(line)
                except ValueError as error:
                    raise ValueError(f"`{path}`:{number} is no JSON: {error}") from error
                if not isinstance(value, dict):
                    raise ValueError(f"`{path}`:{number} is no object")
                yield number, value

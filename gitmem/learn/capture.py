"""Capture: ended or idle conversations of the hosts in, digests out. Resumable, and whole wherever it is killed.

    find and read -> judge -> clean and mask -> write the digest -> move the cursor

A digest is on the disk before the cursor that covers it moves, and its name follows from the cursor: a run that was killed
between the two writes the same file again. One run at a time holds the lock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from gitmem import whereabouts
from gitmem.context import Context
from gitmem.git import lock
from gitmem.learn import cursor as cursors
from gitmem.learn import digest as digests
from gitmem.learn import due, durable, find, forgotten, injected, notes
from gitmem.learn.cursor import Cursor
from gitmem.learn.turns import USER, Conversation, Turn
from gitmem.learn.units import Tally, Unit, units
from gitmem.model import when
from gitmem.recall import session as sessions
from gitmem.recall import switches

FIRST_RUN = timedelta(days=30)
CAPTURED = "captured"
_NOTE_KEPT = timedelta(days=1)
# Fates that hold until the history changes; of the others the next run decides anew.
_SETTLED = (due.SHORT, due.SAME, due.OFF, *due.NEVER)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one conversation. `typed`: typed turns over all of it; `new`: those that no digest held before."""

    unit: Unit
    fate: str
    typed: int
    new: int = 0
    project: str | None = None
    waits: bool = False
    part: int = 0
    file: Path | None = None


@dataclass(slots=True)
class Report:
    """What a run did, or would do.

    Args:
        off: why nothing was looked at; None when it was.
        settled: digests whose project was registered since; `dropped`: those older than the retention time.
    """

    hosts: list[Tally] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    off: str | None = None
    settled: int = 0
    dropped: int = 0
    dry_run: bool = False

    def of(self, *fates: str) -> list[Outcome]:
        return [one for one in self.outcomes if one.fate in fates]


def run(
    context: Context,
    hosts: Sequence[str],
    *,
    home: Path,
    variables: Mapping[str, str],
    since: datetime | None = None,
    dry_run: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Capture what is due at some hosts, the oldest first.

    Args:
        home, variables: where the hosts keep their files.
        since: sessions that went on after this moment; None: what the first run said, and that takes 30 days.
        dry_run: nothing is written.
        progress: called with a step, how many are done, and of how many.

    Raises:
        Busy: another run is at work.
    """
    state = context.memory.state
    with contextlib.nullcontext() if dry_run else lock.held(state / "capture.lock", 0, "capture"):
        report = Report(dry_run=dry_run)
        if not dry_run:
            _tidy(context, report)
        report.off = _off(context)
        if report.off is None:
            desk = _Desk(context, hosts, dry_run)
            waiting: list[Unit] = []
            for host in hosts:
                waiting += desk.read(report, host, home, variables, since, progress)
            waiting.sort(key=lambda unit: (unit.conversation.last, unit.conversation.host, unit.session))
            report.outcomes = [desk.settle(unit) for unit in waiting]
            if not dry_run:
                desk.clear()
        return report


def _tidy(context: Context, report: Report) -> None:
    """Sweep up after a killed run, drop what is too old, and look again for the projects that digests wait for."""
    state = context.memory.state
    for place in (digests.folder(state), cursors.folder(state)):
        if place.is_dir():
            durable.sweep(place)
    report.dropped = digests.drop_old(state, context.now, context.registry.memory.retention_days)
    projects = _Projects(context)
    for file, one in digests.all_of(state):
        if one.state == digests.WAITING and (project := projects.of(one.folders, one.remote)):
            digests.settle(state, one, file, project)
            report.settled += 1


def _off(context: Context) -> str | None:
    """Why nothing may be looked at, anywhere."""
    if context.env.off:
        return "GIT_MEM_OFF is set"
    until = switches.load(context.memory.state).until
    return switches.Switches(until=until).off(None, context.now)


class _Desk:
    """One run: what is known before it, and each conversation's way through it."""

    def __init__(self, context: Context, hosts: Sequence[str], dry_run: bool):
        self._context = context
        self._state = context.memory.state
        self._dry_run = dry_run
        self._cursors = cursors.load(self._state, hosts)
        self._notes = notes.load(self._state)
        self._switches = switches.load(self._state)
        self._pause = _pause(self._state, self._switches)
        self._projects = _Projects(context)
        self._since: dict[str, datetime] = {}
        self._open: dict[str, set[str]] = {}
        # typed turn -> the session whose digests hold it; histories are copied from session to session
        self._held = {(key[0], turn): key[1] for key, one in self._cursors.items() for turn in one.known}

    def read(
        self,
        report: Report,
        host: str,
        home: Path,
        variables: Mapping[str, str],
        since: datetime | None,
        progress: Callable[[str, int, int], None] | None,
    ) -> list[Unit]:
        """The host's conversations that changed."""
        place = find.place(host, home, variables)
        tally = Tally(host, place)
        report.hosts.append(tally)
        floor = cursors.floor(self._state, host)
        now = self._context.now.astimezone(UTC)
        self._since[host] = since or (when.parse(floor) if floor else now - FIRST_RUN)
        if not floor and not self._dry_run:
            cursors.set_floor(self._state, host, when.stamp(self._since[host]))
        self._open[host] = find.open_sessions(place) if host == "claude-code" else set()
        named = [one.transcript for one in self._notes.values() if one.host == host and one.transcript]
        return units(tally, home, variables, self._cursors, self._since[host], named, progress)

    def settle(self, unit: Unit) -> Outcome:
        """Judge a conversation, and write what is due."""
        conversation = unit.conversation
        host = conversation.host
        cursor = self._cursors.get((host, unit.session))
        kept = [sessions.load(self._state, name) for name in unit.sessions]
        verdict = due.judge(conversation, cursor, self._signs(unit, any(one.off for one in kept)))
        told = {mark for one in kept for mark in one.injected}
        new = self._remembered(unit, injected.cleaned(verdict.new, told))
        fate = verdict.fate
        typed = sum(turn.role == USER for turn in new)
        if fate in (due.DUE, due.OPEN) and not typed:
            fate = due.SAME
        outcome = Outcome(unit, fate, verdict.typed, typed if fate in (due.DUE, due.OPEN, due.SHORT) else 0)
        if fate == due.DUE:
            context = self._remembered(unit, injected.cleaned(verdict.context, told))
            outcome = self._captured(outcome, cursor, new, context)
        elif fate in _SETTLED and not self._dry_run:
            self._passed_over(outcome, cursor)
        return outcome

    def _remembered(self, unit: Unit, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """The turns without those that were forgotten."""
        tombstones = self._context.registry.tombstones
        return forgotten.kept(turns, unit.conversation.host, unit.sessions, tombstones)

    def _signs(self, unit: Unit, off: bool) -> due.Signs:
        conversation = unit.conversation
        host = conversation.host
        places = [Path(one) for one in conversation.folders] or [None]
        quiet = (self._switches.off(place, self._context.now) for place in places)
        ended = [
            one.ended_at for name in unit.sessions if (one := self._notes.get((host, name))) and one.ended_at
        ]
        own = (turn.key for turn in conversation.turns if turn.role == USER)
        return due.Signs(
            now=self._context.now.astimezone(UTC),
            ended_at=max(ended, default=None),
            open=unit.session in self._open[host],
            quiet=next(filter(None, quiet), None),
            off_the_record=off,
            since=self._since[host],
            elsewhere={key for key in own if self._held.get((host, key), unit.session) != unit.session},
            pause=self._pause,
        )

    def _captured(self, outcome: Outcome, cursor: Cursor | None, new, context) -> Outcome:  # type: ignore[no-untyped-def]
        """Write the digest, then the cursor; only then is the hook's note done with."""
        unit, conversation = outcome.unit, outcome.unit.conversation
        project = self._projects.of(conversation.folders, conversation.remote)
        waits = project is None and self._projects.may_be_one(conversation)
        part = (cursor.digests if cursor else 0) + 1
        made = replace(outcome, project=project, waits=waits, part=part)
        if self._dry_run:
            return made
        gone = [turn for turn in conversation.turns if not self._remembered(unit, (turn,))]
        conversation = replace(conversation, title=forgotten.title(conversation.title, gone))
        digest = digests.make(
            conversation, unit.sessions, context, new,
            part=part, project=project, waits=waits, now=self._context.now,
        )  # fmt: skip
        file = digests.write(self._state, digest)
        self._move(unit, cursor, CAPTURED, part)
        self._done(unit)
        return replace(made, fate=CAPTURED, file=file)

    def _passed_over(self, outcome: Outcome, cursor: Cursor | None) -> None:
        """Remember what need not be read again; where memory was off, also what shall not be captured later."""
        unit, fate = outcome.unit, outcome.fate
        host = unit.conversation.host
        if fate in due.NEVER:
            digests.forget(self._state, host, unit.session)
        if fate in (due.OFF, due.OFF_THE_RECORD):
            self._move(unit, cursor, fate, cursor.digests if cursor else 0)
        else:
            before = cursor or Cursor(host, unit.session)
            # without a sync: when it is lost, the history is read once more
            fresh = replace(before, fate=fate, path=str(unit.path), seen=unit.seen, at=unit.conversation.last)
            cursors.save(self._state, fresh, sync=False)
        self._done(unit)

    def _move(self, unit: Unit, cursor: Cursor | None, fate: str, part: int) -> None:
        conversation = unit.conversation
        typed = [turn.key for turn in conversation.turns if turn.role == USER]
        moved = Cursor(
            host=conversation.host,
            session=unit.session,
            fate=fate,
            path=str(unit.path),
            seen=unit.seen,
            known=tuple(dict.fromkeys([*(cursor.known if cursor else ()), *typed])),
            last=conversation.turns[-1].key if conversation.turns else "",
            number=conversation.turns[-1].number if conversation.turns else 0,
            digests=part,
            at=conversation.last,
        )
        cursors.save(self._state, moved)
        self._cursors[moved.host, moved.session] = moved
        for key in typed:
            self._held.setdefault((moved.host, key), moved.session)

    def clear(self) -> None:
        """Drop notes that came after their session was captured, and of sessions that are nowhere to be found."""
        for key, note in self._notes.items():
            with contextlib.suppress(OSError):
                age = self._context.now.timestamp() - note.file.stat().st_mtime
                if age > (_NOTE_KEPT if key in self._cursors else FIRST_RUN).total_seconds():
                    note.file.unlink()

    def _done(self, unit: Unit) -> None:
        for name in unit.sessions:
            if note := self._notes.get((unit.conversation.host, name)):
                note.file.unlink(missing_ok=True)


def _pause(state: Path, off: switches.Switches) -> tuple[datetime, datetime] | None:
    """When memory was last off everywhere: from the moment that the switches were set."""
    try:
        return (
            (datetime.fromtimestamp((state / "off.json").stat().st_mtime, UTC), when.parse(off.until))
            if off.until
            else None
        )
    except (OSError, ValueError):
        return None


class _Projects:
    """The registered project of a conversation's folders; each folder is asked about once."""

    def __init__(self, context: Context):
        self._context = context
        self._remotes = {
            whereabouts.normal_remote(remote): one.id
            for one in context.registry.projects.values()
            for remote in one.remotes
        }
        self._of = cache(self._find)

    def of(self, folders: Sequence[str], remote: str | None) -> str | None:
        """By the folders, the first one first; else by the repository's address that the host noted."""
        found = next(filter(None, map(self._of, folders)), None)
        return found or (self._remotes.get(whereabouts.normal_remote(remote)) if remote else None)

    def may_be_one(self, conversation: Conversation) -> bool:
        """Whether its folder could be registered: it has one, and that is no home folder."""
        return any(Path(folder) != self._context.env.home for folder in conversation.folders[:1])

    def _find(self, folder: str) -> str | None:
        if "\0" in folder:
            return None
        return whereabouts.project_of_folder(Path(folder), self._context.memory, self._context.registry)

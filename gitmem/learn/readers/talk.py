"""What every reader fills in, record by record: who said what, which tools ran, what was taken back.

A reader tells what happens; numbers, final answers and turns come out of it. Nothing here knows a host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gitmem.learn.turns import ASSISTANT, TOOL, USER, Turn

_NAME = re.compile(r"[^\w.:/@-]+")
_NAME_CHARS = 60
_CLASSES = (
    ("timeout", re.compile(r"timed? ?out|deadline exceeded", re.IGNORECASE)),
    ("missing", re.compile(r"no such file|not found|does not exist|cannot find|ENOENT|No module named", re.IGNORECASE)),
    ("permission", re.compile(r"permission denied|not permitted|EACCES|EPERM|forbidden|unauthorized", re.IGNORECASE)),
    ("network", re.compile(r"ECONN|could not resolve|connection (?:refused|reset)|network is|getaddrinfo", re.IGNORECASE)),
    ("input", re.compile(r"syntax ?error|parse error|failed to parse|invalid|unexpected|validation", re.IGNORECASE)),
    ("test", re.compile(r"\bassert|\bFAILED\b|\d+ failed|tests? failed", re.IGNORECASE)),
    ("exit", re.compile(r"exit(?:ed with)? code|exit status|exit_code", re.IGNORECASE)),
)  # fmt: skip
_LOOKED_AT = 4000


def error_class(output: str) -> str:
    """A coarse word for what went wrong; the output itself is not kept."""
    seen = output[:_LOOKED_AT] + "\n" + output[-_LOOKED_AT:] if len(output) > 2 * _LOOKED_AT else output
    return next((name for name, pattern in _CLASSES if pattern.search(seen)), "other")


@dataclass(slots=True)
class _Event:
    """`final`: True, False, or None where the host does not say; `group`: blocks of one message share it."""

    number: int
    role: str
    at: str
    text: str = ""
    queued: bool = False
    copied: bool = False
    gone: bool = False
    final: bool | None = None
    group: str = ""
    names: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class Talk:
    """A session as it is told. Times that are missing are those of the record before.

    While `copying` is set, what is told comes from the session's parent; while `aside` is set, it was taken back since.
    """

    def __init__(self) -> None:
        self._events: list[_Event] = []
        self._calls: dict[str, _Event] = {}
        self._called: dict[str, str] = {}
        self._failures: dict[str, bool] = {}
        self._breaks: set[int] = set()
        self._at = ""
        self.copying = False
        self.aside = False
        self.aborted = 0
        self.compactions = 0
        self.shell_lines = 0

    def user(self, text: str, at: str, *, queued: bool = False) -> None:
        """The person typed; `queued`: while the model was at work."""
        text = text.strip()
        if text:
            self._add(USER, at, text=text, queued=queued)

    def says(self, text: str, at: str, *, final: bool | None, group: str = "") -> None:
        """The model wrote a text."""
        text = text.strip()
        if text:
            self._add(ASSISTANT, at, text=text, final=final, group=group)

    def concludes(self, text: str, at: str) -> None:
        """The host names the turn's last answer: one that was written already, or a new one."""
        text = text.strip()
        for event in reversed(self._events):
            if event.role == USER:
                break
            if event.role == ASSISTANT and event.text == text and event.copied == self.copying:
                event.final = True
                return
        self.says(text, at, final=True)

    def calls(self, name: str, call: str, at: str) -> None:
        """The model called a tool; a run of calls is one turn."""
        last = self._events[-1] if self._events else None
        if last is None or (last.role, last.copied, last.gone) != (TOOL, self.copying, self.aside):
            last = self._add(TOOL, at)
        name = _NAME.sub("_", name)[:_NAME_CHARS] or "tool"
        last.names.append(name)
        self._calls[call], self._called[call] = last, name

    def fails(self, call: str, output: str) -> None:
        """A call of a tool failed; a call fails once, however often it is said."""
        if call in self._failures or self.aside:
            return
        self._failures[call] = self.copying
        if event := self._calls.get(call):
            event.failed.append(f"{self._called[call]} failed: {error_class(output)}")

    def abort(self) -> None:
        """The person interrupted the turn: what was written in it is no answer."""
        if not self.copying:
            self.aborted += 1
        self._breaks.add(len(self._events))

    def roll_back(self, turns: int) -> None:
        """The last typed turns, and what followed them, were taken back."""
        for event in reversed(self._events):
            if turns <= 0:
                return
            if event.gone:
                continue
            event.gone = True
            turns -= event.role == USER

    @property
    def tool_errors(self) -> int:
        """Failures of the session's own calls."""
        return sum(not copied for copied in self._failures.values())

    @property
    def complete(self) -> bool:
        """Whether the last prompt was answered or interrupted."""
        last = next((event for event in reversed(self._events) if not event.gone), None)
        if last is None or len(self._events) in self._breaks:
            return True
        return last.role == ASSISTANT and last.final is not False

    def undone(self) -> tuple[str, ...]:
        return tuple(one.text for one in self._events if one.role == USER and one.gone and not one.copied)

    def turns(self, copied: bool = False) -> tuple[Turn, ...]:
        """The turns that stand: typed words, final answers, and the tools between them."""
        final = self._finals()
        found = []
        for event in self._events:
            if event.gone or event.copied != copied:
                continue
            if event.role == USER:
                found.append(Turn(event.number, USER, event.at, event.text, event.queued))
            elif event.role == TOOL:
                found.append(Turn(event.number, TOOL, event.at, _tools(event)))
            elif text := final.get(event.number):
                found.append(Turn(event.number, ASSISTANT, event.at, text))
        return tuple(found)

    def _add(self, role: str, at: str, **fields: object) -> _Event:
        self._at = at or self._at
        number = len(self._events) + 1
        event = _Event(number, role, self._at, copied=self.copying, gone=self.aside, **fields)  # type: ignore[arg-type]
        self._events.append(event)
        return event

    def _finals(self) -> dict[int, str]:
        """Number of the first block -> text of each exchange's final answer.

        An exchange goes from one typed turn to the next; one typed while the model worked does not end it. Its answer
        is the last text that the host calls final; where the host says nothing of a text, the last one with no call of
        a tool after it, unless the person interrupted.
        """
        found: dict[int, str] = {}
        exchange: list[_Event] = []
        for index, event in enumerate(self._events):
            if index in self._breaks:
                _close(exchange, found, aborted=True)
                exchange = []
            if event.role == USER and not event.queued:
                _close(exchange, found)
                exchange = []
            elif not event.gone:
                exchange.append(event)
        _close(exchange, found, aborted=len(self._events) in self._breaks)
        return found


def _close(exchange: list[_Event], found: dict[int, str], aborted: bool = False) -> None:
    chosen: _Event | None = None
    called = False
    for event in reversed(exchange):
        if event.role == TOOL:
            called = True
        elif event.role == ASSISTANT:
            if event.final:
                chosen = event
                break
            if chosen is None and event.final is None and not called and not aborted:
                chosen = event
    if chosen is None:
        return
    same = [
        event
        for event in exchange
        if event is chosen or (chosen.group and event.role == ASSISTANT and event.group == chosen.group)
    ]
    found[same[0].number] = "\n\n".join(event.text for event in same)


def _tools(event: _Event) -> str:
    counted = {name: event.names.count(name) for name in event.names}
    parts = [name if times == 1 else f"{name} ×{times}" for name, times in counted.items()]
    return "; ".join([", ".join(parts), *event.failed])

"""What a reader makes of a host's session: its turns, in order, and what is known about it. Values only."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

USER, ASSISTANT, TOOL = "user", "assistant", "tool"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said or done.

    Args:
        number: its place in the session, from 1. It stays the same when the session grows or something is taken
            back, so numbers have gaps where what stood there is not kept.
        role: `user` (typed words), `assistant` (a final answer) or `tool` (names of tools, and how they failed).
        at: RFC 3339 in UTC, with milliseconds.
        queued: typed while the model was at work.
    """

    number: int
    role: str
    at: str
    text: str
    queued: bool = False

    @property
    def key(self) -> str:
        """By this a turn is known again in a copy: hosts copy role, time and text when they fork, resume or compact."""
        words = f"{self.role}\0{self.at}\0{self.text}"
        return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session of a host as it stands in its history.

    Args:
        started, last: RFC 3339 in UTC; the first and the newest record that has a time. Empty when none has.
        turns: its own turns; `before`: those it was given from `parent`, which are no news.
        parent: the session it goes on from, was forked from, or works for.
        tool_errors: calls of tools that failed; a person's refusal is no failure.
        ended: True when the host says so, None when it does not tell.
        sidechain: a model or a timer wrote the prompts (a sub-agent, a scheduled job); it has no typed turn.
        continues: it is the same conversation as `parent`, under a new name.
        complete: the last prompt has its answer, or was interrupted.
        cut: the last record is not whole.
        marked: it is one of the learner's own.
        undone: typed words that were taken back: rolled back, rewound, or on a branch that was left.
        aborted: turns that the person interrupted; `shell_lines`: commands the person ran through the host.
        folders: every working directory it was in; `remote`: the repository's address where the host notes it.
        agent_id: the sub-agent's name.
        unreadable: records that were passed over because they are no JSON, the cut one included.
    """

    host: str
    session: str
    cwd: str | None = None
    git_branch: str | None = None
    started: str = ""
    last: str = ""
    turns: tuple[Turn, ...] = ()
    title: str | None = None
    parent: str | None = None
    tool_errors: int = 0
    compactions: int = 0
    ended: bool | None = None
    sidechain: bool = False
    before: tuple[Turn, ...] = ()
    continues: bool = False
    complete: bool = True
    cut: bool = False
    marked: bool = False
    undone: tuple[str, ...] = ()
    aborted: int = 0
    shell_lines: int = 0
    folders: tuple[str, ...] = ()
    remote: str | None = None
    agent_id: str | None = None
    unreadable: int = 0

    @property
    def typed(self) -> tuple[Turn, ...]:
        """The person's own turns, those typed while the model worked among them."""
        return tuple(turn for turn in self.turns if turn.role == USER)

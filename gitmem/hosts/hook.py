"""`git mem hook HOST`: one event of a host in, its exact answer out, in bounded time, and never in the way.

In: the host's JSON on standard input (`codex-notify`: as the last argument). Out: its answer on standard output, in one piece, or nothing. Whatever
goes wrong, the exit code is 0 and nothing is printed (a host may take another code for a verdict on the prompt);
what went wrong stands as one line in the memory's log. Standard error stays empty, and what libraries print is
lost. Most calls answer nothing, so what they load is kept small: see tests/hosts/test_hook_light.py.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from gitmem import config
from gitmem.errors import Refused
from gitmem.hosts import known
from gitmem.recall import log

LIMIT_S = 1.4  # of the 1.5 s a host waits for us; python's own start is outside
ANSWER_S = 1.0  # by then recall answers with what it has
MAX_BYTES = 4_000_000
GUARDS = ("GIT_MEM_IN_HOOK", "GIT_MEM_DETACHED")
FALLBACK_BYTES = 200_000
NOTIFY = "-notify"
# Names the file that `connect` reads to learn what became of its trial; it stands in for the log.
TRIAL_NOTE = "GIT_MEM_TRIAL_NOTE"


def main(args: list[str]) -> int:
    """Answer one event; always 0."""
    call = Call(args[0] if args else "")
    try:
        gc.disable()  # a second's work at most: collecting costs more than it frees
        call.begin()
        _answer(call, args[1:])
    except BaseException as error:
        call.failed(error)
    call.stop_clock()
    return 0


def _answer(call: Call, rest: list[str]) -> None:
    # Codex gives the event of its `notify` program as the last argument, and nothing on standard input
    by_argument = call.host.endswith(NOTIFY)
    call.host = call.host.removesuffix(NOTIFY)
    data = rest[-1].encode("utf-8", "surrogateescape") if by_argument and rest else _stdin()
    env = config.from_process()
    call.fallback = fallback(env)
    if note := env.vars.get(TRIAL_NOTE):
        call.trial = Path(note)
    if any(env.vars.get(guard) for guard in GUARDS):
        return
    if call.host not in known.MODULES:
        raise Refused(f"no hook for the host `{call.host}`")
    if data is None:
        raise Refused(f"more than {MAX_BYTES} bytes on standard input")
    event = json.loads(data)
    if not isinstance(event, dict):
        raise Refused("the event is no JSON object")
    known.answer(call.host)(event, env, call)


class Call:
    """One call by a host: its clock, its way out, and where its failures are noted."""

    def __init__(self, host: str):
        self.host = host
        self.event = ""
        self.began = time.monotonic()
        self.state: Path | None = None
        self.fallback: Path | None = None
        self.trial: Path | None = None
        self._out = 1

    @property
    def deadline_s(self) -> float:
        return self.began + ANSWER_S

    def begin(self) -> None:
        self._start_clock()
        self._out = os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)

    def say(self, answer: dict[str, Any]) -> None:
        """Write the answer: whole, or not at all if the time is over."""
        data = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        self.stop_clock()
        while data:
            data = data[os.write(self._out, data) :]
        self._start_clock()

    def failed(self, error: BaseException) -> None:
        """Note a failure, in one line."""
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        entry = {
            "event": "hook failed",
            "host": self.host,
            "hook": self.event,
            "error": words,
            "where": _where(error),
        }
        try:
            if self.trial is not None:
                self._tell_trial({"error": words})
            elif self.state is None or not log.append(self.state, entry):
                self._note(words)
        except Exception:
            return  # nowhere left to say it

    def tried(self, memory: Path) -> None:
        """A trial was carried through in the memory of this common git folder."""
        if self.trial is not None:
            self._tell_trial({"memory": str(memory)})

    def _tell_trial(self, told: dict[str, Any]) -> None:
        # only into the file that waits for it: whoever sets the variable makes us write nowhere else
        if self.trial is not None and self.trial.is_file() and not self.trial.stat().st_size:
            self.trial.write_text(json.dumps(told), encoding="utf-8")

    def _note(self, words: str) -> None:
        if self.fallback is None:
            return
        self.fallback.parent.mkdir(parents=True, exist_ok=True)
        if self.fallback.exists() and self.fallback.stat().st_size > FALLBACK_BYTES:
            self.fallback.replace(self.fallback.with_suffix(".old.log"))
        with self.fallback.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(
                f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {self.host} {self.event or '-'} {words}\n"
            )

    def _start_clock(self) -> None:
        left_s = max(0.001, self.began + LIMIT_S - time.monotonic())
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, lambda *_: self._too_late())
            signal.setitimer(signal.ITIMER_REAL, left_s)
            return
        import threading

        self._timer = threading.Timer(left_s, self._too_late)
        self._timer.daemon = True
        self._timer.start()

    def stop_clock(self) -> None:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        elif hasattr(self, "_timer"):
            self._timer.cancel()

    def _too_late(self) -> None:
        self.failed(TimeoutError(f"no answer within {LIMIT_S} s"))
        os._exit(0)


def _stdin() -> bytes | None:
    """All of standard input, read to its end so that the host's write never fails; None when it is too long."""
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1 << 16):
        size += len(part)
        if size <= MAX_BYTES:
            parts.append(part)
    return b"".join(parts) if size <= MAX_BYTES else None


def fallback(env: config.Env) -> Path | None:
    """The log of a call that knows of no memory."""
    chosen = env.vars.get("XDG_STATE_HOME")
    state = Path(chosen) if chosen else env.home / ".local" / "state" if env.home else None
    return state / "git-mem" / "hook.log" if state else None


def _where(error: BaseException) -> str:
    """The innermost line of ours that the error came through."""
    found, at = "", error.__traceback__
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        if f"{os.sep}gitmem{os.sep}" in file:
            found = f"{file.rsplit(f'{os.sep}gitmem{os.sep}', 1)[1]}:{at.tb_lineno}"
        at = at.tb_next
    return found

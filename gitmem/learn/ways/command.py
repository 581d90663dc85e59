"""A command as the model: the order on its standard input, the answer on its standard output. For example `claude -p`."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

from gitmem import config
from gitmem.errors import Refused
from gitmem.learn.order import Order
from gitmem.learn.ways import Late, Reply, Unreachable

TIMEOUT_S = 300.0
MAX_BYTES = 1_000_000
# An agent that is started here neither recalls into its own prompt nor learns from it.
GUARD = "GIT_MEM_IN_LEARN"


class CommandWay:
    """`mem.learnCommand`, run without a shell.

    Raises:
        Refused: the command cannot be read or is not there.
    """

    def __init__(self, command: str, variables: Mapping[str, str], timeout_s: float = TIMEOUT_S):
        try:
            self._args = shlex.split(command)
        except ValueError as error:
            raise Refused(f"`mem.learnCommand` cannot be read: {error}", [f"it is `{command}`"]) from None
        if not self._args:
            raise Refused("`mem.learnCommand` is empty", ["git config --global mem.learnCommand 'claude -p'"])
        if shutil.which(self._args[0], path=variables.get("PATH")) is None:
            raise Refused(
                f"there is no program `{self._args[0]}`",
                ["`mem.learnCommand` names it: git config --show-origin --get mem.learnCommand"],
            )
        self.command = command
        self.name = os.path.basename(self._args[0])
        self._timeout_s = timeout_s
        self._env = {**config.git_env(variables), "GIT_MEM_OFF": "1", GUARD: "1"}

    def ask(self, order: Order) -> Reply:
        try:
            process = subprocess.Popen(
                self._args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._env,
                cwd=os.path.abspath(os.sep), start_new_session=os.name != "nt",
            )  # fmt: skip
        except OSError as error:
            raise Unreachable(f"`{self.name}` did not start: {error.strerror or error}") from None
        out, err = _Pipe(process.stdout, MAX_BYTES), _Pipe(process.stderr, 10_000)
        feeding = threading.Thread(target=_feed, args=(process.stdin, order.text), daemon=True)
        feeding.start()
        try:
            code = process.wait(self._timeout_s)
        except subprocess.TimeoutExpired:
            raise Late(f"`{self.name}` took longer than {self._timeout_s:.0f} s") from None
        finally:
            # a child of it may still hold the pipes
            _end(process)
        data, said = out.read(), err.read()
        if out.over:
            raise Unreachable(f"`{self.name}` printed more than {MAX_BYTES} bytes")
        if code != 0:
            last = said.decode("utf-8", "replace").strip().split("\n")[-1][:160]
            raise Unreachable(f"`{self.name}` failed with exit code {code}" + (f": {last}" if last else ""))
        text = data.decode("utf-8", "replace")
        if not text.strip():
            raise Unreachable(f"`{self.name}` printed nothing")
        return Reply(text)


class _Pipe:
    """Reads a pipe to its end on a thread of its own, and keeps so much of it."""

    def __init__(self, stream: IO[bytes] | None, most: int):
        assert stream is not None
        self._stream, self._most = stream, most
        self._data = bytearray()
        self.over = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        with suppress(OSError, ValueError), self._stream:
            while piece := os.read(self._stream.fileno(), 65536):
                room = self._most - len(self._data)
                self._data += piece[:room]
                self.over = self.over or len(piece) > room

    def read(self) -> bytes:
        self._thread.join(5.0)
        return bytes(self._data)


def _feed(stream: IO[bytes] | None, text: str) -> None:
    assert stream is not None
    with suppress(OSError, ValueError), stream:
        stream.write(text.encode("utf-8", "replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the command and whatever it started."""
    if os.name == "nt":
        with suppress(OSError):
            process.kill()
    else:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(5.0)

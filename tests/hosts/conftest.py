"""What the tests of every host stand on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture
def command(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`git-mem` on PATH, as an installation puts it there."""
    script = home / "bin" / "git-mem"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    script.chmod(0o755)
    # not the folder of this interpreter: an installed `git-mem` lies there
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/local/bin:/usr/bin:/bin")
    return script

"""Is `git mem` what a host's shell would start, and is it this one?"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from gitmem.config import Env
from gitmem.git.run import clean
from gitmem.health.finding import FIX, LOOK, Finding, spelt

_HEAD_BYTES = 2000


def findings(env: Env) -> Iterator[Finding]:
    place = shutil.which("git-mem", path=env.vars.get("PATH", os.defpath))
    if place is None:
        exec_path = Path(clean(Path("/"), env.vars).run("--exec-path", check=False).text())
        if not (exec_path / "git-mem").exists():
            words = "`git mem` is not on PATH: hosts cannot call it"
            yield Finding(FIX, "command-missing", "command", words, _mend())
    elif not is_this_one(Path(place)):
        words = f"`git mem` on PATH is another installation, {spelt(Path(place), env)}"
        yield Finding(LOOK, "command-other", "command", words, _mend())


def is_this_one(script: Path) -> bool:
    """Whether a script starts this interpreter: it lies beside it, or names it in its first lines."""
    own = {
        os.path.dirname(os.path.abspath(sys.executable)),
        os.path.join(sys.prefix, "bin"),
        os.path.join(sys.prefix, "Scripts"),
    }
    if {os.path.dirname(os.path.abspath(script)), os.path.dirname(os.path.realpath(script))} & own:
        return True
    try:
        with script.open("rb") as file:
            head = os.fsdecode(file.read(_HEAD_BYTES))
    except OSError:
        return False
    return any(f"{folder}{os.sep}" in head for folder in own)


def _mend() -> str:
    """Put this installation's own folder first, or install it where it runs from somewhere else."""
    folder = os.path.dirname(os.path.abspath(sys.executable))
    if os.path.exists(os.path.join(folder, "git-mem")):
        return f'export PATH="{folder}:$PATH"'
    return f"{quote(sys.executable)} -m pip install git-mem"

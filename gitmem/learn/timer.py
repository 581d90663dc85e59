"""A timer that runs `git mem learn --auto`, for hosts that call no hook: systemd's, launchd's, or a line in the crontab.

What is written carries a mark, and `remove` takes out just that.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from xml.sax.saxutils import escape

from gitmem.errors import Refused, Usage

NAME = "git-mem-learn"
_LABEL = "org.git-mem.learn"
_MARK = "# git-mem learn"
_EVERY = re.compile(r"(\d{1,4})\s*(m|min|h|d)\Z", re.ASCII)
_MINUTES = {"m": 1, "min": 1, "h": 60, "d": 1440}


@dataclass(frozen=True, slots=True)
class Timer:
    """`what`: what was written, for a person; `place`: where."""

    what: str
    place: str


def minutes(text: str) -> int:
    """`6h`, `30m`, `1d` in minutes.

    Raises:
        Usage: it is none, under a quarter of an hour or over a week.
    """
    match = _EVERY.match(text.strip().lower())
    found = int(match[1]) * _MINUTES[match[2]] if match else 0
    if not 15 <= found <= 7 * 1440:
        raise Usage(f"`{text}` is no time between 15m and 7d", ["git mem learn --every 6h"])
    return found


def install(
    every: int, root: Path, home: Path, variables: Mapping[str, str], platform: str = sys.platform
) -> Timer:
    """Start a timer for the memory at `root`, in place of the one that was there.

    Args:
        every: minutes.

    Raises:
        Refused: this computer has none that we know.
    """
    remove(home, variables, platform)
    command = [sys.executable, "-P", "-m", "gitmem", "--repo", str(root), "learn", "--auto"]
    if platform == "darwin":
        return _launchd(command, every, home, variables)
    if _systemd(variables):
        return _units(command, every, home, variables)
    if shutil.which("crontab", path=variables.get("PATH")):
        return _crontab(command, every, variables)
    raise Refused(
        "there is neither a systemd user session nor a crontab here",
        ["run this from any timer you have: " + " ".join(map(quote, command))],
    )


def remove(home: Path, variables: Mapping[str, str], platform: str = sys.platform) -> list[str]:
    """Take out every timer of ours; where they were."""
    found = []
    for file in (_unit(home, "timer"), _unit(home, "service")):
        if file.exists():
            if file.suffix == ".timer" and _systemd(variables):
                _run(["systemctl", "--user", "disable", "--now", file.name], variables)
            file.unlink()
            found.append(str(file))
    agent = _agent(home)
    if agent.exists():
        _run(["launchctl", "unload", str(agent)], variables)
        agent.unlink()
        found.append(str(agent))
    if platform != "darwin" and shutil.which("crontab", path=variables.get("PATH")):
        lines = _lines(variables)
        if any(_MARK in line for line in lines):
            _put([line for line in lines if _MARK not in line], variables)
            found.append("the crontab")
    return found


def there(home: Path | None, variables: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a timer of ours is installed."""
    if home is None:
        return False
    if _unit(home, "timer").exists() or _agent(home).exists():
        return True
    if platform == "darwin" or not shutil.which("crontab", path=variables.get("PATH")):
        return False
    return any(_MARK in line for line in _lines(variables))


def _unit(home: Path, kind: str) -> Path:
    return home / ".config" / "systemd" / "user" / f"{NAME}.{kind}"


def _agent(home: Path) -> Path:
    return home / "Library" / "LaunchAgents" / f"{_LABEL}.plist"


def _systemd(variables: Mapping[str, str]) -> bool:
    if not shutil.which("systemctl", path=variables.get("PATH")):
        return False
    return _run(["systemctl", "--user", "show-environment"], variables) == 0


def _units(command: list[str], every: int, home: Path, variables: Mapping[str, str]) -> Timer:
    service, timer = _unit(home, "service"), _unit(home, "timer")
    service.parent.mkdir(parents=True, exist_ok=True)
    line = " ".join(_for_systemd(part) for part in command)
    service.write_text(
        f"[Unit]\nDescription=git mem learns from ended sessions\n\n[Service]\nType=oneshot\nExecStart={line}\n"
    )
    timer.write_text(
        f"[Unit]\nDescription=git mem learns every {every} minutes\n\n[Timer]\nOnBootSec=10min\nOnUnitActiveSec={every}min\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )
    for args in (["daemon-reload"], ["enable", "--now", timer.name]):
        if _run(["systemctl", "--user", *args], variables) != 0:
            raise Refused(
                f"systemd did not take `{timer}`", [f"systemctl --user enable --now {timer.name} says why"]
            )
    return Timer(f"systemd timer, every {every} minutes", str(timer))


def _for_systemd(part: str) -> str:
    """Quoted for ExecStart: no specifier, no variable of its own."""
    part = part.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{part}"'


def _launchd(command: list[str], every: int, home: Path, variables: Mapping[str, str]) -> Timer:
    file = _agent(home)
    file.parent.mkdir(parents=True, exist_ok=True)
    args = "".join(f"    <string>{escape(part)}</string>\n" for part in command)
    file.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        f'<plist version="1.0"><dict>\n  <key>Label</key><string>{_LABEL}</string>\n  <key>ProgramArguments</key><array>\n{args}  </array>\n'
        f"  <key>StartInterval</key><integer>{every * 60}</integer>\n</dict></plist>\n"
    )
    if _run(["launchctl", "load", str(file)], variables) != 0:
        raise Refused(f"launchd did not take `{file}`", [f"launchctl load {quote(str(file))} says why"])
    return Timer(f"launchd agent, every {every} minutes", str(file))


def _crontab(command: list[str], every: int, variables: Mapping[str, str]) -> Timer:
    when = (
        f"*/{every} * * * *"
        if every < 60
        else f"17 */{every // 60} * * *"
        if every < 1440
        else f"17 4 */{every // 1440} * *"
    )
    line = f"{when} {' '.join(map(quote, command)).replace('%', chr(92) + '%')} >/dev/null 2>&1 {_MARK}"
    _put([*_lines(variables), line], variables)
    return Timer(f"line in the crontab: {when}", "the crontab")


def _lines(variables: Mapping[str, str]) -> list[str]:
    found = subprocess.run(["crontab", "-l"], capture_output=True, env=dict(variables), check=False)
    return found.stdout.decode("utf-8", "surrogateescape").splitlines() if found.returncode == 0 else []


def _put(lines: list[str], variables: Mapping[str, str]) -> None:
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    done = subprocess.run(["crontab", "-"], input=text, capture_output=True, env=dict(variables), check=False)
    if done.returncode != 0:
        raise Refused(
            "the crontab was not taken",
            [done.stderr.decode("utf-8", "replace").strip() or "crontab -e says why"],
        )


def _run(command: list[str], variables: Mapping[str, str]) -> int:
    try:
        return subprocess.run(
            command, capture_output=True, env=dict(variables), timeout=20, check=False
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return 1

"""Timers, with programs in the place of systemd's, cron's and launchd's own."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from gitmem.errors import Refused, Usage
from gitmem.learn import timer


@pytest.fixture
def programs(tmp_path: Path):
    """`programs("crontab")`: a PATH with these and no other; what they were called with stands in `calls`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    scripts = {
        "systemctl": 'echo "$@" >> {calls}\n',
        "launchctl": 'echo "$@" >> {calls}\n',
        "crontab": 'if [ "$1" = -l ]; then [ -f {table} ] && /bin/cat {table} || exit 1; else /bin/cat > {table}; fi\n',
    }

    def put(*names: str) -> dict[str, str]:
        for name in names:
            file = folder / name
            text = scripts[name].format(calls=tmp_path / "calls", table=tmp_path / "table")
            file.write_text(f"#!/bin/sh\n{text}")
            file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return {"PATH": str(folder)}

    return put


ROOT = Path("/srv/my memory")


@pytest.fixture
def on_path(monkeypatch):
    return lambda variables: monkeypatch.setenv("PATH", variables["PATH"])


def test_a_systemd_timer_is_written_enabled_and_taken_out(programs, on_path, tmp_path):
    variables = programs("systemctl")
    on_path(variables)
    made = timer.install(360, ROOT, tmp_path, variables, "linux")
    unit = (tmp_path / ".config/systemd/user/git-mem-learn.service").read_text()
    assert f'"{sys.executable}"' in unit and '"/srv/my memory" "learn" "--auto"' in unit
    assert "OnUnitActiveSec=360min" in Path(made.place).read_text()
    assert "enable --now git-mem-learn.timer" in (tmp_path / "calls").read_text()
    assert timer.there(tmp_path, variables, "linux")
    assert len(timer.remove(tmp_path, variables, "linux")) == 2
    assert not timer.there(tmp_path, variables, "linux")


def test_a_line_in_the_crontab_leaves_the_other_lines_alone(programs, on_path, tmp_path):
    (tmp_path / "table").write_text("0 5 * * * backup\n")
    variables = programs("crontab")
    on_path(variables)
    timer.install(30, ROOT, tmp_path, variables, "linux")
    timer.install(360, ROOT, tmp_path, variables, "linux")
    lines = (tmp_path / "table").read_text().splitlines()
    assert lines[0] == "0 5 * * * backup" and len(lines) == 2
    assert lines[1].startswith("17 */6 * * * ") and "'/srv/my memory' learn --auto" in lines[1]
    assert timer.remove(tmp_path, variables, "linux") == ["the crontab"]
    assert (tmp_path / "table").read_text() == "0 5 * * * backup\n"


def test_a_launchd_agent_is_written_and_taken_out(programs, on_path, tmp_path):
    variables = programs("launchctl")
    on_path(variables)
    made = timer.install(60, ROOT, tmp_path, variables, "darwin")
    assert "<integer>3600</integer>" in Path(made.place).read_text()
    assert timer.remove(tmp_path, variables, "darwin") == [made.place]


def test_where_there_is_no_timer_the_line_to_run_is_told(programs, on_path, tmp_path):
    variables = programs()
    on_path(variables)
    with pytest.raises(Refused) as caught:
        timer.install(60, ROOT, tmp_path, variables, "linux")
    assert "learn --auto" in caught.value.hints[0]


@pytest.mark.parametrize(("text", "minutes"), [("15m", 15), ("6h", 360), ("1d", 1440), ("90 min", 90)])
def test_times_are_read(text, minutes):
    assert timer.minutes(text) == minutes


@pytest.mark.parametrize("text", ["", "5m", "8d", "6", "-6h", "6 weeks", "１５m"])
def test_times_that_are_none_are_refused(text):
    with pytest.raises(Usage):
        timer.minutes(text)

"""Leaving: what git mem put into this computer goes, the memory and everything else stay as they were."""

from __future__ import annotations

import subprocess

from gitmem.hooks.place import install_into


def bytes_of(folder):  # type: ignore[no-untyped-def]
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_what_was_put_in_goes_and_the_memory_stays(memory, home, run):
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"model": "x"}\n')
    before = bytes_of(home / ".claude")
    install_into(memory)
    run("connect", "claude-code")
    run("add", "Use pnpm here")
    assert bytes_of(home / ".claude") != before
    done = run("uninstall", "--yes")
    assert done.code == 0, done.err
    assert bytes_of(home / ".claude") == before
    assert not (memory.root / ".git" / "hooks" / "pre-commit").exists()
    assert (
        subprocess.run(["git", "config", "--global", "mem.repo"], check=False, capture_output=True).returncode
        == 1
    )
    assert "the memory in ~/memory" in done.out
    assert list((memory.root / "cards").rglob("*.md"))


def test_without_a_terminal_it_needs_a_yes_and_an_agent_may_not(memory, run):
    assert run("uninstall").code == 2
    assert run("uninstall", "--yes", env={"CLAUDECODE": "1"}).code == 1

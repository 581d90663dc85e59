"""Strict hooks and a judging server beside what moves the branch on purpose: sync, and erasing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.checks.by_hand import Hand

BAD = "cards/global/2026/11/09/2026-11-09-n0tacard00.md"


def _git(cwd: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def devices(memory, home, run):  # type: ignore[no-untyped-def]
    """Two strict devices and a bare remote between them, not yet judging."""
    hub, second = home / "hub.git", home / "second"
    _git(home, "init", "-q", "--bare", "-b", "main", str(hub))
    _git(memory.root, "remote", "add", "origin", str(hub))
    assert run("hooks", "install", "--strict").code == 0
    assert run("add", "The first card of the first device is here", "--type", "fact").code == 0
    done = run("sync")
    assert done.code == 0, done.err
    assert run("clone", str(hub), str(second)).code == 0
    assert run("--repo", str(second), "hooks", "install", "--strict").code == 0
    return memory.root, second, hub


def _on(run, place: Path):  # type: ignore[no-untyped-def]
    def call(*args: str):  # type: ignore[no-untyped-def]
        done = run("--repo", str(place), *args)
        assert done.code == 0, (args, done.err, done.out)
        return done.out.strip()

    return call


@pytest.mark.parametrize("judging", [False, True], ids=["plain remote", "judging remote"])
def test_two_strict_devices_come_together(devices, run, judging):
    first, second, hub = devices
    if judging:
        assert run("--repo", str(hub), "hooks", "install", "--server").code == 0
    one, two = _on(run, first), _on(run, second)
    one("add", "Only the first device knows the harbour", "--type", "fact")
    two("add", "Only the second device knows the orchard", "--type", "fact")
    two("project", "add", "atlas")
    for call in (one, two, one):
        call("sync")
    assert (
        _git(first, "rev-parse", "main")
        == _git(second, "rev-parse", "main")
        == _git(hub, "rev-parse", "main")
    )
    assert one("list").count("\n") == 2 and "orchard" in one("list")
    assert one("check", "--all") == ""


def test_sync_takes_what_somebody_forced_in_and_a_plain_pull_does_not(devices, run):
    first, second, _ = devices
    assert run("--repo", str(second), "hooks", "uninstall").code == 0
    forced = Hand(second)
    forced.stage(BAD, "no card\n")
    forced.commit("--no-verify")
    forced.git("push", "-q", "--no-verify", "origin", "main")
    here = Hand(first)
    before = here.git("rev-parse", "main")
    assert here.run("pull", "-q", "--ff-only", "origin", "main").returncode != 0
    assert here.git("rev-parse", "main") == before
    here.git("reset", "-q", "--hard", "HEAD")
    done = run("--repo", str(first), "sync")
    assert done.code == 0 and BAD in done.err + done.out, done
    assert here.git("rev-parse", "main") == forced.git("rev-parse", "main")
    assert run("--repo", str(first), "add", "The next card is written as ever", "--type", "fact").code == 0


def test_erasing_passes_strict_hooks_on_every_device_and_the_stale_branch_is_not_taken_again(devices, run):
    first, second, hub = devices
    one, two = _on(run, first), _on(run, second)
    secret = one("add", "The zqsecret mailbox is emptied on fridays", "--type", "fact")
    one("sync")
    two("sync")
    two("add", "Only the second device knows the orchard", "--type", "fact")
    one("forget", secret, "--yes")
    assert "zqsecret" not in one("list")
    assert run("--repo", str(hub), "hooks", "install", "--server").code == 0
    # the order to forget reaches the server with the branch that was rewritten, or inside it
    order = Hand(first).git("show", "main:registry/forgotten.yaml")
    assert secret in order
    assert run("--repo", str(hub), "forget", secret, "--server", "--yes").code == 0
    stale = Hand(second).run("push", "-q", "--no-verify", "origin", "main")
    assert stale.returncode != 0
    done = run("--repo", str(second), "sync", "--accept-rewrite")
    assert done.code == 0, done.err
    assert "orchard" in two("list") and "zqsecret" not in two("list")
    for place in (first, second):
        assert run("--repo", str(place), "hooks", "status").code == 0
        assert not (place / ".git/git-mem/erasing").exists()
    assert Hand(second).run("reset", "-q", "--hard", "HEAD~1").returncode != 0

"""The pre-commit framework builds our hooks from this very repository and runs them beside two foreign ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.model import card as cards
from gitmem.model import ids
from tests.checks.by_hand import Hand, make
from tests.conftest import ROOT

pytest.importorskip("pre_commit")

CONFIG = """default_install_hook_types: [pre-commit, pre-merge-commit, commit-msg, pre-push]
repos:
- repo: local
  hooks:
  - id: listed
    name: listed
    language: system
    entry: sh -c 'for f; do echo "$f" >>"{seen}"; done' --
    stages: [pre-commit]
- repo: {ours}
  rev: {rev}
  hooks:
  - id: git-mem-check
  - id: git-mem-check-message
  - id: git-mem-check-all
- repo: local
  hooks:
  - id: last
    name: last
    language: system
    entry: sh -c 'echo last >>"{seen}"'
    always_run: true
    pass_filenames: false
    stages: [pre-commit]
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, str, Path]:
    """This code as a repository of its own, its commit, and the framework's cache with our hooks installed."""
    place = tmp_path_factory.mktemp("framework")
    ours, cache = place / "git-mem", place / "cache"
    for name in (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE"):
        ours.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, ours / name)
    for name in ("gitmem", "schemas", "hooks", "templates"):
        shutil.copytree(ROOT / name, ours / name, ignore=shutil.ignore_patterns("__pycache__"))
    env = {**os.environ, "PRE_COMMIT_HOME": str(cache)}
    # the framework's environments import what was installed into them, not this checkout
    env.pop("PYTHONPATH", None)

    def git(*args: str, cwd: Path = ours) -> str:
        return subprocess.run(
            ["git", *args], cwd=cwd, check=True, capture_output=True, text=True, env=env
        ).stdout.strip()

    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "as it is")
    rev = git("rev-parse", "HEAD")
    empty = place / "empty"
    git("init", "-q", str(empty))
    (empty / ".pre-commit-config.yaml").write_text(CONFIG.format(ours=ours, rev=rev, seen=place / "none"))
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "install-hooks"],
        cwd=empty,
        capture_output=True,
        text=True,
        env=env,
    )
    # a requirement that nobody can meet fails; only a connection that does not come about excuses
    if done.returncode != 0 and "Retrying (Retry(total=0" in done.stdout:
        pytest.skip("no package index can be reached, so the framework builds no environment")
    assert done.returncode == 0, done.stdout + done.stderr
    return ours, rev, cache


@pytest.fixture
def framed(memory, home, built, monkeypatch) -> Hand:  # type: ignore[no-untyped-def]
    ours, rev, cache = built
    monkeypatch.setenv("PRE_COMMIT_HOME", str(cache))
    monkeypatch.delenv("PYTHONPATH")
    hand = Hand(memory.root)
    hand.stage(".pre-commit-config.yaml", CONFIG.format(ours=ours, rev=rev, seen=home / "seen"))
    hand.card(make("first"))
    hand.commit()
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install"], cwd=hand.root, check=True, capture_output=True
    )
    return hand


def _seen(home: Path) -> list[str]:
    place = home / "seen"
    lines = place.read_text().splitlines() if place.exists() else []
    place.unlink(missing_ok=True)
    return lines


def test_a_good_card_passes_and_a_bad_one_does_not_and_every_hook_runs(framed, home):
    path = framed.card(make("good"))
    framed.commit()
    assert _seen(home) == [path, "last"]
    bad = "cards/global/2026/11/09/2026-11-09-n0tacard00.md"
    framed.stage(bad, "no card\n")
    words = framed.refused()
    assert f"{bad}:1: SCHEMA" in words and "hook id: git-mem-check\n" in words
    assert _seen(home) == [bad, "last"]


def test_a_deletion_alone_is_judged_though_it_leaves_no_file_to_pass(framed, home):
    framed.git("rm", "-q", cards.card_path(make("first")))
    assert "a card is never deleted or renamed" in framed.refused()
    assert _seen(home) == ["last"]


def test_the_agent_in_the_message_is_judged(framed):
    framed.card(make("other"))
    assert "no active agent `nobody`" in framed.refused("-m", "Mem-Agent: nobody")


def test_what_was_forced_in_is_met_at_the_push(framed, home):
    hub = home / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True)
    framed.git("remote", "add", "hub", str(hub))
    framed.git("push", "-q", "hub", "main")
    framed.stage("cards/global/2026/11/09/2026-11-09-n0tacard00.md", "no card\n")
    framed.commit("--no-verify")
    done = framed.run("push", "-q", "hub", "main")
    assert done.returncode != 0 and "SCHEMA" in done.stdout + done.stderr


def _write_many(hand: Hand, start: str) -> None:
    """3,000 cards whose ids begin so."""
    for number in range(3000):
        end = "".join(ids.ALPHABET[number // 32**place % 32] for place in (2, 1, 0))
        card = replace(make("x", conclusion=f"Number {number} of many stands for itself"), id=start + end)
        hand.write(cards.card_path(card), cards.dump(card))


def test_three_thousand_files_at_once_are_judged_as_one_and_a_twin_is_told_once(framed, home):
    """The framework hands so many names to a hook in several runs; one id twice in two of them is still one fault."""
    _write_many(framed, "many000")
    framed.git("add", "cards")
    framed.commit()
    assert len(_seen(home)) == 3001
    _write_many(framed, "next000")
    twin = replace(make("x", scope="personal", conclusion="The same id once more"), id="next000000")
    framed.write(cards.card_path(twin), cards.dump(twin))
    framed.git("add", "cards")
    words = framed.refused()
    assert words.count("the id `next000000` is taken by") == 1
    assert "1 problem in 1 of 3001 files" in words


def test_the_frameworks_hooks_and_ours_together_refuse_once_each(framed, run, home, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert run("hooks", "install").code == 0
    assert run("hooks", "status").code == 0
    framed.stage("cards/global/2026/11/09/2026-11-09-n0tacard00.md", "no card\n")
    framed.refused()
    framed.git("rm", "-q", "--cached", "cards/global/2026/11/09/2026-11-09-n0tacard00.md")
    _seen(home)
    framed.card(make("fine"))
    framed.commit()
    assert _seen(home)[-1] == "last"

"""The ready workflow: what it tells a runner to do judges what was pushed, run here step by step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.checks.by_hand import Hand, make
from tests.checks.conftest import AGENTS
from tests.conftest import ROOT

BAD = "cards/global/2026/11/09/2026-11-09-n0tacard00.md"


@pytest.fixture
def workflow() -> dict:
    return yaml.safe_load((ROOT / "templates/ci/check.yml").read_text())


def test_the_workflow_has_the_whole_history_and_no_right_to_write(workflow):
    # YAML 1.1 reads the key `on` as true
    assert set(workflow[True]) == {"push", "pull_request"}
    assert workflow["permissions"] == {"contents": "read"}
    job = workflow["jobs"]["check"]
    (checkout,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
    assert checkout["with"]["fetch-depth"] == 0
    assert "github.event.before" in job["env"]["BASE"] and "pull_request.base.sha" in job["env"]["BASE"]
    assert any(step.get("run") == "python -m pip install git-mem" for step in job["steps"])


@pytest.fixture
def judged(hand: Hand, home: Path, workflow):  # type: ignore[no-untyped-def]
    """`judged(before)`: push what the memory holds to a host without hooks, check it out there as CI does, run the steps."""
    hub, folder = home / "hub.git", home / "bin"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(hub)], check=True)
    hand.git("remote", "add", "hub", str(hub))
    hand.git("push", "-q", "--no-verify", "hub", "main")
    folder.mkdir()
    program = folder / "git-mem"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m gitmem "$@"\n')
    program.chmod(0o755)
    (script,) = [s["run"] for s in workflow["jobs"]["check"]["steps"] if "git mem check" in s.get("run", "")]

    def run(before: str, branch: str = "main", number: list[int] = [0]) -> subprocess.CompletedProcess[str]:  # noqa: B006
        hand.git("push", "-q", "--no-verify", "--force", "hub", "HEAD:refs/heads/" + branch)
        number[0] += 1
        place = home / f"runner{number[0]}"
        subprocess.run(["git", "clone", "-q", str(hub), str(place)], check=True)
        sha = hand.git("rev-parse", "HEAD").strip()
        subprocess.run(["git", "checkout", "-q", "--detach", sha], cwd=place, check=True)
        env = {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "HOME": str(place),
            "BRANCH": workflow["jobs"]["check"]["env"]["BRANCH"],
            "BASE": before,
        }
        return subprocess.run(
            ["bash", "-e", "-c", script], cwd=place, capture_output=True, text=True, env=env
        )

    return run


def test_a_good_push_passes_and_a_bad_commit_is_marked_though_it_was_taken_out_again(hand, judged):
    before = hand.git("rev-parse", "HEAD").strip()
    hand.card(make("good"))
    hand.commit()
    done = judged(before)
    assert done.returncode == 0, done.stdout + done.stderr
    hand.stage(BAD, "no card\n")
    hand.commit("--no-verify")
    hand.git("rm", "-q", BAD)
    hand.commit("--no-verify")
    done = judged(before)
    assert done.returncode == 1 and f"::error file={BAD},line=1::SCHEMA" in done.stdout


def test_rights_are_read_from_each_commits_own_parent(hand, judged):
    before = hand.git("rev-parse", "HEAD").strip()
    hand.stage("registry/agents.yaml", AGENTS.replace("write: [atlas]", "write: [all]"))
    hand.commit("--no-verify", "-m", "Mem-Agent: narrow")
    done = judged(before)
    assert done.returncode == 1 and "may not write `registry/`" in done.stdout


@pytest.mark.parametrize("before", ["0" * 40, "1234567890" * 4], ids=["new branch", "rewritten"])
def test_a_first_or_rewritten_push_is_judged_whole(hand, judged, before):
    assert judged(before).returncode == 0
    hand.stage(BAD, "no card\n")
    hand.commit("--no-verify")
    done = judged(before)
    assert done.returncode == 1 and BAD in done.stdout


def test_a_new_branch_is_judged_by_what_the_memory_has(hand, judged):
    hand.git("checkout", "-q", "-b", "draft")
    hand.stage("registry/agents.yaml", AGENTS.replace("write: [atlas]", "write: [all]"))
    hand.commit("--no-verify", "-m", "Mem-Agent: narrow")
    done = judged("0" * 40, "draft")
    assert done.returncode == 1 and "may not write `registry/`" in done.stdout

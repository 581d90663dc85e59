from __future__ import annotations

import sys

import pytest

from gitmem.hooks import install
from tests.checks.by_hand import Hand

AGENTS = """
codex:
  profile: working
  read: [global, projects]
  write: [global, projects]
  status: active
narrow:
  profile: working
  read: [atlas]
  write: [atlas]
  status: active
"""
PROJECTS = "atlas:\n  name: atlas\n  status: active\nweb:\n  name: web\n  status: active\n"


@pytest.fixture
def hand(memory) -> Hand:  # type: ignore[no-untyped-def]
    """A memory with two projects, two agents and its git hooks."""
    here = Hand(memory.root)
    here.stage("registry/projects.yaml", PROJECTS)
    here.stage("registry/agents.yaml", AGENTS)
    here.commit()
    assert install.install(memory.common_dir, None, sys.executable).active
    return here

"""Schemas, templates and hook scripts: top-level folders in a checkout, `gitmem/_data/` in a wheel."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent
_ROOT = _PACKAGE / "_data" if (_PACKAGE / "_data").is_dir() else _PACKAGE.parent


def path(name: str) -> Path:
    """`schemas/card.json`, `templates/claude-code/SKILL.md`, `hooks/shim.sh`, …"""
    return _ROOT / name


def read_text(name: str) -> str:
    return path(name).read_text(encoding="utf-8")


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema `schemas/<name>.json`."""
    return json.loads(read_text(f"schemas/{name}.json"))

"""The table of reported faults names tests that exist."""

from __future__ import annotations

import re

from tests.conftest import ROOT


def test_every_test_that_the_table_names_is_there() -> None:
    table = (ROOT / "docs/decisions/0009-reported-faults.md").read_text(encoding="utf-8")
    named = {name for name in re.findall(r"`([a-z0-9_]+)`", table) if name.count("_") > 3}
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 50
    assert [name for name in sorted(named) if f"def test_{name}(" not in sources] == []

"""What memory put into a conversation is taken out of it again."""

from __future__ import annotations

import pytest

from gitmem.learn.injected import strip
from gitmem.recall.session import fingerprint

BLOCK = "<memory-context>\nNotes recorded earlier\n- k3v9x2m fact: rye is dark.\n</memory-context>"
PLAIN = "git mem: rye is dark\n\n- and heavy"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (BLOCK, ""),
        (f"Bake rye\n\n{BLOCK}", "Bake rye"),
        (f"{BLOCK}\nBake rye", "Bake rye"),
        (PLAIN, ""),
        (f"\n{PLAIN}\n", ""),
        (f"Bake rye\n\n{PLAIN}", "Bake rye"),
        (f"{PLAIN}\n\nBake rye\n\nand wheat", "Bake rye\n\nand wheat"),
        ("What does <memory-context> mean?", "What does <memory-context> mean?"),
        ("git mem: rye is dark", "git mem: rye is dark"),
    ],
)
def test_a_block_is_known_by_its_tag_or_by_its_fingerprint(text, left):
    assert strip(text, {fingerprint(PLAIN)}) == left

"""Work orders as files, and the answers beside them."""

from __future__ import annotations

import json
import os
import stat
import subprocess

import pytest

from gitmem.errors import Refused, Usage
from gitmem.learn import marker, order
from gitmem.learn.ways import by_hand

ONE = order.make(order.DISTIL, "shop", "BEGIN conversation x\n  hello 烤箱\nEND conversation x", "one")
TWO = order.make(order.REVIEW, "shop", "BEGIN candidates x\nEND candidates x", "two")


def test_an_order_is_a_file_for_its_owner_that_holds_everything(tmp_path):
    files = by_hand.write([ONE, TWO], tmp_path / "orders", dict(os.environ))
    text = files[0].read_text()
    assert ONE.system in text and ONE.content in text and '"required"' in text and marker.LEARNER_MARK in text
    assert str(tmp_path / "orders" / f"{ONE.id}.answer.json") in text
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "orders").stat().st_mode) == 0o700


def test_answers_beside_their_orders_are_read_back(tmp_path):
    by_hand.write([ONE, TWO], tmp_path, dict(os.environ))
    (tmp_path / f"{ONE.id}.answer.json").write_text('{"facts": []}')
    assert by_hand.read(tmp_path) == [(ONE.id, '{"facts": []}')]
    named = tmp_path / "mine.json"
    named.write_text(json.dumps({"order": TWO.id, "answer": {"verdicts": []}}))
    assert by_hand.read(named) == [(TWO.id, '{"verdicts": []}')]


def test_orders_that_are_closed_go_and_other_files_stay(tmp_path):
    (tmp_path / "notes.md").write_text("mine")
    by_hand.write([ONE, TWO], tmp_path, dict(os.environ))
    (tmp_path / f"{ONE.id}.answer.json").write_text("{}")
    by_hand.write([TWO], tmp_path, dict(os.environ))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["notes.md", f"{TWO.id}.md"]


def test_a_folder_whose_files_get_committed_is_refused(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    with pytest.raises(Refused, match="work tree"):
        by_hand.write([ONE], tmp_path / "orders", dict(os.environ))
    assert not (tmp_path / "orders").exists()
    (tmp_path / ".gitignore").write_text("/orders/\n")
    assert by_hand.write([ONE], tmp_path / "orders", dict(os.environ))


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "empty"), (b"\xff\xfe", "UTF-8"), (b"x" * 1_000_001, "bytes"), (b"prose", "which order")],
)
def test_an_answer_that_cannot_be_read_is_refused_with_the_reason(tmp_path, data, words):
    file = tmp_path / "answer.txt"
    file.write_bytes(data)
    with pytest.raises(Refused, match=words):
        by_hand.read(file)


def test_no_answer_at_all_is_told(tmp_path):
    with pytest.raises(Refused, match="no answers"):
        by_hand.read(tmp_path)
    with pytest.raises(Usage):
        by_hand.read(tmp_path / "none")

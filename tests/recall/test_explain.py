"""`--explain` and `why`: every stage, every candidate and its fate, then the very bytes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gitmem.authoring.demo import demo_id

PROMPT = "Set up the Python environment for this project"
LINE = re.compile(
    r"(said|quiet|chain|dead|shown|shadow|no room) +(\d+|-) +(\d+|-) +(0\.\d\d|1\.00|-)  ([0-9a-z]{7})  (.+)"
)


@pytest.fixture
def place(demo_memory, home: Path) -> Path:
    demo_memory.git.run("config", "--add", "mem.project.dashboard.path", str(home / "work"))
    return home / "work"


def test_explain_tells_trigger_scope_candidates_and_dose_and_then_the_bytes(run, place):
    found = run("recall", "--profile", "working", "--explain", PROMPT, cwd=place)
    plain = run("recall", "--profile", "working", PROMPT, cwd=place)
    assert found.code == plain.code == 0
    lines = found.out.split("\n")
    assert lines[0] == "trigger   fired (explicit call)"
    assert lines[1] == "scope     `dashboard` from this folder; of global: preference, pitfall, convention"
    assert re.fullmatch(
        r"aside     \d+ cards of other projects(, \d+ of other scopes)?(, \d+ of other types)?, \d+ no longer live",
        lines[2],
    ), lines[2]
    assert lines[3] == "          words  vectors  relevance"
    dose = next(i for i, line in enumerate(lines) if line.startswith("dose "))
    rows = [LINE.fullmatch(line) for line in lines[4:dose] if not line.startswith("          and ")]
    assert all(rows), lines[4:dose]
    fates = {row[5]: row for row in rows if row}
    assert fates[demo_id("uv-env")[:7]][1] == "said"
    chain = fates[demo_id("conda-env")[:7]]
    assert (
        chain[1] == "chain"
        and chain[4] == "-"
        and chain[6].endswith(f"superseded, counts for {demo_id('uv-env')[:7]}")
    )
    assert any(row[1] == "quiet" and ": " in row[6] for row in rows if row)
    assert lines[dose] == f"dose      1 of 2 items, {len(plain.out.encode())} of 600 bytes"
    assert found.out.endswith(plain.out) and plain.out.startswith("<memory-context>\n")


def test_explain_of_silence_ends_with_the_dose(run, place):
    found = run("recall", "--explain", "thank you, that works", cwd=place)
    assert found.out.splitlines()[-1].startswith("dose      0 of 5 items, 0 of 1200 bytes")


def test_explain_of_a_turn_that_was_not_looked_at_is_one_line(run, place):
    for _ in range(2):
        found = run(
            "recall",
            "--profile",
            "working",
            "--agent",
            "nobody",
            "--session",
            "s-1",
            "--explain",
            PROMPT,
            cwd=place,
        )
    assert found.code == 1  # no such agent
    env = {"CLAUDECODE": "1"}
    run("recall", "--session", "s-2", "hello", cwd=place, env=env)
    found = run("recall", "--session", "s-2", "--explain", PROMPT, cwd=place, env=env)
    assert found.out == "trigger   silent (a later turn without a cue)\n"


def test_json_holds_the_bytes_the_items_and_the_whole_trace(run, place):
    found = json.loads(run("recall", "--json", PROMPT, cwd=place).out)
    plain = run("recall", PROMPT, cwd=place).out
    assert found["text"] == plain and found["status"] == "items"
    assert found["items"][0]["id"] == demo_id("uv-env")
    assert found["trace"]["bytes"] == len(plain.encode()) and found["trace"]["items"] == len(found["items"])


def test_why_replays_the_last_automatic_turn_and_not_a_call_by_hand(run, place, demo_memory):
    assert run("why", cwd=place).code == 1
    from tests.recall.world import World

    world = World(demo_memory)
    text, _ = world.turn(PROMPT, "working", session="why-0001", cwd=place)
    run("recall", "something else entirely about unverified entries", cwd=place)
    told = run("why", cwd=place)
    assert told.code == 0
    lines = told.out.split("\n")
    assert lines[0].startswith("turn      2026-11-20 09:00:00") and "`working`" in lines[0]
    assert lines[1] == f"prompt    {PROMPT}"
    assert lines[2] == "trigger   fired (first turn)"
    assert f"dose      1 of 2 items, {len(text.encode())} of 600 bytes" in told.out
    one = run("why", demo_id("uv-env")[:7], cwd=place)
    assert "said" in one.out and "uv environment" in one.out and "pnpm" not in one.out
    other = run("why", "zzzzzzz", cwd=place)
    assert "did not come near this prompt" in other.out
    assert json.loads(run("why", "--json", cwd=place).out)["prompt"] == PROMPT


def test_a_later_turn_that_was_not_looked_at_does_not_hide_the_last_one_that_was(run, place, demo_memory):
    from tests.recall.world import World

    world = World(demo_memory)
    world.turn(PROMPT, "working", session="why-0002", cwd=place)
    world.turn("rename it", "working", session="why-0002", cwd=place)
    assert PROMPT in run("why", cwd=place).out

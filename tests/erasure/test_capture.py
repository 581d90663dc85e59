"""What was forgotten is not captured again, and goes from what was captured."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.erasure.conftest import HEAD, SECRET
from tests.erasure.scan import holding
from tests.learn.told import NOW, Claude, Codex

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"


def _by_session(root, run, number: int, session: str = SESSION, said: str = SECRET) -> str:  # type: ignore[no-untyped-def]
    """A card that cites turn `number` of a captured session, as learning writes it."""
    from gitmem.model import card as cards
    from gitmem.model import source as sources
    from tests.erasure.scan import git

    stamp = "2026-11-20T09:00:10Z"
    source = sources.Source(
        "claude-code", session, "global", stamp, "session", (sources.Turn(number, "user", stamp, said),)
    )
    path = sources.source_path(source, "20261120-090000-aaaaaa")
    card = cards.Card(
        id="k3v9x2m7qa", scope="global", created=stamp, author="claude-code", type="preference",
        conclusion="Staging has its password", evidence=(cards.Evidence(path, number, "user", said),),
    )  # fmt: skip
    for name, data in ((path, sources.dump(source)), (cards.card_path(card), cards.dump(card))):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    git(root, "add", "cards", "sources")
    git(root, "commit", "-qm", "Learned")
    return card.id


def _numbers(digests) -> dict[str, int]:  # type: ignore[no-untyped-def]
    return {turn.text: turn.number for one in digests for turn in one.turns}


def test_a_digest_loses_the_turn_and_none_is_made_of_it_again(root, home, run, forget, captured, kept):
    file = Claude().talk("First thing", SECRET, "Third thing").put(home)
    captured()
    number = _numbers(kept())[SECRET]
    card = _by_session(root, run, number)
    done = forget(card)
    assert holding(root, HEAD) == []
    assert set(_numbers(kept())) >= {"First thing", "Third thing"}
    assert str(file.name) in done.err
    for part in ("digests", "cursors"):
        import shutil

        shutil.rmtree(root / ".git" / "git-mem" / part)
    captured(now=NOW + timedelta(hours=1))
    assert holding(root, HEAD) == []
    assert set(_numbers(kept())) >= {"First thing", "Third thing"}


def test_a_copy_of_the_session_under_another_name_is_known_by_the_words(
    root, home, run, forget, captured, kept
):
    Claude().talk("First thing", SECRET, "Third thing").put(home)
    captured()
    card = _by_session(root, run, _numbers(kept())[SECRET])
    forget(card)
    copy = Claude("cccccccc-0000-4000-8000-000000000003", start=5000)
    copy.user("First thing anew")
    copy.says("Yes.")
    copy.user(SECRET)
    copy.says("I see.")
    copy.user("Third thing anew")
    copy.says("Yes.")
    copy.put(home)
    captured(now=NOW + timedelta(days=1))
    assert "First thing anew" in _numbers(kept())
    assert holding(root, HEAD) == []


def test_words_that_an_agent_passed_on_are_met_in_their_session(root, home, run, forget, captured, kept):
    """The card cites a statement of its own; the session that the words come from is captured only later."""
    Codex().talk("First thing", f"Listen: {SECRET}, and that is that", "Third thing").put(home)
    (root / "registry/agents.yaml").write_text(
        "codex:\n  profile: working\n  read: [all]\n  write: [all]\n  status: active\n"
    )
    from tests.erasure.scan import git

    git(root, "commit", "-qam", "An agent")
    session = Codex().session
    done = run(
        "add",
        "Staging has its password",
        "--quote",
        SECRET,
        "--session",
        session,
        env={"GIT_MEM_AGENT": "codex"},
    )
    assert done.code == 0, done.err
    forget(done.out.strip())
    captured()
    assert holding(root, HEAD) == []
    assert "First thing" in _numbers(kept())


def test_logs_sessions_and_the_last_turn_lose_it_and_keep_the_rest(root, run, add, forget):
    card = add(SECRET)
    add("Use pnpm here, never npm")
    run("recall", "--session", "11111111-0000-4000-8000-000000000001", f"what is it: {SECRET}")
    run("recall", "--session", "11111111-0000-4000-8000-000000000001", "which package manager, pnpm or npm")
    state = root / ".git" / "git-mem"
    assert HEAD in (state / "log.jsonl").read_text()
    forget(card)
    assert holding(root, HEAD) == []
    lines = [json.loads(line) for line in (state / "log.jsonl").read_text().splitlines()]
    assert any("package manager" in line.get("prompt", "") for line in lines)


@pytest.mark.parametrize("name", ["inbox.json", "orders/one.json", "learn/batch.txt"])
def test_any_other_file_of_ours_that_holds_it_goes(root, add, forget, name):
    card = add(SECRET)
    place = root / ".git" / "git-mem" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({"quote": SECRET}))
    beside = place.with_name("beside.json")
    beside.write_text("{}")
    forget(card)
    assert not place.exists()
    assert beside.exists()


def test_what_learning_has_in_hand_loses_it(root, home, run, forget, captured, kept):
    """A candidate that waits for review is dropped, and one of the same conversation that says something else stays."""
    Claude().talk("First thing", SECRET, "Third thing").put(home)
    captured()
    number = _numbers(kept())[SECRET]
    from gitmem.learn import digest as digests
    from gitmem.learn import work
    from gitmem.learn.candidate import Candidate
    from tests.conftest import open_memory

    state = open_memory(root).state
    ((file, one),) = digests.all_of(state)
    record = work.begun(file, one)
    plain = Candidate(
        "fact", "Third thing holds", "fact", "global", 0.9, number + 2, "user", "Third thing", ""
    )
    told = Candidate("fact", "Staging has it", "fact", "global", 0.9, number, "user", SECRET, "")
    record.candidates = [told, plain]
    work.write(state, record)
    (work.folder(state) / "plan.json").write_text(json.dumps({"steps": [SECRET]}))
    forget(_by_session(root, run, number))
    assert holding(root, HEAD) == []
    after = work.read(state, record.key)
    assert [(c.fate, c.kind) for c in after.candidates] == [("dropped", "forgotten"), ("open", "")]
    assert after.candidates[1] == plain

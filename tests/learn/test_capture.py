"""A run of capture: what is written, what is left out, and what the next run adds."""

from __future__ import annotations

import json
import os
import stat
import threading
from datetime import timedelta

import pytest

from gitmem.errors import Busy
from gitmem.git import lock
from gitmem.learn import marker
from gitmem.learn.readers import claude_code, lines
from gitmem.recall import session as sessions
from gitmem.recall import switches
from gitmem.recall.session import Session
from tests.learn.told import CWD, DAY, NOW, Claude, Codex, Hermes, Pi


def words(digest) -> list[str]:
    return [turn.text for turn in digest.turns if turn.role == "user"]


def fates(report) -> dict[str, str]:
    return {one.unit.session: one.fate for one in report.outcomes}


def test_every_host_is_captured_the_oldest_first(captured, kept, home):
    Pi(start=300).talk("Pi 1", "Pi 2", "Pi 3").put(home)
    Claude(start=200).talk("Claude 1", "Claude 2", "Claude 3").put(home)
    Codex(start=100).talk("Codex 1", "Codex 2", "Codex 3").put(home)
    told = Hermes(home / ".hermes" / "state.db")
    told.session("h1")
    told.talk("h1", "Hermes 1", "Hermes 2", "Hermes 3")
    told.close()
    report = captured()
    assert [one.unit.conversation.host for one in report.outcomes] == ["hermes", "codex", "claude-code", "pi"]
    assert [words(one)[0] for one in kept()] == ["Hermes 1", "Codex 1", "Claude 1", "Pi 1"]
    assert captured().outcomes == []


def test_digests_and_cursors_are_the_owners_alone(captured, memory, home):
    Claude().talk("One", "Two", "Three").put(home)
    captured()
    files = [*(memory.state / "digests").rglob("*.json"), *(memory.state / "cursors").rglob("*.json")]
    assert len(files) == 3
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_session_that_grows_is_captured_again_from_where_it_was(captured, kept, home):
    told = Claude().talk("One", "Two")
    told.put(home)
    assert fates(captured()) == {told.session: "short"}
    told.talk("Three").put(home)
    captured()
    told.talk("Four").put(home)
    captured()
    first, second = kept()
    assert (words(first), words(second)) == (["One", "Two", "Three"], ["Four"])
    assert [turn.text for turn in second.context if turn.role == "user"] == ["One", "Two", "Three"]
    assert (first.part, second.part) == (1, 2)
    numbers = [turn.number for turn in (*first.turns, *second.turns)]
    assert numbers == sorted(set(numbers))


def test_secrets_are_masked_before_anything_is_written(captured, kept, memory, home):
    token = "ghp_" + "a8Kd93hfLq02mZx7Rt5vBn1cYw6sJp4uE2oG"
    Claude().talk("One", f"Deploy with {token}", "Three").put(home)
    captured()
    assert kept()[0].masked == 2
    every = b"".join(file.read_bytes() for file in memory.state.rglob("*.json"))
    assert token.encode() not in every and b"[secret: " in every


def test_a_paste_keeps_its_beginning_and_its_end(captured, kept, home):
    Claude().talk("One", "begin " + "x" * 50_000 + " end", "Three").put(home)
    captured()
    kept_words = words(kept()[0])[1]
    assert kept_words.startswith("begin x") and kept_words.endswith("x end") and len(kept_words) < 21_000


def test_what_memory_said_is_not_kept(captured, kept, memory, home):
    told = Claude().talk("One", "Two")
    plain = "git mem: rye is dark"
    told.user(f"Three\n\n{plain}")
    told.user(plain)
    told.put(home)
    sessions.save(memory.state, told.session, Session(injected=[sessions.fingerprint(plain)]))
    captured()
    assert words(kept()[0]) == ["One", "Two", "Three"]


def test_a_session_that_holds_the_learners_mark_is_left_out(captured, kept, home):
    told = Codex().talk("One", "Two", "Three")
    told.tool("c1", f"order\n{marker.LEARNER_MARK}\n")
    told.put(home)
    assert (fates(captured()), kept()) == ({told.session: "the learner's own"}, [])


def test_a_session_off_the_record_is_left_out_with_what_was_captured_of_it(captured, kept, memory, home):
    told = Claude().talk("One", "Two", "Three")
    told.put(home)
    captured()
    assert len(kept()) == 1
    told.talk("Off the record: Four").put(home)
    assert (fates(captured()), kept()) == ({told.session: "off the record"}, [])
    other = Claude("cccccccc-0000-4000-8000-000000000003").talk("One", "Two", "Three")
    other.put(home)
    sessions.save(memory.state, other.session, Session(off=True))
    assert fates(captured())[other.session] == "off the record"


def test_what_is_said_in_a_folder_that_is_off_is_never_captured(captured, kept, memory, home):
    told = Claude().talk("One", "Two", "Three")
    told.put(home)
    switches.save(memory.state, switches.Switches(folders=("/srv/ovens",)))
    assert fates(captured()) == {told.session: "switched off"}
    switches.save(memory.state, switches.Switches())
    assert captured().outcomes == []
    told.talk("Four").put(home)
    captured()
    assert [words(one) for one in kept()] == [["Four"]]


def test_a_session_that_was_in_a_folder_that_is_off_for_a_moment_is_left_out(captured, kept, memory, home):
    told = Claude().talk("One", "Two")
    told.cwd = "/srv/private"
    told.talk("Three").put(home)
    switches.save(memory.state, switches.Switches(folders=("/srv/private",)))
    captured()
    assert kept() == []


def test_nothing_is_read_while_memory_is_off(captured, kept, memory, home):
    Claude().talk("One", "Two", "Three").put(home)
    switches.save(memory.state, switches.Switches(until="2026-11-23T00:00:00Z"))
    assert (captured().off, kept()) == ("off until 2026-11-23T00:00:00Z", [])


def test_what_was_said_during_a_pause_is_not_captured_after_it(captured, kept, memory, home):
    Claude().talk("One", "Two", "Three", "Four").put(home)
    switches.save(memory.state, switches.Switches(until="2026-11-20T09:00:35Z"))
    begin = (DAY + timedelta(seconds=25)).timestamp()
    os.utime(memory.state / "off.json", (begin, begin))
    captured()
    assert words(kept()[0]) == ["One", "Three", "Four"]


def test_a_hook_that_says_a_session_ended_makes_it_due_at_once(captured, kept, noted, home):
    told = Claude().talk("One", "Two", "Three")
    told.put(home)
    soon = DAY + timedelta(seconds=70)
    assert fates(captured(now=soon)) == {told.session: "still going on"}
    note = noted("claude-code", told.session, soon)
    captured(now=soon)
    assert (len(kept()), note.exists()) == (1, False)


def test_codex_notes_every_turn_and_so_has_to_be_idle(captured, noted, home):
    told = Codex().talk("One", "Two", "Three")
    told.put(home)
    soon = DAY + timedelta(seconds=60)
    noted("codex", told.session, soon)
    assert fates(captured(now=soon)) == {told.session: "still going on"}


def test_a_session_in_another_place_is_found_by_its_note(captured, kept, noted, home, tmp_path):
    told = Pi().talk("One", "Two", "Three")
    file = tmp_path / "elsewhere.jsonl"
    file.write_bytes(told.bytes())
    noted("pi", told.session, DAY + timedelta(seconds=80), file)
    captured()
    assert words(kept()[0]) == ["One", "Two", "Three"]


def test_a_living_process_keeps_its_session_open(captured, home):
    told = Claude().talk("One", "Two", "Three")
    told.put(home)
    live = home / ".claude" / "sessions" / "1.json"
    live.parent.mkdir()
    live.write_text(json.dumps({"pid": os.getpid(), "sessionId": told.session}))
    assert fates(captured(now=DAY + timedelta(hours=2))) == {told.session: "still going on"}
    live.write_text(json.dumps({"pid": 2**22 + 1, "sessionId": told.session}))
    assert fates(captured(now=DAY + timedelta(hours=2))) == {told.session: "captured"}


def test_a_chain_of_hermes_is_one_conversation(captured, kept, home):
    told = Hermes(home / ".hermes" / "state.db")
    told.session("first-1", end_reason="compression", ended_at=told.at, cwd=None)
    told.talk("first-1", "One", "Two")
    told.session("second-2", parent_session_id="first-1", cwd=None)
    told.talk("second-2", "Three")
    assert fates(captured()) == {"first-1": "captured"}
    told.talk("second-2", "Four")
    told.close()
    captured(now=NOW + timedelta(days=1))
    first, second = kept()
    assert (first.sessions, words(first), words(second)) == (
        ("first-1", "second-2"),
        ["One", "Two", "Three"],
        ["Four"],
    )
    assert [turn.number for turn in first.turns] == [1, 2, 3, 4, 5, 6]
    assert (first.state, first.project) == ("ready", None)


def test_a_fork_gives_only_what_is_new_in_it(captured, kept, home):
    parent = Pi().talk("One", "Two", "Three")
    told = Pi("90b38500-0000-4000-8000-000000000002", start=5000, parentSession=str(parent.put(home)))
    told.records += parent.records[1:]
    told.parent = parent.parent
    told.talk("Four").put(home)
    captured()
    assert [words(one) for one in kept()] == [["One", "Two", "Three"], ["Four"]]
    assert [turn.text for turn in kept()[1].context if turn.role == "user"] == ["One", "Two", "Three"]


def test_a_fork_whose_parent_is_gone_keeps_what_it_copied(captured, kept, home):
    parent = Pi().talk("One", "Two")
    told = Pi(
        "90b38500-0000-4000-8000-000000000002", start=5000, parentSession=f"/x/2026_{parent.session}.jsonl"
    )
    told.records += parent.records[1:]
    told.parent = parent.parent
    told.talk("Three").put(home)
    captured()
    assert words(kept()[0]) == ["One", "Two", "Three"]


def test_a_resume_that_copies_a_whole_session_into_a_new_file_doubles_nothing(captured, kept, home):
    old = Claude().talk("One", "Two", "Three")
    old.put(home)
    told = Claude("bbbbbbbb-0000-4000-8000-000000000002", start=5000)
    told.records = [{**record, "sessionId": told.session} for record in old.records]
    told.parent = old.parent
    told.talk("Four").put(home)
    captured()
    assert [words(one) for one in kept()] == [["One", "Two", "Three"], ["Four"]]


def test_a_copy_in_the_archive_is_the_same_session(captured, kept, home):
    told = Codex().talk("One", "Two", "Three")
    told.put(home)
    archive = home / ".codex" / "archived_sessions" / f"rollout-x-{told.session}.jsonl"
    archive.parent.mkdir()
    archive.write_bytes(told.bytes())
    captured()
    captured()
    assert [words(one) for one in kept()] == [["One", "Two", "Three"]]


def test_a_first_run_takes_thirty_days_and_later_ones_no_more(captured, kept, home):
    old = Claude().talk("One", "Two", "Three")
    file = old.put(home)
    month = NOW + timedelta(days=40)
    os.utime(file, (DAY.timestamp(), DAY.timestamp()))
    assert (captured(now=month).hosts[0].old, kept()) == (1, [])
    assert captured(now=month + timedelta(days=1)).outcomes == []
    captured(now=month, since=DAY - timedelta(days=1))
    assert len(kept()) == 1


def test_an_idle_session_is_captured_though_opening_it_touched_its_file(captured, kept, home):
    Claude().talk("One", "Two", "Three").put(home)  # the file is as new as this test
    captured(now=DAY + timedelta(minutes=31, seconds=60))
    assert len(kept()) == 1


def test_the_project_is_that_of_the_folder(captured, kept, run, home):
    place = home / "shop"
    place.mkdir()
    run("project", "add", "shop", "--path", str(place))
    Claude(cwd=str(place / "src")).talk("One", "Two", "Three").put(home)
    captured()
    assert (kept()[0].project, kept()[0].state) == ("shop", "ready")


def test_a_session_of_an_unknown_folder_waits_until_it_is_registered(captured, kept, run, home):
    Claude().talk("One", "Two", "Three").put(home)
    captured()
    assert (kept()[0].project, kept()[0].state) == (None, "waiting")
    run("project", "add", "shop", "--path", CWD)
    assert captured().settled == 1
    assert (kept()[0].project, kept()[0].state) == ("shop", "ready")


def test_the_address_that_codex_notes_tells_the_project_of_a_folder_that_is_gone(captured, kept, run, home):
    run("project", "add", "shop", "--remote", "https://git.example.org/ovens/shop")
    Codex().talk("One", "Two", "Three").put(home)
    captured()
    assert (kept()[0].project, kept()[0].state) == ("shop", "ready")


def test_digests_go_after_the_retention_time_and_do_not_come_back(captured, kept, home):
    told = Claude().talk("One", "Two", "Three")
    told.put(home)
    captured()
    assert captured(now=NOW + timedelta(days=31)).dropped == 1
    assert (captured(now=NOW + timedelta(days=31)).outcomes, kept()) == ([], [])
    told.talk("Four").put(home)
    captured(now=NOW + timedelta(days=31))
    assert [(one.part, words(one)) for one in kept()] == [(2, ["Four"])]


def test_a_dry_run_writes_nothing(captured, memory, run, home):
    Claude().talk("One", "Two", "Three").put(home)
    run("status")  # what any command compiles and indexes
    before = {file: file.stat().st_mtime_ns for file in memory.state.rglob("*")}
    assert list(fates(captured(dry_run=True)).values()) == ["due"]
    assert {file: file.stat().st_mtime_ns for file in memory.state.rglob("*")} == before


def test_two_runs_at_once_are_one(captured, memory, home):
    Claude().talk("One", "Two", "Three").put(home)
    with lock.held(memory.state / "capture.lock", 0, "capture"):
        failed = []

        def other():
            try:
                captured()
            except Busy as error:
                failed.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert len(failed) == 1


def test_a_history_that_cannot_be_read_is_named_and_the_others_are_taken(captured, kept, home, monkeypatch):
    Claude().talk("One", "Two", "Three").put(home)
    packed = home / ".codex" / "sessions" / "2026" / "11" / "20" / "rollout-x.jsonl.zst"
    packed.parent.mkdir(parents=True)
    packed.write_bytes(b"(\xb5/\xfd")
    broken = home / ".hermes" / "state.db"
    broken.parent.mkdir()
    broken.write_bytes(b"no database" * 100)
    monkeypatch.setattr("gitmem.learn.find._zstd", lambda: None)
    report = captured()
    assert len(kept()) == 1
    assert {path.name for one in report.hosts for path in one.unreadable} == {
        "rollout-x.jsonl.zst",
        "state.db",
    }


def test_a_packed_rollout_is_read_where_something_unpacks_it(captured, kept, home, monkeypatch):
    file = Codex().talk("One", "Two", "Three").put(home)
    file.rename(file.with_name(file.name + ".zst"))
    monkeypatch.setattr("gitmem.learn.find._zstd", lambda: lambda packed: packed)
    captured()
    assert words(kept()[0]) == ["One", "Two", "Three"]


def test_a_full_disk_loses_nothing(captured, kept, home, monkeypatch):
    Claude().talk("One", "Two", "Three").put(home)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            captured()
    assert kept() == []
    captured()
    assert words(kept()[0]) == ["One", "Two", "Three"]


def test_the_words_of_a_digest_are_those_of_the_session(captured, kept, home):
    told = Claude().talk("One", "Two", "Three")
    told.put(home)
    captured()
    assert kept()[0].turns == claude_code.read(lines.split(told.bytes())).turns


@pytest.mark.parametrize("flags", [(), ("--dry-run",), ("--host", "codex", "--since", "2026-11-01")])
def test_the_json_answer_fits_its_schema(memory, run, home, flags):
    import jsonschema

    from gitmem import resources

    Claude().talk("One", "Two", "Three").put(home)
    Codex().talk("One").put(home)
    ran = run("capture", "--home", str(home), "--json", *flags)
    assert ran.code == 0, ran.err
    jsonschema.validate(json.loads(ran.out), resources.schema("answers/capture"))


def test_the_command_reads_only_hosts_that_are_connected_unless_told(memory, run, home):
    Claude().talk("One", "Two", "Three").put(home)
    ran = run("capture")
    assert "read      0 sessions" in ran.out and "no host is connected" in ran.err
    memory.git.run("config", "mem.host.claude-code.agent", "claude-code")
    ran = run("capture", "--since", "2026-11-01")
    assert "read      1 session (claude-code 1)" in ran.out and "captured  1 conversation\n" in ran.out


def test_the_command_says_that_a_folder_waits(memory, run, home):
    Claude().talk("Bake", "Two", "Three").put(home)
    ran = run("capture", "--home", str(home), "--dry-run", "--since", "2026-11-01")
    assert ran.out.split("\n") == [
        "read     1 session (claude-code 1)",
        "due      1 conversation",
        f"waiting  for `git mem project add` in {CWD}",
        "",
        "claude-code  aaaaaaaa  waits  3 new of 3  Bake",
        "",
    ]

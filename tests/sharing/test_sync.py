"""Two devices and a bare remote: what comes, what goes, and where a sync stops before it changes anything."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_answers import faults


def level(*devices) -> None:
    """Sync until nothing moves."""
    for _ in range(3):
        for one in devices:
            done = one.sync()
            assert done.code == 0, done.err + done.out


def test_cards_of_both_devices_meet_and_nothing_is_rewritten(devices):
    a, b, _ = devices
    a.add("Use pnpm here"), b.add("论文图用 viridis")
    before = a.git("rev-parse", "HEAD")
    level(a, b)
    assert a.cards() == b.cards() == {"Use pnpm here", "论文图用 viridis"}
    assert a.git("rev-parse", "HEAD") == b.git("rev-parse", "HEAD")
    assert a.git("merge-base", "--is-ancestor", before, "HEAD", check=False) == ""
    assert a.mem("check", "--all").code == 0
    assert "nothing to do" in a.sync().out


def test_the_summary_and_the_json_say_what_came_and_went(devices):
    a, b, _ = devices
    card = a.add("Use pnpm here")
    assert "gave  1 commit to origin" in a.sync().out
    b.add("Another")
    out = json.loads(b.sync("--json").out)
    assert faults("sync", out) == []
    assert (out["taken"], out["cards"], out["merged"]) == (1, [card], True)


def test_a_correction_on_one_device_reaches_the_other(devices):
    a, b, _ = devices
    card = a.add("Unverified entries are amber")
    level(a, b)
    assert b.mem("supersede", card, "Unverified entries are teal").code == 0
    level(b, a)
    assert a.cards() == {"Unverified entries are teal"}


def test_a_fork_is_resolved_alike_on_both_and_doctor_says_how_to_close_it(devices):
    a, b, _ = devices
    card = a.add("Unverified entries are amber")
    level(a, b)
    a.mem("supersede", card, "Unverified entries are teal")
    b.mem("supersede", card, "Unverified entries are orange")
    level(a, b)
    said = [one.mem("recall", "What colour are unverified entries amber?").out for one in (a, b)]
    assert said[0] == said[1] and ("teal" in said[0]) != ("orange" in said[0])
    assert "git mem supersede" in a.mem("doctor").out


def test_both_register_projects_and_connect_agents_without_a_conflict(devices):
    a, b, _ = devices
    a.mem("project", "add", "web", "--path", str(a.home / "web"))
    b.mem("project", "add", "atlas", "--path", str(b.home / "atlas"))
    a.mem("agent", "add", "hermes"), b.mem("agent", "add", "codex")
    level(a, b)
    for one in (a, b):
        assert {p["id"] for p in json.loads(one.mem("project", "list", "--json").out)["projects"]} == {
            "web",
            "atlas",
        }
    a.mem("project", "archive", "web")
    a.sync()
    assert "projects: web: status archived" in b.sync().out


def test_a_hand_edit_and_a_brief_merge_by_lines_and_a_real_conflict_changes_nothing(devices):
    a, b, _ = devices
    a.mem("project", "add", "web", "--path", str(a.home / "web"))
    brief = a.memory / "briefs" / "web.md"
    brief.parent.mkdir(exist_ok=True)
    brief.write_text("one\n\n\ntwo\n\n\nthree\n")
    a.git("add", "."), a.git("commit", "-qm", "brief")
    level(a, b)
    for one, old, new in ((a, "one", "ONE"), (b, "three", "THREE")):
        file = one.memory / "briefs" / "web.md"
        file.write_text(file.read_text().replace(old, new))
        one.git("commit", "-qam", "brief")
    level(a, b)
    assert brief.read_text() == "ONE\n\n\ntwo\n\n\nTHREE\n"
    for one, new in ((a, "mine"), (b, "yours")):
        file = one.memory / "briefs" / "web.md"
        file.write_text(file.read_text().replace("two", new))
        one.git("commit", "-qam", "brief")
    a.sync()
    tip, status = b.git("rev-parse", "HEAD"), b.git("status", "--porcelain")
    done = b.sync()
    assert done.code == 1 and "briefs/web.md" in done.err and "nothing changed" in done.err
    assert (b.git("rev-parse", "HEAD"), b.git("status", "--porcelain")) == (tip, status)
    assert (b.memory / "briefs" / "web.md").read_text().count("yours") == 1


def test_what_a_person_staged_and_changed_stays_as_it_was(devices):
    a, b, _ = devices
    a.add("Use pnpm here")
    a.sync()
    (b.memory / "notes.txt").write_text("mine")
    (b.memory / "staged.txt").write_text("staged")
    b.git("add", "staged.txt")
    before = b.git("status", "--porcelain")
    assert b.sync().code == 0
    assert b.git("status", "--porcelain") == before
    assert b.cards() == {"Use pnpm here"}


def test_offline_is_a_note_and_no_failure(devices):
    a, _, _ = devices
    a.git("remote", "set-url", "origin", "http://127.0.0.1:9/memory.git")
    done = a.sync()
    assert done.code == 0 and done.out.startswith("offline")


def test_a_stick_that_is_not_plugged_in_is_offline_and_a_folder_that_is_no_repository_an_error(
    devices, tmp_path
):
    a, _, _ = devices
    a.git("remote", "set-url", "origin", str(tmp_path / "stick.git"))
    done = a.sync()
    assert done.code == 0 and done.out.startswith("offline")
    (tmp_path / "stick.git").mkdir()
    assert a.sync().code == 128


def test_without_a_remote_it_says_how_to_name_one(devices):
    a, _, _ = devices
    a.git("remote", "remove", "origin")
    done = a.sync()
    assert done.code == 1 and "remote add origin URL" in done.err


def test_a_rewritten_remote_is_refused_and_what_it_had_is_kept(devices, tmp_path):
    a, b, server = devices
    a.add("First"), a.sync(), a.add("Second"), a.sync()
    had = a.git("rev-parse", "HEAD")
    a.git("reset", "-q", "--hard", "HEAD~1")
    other = tmp_path / "c"
    subprocess.run(["git", "clone", "-q", str(server), str(other)], check=True)
    b.sync()
    subprocess.run(["git", "-C", str(other), "reset", "-q", "--hard", "HEAD~2"], check=True)
    subprocess.run(["git", "-C", str(other), "push", "-q", "--force"], check=True)
    done = b.sync()
    assert done.code == 1 and "was rewritten" in done.err and "--accept-rewrite" in done.err
    assert b.git("rev-parse", "HEAD") == had
    assert had in b.git("for-each-ref", "refs/git-mem/rescue/", "--format=%(objectname)")


def test_another_memory_is_refused(devices, tmp_path, run):
    _, b, server = devices
    shutil.rmtree(b.memory)
    # two memories that one person makes within a second begin with the very same commit
    (b.home / ".gitconfig").write_text(
        "[user]\n\tname = Other\n\temail = other@example.com\n[init]\n\tdefaultBranch = main\n"
    )
    assert b.mem("init", "--no-hooks").code == 0
    b.git("remote", "add", "origin", str(server))
    b.add("Mine")
    done = b.sync()
    assert done.code == 1 and "another memory" in done.err


def no_memory(place: Path) -> Path:
    """A repository of something else, with a commit on `main`."""
    plain = place / "plain"
    subprocess.run(["git", "init", "-q", "-b", "main", str(plain)], check=True)
    subprocess.run(["git", "-C", str(plain), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    return plain


def test_a_remote_that_is_no_memory_is_refused(devices, tmp_path):
    a, _, _ = devices
    plain = no_memory(tmp_path)
    a.git("remote", "set-url", "origin", str(plain))
    done = a.sync()
    assert done.code == 1 and "is no memory" in done.err


def test_a_deleted_card_stops_the_sync(devices):
    a, b, _ = devices
    a.add("Use pnpm here")
    level(a, b)
    a.git("rm", "-rq", "cards"), a.git("commit", "-qm", "gone", "--no-verify")
    a.git("push", "-q", "--no-verify", "origin", "main")
    b.add("Another")
    done = b.sync()
    assert done.code == 1 and "nothing changed" in done.err
    assert b.cards() == {"Use pnpm here", "Another"}


def test_a_card_that_does_not_pass_is_taken_named_and_not_heard(devices):
    a, b, _ = devices
    good = a.add("Use pnpm here")
    path = next((a.memory / "cards").rglob(f"*{good}.md"))
    bad = path.with_name(path.name.replace(good, "aaaaaaaaaa"))
    bad.write_text(
        path.read_text().replace(good, "aaaaaaaaaa").replace("quote: Use pnpm here", "quote: Use npm there")
    )
    (
        a.git("add", "."),
        a.git("commit", "-qm", "bad", "--no-verify"),
        a.git("push", "-q", "--no-verify", "origin", "main"),
    )
    done = b.sync()
    assert done.code == 0 and "left out" in done.out and "aaaaaaaaaa" in done.out
    assert b.cards() == {"Use pnpm here"}


def test_a_lost_race_is_tried_again(devices, monkeypatch):
    from gitmem.sharing import remote

    a, b, _ = devices
    a.add("Of a"), b.add("Of b")
    real, raced = remote.push, []

    def push(*args):
        if not raced:
            raced.append("begun")
            raced.append(b.sync())
        return real(*args)

    monkeypatch.setattr(remote, "push", push)
    assert a.sync().code == 0
    assert raced[1].code == 0
    assert a.cards() == {"Of a", "Of b"}


def test_what_another_device_gave_meanwhile_survives_a_forgetting(devices):
    """The whole way as the hints tell it, on both devices."""
    a, b, _ = devices
    secret = a.add("The launch word is marmalade")
    level(a, b)
    b.add("Never push on Fridays")
    b.sync()
    assert a.mem("forget", secret, "--yes").code == 0
    done = a.sync()
    assert done.code == 1 and "--accept-rewrite" in done.err
    assert "force" not in done.err
    done = a.sync("--accept-rewrite")
    assert done.code == 0, done.err
    command = next(line.strip() for line in done.err.splitlines() if "--force-with-lease" in line)
    assert subprocess.run(command, shell=True, capture_output=True, check=False).returncode == 0
    assert a.cards() == {"Never push on Fridays"}
    b.add("Of b, not given yet")
    done = b.sync()
    assert done.code == 1 and "another device forgot something" in done.err and "puts it back" not in done.err
    assert b.sync("--accept-rewrite").code == 0
    level(b, a, b)
    assert a.cards() == b.cards() == {"Never push on Fridays", "Of b, not given yet"}
    assert "marmalade" not in a.git("log", "-p", "--all") + b.git("log", "-p", "--all")
    assert a.mem("check", "--all").code == 0


def test_a_card_that_a_forced_push_dropped_comes_back_and_syncs_for_good(devices):
    a, b, _ = devices
    secret = a.add("The launch word is marmalade")
    level(a, b)
    b.add("Never push on Fridays")
    b.sync()
    assert a.mem("forget", secret, "--yes").code == 0
    a.git("push", "-q", "--force", "origin", "main")
    assert b.sync().code == 1
    assert b.sync("--accept-rewrite").code == 0
    for _ in range(3):
        assert b.sync().code == 0
    level(a, b)
    assert a.cards() == b.cards() == {"Never push on Fridays"}


def test_a_push_after_a_forgetting_goes_only_over_what_was_seen(devices):
    a, _, server = devices
    secret = a.add("The launch word is marmalade")
    a.sync()
    assert a.mem("forget", secret, "--yes").code == 0
    done = a.sync()
    tip = subprocess.run(
        ["git", "-C", str(server), "rev-parse", "main"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert (
        f"--force-with-lease=main:{tip}" in done.err and "forget" in done.err and "--server --yes" in done.err
    )


def test_a_bare_repository_that_points_at_another_branch_is_cloned_all_the_same(devices, tmp_path):
    a, _, _ = devices
    plain = tmp_path / "plain.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "master", str(plain)], check=True)
    a.git("remote", "set-url", "origin", str(plain))
    a.add("Use pnpm here")
    assert a.sync().code == 0
    done = a.mem("clone", str(plain), str(tmp_path / "copy"))
    assert done.code == 0, done.err
    assert "Use pnpm here" in a.mem("--repo", str(tmp_path / "copy"), "list").out
    done = a.mem("clone", "--branch", "none", str(plain), str(tmp_path / "other"))
    assert done.code != 0 and not (tmp_path / "other").exists()


def test_status_and_doctor_say_how_the_last_sync_ended_and_what_helps(devices, tmp_path):
    a, _, _ = devices
    assert "with origin just now" in a.mem("status").out
    a.add("Use pnpm here")
    assert "1 commit to give" in a.mem("status").out
    assert faults("status", json.loads(a.mem("status", "--json").out)) == []
    plain = no_memory(tmp_path)
    url = a.git("remote", "get-url", "origin")
    a.git("remote", "set-url", "origin", str(plain))
    a.sync()
    assert "the last sync stopped" in a.mem("status").out
    doctor = a.mem("doctor").out
    assert "is no memory" in doctor and "remote -v" in doctor
    a.git("remote", "set-url", "origin", url)
    a.sync()
    assert "stopped" not in a.mem("status").out


def test_a_sync_that_makes_a_fork_says_so(devices):
    a, b, _ = devices
    card = a.add("Unverified entries are amber")
    level(a, b)
    (
        a.mem("supersede", card, "Unverified entries are teal"),
        b.mem("supersede", card, "Unverified entries are orange"),
    )
    a.sync()
    done = b.sync()
    assert "both sides replaced" in done.err and "git mem supersede" in done.err


def test_a_server_that_refuses_is_told_in_its_own_words(devices):
    a, _, server = devices
    hook = server / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'not on a Sunday' >&2\nexit 1\n")
    hook.chmod(0o755)
    a.add("Use pnpm here")
    done = a.sync()
    assert done.code == 1 and "not on a Sunday" in done.out


def test_in_the_middle_of_a_merge_it_waits(devices):
    a, b, _ = devices
    a.add("Of a"), a.sync(), b.add("Of b")
    (b.memory / ".git" / "MERGE_HEAD").write_text(b.git("rev-parse", "HEAD") + "\n")
    done = b.sync()
    assert done.code == 3 and "in the middle of a merge" in done.err


def test_cloning_what_is_no_memory_leaves_nothing_behind(devices, tmp_path):
    a, _, _ = devices
    plain = no_memory(tmp_path)
    done = a.mem("clone", str(plain), str(tmp_path / "copy"))
    assert done.code == 1 and "is no memory" in done.err
    assert not (tmp_path / "copy").exists()
    done = a.mem("clone", str(tmp_path / "none.git"), str(tmp_path / "copy"))
    assert done.code == 128 and not (tmp_path / "copy").exists()


def test_a_clone_is_the_memory_that_is_found_from_everywhere(devices):
    _, b, _ = devices
    assert b.mem("path").out.strip() == str(b.memory)
    assert b.git("config", "mem.branch") == "main"


def test_autosync_starts_one_sync_in_five_minutes_and_only_where_it_is_on(devices, monkeypatch):
    from gitmem import autosync, config, context, detach

    a, _, _ = devices
    monkeypatch.setenv("HOME", str(a.home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(a.home / ".gitconfig"))
    started = []
    monkeypatch.setattr(detach, "start", lambda *args, variables: bool(started.append(args)) or True)
    env = config.from_process()
    memory = context.build(env).memory
    assert not autosync.start(memory, env)
    a.git("config", "mem.autosync", "true")
    memory = context.build(env).memory
    assert [autosync.start(memory, env) for _ in range(3)] == [True, False, False]
    assert started[0][-2:] == ("sync", "--auto")


def test_a_forgotten_card_comes_back_from_no_remote_and_the_other_clone_keeps_its_own(devices):
    a, b, _ = devices
    secret = a.add("The launch word is marmalade")
    level(a, b)
    b.add("Of b alone")
    assert a.mem("forget", secret, "--yes").code == 0
    done = a.sync()
    assert done.code == 1 and "still holds what was forgotten" in done.err
    a.git("push", "-q", "--force", "origin", "main")
    done = b.sync()
    assert done.code == 1 and "--accept-rewrite" in done.err
    assert b.sync("--accept-rewrite").code == 0
    level(b, a)
    assert a.cards() == b.cards() == {"Of b alone"}
    assert "marmalade" not in b.git("log", "-p", "--all")


def _everything(device) -> str:  # type: ignore[no-untyped-def]
    """Every commit and blob of the repository, named by something or not, and the files beside them."""
    listed = device.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    kinds = [line.split() for line in listed.splitlines()]
    texts = [device.git("cat-file", kind, oid) for oid, kind in kinds if kind in ("blob", "commit")]
    state = device.memory / ".git" / "git-mem"
    return "\n".join(texts) + "".join(
        f.read_bytes().decode("latin-1") for f in state.rglob("*") if f.is_file()
    )


def test_of_a_sync_that_a_forgetting_refuses_nothing_stays_here(devices):
    a, b, _ = devices
    secret = a.add("The launch word is marmalade")
    level(a, b)
    assert a.mem("forget", secret, "--yes").code == 0
    before = a.git("for-each-ref")
    # a sync that was killed had fetched it
    left = a.memory / ".git" / "git-mem" / "incoming" / "objects"
    left.mkdir(parents=True)
    (left / "pack").write_text("marmalade")
    for _ in range(2):
        done = a.sync()
        assert done.code == 1 and "still holds what was forgotten" in done.err
        assert "marmalade" not in _everything(a)
        assert a.git("for-each-ref") == before
        assert not (a.memory / ".git" / "FETCH_HEAD").exists()
    a.git("push", "-q", "--force", "origin", "main")
    assert a.sync().code == 0
    assert "marmalade" not in _everything(a)


def test_what_another_device_did_to_sources_is_refused_and_not_kept(devices):
    a, b, _ = devices
    a.add("The parser is written by hand")
    level(a, b)
    source = b.git("ls-files", "sources").splitlines()[-1]
    (b.memory / source).write_text("Marmalade instead of what was said\n")
    b.git("commit", "-qam", "by hand")
    b.git("push", "-q", "origin", "main")
    done = a.sync()
    assert done.code == 1 and "a memory does not allow" in done.err
    assert "Marmalade" not in _everything(a)


def test_doctor_tells_when_a_fetch_by_hand_brought_back_what_was_forgotten_and_how_it_goes(devices):
    a, _, _ = devices
    secret = a.add("The launch word is marmalade")
    assert a.sync().code == 0
    assert a.mem("forget", secret, "--yes").code == 0
    assert "came back" not in a.mem("doctor").out
    a.git("fetch", "-q", "origin", "refs/heads/main", "--refmap=")
    assert "FIX   forgetting   1 forgotten card came back into the repository" in a.mem("doctor").out
    a.git("fetch", "-q")
    assert f"git mem forget {secret[:7]}" in a.mem("doctor").out
    assert a.mem("forget", secret, "--yes").code == 0
    assert "came back" not in a.mem("doctor").out
    assert "marmalade" not in _everything(a)


def test_git_sees_where_the_remote_stands_after_a_sync(devices):
    a, b, _ = devices
    b.add("The parser is written by hand")
    level(b, a)
    assert a.git("rev-parse", "origin/main") == a.git("rev-parse", "main") == b.git("rev-parse", "main")
    assert a.git("status", "--short", "--branch").startswith("## main...origin/main") or not a.git(
        "config", "--get", "branch.main.merge", check=False
    )


def test_undo_after_a_sync_takes_back_the_own_last_write_and_never_another_devices(devices):
    a, b, _ = devices
    first = a.add("The parser is written by hand")
    level(a, b)
    # b went on alone: a is moved forward
    b.add("Kept by the second computer")
    level(b, a)
    done = a.mem("undo")
    assert done.code == 0 and "The parser is written by hand" in done.err and "newer ones" in done.err
    assert a.cards() == {"Kept by the second computer"}
    assert a.mem("undo").code == 0
    assert f"{first[:7]}" in a.mem("list").out
    # both went on: a merge stands at the tip
    a.add("Of the first computer alone")
    b.add("Of the second computer alone")
    level(b, a)
    assert len(a.git("log", "-1", "--format=%P").split()) == 2
    assert "Of the first computer alone" in a.mem("undo").err
    # one's own line is the second parent of a merge that was made elsewhere
    a.add("Once more of the first computer")
    assert a.sync().code == 0
    b.add("Once more of the second computer")
    level(b, a)
    assert b.mem("supersede", first, "The parser is generated").code == 0
    level(b, a)
    assert "Once more of the first computer" in a.mem("undo").err


def test_a_clone_that_wrote_nothing_has_nothing_to_undo_and_says_how_to_reach_the_rest(devices):
    a, b, _ = devices
    a.add("The parser is written by hand")
    level(a, b)
    done = b.mem("undo")
    assert done.code == 1 and "on this computer" in done.err and "git mem undo COMMIT" in done.err
    assert b.mem("undo", b.git("rev-parse", "main")).code == 0


def test_undo_knows_the_own_writes_after_history_was_rewritten(devices):
    a, b, _ = devices
    a.add("The parser is written by hand")
    secret = b.add("The launch word is marmalade")
    level(a, b, a)
    assert a.mem("forget", secret, "--yes").code == 0
    a.git("push", "-q", "--force", "origin", "main")
    assert b.sync("--accept-rewrite").code == 0
    b.add("Of the second computer")
    level(b, a)
    assert "The parser is written by hand" in a.mem("undo").err
    assert "Of the second computer" in b.mem("undo").err


def test_undo_in_the_middle_of_a_merge_names_the_merge(devices):
    a, _, _ = devices
    a.add("The parser is written by hand")
    (a.memory / ".git" / "MERGE_HEAD").write_text(a.git("rev-parse", "HEAD") + "\n")
    done = a.mem("undo")
    assert done.code == 3 and "in the middle of a merge" in done.err


def test_a_sync_by_hand_waits_for_the_one_in_the_background_and_that_one_for_nobody(devices):
    import subprocess
    import sys
    import threading

    a, _, _ = devices
    state = a.memory / ".git" / "git-mem"
    hold = (
        "import sys, time; from pathlib import Path; from gitmem.git import lock\n"
        "with lock.held(Path(sys.argv[1]), 5.0, 'sync'):\n print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", hold, str(state / "sync.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == b"held\n"
        assert a.sync("--auto").code == 0
        assert other.poll() is None
        threading.Timer(0.5, other.stdin.close).start()
        assert a.sync().code == 0


def test_after_taking_a_rewritten_branch_the_index_is_made_anew_at_once(devices, monkeypatch):
    from gitmem import detach

    a, b, _ = devices
    secret = a.add("The launch word is marmalade")
    level(a, b)
    assert a.mem("forget", secret, "--yes").code == 0
    a.git("push", "-q", "--force", "origin", "main")
    started = []
    monkeypatch.setattr(detach, "start", lambda *args, variables: bool(started.append(args)) or True)
    assert b.sync("--accept-rewrite").code == 0
    assert ("--repo", str(b.memory), "index", "--quiet") in started


@pytest.mark.parametrize("name", ["sync", "clone"])
def test_help_has_examples(run, name):
    assert "Examples" in run(name, "-h").out

"""A forgotten card leaves nothing behind in the repository, and everything that is not it stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitmem.errors import Busy
from gitmem.hooks import install
from tests.conftest import open_memory
from tests.erasure.conftest import HEAD, SECRET
from tests.erasure.scan import clean, git, holding

AGENT = (
    "codex:\n  profile: working\n  read: [global, projects]\n  write: [global, projects]\n  status: active\n"
)


def test_no_object_reflog_index_log_or_file_holds_a_word_of_it(root, run, add, forget):
    add("Use pnpm here, never npm")
    card = add(
        SECRET,
        "--also",
        "预演环境的密码是 XYZZY-hunter2-plugh",
        "-m",
        f"Body: {SECRET}",
        "--type",
        "fact",
        "--scope",
        "global",
    )
    run("index")
    run("search", SECRET)
    run("recall", SECRET)
    run("confirm", card)
    run("retract", card, "-m", "no longer")
    assert holding(root, HEAD, "xyzzy-hunter2")
    done = forget(card)
    assert done.out.split()[0] == card
    assert holding(root, HEAD, "xyzzy-hunter2", "预演环境的密码") == []
    assert git(root, "status", "--porcelain") == ""
    clean(root)
    assert run("search", "pnpm").out
    assert run("doctor").code in (0, 1)


def test_a_packed_repository_with_a_commit_graph_is_cleaned_as_well(root, add, forget):
    card = add(SECRET)
    add("Use pnpm here, never npm")
    git(root, "gc", "-q", "--prune=now")
    git(root, "commit-graph", "write", "--reachable")
    forget(card)
    assert holding(root, HEAD) == []
    clean(root)


def test_the_words_are_not_taken_in_again(root, run, add, forget):
    card = add(SECRET)
    forget(card)
    again = run("add", SECRET)
    assert (again.code, again.out) == (1, "")
    assert "these words were forgotten" in again.err
    assert run("add", "The staging server listens on port 8443").code == 0


def test_what_the_person_staged_changed_and_left_lying_stays(root, add, forget):
    card = add(SECRET)
    kept = add("Use pnpm here, never npm")
    file = next(root.glob(f"cards/**/*{kept}.md"))
    file.write_text(file.read_text() + "\nMore words by hand.\n")
    (root / "notes.txt").write_text("staged\n")
    git(root, "add", "notes.txt")
    (root / "notes.txt").write_text("staged and changed\n")
    (root / "lying.txt").write_text("untracked\n")
    (root / "later.txt").write_text("intended\n")
    git(root, "add", "-N", "later.txt")
    before = git(root, "status", "--porcelain=v1", "--untracked-files=all")
    forget(card)
    assert git(root, "status", "--porcelain=v1", "--untracked-files=all") == before
    assert git(root, "show", ":notes.txt") == "staged\n"
    assert (root / "notes.txt").read_text() == "staged and changed\n"
    assert file.read_text().endswith("\nMore words by hand.\n")
    assert holding(root, HEAD) == []


def test_an_edited_and_a_staged_copy_of_the_card_go_too(root, add, forget):
    card = add(SECRET)
    file = next(root.glob(f"cards/**/*{card}.md"))
    file.write_text(file.read_text() + "\nMore words by hand.\n")
    git(root, "add", str(file))
    file.write_text(file.read_text() + "\nAnd more.\n")
    forget(card)
    assert holding(root, HEAD) == []
    assert git(root, "status", "--porcelain") == ""


def test_stashes_tags_notes_branches_and_other_work_trees_survive_without_it(root, home, add, forget):
    kept = add("Use pnpm here, never npm")
    (root / "first.txt").write_text("first\n")
    git(root, "add", "first.txt")
    git(root, "commit", "-qm", "A file by hand")
    card = add(SECRET)
    for text in ("one", "two"):
        (root / "first.txt").write_text(f"{text}\n")
        git(root, "stash", "push", "-q", "-m", f"stash {text}")
    (root / "first.txt").write_text("wip\n")
    git(root, "stash")
    git(root, "tag", "light")
    git(root, "tag", "-a", "heavy", "-m", f"After {SECRET}")
    git(root, "notes", "add", "-m", "looked at", "HEAD")
    git(root, "branch", "side")
    git(root, "worktree", "add", "-q", str(home / "linked"), "side")
    git(root, "worktree", "add", "-q", "--detach", str(home / "loose"), "HEAD")
    (home / "linked" / "first.txt").write_text("changed in the other\n")
    git(home / "linked", "add", "first.txt")
    (home / "loose" / "new.txt").write_text("new\n")
    listed = git(root, "stash", "list", "--format=%gs")
    forget(card)
    assert holding(root, HEAD) == []
    assert holding(home / "linked", HEAD) == holding(home / "loose", HEAD) == []
    clean(root)
    assert git(root, "stash", "list", "--format=%gs").splitlines()[1:] == listed.splitlines()[1:]
    assert git(root, "stash", "show", "-p", "stash@{1}").endswith("-first\n+two\n")
    assert git(root, "stash", "show", "-p", "stash@{2}").endswith("-first\n+one\n")
    git(root, "stash", "pop", "-q", "stash@{0}")
    assert (root / "first.txt").read_text() == "wip\n"
    assert git(root, "notes", "show", "light").strip() == "looked at"
    assert git(root, "cat-file", "-t", "heavy") == "tag\n"
    assert git(home / "linked", "status", "--porcelain") == "M  first.txt\n"
    assert git(home / "loose", "status", "--porcelain") == "?? new.txt\n"
    for place in (root, home / "linked", home / "loose"):
        assert len(list(place.glob(f"cards/**/*{kept}.md"))) == 1
        assert list(place.glob(f"cards/**/*{card}.md")) == []
    git(home / "linked", "commit", "-qm", "Goes on")


def test_a_link_of_a_chain_goes_and_the_chain_holds(root, run, add, forget):
    first = add("Colour unverified entries amber")
    second = add(SECRET, "--supersedes", first)
    third = add("Colour unverified entries teal", "--supersedes", second)
    forget(second)
    assert holding(root, HEAD) == []
    clean(root)
    assert "live" in run("show", third).out
    assert run("supersede", third, "Colour unverified entries green").code == 0


def test_the_card_that_it_replaced_is_named_as_one_that_may_hold_again(run, add):
    first = add("Colour unverified entries amber")
    second = add(SECRET, "--supersedes", first)
    assert f"may hold again: {first[:7]}" in run("forget", second, "--dry-run").err


def test_the_target_of_a_retraction_goes_and_the_retraction_stays(root, run, add, forget):
    card = add(SECRET)
    retraction = run("retract", card, "-m", "it was changed").out.strip()
    forget(card)
    assert holding(root, HEAD) == []
    assert len(list(root.glob(f"cards/**/*{retraction}.md"))) == 1
    clean(root)


def test_a_card_of_an_archived_project_can_be_forgotten(root, run, add, forget):
    run("project", "add", "web")
    card = add(SECRET, "--scope", "web", "--type", "convention")
    run("project", "archive", "web")
    forget(card)
    assert holding(root, HEAD) == []
    clean(root)


def test_a_memory_with_a_merge_commit(root, add, forget):
    git(root, "checkout", "-qb", "side")
    (root / "side.txt").write_text("side\n")
    git(root, "add", "side.txt")
    git(root, "commit", "-qm", "On the side")
    git(root, "checkout", "-q", "main")
    card = add(SECRET)
    git(root, "merge", "-q", "--no-edit", "side")
    add("Use pnpm here, never npm")
    merges = git(root, "rev-list", "--count", "--merges", "main")
    forget(card)
    assert holding(root, HEAD) == []
    assert git(root, "rev-list", "--count", "--merges", "main") == merges == "1\n"
    clean(root)


def _two_of_one_turn(root: Path) -> tuple[str, str]:
    """Two cards that cite one turn of one session, committed by hand."""
    from gitmem.model import card as cards
    from gitmem.model import source as sources

    stamp = "2026-11-05T08:00:00Z"
    said = f"use pnpm, never npm; and {SECRET}"
    turns = (
        sources.Turn(3, "user", stamp, "an earlier thing that was said"),
        sources.Turn(7, "user", stamp, said),
    )
    source = sources.Source("codex", "s-0001", "global", stamp, "session", turns)
    path = sources.source_path(source, "20261105-080000-aaaaaa")
    made = []
    for card_id, conclusion, quote in (
        ("k3v9x2m7qa", "Use pnpm, never npm", "use pnpm, never npm"),
        ("w8e6b1gxm2", "Staging has a password", SECRET),
    ):
        card = cards.Card(
            id=card_id, scope="global", created=stamp, author="codex", type="preference", conclusion=conclusion,
            evidence=(cards.Evidence(path, 7, "user", quote),),
        )  # fmt: skip
        file = root / cards.card_path(card)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(cards.dump(card))
        made.append(card_id)
    third = cards.Card(
        id="t5n0c4zaaa", scope="global", created=stamp, author="codex", type="preference",
        conclusion="An earlier thing", evidence=(cards.Evidence(path, 3, "user", "an earlier thing that was said"),),
    )  # fmt: skip
    (root / cards.card_path(third)).write_bytes(cards.dump(third))
    place = root / path
    place.parent.mkdir(parents=True)
    place.write_bytes(sources.dump(source))
    git(root, "add", "cards", "sources")
    git(root, "commit", "-qm", "By hand")
    return made[0], made[1]


def test_two_cards_of_one_turn_go_together_or_not_at_all(root, run, forget):
    plain, secret = _two_of_one_turn(root)
    refused = run("forget", secret, "--yes")
    assert refused.code == 1
    assert "1 other card holds the same words" in refused.err
    assert f"git mem forget {secret[:7]} {plain[:7]}" in refused.err
    assert holding(root, HEAD)
    forget(plain, secret)
    assert holding(root, HEAD) == []
    # the source keeps the turn that the third card cites
    assert "an earlier thing" in next(root.glob("sources/**/*.md")).read_text()
    clean(root)


def test_two_statements_of_one_session_are_apart(root, run, forget):
    """An agent's statements each count their turns from one, in files of their own."""
    (root / "registry/agents.yaml").write_text(AGENT)
    git(root, "commit", "-qam", "An agent")
    made = [
        run("add", says, "--quote", quote, "--session", "s-0001", env={"GIT_MEM_AGENT": "codex"}).out.strip()
        for says, quote in (
            ("Staging has its password", SECRET),
            ("Logs stay thirty days", "keep logs for thirty days"),
        )
    ]
    forget(made[0])
    assert holding(root, HEAD) == []
    clean(root)
    assert run("show", made[1]).code == 0
    third = run(
        "add",
        "Ship on Fridays",
        "--quote",
        "we ship on Fridays at noon",
        "--session",
        "s-0001",
        env={"GIT_MEM_AGENT": "codex"},
    )
    assert third.code == 0, third.err


def test_words_stay_where_other_cards_hold_them_when_asked_for(root, run):
    plain, secret = _two_of_one_turn(root)
    assert run("forget", secret, "--yes", "--keep-shared").code == 0
    assert list(root.glob(f"cards/**/*{secret}.md")) == []
    assert len(list(root.glob(f"cards/**/*{plain}.md"))) == 1
    assert holding(root, secret + ".md") == []
    clean(root)


def test_a_brief_that_repeats_the_words_loses_them(root, run, add, forget):
    run("project", "add", "web")
    brief = root / "briefs" / "web.md"
    brief.parent.mkdir(exist_ok=True)
    brief.write_text(f"Deploys: {SECRET}\nand more\n")
    git(root, "add", "briefs")
    git(root, "commit", "-qm", "A brief")
    card = add(SECRET)
    forget(card)
    assert brief.read_text() == "Deploys: [forgotten]\nand more\n"
    assert holding(root, HEAD) == []
    assert git(root, "status", "--porcelain") == ""


def test_forgetting_twice_says_so_and_changes_nothing(root, run, add, forget):
    card = add(SECRET)
    forget(card)
    tip = git(root, "rev-parse", "main")
    again = run("forget", card, "--yes")
    assert again.code == 0
    assert "was forgotten before" in again.err
    assert git(root, "rev-parse", "main") == tip
    other = add("The second thing that has to go away")
    forget(other, card)
    assert holding(root, "second thing that has") == []


def test_nothing_to_forget_is_said(root, run):
    tip = git(root, "rev-parse", "main")
    done = run("forget", "zzzzzzz", "--yes")
    assert done.code == 1
    assert "no card `zzzzzzz`" in done.err
    assert git(root, "rev-parse", "main") == tip


def test_it_asks_first_and_without_a_terminal_needs_yes(root, run, add):
    card = add(SECRET)
    done = run("forget", card)
    assert done.code == 2
    assert f"git mem forget {card} --yes" in done.err
    assert holding(root, HEAD)


def test_a_dry_run_shows_and_changes_nothing(root, run, add):
    card = add(SECRET)
    before = git(root, "for-each-ref")
    done = run("forget", card, "--dry-run", "--json")
    assert json.loads(done.out)["cards"][0]["id"] == card
    assert done.code == 0
    assert git(root, "for-each-ref") == before


def test_an_agent_may_not(root, run, add):
    card = add(SECRET)
    (root / "registry/agents.yaml").write_text(AGENT)
    git(root, "commit", "-qam", "An agent")
    done = run("forget", card, "--yes", env={"GIT_MEM_AGENT": "codex"})
    assert done.code == 1
    assert "that is for people" in done.err
    host = run("forget", card, "--yes", env={"CLAUDECODE": "1"})
    assert host.code == 1


@pytest.mark.parametrize("operation", ["merge", "rebase", "bisect"])
def test_in_the_middle_of_an_operation_it_is_busy(root, run, add, operation):
    card = add(SECRET)
    (root / "a.txt").write_text("a\n")
    git(root, "add", "a.txt")
    git(root, "commit", "-qm", "a")
    git(root, "checkout", "-qb", "side", "HEAD~1")
    (root / "a.txt").write_text("b\n")
    git(root, "add", "a.txt")
    git(root, "commit", "-qm", "b")
    if operation == "bisect":
        git(root, "bisect", "start")
    else:
        git(root, operation, "main", check=False)
    tip = git(root, "rev-parse", "main")
    done = run("forget", card, "--yes")
    assert done.code == 3
    assert f"in the middle of a {operation}" in done.err
    assert git(root, "rev-parse", "main") == tip
    assert not (open_memory(root).state / "forget.json").exists()


def test_with_the_memorys_own_hooks_in_place(root, memory, add, forget):
    import sys

    assert install.install(memory.common_dir, None, sys.executable).active
    card = add(SECRET)
    add("Use pnpm here, never npm")
    forget(card)
    assert holding(root, HEAD) == []
    add("The staging server listens on port 8443")


def test_remotes_are_named_with_the_commands_for_them(root, home, add, forget):
    git(home, "init", "-q", "--bare", "remote.git")
    git(root, "remote", "add", "origin", str(home / "remote.git"))
    git(root, "push", "-q", "origin", "main")
    card = add(SECRET)
    git(root, "push", "-q", "origin", "main")
    err = forget(card).err
    assert f"origin ({home / 'remote.git'})" in err
    assert "push --force-with-lease=main:" in err
    assert holding(root, HEAD) == []
    assert git(root, "push", "--force", "-q", "origin", "main") == ""
    assert len(err.splitlines()) <= 24


def test_the_commits_of_others_in_history_keep_author_date_and_words(root, add, forget):
    card = add(SECRET)
    (root / "a.txt").write_text("a\n")
    git(root, "add", "a.txt")
    git(
        root,
        "commit",
        "-qm",
        "Ein Satz: straße 中文\n\nMit Absatz.",
        "--author",
        "Other Person <other@example.com>",
        "--date",
        "2026-01-02T03:04:05+0130",
    )
    form = "--format=%an %ae %aI %cI%n%B"
    before = git(root, "log", "-1", form)
    forget(card)
    assert git(root, "log", "-1", "--skip=1", form) == before


def test_busy_is_said_while_another_forgets(memory, add, run):
    from gitmem.erasure import erase
    from gitmem.git import lock

    card = add(SECRET)
    erase.WAIT_S, kept = 0.1, erase.WAIT_S
    try:
        with lock.held(memory.state / "forget.lock", 0.0, "x"):
            done = run("forget", card, "--yes")
    finally:
        erase.WAIT_S = kept
    assert done.code == Busy.exit_code


def test_a_clone_that_is_not_whole_is_refused(root, home, run, add):
    card = add(SECRET)
    add("Use pnpm here, never npm")
    git(home, "clone", "-q", "--depth", "1", f"file://{root}", str(home / "shallow"))
    done = run("--repo", str(home / "shallow"), "forget", card, "--yes")
    assert done.code == 1
    assert "fetch --unshallow" in done.err


def test_a_work_tree_whose_folder_is_gone_is_no_hindrance(root, home, add, forget):
    card = add(SECRET)
    git(root, "worktree", "add", "-q", "--detach", str(home / "gone"), "HEAD")
    import shutil

    shutil.rmtree(home / "gone")
    forget(card)
    assert holding(root, HEAD, "xyzzy-hunter2") == []
    clean(root)


def test_a_sparse_work_tree_stays_sparse(root, add, forget):
    card = add(SECRET)
    kept = add("Use pnpm here, never npm")
    git(root, "sparse-checkout", "set", "--no-cone", "/registry/")
    before = git(root, "ls-files", "-t").splitlines()
    forget(card)
    after = git(root, "ls-files", "-t").splitlines()
    assert [line for line in before if card not in line] == after
    assert list(root.glob(f"cards/**/*{kept}.md")) == []
    assert git(root, "status", "--porcelain") == ""


def test_undo_takes_back_no_forgetting(root, run, add, forget):
    card = add(SECRET)
    forget(card)
    done = run("undo")
    assert done.code == 1
    assert card in (root / "registry/forgotten.yaml").read_text()


def test_a_card_that_is_not_in_the_form_can_be_forgotten_too(root, run, add, forget):
    card = add(SECRET)
    file = next(root.glob(f"cards/**/*{card}.md"))
    file.write_text(file.read_text().replace("type: ", "typo: "))
    git(root, "commit", "-qam", f"By hand: {SECRET}")
    forget(card[:7])
    assert holding(root, HEAD) == []
    clean(root)


def test_an_import_passes_over_what_was_forgotten(root, home, run, forget):
    lines = [
        {"conclusion": SECRET, "type": "fact"},
        {"conclusion": "Use pnpm here, never npm", "type": "preference"},
    ]
    file = home / "work" / "cards.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run("import", "jsonl", str(file))
    assert done.code == 0, done.err
    assert holding(root, HEAD)
    shown = json.loads(run("list", "--json").out)
    card = next(one["id"] for one in shown["cards"] if HEAD in json.dumps(one))
    forget(card)
    assert holding(root, HEAD) == []
    lines.append({"conclusion": "Ship on Fridays at noon", "type": "preference"})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = run("import", "jsonl", str(file))
    assert holding(root, HEAD) == [], again.err
    assert "Fridays" in run("list").out
    clean(root)


def test_writers_at_the_same_time_lose_nothing(root, add, run):
    import subprocess
    import sys

    card = add(SECRET)
    writer = (
        "import sys; from gitmem.cli.main import run\n"
        "for n in range(4):\n"
        "    assert run(['add', f'Thing {sys.argv[1]} {n}', '--force']) == 0"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", writer, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in ("one", "two")
    ]
    done = run("forget", card, "--yes", process=True)
    assert done.code == 0, done.err
    made = []
    for process in writers:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()
        made += out.decode().split()
    assert len(made) == 8
    for one in made:
        assert len(list(root.glob(f"cards/**/*{one}.md"))) == 1
    assert holding(root, HEAD) == []
    assert git(root, "status", "--porcelain") == ""
    clean(root)


def test_a_plain_commit_made_of_the_old_index_in_between_is_met(root, add, forget, monkeypatch):
    from gitmem.erasure import trees

    card = add(SECRET)
    bring, calls = trees.bring_along, []

    def after_a_commit(memory, order) -> None:  # type: ignore[no-untyped-def]
        if not calls:
            git(root, "commit", "-qm", "In between", "--allow-empty", "--no-verify")
            assert card in git(root, "ls-tree", "-r", "--name-only", "main")
        calls.append(1)
        bring(memory, order)

    monkeypatch.setattr(trees, "bring_along", after_a_commit)
    forget(card)
    assert len(calls) == 2
    assert holding(root, HEAD) == []
    assert git(root, "log", "-1", "--format=%s") == "In between\n"
    assert git(root, "status", "--porcelain") == ""


GUARD = """#!/bin/sh
# what a strict hook does: the branch only goes forward, unless an erasure is at work
[ "$1" = prepared ] || exit 0
[ -e "$(git rev-parse --git-common-dir)/git-mem/erasing" ] && exit 0
while read -r old new ref; do
    [ "$ref" = refs/heads/main ] || continue
    git merge-base --is-ancestor "$old" "$new" || exit 1
done
"""


def test_a_guard_of_the_branch_lets_an_erasure_pass_and_nothing_after_it(root, memory, add, forget):
    card = add(SECRET)
    add("Use pnpm here, never npm")
    guard = memory.common_dir / "hooks" / "reference-transaction"
    guard.parent.mkdir(exist_ok=True)
    guard.write_text(GUARD)
    guard.chmod(0o755)
    forget(card)
    assert holding(root, HEAD) == []
    tip = git(root, "rev-parse", "main")
    git(root, "update-ref", "refs/heads/main", "main~1", check=False)
    assert git(root, "rev-parse", "main") == tip


def test_a_hook_that_refuses_the_tombstones_leaves_everything_as_it_was(root, memory, add, run):
    card = add(SECRET)
    hook = memory.common_dir / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    before = git(root, "for-each-ref")
    done = run("forget", card, "--yes")
    assert done.code == 1
    assert "not today" in done.err
    assert git(root, "for-each-ref") == before
    assert not (memory.state / "forget.json").exists()

"""undo: one's own last write, or a named one; nothing is lost by it."""

from __future__ import annotations

import pytest

from gitmem.authoring import cards as authoring
from gitmem.authoring.cards import Wish
from gitmem.authoring.projects import add_project, set_status
from gitmem.authoring.undo import undo
from gitmem.errors import Refused
from tests.authoring.test_cards import codex, me, status  # noqa: F401


def text(found, path: str) -> str:  # type: ignore[no-untyped-def]
    return found.memory.git.run("cat-file", "blob", f"main:{path}").out.decode()


def test_the_last_write_is_taken_back_by_a_retraction(me):  # noqa: F811
    card = authoring.add(me(), Wish("Use pnpm here"), None)
    done = undo(me())
    assert (done.commit, done.cards, done.subject) == (
        card.written.commit,
        (card.card.id,),
        "mem(preference): Use pnpm here",
    )
    assert status(me(), card.card.id).word == "retracted"


def test_taking_back_a_correction_revives_what_it_corrected(me):  # noqa: F811
    amber = authoring.add(me(), Wish("The colour is amber"), None).card
    teal = authoring.supersede(me(), [amber.id], Wish("The colour is teal")).card
    undo(me())
    assert (status(me(), amber.id).word, status(me(), teal.id).word) == ("live", "retracted")


def test_taking_back_an_undo_brings_the_write_back_and_it_can_be_taken_back_again(me):  # noqa: F811
    card = authoring.add(me(), Wish("Use pnpm here"), None)
    first = undo(me())
    undo(me(), first.written.commit[:8])
    assert status(me(), card.card.id).word == "live"
    again = undo(me())
    assert again.commit == card.written.commit
    assert status(me(), card.card.id).word == "retracted"


def test_undo_goes_back_write_by_write(me):  # noqa: F811
    one = authoring.add(me(), Wish("Use pnpm here"), None).card
    two = authoring.add(me(), Wish("Reports go out on Fridays"), None).card
    assert undo(me()).cards == (two.id,)
    assert undo(me()).cards == (one.id,)
    with pytest.raises(Refused):
        undo(me())


def test_a_write_is_taken_back_once(me):  # noqa: F811
    card = authoring.add(me(), Wish("Use pnpm here"), None)
    undo(me())
    with pytest.raises(Refused, match="was taken back already"):
        undo(me(), card.written.commit)


def test_a_registry_write_gets_its_old_text_back(me):  # noqa: F811
    before = text(me(), "registry/projects.yaml")
    add_project(me(), "atlas")
    during = text(me(), "registry/projects.yaml")
    done = undo(me())
    assert done.files == ("registry/projects.yaml",)
    assert text(me(), "registry/projects.yaml") == before != during
    undo(me(), done.written.commit)
    assert text(me(), "registry/projects.yaml") == during


def test_a_registry_file_that_was_changed_since_is_left_alone(me):  # noqa: F811
    _, written, _ = add_project(me(), "atlas")
    set_status(me(), "atlas", "archived")
    with pytest.raises(Refused, match="was changed again since"):
        undo(me(), written.commit)


def test_an_agent_takes_back_its_own_writes_alone(me, codex):  # noqa: F811
    own = authoring.add(codex(), Wish("The build takes nine minutes"), "atlas")
    mine = authoring.add(me(), Wish("Use pnpm here"), None)
    with pytest.raises(Refused, match="is not a write of `codex`"):
        undo(codex(), mine.written.commit)
    assert undo(codex()).commit == own.written.commit
    with pytest.raises(Refused, match="no write of codex to take back"):
        undo(codex())


def test_a_host_without_identity_takes_back_its_own_writes_alone(me):  # noqa: F811
    add_project(me(), "atlas")
    host = {"CLAUDECODE": "1"}
    mine = authoring.add(me(), Wish("Use pnpm here"), None)
    with pytest.raises(Refused):
        undo(me(**host))
    with pytest.raises(Refused):
        undo(me(**host), mine.written.commit)
    own = authoring.add(me(**host), Wish("The build takes nine minutes"), "atlas")
    assert undo(me(**host)).commit == own.written.commit
    assert status(me(), mine.card.id).word == "live"


def test_a_person_does_not_take_back_an_agents_write_by_accident(me, codex):  # noqa: F811
    mine = authoring.add(me(), Wish("Use pnpm here"), None)
    theirs = authoring.add(codex(), Wish("The build takes nine minutes"), "atlas")
    assert undo(me()).commit == mine.written.commit
    assert undo(me(), theirs.written.commit).cards == (theirs.card.id,)


def test_a_name_that_is_no_write_says_how_to_go_on(me):  # noqa: F811
    card = authoring.add(me(), Wish("Use pnpm here"), None).card
    with pytest.raises(Refused, match="no commit") as refused:
        undo(me(), card.id)
    assert refused.value.hints == (f"to take back one card: git mem retract {card.id}", "git mem log")

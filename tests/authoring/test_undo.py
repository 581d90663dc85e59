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
    second = undo(me())
    assert (second.commit, second.action) == (first.written.commit, "undo")
    assert status(me(), card.card.id).word == "live"
    assert undo(me()).commit == second.written.commit
    assert status(me(), card.card.id).word == "retracted"


def test_an_earlier_write_is_taken_back_by_its_commit_and_that_by_a_plain_undo(me):  # noqa: F811
    one = authoring.add(me(), Wish("Use pnpm here"), None)
    two = authoring.add(me(), Wish("Reports go out on Fridays"), None).card
    assert undo(me(), one.written.commit).cards == (one.card.id,)
    undo(me())
    assert (status(me(), one.card.id).word, status(me(), two.id).word) == ("live", "live")


def test_an_undo_never_reaches_the_commit_that_made_the_memory(me):  # noqa: F811
    with pytest.raises(Refused, match="no write of yours to take back"):
        undo(me())


def test_more_cards_than_one_retraction_may_name_are_taken_back_in_one_commit(me):  # noqa: F811
    from gitmem.authoring.commit import Change, commit
    from gitmem.model import card as cards
    from gitmem.model import ids, when
    from gitmem.model import source as sources
    from gitmem.model.card import Card, Evidence

    made: list[str] = []

    def make(here):  # type: ignore[no-untyped-def]
        files = {}
        stamp = when.stamp(here.utc())
        turns = tuple(
            sources.Turn(n, "user", stamp, f"The port of service {n} is {8000 + n}") for n in range(1, 121)
        )
        source = sources.Source("git-mem", "statement-many", "global", stamp, "statement", turns)
        path = sources.source_path(source, "20261130-120000-many")
        files[path] = sources.dump(source)
        for turn in turns:
            card = Card(
                id=ids.new_id(here.random_bits), scope="global", created=stamp, author="you@example.com",
                type="preference", conclusion=turn.text, evidence=(Evidence(path, turn.number, "user", turn.text),),
            )  # fmt: skip
            made.append(card.id)
            files[cards.card_path(card)] = cards.dump(card)
        return Change(files, "mem: many", "import", made)

    written = commit(me(), make)[0]
    done = undo(me())
    assert (done.commit, len(done.cards)) == (written.commit, 120)
    assert sorted(len(one.retracts) for one in done.retractions) == [20, 50, 50]
    assert {status(me(), one).word for one in made} == {"retracted"}
    undo(me())
    assert {status(me(), one).word for one in made} == {"live"}


def test_the_agent_of_a_connected_host_is_not_taken_back_from_under_it(me):  # noqa: F811
    from gitmem.authoring.projects import add_agent

    authoring.add(me(), Wish("Use pnpm here"), None)
    add_agent(me(), "pi", "working")
    me().memory.git.run("config", "--local", "mem.host.pi.agent", "pi")
    with pytest.raises(Refused, match="the connection of `pi` stands on") as refused:
        undo(me())
    assert refused.value.hints[0] == "git mem disconnect pi"
    me().memory.git.run("config", "--local", "--unset", "mem.host.pi.agent")
    assert undo(me()).action == "registry"


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
    assert undo(codex()).action == "undo"
    assert status(me(), mine.card.id).word == "live"


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
    with pytest.raises(Refused, match="no commit `HEAD`") as refused:
        undo(me(), "HEAD")
    assert refused.value.hints[0] == "your last write: git mem undo"


def _both(context):  # type: ignore[no-untyped-def]
    """One commit that adds a card and its replacement, as a run of learning may."""
    first = authoring.add(context, Wish("The colour is amber"), None)
    second = authoring.supersede(me_again(context), [first.card.id], Wish("The colour is teal"))
    git = context.memory.git
    tree = git.run("rev-parse", "main^{tree}").text()
    base = git.run("rev-parse", f"{first.written.commit}^").text()
    merged = git.run(
        "commit-tree", tree, "-p", base, "-m", "mem: learned 1, replaced 1\n\nMem-Action: promote"
    ).text()
    git.run("update-ref", "refs/heads/main", merged)
    return first.card.id, second.card.id, merged


def me_again(context):  # type: ignore[no-untyped-def]
    from gitmem.git.locate import refreshed

    return context.with_memory(refreshed(context.memory))


def test_a_commit_with_a_card_and_its_replacement_is_taken_back_whole(me):  # noqa: F811
    amber, teal, merged = _both(me())
    done = undo(me(), merged)
    assert set(done.cards) == {amber, teal}
    assert (status(me(), amber).word, status(me(), teal).word) == ("retracted", "retracted")
    undo(me())
    assert (status(me(), amber).word, status(me(), teal).word) == ("superseded", "live")


def test_what_was_replaced_since_stays_and_is_named_and_the_rest_is_taken_back(me):  # noqa: F811
    amber, teal, merged = _both(me())
    orange = authoring.supersede(me(), [teal], Wish("The colour is orange")).card
    with pytest.raises(Refused, match="was replaced since") as caught:
        undo(me(), merged)
    assert any(orange.id[:7] in hint for hint in caught.value.hints)
    assert status(me(), orange.id).word == "live" and status(me(), amber).word == "superseded"


def test_an_undo_that_is_taken_back_counts_the_cards_that_hold_again(me):  # noqa: F811
    cards = [authoring.add(me(), Wish(f"Fact number {n} about ovens", force=True), None) for n in range(2)]
    undo(me(), cards[0].written.commit)
    assert undo(me()).cards == (cards[0].card.id,)

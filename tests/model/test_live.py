from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.model import live, registry
from gitmem.model.live import Facts, Status, live_ends, status

NOW = datetime(2026, 11, 10, 12, tzinfo=UTC)
KINDS = ("supersedes", "corroborates", "retracts", "overrides")


class Cards:
    """A graph in memory."""

    def __init__(self, *facts: Facts):
        self.by_id = {one.id: one for one in facts}

    def facts(self, card_id):
        return self.by_id.get(card_id)

    def pointing_at(self, card_id):
        found = [one for one in self.by_id.values() if any(target == card_id for _, target in one.edges)]
        return sorted(found, key=lambda one: one.id)


def one(card_id, created="2026-11-01T00:00:00Z", *, type="fact", scope="web", l0=None, strength=6, **more):
    edges = tuple((kind, target) for kind in KINDS for target in more.pop(kind, ()))
    facts = Facts(
        card_id, scope, type, created, None, None, l0 or f"L0 of {card_id}", edges, strength, created
    )
    return replace(facts, **more)


def rules(**projects):
    types = {
        "fact": {"kind": "semantic", "lifetime_days": "none", "writers": "anyone", "recalled": "similarity"},
        "task": {"kind": "working", "lifetime_days": 14, "writers": "anyone", "recalled": "progress"},
    }
    known = {name: {"name": name, "status": word} for name, word in projects.items()}
    return registry.build({"memory": {"format": 1, "embedder": "none"}, "types": types, "projects": known})


RULES = rules(web="active", old="archived")


def word(graph, card_id, now=NOW):
    return status(graph, card_id, RULES, now).word


def at(text):
    return datetime.fromisoformat(text)


def test_a_card_alone_is_live_and_an_unknown_one_is_missing():
    assert status(Cards(one("a")), "a", RULES, NOW) == Status("live")
    assert Status("live").live
    assert status(Cards(), "a", RULES, NOW) == Status("missing")


def test_of_a_chain_only_the_last_card_is_live():
    graph = Cards(one("a"), one("b", supersedes=["a"]), one("c", supersedes=["b"]))
    assert status(graph, "a", RULES, NOW) == Status("superseded", ("b",))
    assert status(graph, "b", RULES, NOW) == Status("superseded", ("c",))
    assert word(graph, "c") == "live"
    assert live_ends(graph, "a", RULES, NOW) == live_ends(graph, "b", RULES, NOW) == ["c"]
    assert live.chain(graph, "b") == ["a", "b", "c"]
    assert live.roots(graph, "c") == ["a"]


def test_a_successor_whose_day_has_not_come_does_not_kill_yet():
    graph = Cards(one("a"), one("b", supersedes=["a"], valid_from="2026-11-11"))
    assert (word(graph, "a"), word(graph, "b")) == ("live", "not yet")
    later = at("2026-11-11T00:00:00Z")
    assert (word(graph, "a", later), word(graph, "b", later)) == ("superseded", "live")


def test_a_card_stays_dead_when_its_successor_expires():
    graph = Cards(one("a"), one("b", supersedes=["a"], expires="2026-11-05"))
    assert (word(graph, "a"), word(graph, "b")) == ("superseded", "expired")
    assert live_ends(graph, "a", RULES, NOW) == []


def test_a_retraction_of_a_successor_revives_the_old_card():
    graph = Cards(one("a"), one("b", supersedes=["a"]), one("r", type=None, retracts=["b"]))
    assert word(graph, "a") == "live"
    assert status(graph, "b", RULES, NOW) == Status("retracted", ("r",))
    assert live_ends(graph, "b", RULES, NOW) == []


def test_a_retraction_of_a_retraction_undoes_it():
    cards = [one("a"), one("r", type=None, retracts=["a"]), one("s", type=None, retracts=["r"])]
    assert word(Cards(*cards), "a") == "live"
    assert word(Cards(*cards, one("t", type=None, retracts=["s"])), "a") == "retracted"


def test_a_retraction_counts_once_it_has_begun():
    graph = Cards(one("a"), one("r", type=None, retracts=["a"], valid_from="2026-11-12"))
    assert word(graph, "a") == "live"
    assert word(graph, "a", at("2026-11-12T00:00:00Z")) == "retracted"


def test_an_edge_of_a_card_that_is_not_there_does_not_count():
    assert word(Cards(one("a"), one("c", supersedes=["b"])), "a") == "live"


def test_overriding_and_confirming_kill_nothing():
    graph = Cards(one("a"), one("b", overrides=["a"]), one("c", corroborates=["a"]))
    assert word(graph, "a") == "live"


def test_a_card_of_an_archived_project_is_archived():
    assert word(Cards(one("a", scope="old")), "a") == "archived"
    assert word(Cards(one("a", scope="unregistered")), "a") == "live"


def test_a_date_lasts_through_its_day_and_a_time_does_not():
    graph = Cards(one("a", expires="2026-11-10"), one("b", expires="2026-11-10T12:00:00Z"))
    assert (word(graph, "a"), word(graph, "b")) == ("live", "expired")
    assert word(graph, "a", at("2026-11-10T23:59:59Z")) == "live"
    assert word(graph, "a", at("2026-11-11T00:00:00Z")) == "expired"


def test_never_outlasts_the_lifetime_of_the_type():
    graph = Cards(one("a", "2020-01-01T00:00:00Z", type="task", expires="never"))
    assert word(graph, "a") == "live"
    assert live.ends_at(graph, graph.facts("a"), RULES, NOW) is None


def test_the_last_day_of_the_calendar_is_no_trouble():
    graph = Cards(one("a", expires="9999-12-31"), one("b", type="task", valid_from="9999-12-31"))
    assert (word(graph, "a"), word(graph, "b")) == ("live", "not yet")
    assert live.ends_at(graph, graph.facts("b"), RULES, NOW) > NOW


def test_a_lifetime_counts_from_the_last_confirmation_else_valid_from_else_created():
    old = one("a", "2026-10-01T00:00:00Z", type="task")
    assert live.ends_at(Cards(old), old, RULES, NOW) == at("2026-10-15T00:00:00Z")
    begun = replace(old, valid_from="2026-10-20")
    assert live.ends_at(Cards(begun), begun, RULES, NOW) == at("2026-11-03T00:00:00Z")
    graph = Cards(
        begun,
        one("c", "2026-11-05T00:00:00Z", type="task", corroborates=["a"]),
        one("d", "2026-11-02T00:00:00Z", type="task", corroborates=["a"]),
    )
    assert live.ends_at(graph, begun, RULES, NOW) == at("2026-11-19T00:00:00Z")
    assert word(graph, "a") == "live"
    assert word(Cards(begun), "a") == "expired"


def test_a_type_without_lifetime_or_unknown_never_ends():
    for type_ in ("fact", "unheard-of", None):
        facts = one("a", "2000-01-01T00:00:00Z", type=type_)
        assert live.ends_at(Cards(facts), facts, RULES, NOW) is None


def test_a_retracted_confirmation_renews_nothing():
    old = one("a", "2026-10-01T00:00:00Z", type="task")
    confirmed = one("c", "2026-11-05T00:00:00Z", type="task", corroborates=["a"])
    assert word(Cards(old, confirmed), "a") == "live"
    assert word(Cards(old, confirmed, one("r", type=None, retracts=["c"])), "a") == "expired"


def test_a_confirmation_follows_the_chain_while_l0_is_unchanged():
    first = one("a", "2026-10-01T00:00:00Z", l0="same")
    confirmed = one("k", "2026-10-05T00:00:00Z", corroborates=["a"])
    second = one("b", "2026-10-10T00:00:00Z", l0="same", supersedes=["a"])
    third = one("c", "2026-10-12T00:00:00Z", l0="other", supersedes=["b"])
    graph = Cards(first, confirmed, second, third)
    assert [facts.id for facts in live.confirmations(graph, "a", NOW)] == ["k"]
    assert [facts.id for facts in live.confirmations(graph, "b", NOW)] == ["k"]
    assert live.confirmations(graph, "c", NOW) == []
    assert live.confirmations(graph, "missing", NOW) == []


def test_a_confirmation_counts_once_though_two_ways_lead_to_it():
    graph = Cards(
        one("a", l0="same"),
        one("b", l0="same", supersedes=["a"]),
        one("c", l0="same", supersedes=["a"]),
        one("d", l0="same", supersedes=["b", "c"]),
        one("k", corroborates=["a", "d"]),
    )
    assert [facts.id for facts in live.confirmations(graph, "d", NOW)] == ["k"]


FORKS = [
    ({"strength": 6}, {"strength": 4}),
    ({"strength": 6, "said_at": "2026-11-01T00:00:00Z"}, {"strength": 5, "said_at": "2026-11-09T00:00:00Z"}),
    ({"said_at": "2026-11-05T00:00:00Z"}, {"said_at": "2026-11-04T00:00:00Z"}),
]


@pytest.mark.parametrize(("winner", "loser"), FORKS)
@pytest.mark.parametrize(("first", "second"), [("b", "c"), ("c", "b")])
def test_a_fork_keeps_the_stronger_then_the_later_end(winner, loser, first, second):
    graph = Cards(one("a"), one(first, supersedes=["a"], **winner), one(second, supersedes=["a"], **loser))
    assert live_ends(graph, "a", RULES, NOW) == [first]
    assert live.fork_losers(graph, second, RULES, NOW)
    assert not live.fork_losers(graph, first, RULES, NOW)


def test_a_fork_of_equals_keeps_the_larger_id():
    graph = Cards(one("a"), one("b", supersedes=["a"]), one("c", supersedes=["a"]))
    assert live_ends(graph, "a", RULES, NOW) == ["c"]
    assert live.fork_losers(graph, "b", RULES, NOW)
    assert not live.fork_losers(graph, "a", RULES, NOW)


def test_a_dead_end_of_a_fork_does_not_win():
    graph = Cards(one("a"), one("b", supersedes=["a"]), one("c", supersedes=["a"], expires="2026-11-02"))
    assert live_ends(graph, "a", RULES, NOW) == ["b"]
    assert not live.fork_losers(graph, "b", RULES, NOW)


def test_a_split_of_one_import_stands_whole():
    source = "sources/web/import/2026/11/decisions"
    b, c, d = (one(name, supersedes=["a"], import_source=source) for name in "bcd")
    graph = Cards(one("a"), b, c, d)
    assert live_ends(graph, "a", RULES, NOW) == ["b", "c", "d"]
    assert not any(live.fork_losers(graph, name, RULES, NOW) for name in "bcd")
    stronger = Cards(one("a"), replace(b, strength=4), replace(c, strength=4), one("e", supersedes=["a"]))
    assert live_ends(stronger, "a", RULES, NOW) == ["e"]


def test_strength_is_user_then_document_then_assistant_and_reported_one_lower():
    assert [live.strength(role, False) for role in ("user", "document", "assistant", "tool")] == [6, 4, 2, 0]
    assert [live.strength(role, True) for role in ("user", "document", "assistant", "tool")] == [5, 3, 1, 0]


IDS = "abcdefgh"
ANY_CARD = st.builds(
    lambda card_id, kind, targets, strength, l0, day, expires: one(
        card_id,
        f"2026-11-{day:02}T00:00:00Z",
        strength=strength,
        l0=l0,
        expires=expires,
        type="task",
        **{kind: targets},
    ),
    st.sampled_from(IDS),
    st.sampled_from(KINDS),
    st.lists(st.sampled_from(IDS), max_size=3, unique=True),
    st.integers(0, 6),
    st.sampled_from(["x", "y"]),
    st.integers(1, 9),
    st.sampled_from([None, "never", "2026-11-05", "2026-12-01"]),
)
ANY_GRAPH = st.lists(ANY_CARD, max_size=8, unique_by=lambda facts: facts.id)


@given(ANY_GRAPH)
def test_any_graph_even_a_cyclic_one_has_an_answer(cards):
    graph = Cards(*cards)
    for card_id in IDS:
        state = status(graph, card_id, RULES, NOW)
        ends = live_ends(graph, card_id, RULES, NOW)
        assert state.live == (ends == [card_id])
        assert all(status(graph, end, RULES, NOW).live for end in ends)
        assert state.word in ("live", "missing", "superseded", "retracted", "expired", "not yet", "archived")
        assert bool(state.by) == (state.word in ("superseded", "retracted"))
        live.fork_losers(graph, card_id, RULES, NOW)
        live.chain(graph, card_id)
        confirmed = live.confirmations(graph, card_id, NOW)
        assert len({facts.id for facts in confirmed}) == len(confirmed)


@given(ANY_GRAPH, st.randoms(use_true_random=False))
def test_the_answer_does_not_depend_on_the_order_cards_came_in(cards, source):
    shuffled = list(cards)
    source.shuffle(shuffled)
    for card_id in IDS:
        assert status(Cards(*cards), card_id, RULES, NOW) == status(Cards(*shuffled), card_id, RULES, NOW)
        assert live_ends(Cards(*cards), card_id, RULES, NOW) == live_ends(
            Cards(*shuffled), card_id, RULES, NOW
        )


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9)), min_size=2, max_size=5))
def test_a_fork_has_one_winner_and_every_other_end_knows_that_it_lost(ends):
    leaves = [
        one(f"b{i}", f"2026-11-0{day}T00:00:00Z", supersedes=["m"], strength=strength)
        for i, (strength, day) in enumerate(ends)
    ]
    graph = Cards(one("a"), one("m", supersedes=["a"]), *leaves)
    winner = live_ends(graph, "a", RULES, NOW)
    assert winner == live_ends(graph, "m", RULES, NOW)
    assert [leaf.id for leaf in leaves if not live.fork_losers(graph, leaf.id, RULES, NOW)] == winner


@pytest.mark.parametrize("kind", ["retracts", "supersedes", "corroborates"])
def test_a_thicket_of_edges_is_answered_at_once(kind):
    names = [f"n{i:02}" for i in range(40)]
    graph = Cards(*(one(name, l0="same", **{kind: names[:i]}) for i, name in enumerate(names)))
    for name in names:
        status(graph, name, RULES, NOW)
    live_ends(graph, names[0], RULES, NOW)
    live.confirmations(graph, names[-1], NOW)

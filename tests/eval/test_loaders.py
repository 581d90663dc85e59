"""Loaders on tiny files of the public shapes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from eval import config, datasets
from eval.data import language
from eval.world import opened

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def lines(path, *rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def locomo(tmp_path):
    conversation = {
        "speaker_a": "Ada", "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a kitten called Pixel."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a photo of a kitten", "img_url": []},
        ],
        "session_2_date_time": "9:00 am on 2 June, 2023",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I moved to Porto last week."}],
    }  # fmt: skip
    observation = {
        "session_1_observation": {
            "Ada": [["Ada adopted a kitten called Pixel.", "D1:1"]],
            "Bo": [["Bo likes kittens.", ["D1:1", "D1:2"]]],
        },
        "session_2_observation": {"Bo": [["Bo moved to Porto.", "D2:1"]]},
    }
    qa = [
        {"question": "What is Ada's kitten called?", "answer": "Pixel", "evidence": ["D1:1"], "category": 4},
        {"question": "Where does Bo live?", "answer": "Porto", "evidence": ["D2:1; D1:2"], "category": 1},
        {"question": "Nobody knows?", "adversarial_answer": "x", "evidence": ["D1:1"], "category": 5},
        {"question": "Said nowhere?", "answer": "x", "evidence": ["D9:9"], "category": 4},
    ]
    file = tmp_path / "locomo10.json"
    file.write_text(
        json.dumps(
            [{"sample_id": "conv-26", "conversation": conversation, "observation": observation, "qa": qa}]
        )
    )
    return file


def test_locomo_observations_are_cards_and_their_turns_lead_to_gold(locomo):
    found = datasets.load({"kind": "locomo", "name": "l", "path": locomo}, NOW)
    assert [card.conclusion for card in found.cards] == [
        "Ada adopted a kitten called Pixel.",
        "Bo likes kittens.",
        "Bo moved to Porto.",
    ]
    assert found.cards[0].date == "2023-05-08" and {card.scope for card in found.cards} == {"conversation-26"}
    first, second = found.probes
    assert set(first.gold) == {"conversation-26-1-Ada-0", "conversation-26-1-Bo-0"}
    assert set(second.gold) == {"conversation-26-2-Bo-0", "conversation-26-1-Bo-0"}
    assert (first.kind, second.kind, first.split) == ("single-hop", "multi-hop", "dev")
    assert found.notes == ("1 questions have evidence in no card and are left out",)


def test_locomo_turns_are_cards_with_speaker_day_and_picture(locomo):
    found = datasets.load({"kind": "locomo", "name": "l", "path": locomo, "by": "turns"}, NOW)
    assert found.cards[1].conclusion == "Bo (1:56 pm on 8 May, 2023): Lovely! [a photo of a kitten]"
    assert found.probes[0].gold == ("conversation-26-D1:1",)


def test_locomo_becomes_a_memory_that_answers(locomo, tmp_path):
    from eval import systems
    from eval.systems.base import Heard

    found = datasets.load({"kind": "locomo", "name": "l", "path": locomo}, NOW)
    with opened(found, tmp_path / "worlds", NOW) as worlds:
        answer = systems.make("bm25+scope").answer(found.probes[0], worlds.of(), Heard())
    assert answer.ranked[0].key == "conversation-26-1-Ada-0"


def test_longmemeval_turns_with_the_answer_are_gold_and_an_absent_answer_wants_silence(tmp_path):
    base = {
        "question_type": "single-session-user", "question": "Which bike did I buy?", "answer": "a Brompton", "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"], "haystack_session_ids": ["s1", "answer_1"], "answer_session_ids": ["answer_1"],
        "haystack_sessions": [
            [{"role": "user", "content": "Tell me about tea."}, {"role": "assistant", "content": "Tea is…"}],
            [{"role": "user", "content": "I bought a Brompton.", "has_answer": True}, {"role": "assistant", "content": "Nice."}, {"role": "user", "content": "Thanks."}],
        ],
    }  # fmt: skip
    file = tmp_path / "s.json"
    file.write_text(json.dumps([{**base, "question_id": "q1"}, {**base, "question_id": "q2_abs"}]))
    found = datasets.load({"kind": "longmemeval", "name": "s", "path": file}, NOW)
    first, absent = found.probes
    texts = {card.key: card.conclusion for card in found.cards}
    assert [texts[key] for key in first.gold] == ["I bought a Brompton."]
    assert absent.gold == () and absent.needs is False
    assert len(found.cards) == 6 and found.cards[0].date == "2023-05-20"


def test_decisions_give_a_probe_an_edge_and_its_chain_ends_are_gold(tmp_path):
    file = tmp_path / "decisions.json"
    records = [
        {"id": "D-1", "project": "sig/docs", "title": "Write manuals in troff", "text": "Old.", "status": "Superseded", "created": "2019-01-02", "superseded_by": ["D-2"]},
        {"id": "D-2", "project": "sig/docs", "title": "Write manuals in DocBook", "text": "Mid.", "status": "Superseded", "created": "2020-01-02", "superseded_by": ["D-3"]},
        {"id": "D-3", "project": "sig/docs", "title": "Write manuals in Markdown", "text": "New.", "status": "Final", "created": "2021-01-02", "superseded_by": []},
    ]  # fmt: skip
    file.write_text(json.dumps(records))
    found = datasets.load({"kind": "decisions", "name": "d", "path": file}, NOW)
    assert [one.text for one in found.probes] == ["Write manuals in troff", "Write manuals in DocBook"]
    assert {one.gold for one in found.probes} == {("sig-docs/D-3",)}
    assert found.probes[0].stale == ("sig-docs/D-1", "sig-docs/D-2")
    assert found.probes[0].project == "sig-docs"


def test_corrections_ask_in_the_old_words_for_the_new(tmp_path):
    rows = [
        {
            "kind": "supersede",
            "gist": "tabs -> spaces",
            "now": {"ts": "2026-03-02T10:00:00Z", "session": "s", "text": "use spaces instead"},
            "prev": {"text": "indent with tabs"},
        }
    ]
    found = datasets.load(
        {"kind": "corrections", "name": "c", "path": lines(tmp_path / "c.jsonl", *rows)}, NOW
    )
    old, new = found.cards
    assert new.supersedes == (old.key,)
    assert [(one.text, one.gold, one.stale) for one in found.probes] == [
        ("indent with tabs", (new.key,), (old.key,)),
        ("tabs", (new.key,), (old.key,)),
    ]


def test_a_stream_gives_each_turn_the_one_before_and_its_place(tmp_path):
    cards = lines(tmp_path / "cards.jsonl", {"key": "a", "conclusion": "A card about nothing"})
    prompts = lines(
        tmp_path / "p.jsonl",
        {"session": "s", "ts": "2026-03-04T10:01:00Z", "text": "second"},
        {"session": "s", "ts": "2026-03-04T10:00:00Z", "text": "first"},
    )
    found = datasets.load(
        {"name": "f", "cards": cards, "prompts": [{"path": prompts, "stream": True, "weekly": True}]}, NOW
    )
    assert [(one.text, one.previous, one.turn, one.snapshot) for one in found.probes] == [
        ("first", "", 0, "2026-03-02"),
        ("second", "first", 1, "2026-03-02"),
    ]


def test_a_weekly_snapshot_holds_nothing_of_its_own_week_or_later(tmp_path):
    cards = lines(
        tmp_path / "cards.jsonl",
        {"key": "before", "conclusion": "Boats are painted in spring", "date": "2026-03-01"},
        {"key": "same", "conclusion": "Boats are painted in autumn", "date": "2026-03-02"},
    )
    prompts = lines(
        tmp_path / "p.jsonl", {"session": "s", "ts": "2026-03-04T10:00:00Z", "text": "when are boats painted"}
    )
    found = datasets.load(
        {"name": "f", "cards": cards, "prompts": [{"path": prompts, "stream": True, "weekly": True}]}, NOW
    )
    with opened(found, tmp_path / "worlds", NOW) as worlds:
        world = worlds.of(found.probes[0].snapshot)
        assert [world.key(item.id) for item in world.all_items()] == ["before"]
        assert world.now.date().isoformat() == "2026-03-02"


def test_a_probe_that_names_an_unknown_card_is_refused(tmp_path):
    cards = lines(tmp_path / "cards.jsonl", {"key": "a", "conclusion": "A card"})
    probes = lines(tmp_path / "probes.jsonl", {"id": "1", "text": "what", "gold": ["b"]})
    with pytest.raises(ValueError, match="unknown card `b`"):
        datasets.load({"name": "f", "cards": cards, "path": probes}, NOW)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"key": "a", "conclusion": "x", "colour": 1}, "unknown key `colour`"),
        ({"key": "a"}, "needs `key` and `conclusion`"),
    ],
)
def test_a_card_of_another_shape_is_refused_with_its_line(tmp_path, row, message):
    with pytest.raises(ValueError, match=message):
        datasets.load({"name": "f", "cards": lines(tmp_path / "cards.jsonl", row)}, NOW)


def test_an_unknown_kind_or_option_is_refused_with_what_there_is(tmp_path):
    with pytest.raises(ValueError, match="kinds are corrections, decisions"):
        datasets.load({"kind": "poems"}, NOW)
    with pytest.raises(ValueError, match="no option `colour`; options are"):
        datasets.load({"kind": "locomo", "name": "l", "path": tmp_path, "colour": 1}, NOW)


def test_a_path_on_a_variable_that_is_not_set_is_unset_and_one_that_is_set_is_filled_in(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("SOME_SET", raising=False)
    with pytest.raises(config.Unset, match="SOME_SET is not set"):
        config.filled({"path": "${SOME_SET}"}, tmp_path)
    monkeypatch.setenv("SOME_SET", "/data/x.json")
    assert (
        str(config.filled({"prompts": [{"path": "${SOME_SET}"}]}, tmp_path)["prompts"][0]["path"])
        == "/data/x.json"
    )
    assert config.filled({"path": "cards.jsonl"}, tmp_path)["path"] == tmp_path / "cards.jsonl"


def test_languages_are_told_by_characters():
    assert [language(text) for text in ("run it", "再跑一遍", "把 list 换成 tuple", "用 uv 建环境")] == [
        "en",
        "zh",
        "mixed",
        "zh",
    ]


@pytest.mark.parametrize("name", ["own", "bilingual"])
def test_every_card_of_the_projects_own_sets_is_taken_in_and_every_gold_card_is_live(name, tmp_path):
    from tests.conftest import ROOT

    place = ROOT / "eval" / "fixtures" / name
    found = datasets.load({"name": name, "cards": place / "cards.jsonl", "path": place / "probes.jsonl"}, NOW)
    if name == "bilingual":
        assert (
            len(found.cards) >= 150
            and sum(bool(one.gold) for one in found.probes) >= 200
            and sum(one.needs is False for one in found.probes) >= 60
        )
    from eval.world import _imported, environment
    from gitmem.authoring import init

    made = init.init(environment(tmp_path / "room"), tmp_path / "room" / "memory", "main")
    keys, left_out = _imported(found, made.memory, NOW, 1, None)
    assert left_out == []
    assert set(keys.values()) == {card.key for card in found.cards}
    replaced = {key for card in found.cards for key in card.supersedes}
    assert not replaced & {key for one in found.probes for key in one.gold}

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.model import layers
from gitmem.model.card import Card
from gitmem.model.layers import cut, first_sentence, l0, l1, l2, shorten, split_sentences

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
MARKED = st.text(st.sampled_from("ab 1.!?。！？…”)」`#~\n-e.g中文"), max_size=200)
ANY = TEXT | MARKED


def card(body: str, conclusion: str | None = None) -> Card:
    return Card("k3v9x2m7qa", "web", "2026-10-03T09:12:44Z", "hermes", "fact", conclusion, body)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Use uv. Never pip.", "Use uv."),
        ("Use Python 3.11. Then go on.", "Use Python 3.11."),
        ("Use Python 3.11.2 or node.js here. Then go on.", "Use Python 3.11.2 or node.js here."),
        ("Use a tool, e.g. uv, for it. Then go on.", "Use a tool, e.g. uv, for it."),
        ("Use uv, i.e. the new tool. Then go on.", "Use uv, i.e. the new tool."),
        ("Ask Dr. Who. Then go on.", "Ask Dr. Who."),
        ("Is it done? Yes.", "Is it done?"),
        ("Stop!! Now.", "Stop!!"),
        ('He said "stop." Then he left.', 'He said "stop."'),
        ("He said “stop.” Then he left.", "He said “stop.”"),
        ("(Use uv.) Then go on.", "(Use uv.)"),
        ("用 uv 建环境。不要用 pip。", "用 uv 建环境。"),
        ("他说：“用 uv。”然后走了。", "他说：“用 uv。”"),
        ("真的吗？！是的。", "真的吗？！"),
        ("版本是3.11。别的不行。", "版本是3.11。"),
        ("Run `a. b` first. Then go on.", "Run `a. b` first."),
        ("1. Install uv. 2. Run it.", "1. Install uv."),
        ("No end here", "No end here"),
        ("Two\nlines are one sentence. More.", "Two lines are one sentence."),
        ("# Heading\n\nThe first sentence. More.", "The first sentence."),
        ("", ""),
        ("# Only a heading\n", ""),
    ],
)
def test_the_first_sentence_is_found_in_chinese_and_english(text, first):
    assert first_sentence(text) == first


@given(ANY)
def test_sentences_joined_are_the_text(text):
    assert "".join(split_sentences(text)) == text
    assert all(split_sentences(text)) or not text


def test_l0_is_the_conclusion_or_the_first_sentence():
    assert l0(card("Another thing. More.", "One thing")) == "One thing"
    assert l0(card("Another thing. More.")) == "Another thing."


def test_l1_stops_at_the_first_heading():
    assert l1(card("One.\nTwo.\n\n## Why\n\nThree.\n", "Zero")) == "One. Two."
    assert l1(card("## Why\n\nThree.\n## Then\nFour.\n", "Zero")) == "Three."
    assert l1(card("", "Zero")) == ""


def test_l1_does_not_repeat_l0():
    assert l1(card("Use uv. It is fast. \n")) == "It is fast."
    assert l1(card("Use uv. It is fast.", "Use uv")) == "It is fast."
    assert l1(card("USE ＵＶ! It is fast.", "use uv")) == "It is fast."
    assert l1(card("用 uv。很快。", "用uv")) == "很快。"
    assert l1(card("Use uv.", "Use uv")) == ""
    assert l1(card("Use uv always. It is fast.", "Use uv")) == "Use uv always. It is fast."


def test_a_hash_in_a_code_fence_is_no_heading():
    body = "Do this:\n\n```sh\n# install\nuv venv\n```\n\nThen stop.\n\n# Why\n\nBecause.\n"
    assert l1(card(body, "Zero")).endswith("Then stop.")
    assert l2(card(body)) == [body.partition("# Why")[0].strip(), "# Why\n\nBecause."]


def test_a_fence_ends_only_with_its_own_sign_and_length():
    body = "````\n```\n# a\n~~~\n````\n\n# Why\n"
    assert l2(card(body)) == ["````\n```\n# a\n~~~\n````", "# Why"]


def test_l1_is_cut_at_a_sentence_end_within_600_bytes():
    sentence = "This sentence has exactly forty bytes. "
    body = sentence * 30
    text = l1(card(body, "Zero"))
    assert len(text.encode()) <= layers.L1_BYTES
    assert text == (sentence * 15).strip()
    chinese = l1(card("这句话一共有十二个汉字吧。" * 40, "零"))
    assert len(chinese.encode()) <= layers.L1_BYTES
    assert len(chinese.encode()) > layers.L1_BYTES - 40
    assert chinese.endswith("。")


def test_l1_of_one_endless_sentence_is_empty():
    assert l1(card("word " * 200, "Zero")) == ""


@given(ANY, st.none() | ANY)
def test_l1_is_whole_words_of_the_body_within_its_bytes(body, conclusion):
    text = l1(card(body, conclusion))
    assert len(text.encode()) <= layers.L1_BYTES
    assert text in " ".join(body.split())


@given(ANY)
def test_l0_and_l1_of_a_hand_written_card_are_its_opening(body):
    one = card(body)
    assert " ".join(f"{l0(one)} {l1(one)}".split()).replace(" ", "") in "".join(body.split())


@given(st.lists(ANY, max_size=30).map("\n".join))
def test_l2_is_the_whole_body_in_order(body):
    chunks = l2(card(body))
    assert "".join("".join(chunks).split()) == "".join(body.split())
    assert all(chunk == chunk.strip() and chunk for chunk in chunks)


def test_a_long_section_is_cut_at_line_ends():
    body = "# A\n" + "".join(f"line {i} of this section\n" for i in range(200))
    chunks = l2(card(body))
    assert len(chunks) > 2
    assert all(len(chunk.encode()) <= layers.CHUNK_BYTES for chunk in chunks)
    assert all(chunk.endswith("section") for chunk in chunks)


@given(ANY, st.integers(0, 120))
def test_cut_keeps_whole_sentences_and_its_limit(text, limit):
    kept = cut(text, limit)
    assert len(kept.encode()) <= limit
    assert text.startswith(kept)


@given(ANY, st.integers(3, 120))
def test_shorten_keeps_its_limit_and_shows_that_it_cut(text, limit):
    kept = shorten(text, limit)
    assert len(kept.encode()) <= limit
    assert kept == text or kept.endswith("…")


@pytest.mark.parametrize("piece", ["e.g. ", "a. ", "`a. ", "A. ", "。", "1. ", "...", '."', "…"])
def test_a_body_made_to_be_slow_is_not(piece):
    body = piece * (60_000 // len(piece))
    before = time.process_time()
    one = card(body, "Zero")
    l1(one)
    first_sentence(body)
    assert time.process_time() - before < 5

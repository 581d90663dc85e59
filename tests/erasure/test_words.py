"""How words are found again: in other files, in one-line messages, in local files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitmem.erasure.words import GONE, Words
from gitmem.model import fold

TEXTS = st.text(st.sampled_from("ab 1中文“”\"'｢ｱﾞＡ　\u200b\n.,-"), min_size=1, max_size=40)


@given(TEXTS, TEXTS, TEXTS)
def test_a_telling_text_is_found_wherever_a_quote_of_it_would_hold(before, text, after):
    words = Words.of([text])
    for one in words.telling:
        if fold.find(one, before + one + after) is not None:
            assert words.stand_in(before + one + after)


def test_width_quotes_and_space_do_not_hide_it():
    words = Words.of(["the staging password is “hunter2”"])
    assert words.stand_in('so the  staging\npassword is "hunter2", he said')
    assert not words.stand_in("the staging password is another one")


def test_a_message_loses_the_line_from_where_a_cut_text_begins():
    words = Words.of(["Never commit the staging password hunter2 into the repository of the shop"])
    message = b"mem(pitfall): Never commit the staging password hunter2 into\n\nMem-Action: add\n"
    assert words.cleaned(message) == b"mem(pitfall): " + GONE.encode() + b"\n\nMem-Action: add\n"


def test_chinese_is_cut_at_whole_characters():
    words = Words.of(["预演环境的密码是一串很长的字符不要提交"])
    assert words.cleaned("mem: 预演环境的密码是一串…".encode()) == b"mem: " + GONE.encode()


def test_a_text_that_says_little_is_never_taken_out_of_files():
    words = Words.of(["yes, do it"])
    assert words.telling == ()
    assert words.taken_out(b"yes, do it") == b"yes, do it"


def test_marks_know_a_text_inside_json():
    import json

    words = Words.of(['say "the staging password" 中文 twice'])
    for ascii_only in (True, False):
        data = json.dumps({"x": words.texts[0]}, ensure_ascii=ascii_only).encode()
        assert any(mark in data for mark in words.marks())

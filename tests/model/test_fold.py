import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gitmem.model import fold
from gitmem.model.fold import find, long_enough, nearest, units

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
MIXED = st.text(
    st.sampled_from("aZé12²ａＺ１ \u3000\t\n\u200b\ufeff'\"‘“”「」『«‹中文ハバパﾊﾞﾟｶ。，ー…\u3099"), max_size=60
)
ANY = TEXT | MIXED


def same(a: str, b: str) -> bool:
    return fold.fold(a).text == fold.fold(b).text


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("use uv for each project", "please use uv for each project, always"),
        ("use uv\nfor   each\tproject", "use uv for each project"),
        ("use\u200b uv for\ufeff each", "use uv for each"),
        ("it's “isolated”", "it’s \"isolated\""),
        ("‘a’ ‚b‛ ‹c›", "'a' 'b' 'c'"),
        ("「独立」环境", "\"独立\"环境"),
        ("『独立』环境", "“独立”环境"),
        ("«isolé»", "\"isolé\""),
        ("每个项目用 uv 建环境", "每个项目用uv建环境"),
        ("每个项目用uv建环境", "每个 项目 用\u3000uv\n建环境"),
        ("ＵＶ　１２！", "UV 12!"),
        ("ﾊﾞｯｸｱｯﾌﾟ", "バックアップ"),
        ("バックアップ", "毎日ﾊﾞｯｸｱｯﾌﾟする"),
        ("ｶﾞｷﾞ､｡･｢ﾟ｣", "ガギ、。・「ﾟ」"),
    ],
)  # fmt: skip
def test_a_quote_is_found_whatever_its_width_quotation_marks_and_white_space(quote, text):
    span = find(quote, text)
    assert span is not None
    assert same(text[slice(*span)], quote)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("use 12 machines", "use 1² machines"),
        ("use 1² machines", "use 12 machines"),
        ("Use uv", "use uv"),
        ("use uv … project", "use uv for each project"),
        ("use uv ... project", "use uv for each project"),
        ("use uv for each", "use uv for  a  each"),
        ("useuv", "use uv"),
        ("use u v", "use uv"),
        ("ハック", "バック"),
        ("ﾊ", "ﾊﾞ"),
        ("office", "oﬃce"),
        ("cafe", "café"),
        ("café", unicodedata.normalize("NFD", "café")),
        ("干净", "乾淨"),
        ("it's", 'it"s'),
        ("《独立》", "「独立」"),
        ("", "anything"),
        (" \u200b", "any thing"),
    ],
)
def test_what_the_fold_does_not_pair_is_refused(quote, text):
    assert find(quote, text) is None


def test_the_span_is_that_of_the_original_words():
    text = "先说：「每个 项目  用ｕｖ」。再说别的。"
    start, end = find("每个项目用uv", text)
    assert text[start:end] == "每个 项目  用ｕｖ"
    text = "毎日ﾊﾞｯｸｱｯﾌﾟ。"
    start, end = find("バックアップ", text)
    assert text[start:end] == "ﾊﾞｯｸｱｯﾌﾟ"


@given(ANY, ANY, ANY)
def test_words_of_a_text_are_found_in_it_and_the_span_says_the_same_words(before, quote, after):
    # a voicing mark or a combining one would belong to the character before it
    assume(after.lstrip("\u200b\u200c\u200d\u2060\ufeff \t\n\u3000")[:1] not in ("ﾞ", "ﾟ"))
    assume(quote.lstrip("\u200b\u200c\u200d\u2060\ufeff \t\n\u3000")[:1] not in ("ﾞ", "ﾟ"))
    text = f"{before}|{quote}|{after}"
    quote = f"|{quote}|"
    span = find(quote, text)
    assert span is not None
    assert same(text[slice(*span)], quote)


@given(ANY, ANY)
def test_a_found_span_reproduces_the_words_under_the_fold(quote, text):
    span = find(quote, text)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(text)
        assert same(text[slice(*span)], quote)


@given(ANY)
def test_folding_twice_is_folding_once_and_places_are_in_order(text):
    folded = fold.fold(text)
    assert fold.fold(folded.text).text == folded.text
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert all(start < end for start, end in zip(folded.starts, folded.ends, strict=True))
    assert list(folded.starts) == sorted(folded.starts)
    assert list(folded.ends) == sorted(folded.ends)


@given(
    st.text(st.characters(categories=["L", "N"]) | st.sampled_from(" ,.。「"), min_size=1, max_size=60),
    st.data(),
)
def test_any_edit_of_one_letter_or_digit_is_refused(text, data):
    places = [i for i, char in enumerate(text) if char.isalnum()]
    assume(places)
    at = data.draw(st.sampled_from(places))
    other = data.draw(st.characters(categories=["L", "N"]))
    edited = text[:at] + other + text[at + 1 :]
    assume(not same(edited, text))
    if len(fold.fold(edited).text) >= len(fold.fold(text).text):
        assert find(edited, text) is None


@given(st.text(st.sampled_from("abcxyz019"), min_size=2, max_size=30), st.data())
def test_a_letter_left_out_in_the_middle_is_refused(letters, data):
    text = "".join(chr(0x4E00 + i) + letter for i, letter in enumerate(letters))
    at = 2 * data.draw(st.integers(0, len(letters) - 2)) + 1
    assert find(text[:at] + text[at + 1 :], text) is None


def test_a_quote_has_at_least_eight_units_unless_it_is_the_whole_turn():
    assert long_enough("八个单位", "他说八个单位就够")
    assert not long_enough("七个单", "他说七个单位就够")
    assert long_enough("abcd 1234", "say abcd 1234 now")
    assert not long_enough("abc, 1234", "say abc, 1234 now")
    assert long_enough("yes", " yes\n")
    assert not long_enough("yes", "yes.")


def test_units_count_cjk_twice_and_marks_not_at_all():
    assert units("uv 环境!") == 2 + 4
    assert units("「」、。…—") == 0
    assert units("二〇二六") == 8


@given(ANY)
def test_half_and_full_width_weigh_the_same(text):
    assert units(text) == units(fold.fold(text).text)


def test_the_nearest_passage_names_the_first_difference():
    found = nearest("训练集只能用于开发诊断", "这个测试集只能用于开发诊断，别拿来报数")
    assert (found.at, found.quote_char, found.text_char) == (1, "训", "测")
    assert found.near == "测试集只能用于开发诊断"
    assert nearest("zz", "完全不同") is None


@given(ANY, ANY)
def test_the_nearest_passage_stands_in_the_text(quote, text):
    found = nearest(quote, text)
    assert found is None or found.near in text

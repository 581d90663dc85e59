"""Recall must hold in a memory of 1, 3 and 10 cards, where frequencies say nothing."""

from __future__ import annotations

import pytest

from tests.recall.world import World, make, spec

CARDS = (
    spec("uv", "Use an isolated uv environment for each Python project", also=["每个 Python 项目用 uv 建独立环境"]),
    spec("pnpm", "Use pnpm here, never npm", scope="web", type="convention", also=["这个项目用 pnpm，不用 npm"]),
    spec("viridis", "论文图一律用 viridis 配色，不用 jet", also=["Paper figures use the viridis colour map, never jet"]),
    spec("migrations", "Run database migrations with `make db`, never by hand", scope="web", type="convention", also=["数据库迁移用 `make db` 跑"]),
    spec("parse", "`parse_table` drops rows with merged cells; call `fill_merged` first", scope="web", type="pitfall", also=["`parse_table` 会丢掉有合并单元格的行"]),
    spec("tokens", "登录令牌 15 分钟过期，用 /auth/refresh 续期", scope="web", type="fact", also=["The login token expires after 15 minutes"]),
    spec("coords", "Coordinates are WGS84 decimal degrees, latitude first", scope="web", type="convention", also=["坐标用 WGS84 十进制度，纬度在前"]),
    spec("commits", "Commit messages are in English, imperative", type="convention", also=["提交信息用英文祈使句"]),
    spec("vpn", "The VPN drops idle ssh after 10 minutes, so start long jobs in tmux", type="pitfall", also=["VPN 空闲 10 分钟断开 ssh，长任务放 tmux"]),
    spec("baseline", "Baseline macro F1 is 0.731 on the validation split", scope="web", type="result", also=["基线在验证集上宏平均 F1 为 0.731"]),
)  # fmt: skip

FITS = {
    "uv": (
        "Set up the Python environment for this project",
        "帮我配一下这个项目的 Python 环境",
        "create an isolated environment for the python project",
    ),
    "pnpm": ("install the packages with npm", "用 npm 装一下依赖还是 pnpm", "should I use pnpm or npm here"),
    "viridis": ("which colour map do the paper figures use", "论文图用什么配色"),
    "migrations": ("run the database migrations", "跑一下数据库迁移"),
    "parse": ("parse_table loses rows with merged cells", "parseTable 丢了合并单元格的行"),
    "tokens": ("when does the login token expire", "登录令牌多久过期"),
    "coords": ("are the coordinates latitude first", "坐标是纬度在前吗"),
    "commits": ("write the commit message in which language", "提交信息用什么语言写"),
}
UNFIT = (
    "fix the typo in the heading", "Rename handle_click and update its callers", "why does this test fail", "write a haiku about autumn", "thanks, that works",
    "make the button blue", "what is the capital of Portugal", "sort the list in descending order", "继续", "把这个函数拆成两个", "谢谢", "帮我写一首关于秋天的诗", "这个报错是什么意思",
    "把按钮改成蓝色", "葡萄牙的首都是哪里", "run it again", "解释一下这段代码", "add a docstring to main",
)  # fmt: skip


@pytest.fixture(scope="module")
def memories(tmp_path_factory, _memory_template) -> dict[object, World]:
    """One memory with all ten, one with the first three, one for each card alone."""
    place = tmp_path_factory.mktemp("small")
    groups: dict[object, tuple] = {10: CARDS, 3: CARDS[:3], **{one.name: (one,) for one in CARDS[:4]}}
    return {
        key: make(place / str(key), _memory_template, cards, {"web": {}}).built()
        for key, cards in groups.items()
    }


@pytest.mark.parametrize("name", FITS)
def test_among_ten_cards_the_one_that_fits_is_said_first(memories, name):
    for prompt in FITS[name]:
        assert memories[10].said(prompt, "full", "web")[:1] == [name], prompt


@pytest.mark.parametrize("name", ["uv", "pnpm", "viridis"])
def test_among_three_cards_the_one_that_fits_is_said_and_no_other(memories, name):
    for prompt in FITS[name]:
        assert memories[3].said(prompt, "full", "web") == [name], prompt


@pytest.mark.parametrize("name", ["uv", "pnpm", "viridis", "migrations"])
def test_a_single_card_is_said_where_it_fits(memories, name):
    for prompt in FITS[name]:
        assert memories[name].said(prompt, "full", "web") == [name], prompt


@pytest.mark.parametrize("size", [10, 3, "uv", "pnpm", "viridis", "migrations"])
@pytest.mark.parametrize("profile", ["full", "working"])
def test_a_small_memory_is_silent_on_what_it_knows_nothing_of(memories, size, profile):
    said = {prompt: said for prompt in UNFIT if (said := memories[size].said(prompt, profile, "web"))}
    assert said == {}


@pytest.mark.parametrize("size", [3, "uv", "pnpm", "viridis"])
def test_a_small_memory_is_silent_on_what_only_its_absent_cards_would_answer(memories, size):
    asked = [prompt for name in ("parse", "tokens", "coords", "migrations") for prompt in FITS[name]]
    said = {prompt: said for prompt in asked if (said := memories[size].said(prompt, "full", "web"))}
    assert len(said) <= 1, said


def test_a_small_memory_finds_by_words_alone_too(memories):
    assert memories[3].said(
        "Set up the isolated Python environment with uv", "full", "web", lexical=True
    ) == ["uv"]
    assert memories["uv"].said("isolated uv environment for the Python project", "full", lexical=True) == [
        "uv"
    ]
    assert memories["uv"].said("write a haiku about autumn", "full", lexical=True) == []


def test_an_empty_memory_says_nothing(make):
    found = make().built().ask("Set up the Python environment")
    assert found.text == "" and found.status == "nothing"

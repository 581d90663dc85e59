"""The whole way with the real SDK: a server on loopback reads, and the memory grows as with any other reader."""

from __future__ import annotations

import json

import pytest

from gitmem.learn import order
from gitmem.learn.order import Order
from tests.learn.reader import Fact, Reader
from tests.learn.told import Claude, Codex
from tests.learn.ways.loopback import Loopback, message

pytest.importorskip("anthropic")
from gitmem.learn.ways.anthropic_api import AnthropicWay

AMBER, TEAL = "未验证的条目标成琥珀色", "还是换成青色吧"
FACTS = (Fact(AMBER, "未验证的条目标成琥珀色"), Fact(TEAL, "未验证的条目标成青色", replaces="琥珀色"))


@pytest.fixture
def api():
    servers = []

    def start(*facts: Fact) -> AnthropicWay:
        reader = Reader(*facts)

        def answer(body):  # type: ignore[no-untyped-def]
            asked = body["messages"][0]["content"]
            distil = "facts" in body["output_config"]["format"]["schema"]["properties"]
            one = Order("x", order.DISTIL if distil else order.REVIEW, "", "", asked, "")
            return 200, message(json.dumps(reader.answer(one), ensure_ascii=False))

        servers.append(Loopback(answer))
        return AnthropicWay(servers[-1].variables, "claude-sonnet-5-5", 5.0, retries=0)

    yield start
    for server in servers:
        server.close()


def test_a_whole_session_and_one_that_grows(api, learned, written, shop, home, run, sound):
    told = Claude().talk("列一下导出页", AMBER, "跑一下测试")
    told.put(home)
    result = learned(api(*FACTS))
    assert (result.calls, [step.action for step in result.steps]) == (2, ["promote"])
    assert result.usd and result.tokens == 300
    told.talk(TEAL).put(home)
    assert [step.action for step in learned(api(*FACTS)).steps] == ["supersede"]
    assert written()["未验证的条目标成青色"].supersedes == (written()["未验证的条目标成琥珀色"].id,)
    story = run("show", written()["未验证的条目标成青色"].id).out
    assert AMBER in story and TEAL in story
    Codex(start=5000).talk("One", "请把未验证的都标成青色", "Three").put(home)
    again = Fact("请把未验证的都标成青色", "未验证的标青色", says_again="青色")
    assert [step.action for step in learned(api(again)).steps] == ["merge"]
    assert learned(api(again)).calls == 0
    sound()


def test_an_overload_leaves_the_session_for_later_and_costs_nothing(learned, written, shop, home):
    Claude().talk("One", TEAL, "Three").put(home)
    server = Loopback((529, {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}))
    try:
        result = learned(AnthropicWay(server.variables, "claude-sonnet-5-5", 5.0, retries=0))
    finally:
        server.close()
    assert (result.calls, written()) == (0, {})
    assert "529" in next(iter(result.later))

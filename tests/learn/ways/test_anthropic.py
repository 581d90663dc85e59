"""The real SDK against a server on loopback: what is asked, and what each kind of answer means."""

from __future__ import annotations

import json
import socket

import pytest

from gitmem.errors import Refused
from gitmem.learn import marker, order
from gitmem.learn.ways import Declined, Spent, Unreachable, prices
from tests.learn.ways.loopback import KEY, Loopback, error, message

pytest.importorskip("anthropic")
from gitmem.learn.ways.anthropic_api import AnthropicWay

EMPTY = json.dumps({"facts": [], "forget": []})
ORDER = order.make(
    order.DISTIL, "shop", "BEGIN conversation x\n## 1 user\n  hello\nEND conversation x", "a session"
)


@pytest.fixture
def loopback():
    servers = []

    def start(*script):
        servers.append(Loopback(*script))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def way(server, cap=1.0, **options) -> AnthropicWay:
    return AnthropicWay(
        server.variables, "claude-sonnet-5-5", cap, **{"retries": 2, "timeout_s": 5.0, **options}
    )


def test_an_order_goes_out_with_its_mark_its_schema_and_cached_instructions(loopback):
    server = loopback((200, message(EMPTY)))
    assert way(server).ask(ORDER).text == EMPTY
    asked = server.requests[0]
    assert asked["system"] == [{"type": "text", "text": ORDER.system, "cache_control": {"type": "ephemeral"}}]
    assert asked["messages"] == [{"role": "user", "content": ORDER.content}]
    assert marker.LEARNER_MARK in asked["messages"][0]["content"]
    assert asked["output_config"]["format"] == {
        "type": "json_schema",
        "schema": order.answer_schema(order.DISTIL),
    }
    assert any(KEY in value for value in server.headers[0].values())


def test_what_it_cost_is_counted_cache_included(loopback):
    usage = {
        "input_tokens": 1000,
        "output_tokens": 500,
        "cache_creation_input_tokens": 2000,
        "cache_read_input_tokens": 4000,
    }
    reply = way(loopback((200, message(EMPTY, **usage)))).ask(ORDER)
    assert reply.tokens == 7500
    assert reply.usd == pytest.approx((1000 * 2 + 500 * 10 + 2000 * 2.5 + 4000 * 0.1) / 1e6)


@pytest.mark.parametrize("status", [429, 500, 529])
def test_what_passes_is_tried_again(loopback, status):
    server = loopback(
        (status, error("overloaded_error")), (status, error("overloaded_error")), (200, message(EMPTY))
    )
    assert way(server).ask(ORDER).text == EMPTY
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_what_does_not_pass_leaves_the_order_for_later(loopback, status):
    server = loopback((status, error("overloaded_error")))
    with pytest.raises(Unreachable, match=str(status)):
        way(server).ask(ORDER)
    assert len(server.requests) == 3


def test_silence_and_a_closed_door_leave_the_order_for_later(loopback):
    with pytest.raises(Unreachable, match="in time"):
        way(loopback(3.0), timeout_s=0.2, retries=0).ask(ORDER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    closed = AnthropicWay(
        {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"},
        "claude-sonnet-5-5",
        1.0,
        retries=0,
    )
    with pytest.raises(Unreachable, match="reached"):
        closed.ask(ORDER)


def test_an_answer_that_is_no_http_body_of_theirs_leaves_the_order_for_later(loopback):
    with pytest.raises(Unreachable):
        way(loopback((200, b"<html>")), retries=0).ask(ORDER)


@pytest.mark.parametrize("stop", ["refusal", "max_tokens", "model_context_window_exceeded"])
def test_a_refusal_and_a_broken_answer_are_no_answer(loopback, stop):
    with pytest.raises(Declined):
        way(loopback((200, message('{"facts": [', stop)))).ask(ORDER)


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, "authentication_error", "key"),
        (403, "permission_error", "key"),
        (404, "not_found_error", "no model"),
        (400, "invalid_request_error", "HTTP 400"),
    ],
)
def test_what_only_a_person_can_mend_says_so_and_never_shows_the_key(loopback, status, kind, words):
    server = loopback((status, error(kind, "your credit is too low")))
    with pytest.raises(Refused, match=words) as caught:
        way(server).ask(ORDER)
    assert len(server.requests) == 1
    assert caught.value.hints
    assert KEY not in repr(caught.value) + str(caught.value.__dict__)


def test_the_cap_is_never_passed(loopback):
    server = loopback((200, message(EMPTY, output_tokens=8000, input_tokens=100)))
    reader = way(server, cap=0.2)
    asked = 0
    with pytest.raises(Spent, match="cap"):
        while asked < 50:
            reader.ask(ORDER)
            asked += 1
    assert asked > 0 and reader.spent <= 0.2
    assert len(server.requests) == asked


def test_an_unknown_model_counts_as_the_dearest():
    assert prices.of("claude-next-9") is prices.DEAREST
    assert prices.of("claude-haiku-5-5-20261001").input == 0.10
    assert prices.of("claude-sonnet-4-6").input == 3.0


def test_the_estimate_of_tokens_is_on_the_safe_side_for_chinese():
    assert prices.tokens("未验证的条目标成青色") >= 10
    assert prices.tokens("a" * 300) >= 75

"""Who reads: a command that was configured, else Anthropic's API where there is a key, else nobody."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.context import Context
from gitmem.errors import Usage
from gitmem.learn.order import Order
from gitmem.learn.ways import Way, anthropic_api, command, prices

DEFAULT_USD = 1.0
# Above this no registry and no option lifts a run.
CEILING_USD = 20.0


def choose(context: Context, max_usd: float | None = None) -> Way | None:
    """The way to a model; None when nobody would read. The memory's own files never name a command.

    Raises:
        Refused: what is configured cannot be used.
    """
    if line := context.memory.setting("mem.learncommand"):
        return command.CommandWay(line, context.env.vars, _timeout(context))
    if anthropic_api.has_key(context.env.vars) and anthropic_api.installed():
        return anthropic_api.AnthropicWay(context.env.vars, model(context), cap(context, max_usd))
    return None


def model(context: Context) -> str:
    return (
        context.memory.setting("mem.learnmodel")
        or context.registry.memory.learn.get("model")
        or anthropic_api.MODEL
    )


def cap(context: Context, max_usd: float | None = None) -> float:
    """The most that a run may cost, in USD: an option only lowers what the memory says."""
    own = float(context.registry.memory.learn.get("max_usd", DEFAULT_USD))
    return min(CEILING_USD, own if max_usd is None else min(own, max_usd))


def _timeout(context: Context) -> float:
    text = context.memory.setting("mem.learntimeout")
    try:
        return min(3600.0, max(1.0, float(text))) if text else command.TIMEOUT_S
    except ValueError:
        raise Usage(f"`mem.learnTimeout` is `{text}`, no number of seconds") from None


def describe(context: Context) -> str | None:
    """Who would read, in words for a person; None when nobody would."""
    if line := context.memory.setting("mem.learncommand"):
        return f"`{line}` reads, on your account there"
    if anthropic_api.has_key(context.env.vars) and anthropic_api.installed():
        return f"{model(context)} reads through Anthropic's API, for at most {cap(context):.2f} USD a run"
    return None


def hints() -> list[str]:
    """How somebody comes to read."""
    return [
        "git config --global mem.learnCommand 'claude -p'   an agent that you have reads",
        'set ANTHROPIC_API_KEY, and pip install "git-mem[anthropic]"',
        "git mem learn --delegate DIR   whoever you like reads, and git mem learn --answer DIR takes it in",
    ]


def estimate(context: Context, orders: Sequence[Order]) -> float | None:
    """About what orders will cost in USD, those of review that follow included; None where nobody can tell."""
    if context.memory.setting("mem.learncommand") or not anthropic_api.has_key(context.env.vars):
        return None
    price = prices.of(model(context))
    total = 0.0
    for order in orders:
        asked = prices.tokens(order.content)
        total += (
            asked * price.input
            + prices.tokens(order.system) * price.read
            + anthropic_api.USUAL_TOKENS * price.output
        ) / 1e6
    # about every third conversation gives facts, and those are asked about once more
    return total * 1.3

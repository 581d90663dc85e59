"""Anthropic's API through its SDK: structured output, the instructions in the prompt cache, bounded retries, a spend cap.

The SDK takes most of a second to import and is an extra: `pip install "git-mem[anthropic]"`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

from gitmem.errors import Refused
from gitmem.learn.order import Order
from gitmem.learn.ways import Declined, Late, Reply, Spent, Unreachable, prices

MODEL = "claude-sonnet-5-5"
MAX_TOKENS = 8_000
# The answer's usual length, for estimates: most are nearly empty, some think before.
USUAL_TOKENS = 600
TIMEOUT_S = 120.0
RETRIES = 2
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def installed() -> bool:
    return importlib.util.find_spec("anthropic") is not None


def has_key(variables: Mapping[str, str]) -> bool:
    return any(variables.get(name) for name in KEYS)


class AnthropicWay:
    """One client for a run.

    Args:
        variables: where the key and, if it is not the usual one, the address are.
        max_usd: nothing is asked that could bring the run's cost above it.
        retries, timeout_s: of one order.
    """

    def __init__(
        self,
        variables: Mapping[str, str],
        model: str,
        max_usd: float,
        *,
        retries: int = RETRIES,
        timeout_s: float = TIMEOUT_S,
    ):
        import anthropic

        self._sdk = anthropic
        self.name = model
        self.max_usd = max_usd
        self.spent = 0.0
        self._price = prices.of(model)
        self._client = anthropic.Anthropic(
            api_key=variables.get("ANTHROPIC_API_KEY") or None,
            auth_token=variables.get("ANTHROPIC_AUTH_TOKEN") or None,
            base_url=variables.get("ANTHROPIC_BASE_URL") or None,
            max_retries=retries,
            timeout=timeout_s,
        )

    def estimate(self, order: Order) -> float:
        """What an order costs at most, in USD."""
        asked = prices.tokens(order.system) + prices.tokens(order.content) + 500
        return (asked * self._price.write + MAX_TOKENS * self._price.output) / 1e6

    def ask(self, order: Order) -> Reply:
        if self.spent + self.estimate(order) > self.max_usd:
            raise Spent(f"another order could pass the cap of {self.max_usd:.2f} USD")
        sdk = self._sdk
        try:
            message = self._client.messages.create(
                model=self.name,
                max_tokens=MAX_TOKENS,
                system=[{"type": "text", "text": order.system, "cache_control": {"type": "ephemeral"}}],
                messages=[{"role": "user", "content": order.content}],
                output_config={"format": {"type": "json_schema", "schema": order.schema}},
            )
        except (sdk.AuthenticationError, sdk.PermissionDeniedError) as error:
            raise Refused(
                f"Anthropic's API does not take the key (HTTP {error.status_code})",
                [
                    "set ANTHROPIC_API_KEY to a key that is valid",
                    "git config --global mem.learnCommand 'claude -p'",
                ],
            ) from None
        except sdk.NotFoundError:
            raise Refused(
                f"Anthropic's API knows no model `{self.name}`", ["git config --global mem.learnModel MODEL"]
            ) from None
        except (
            sdk.BadRequestError,
            sdk.PaymentRequiredError,
            sdk.ContentTooLargeError,
            sdk.UnprocessableEntityError,
        ) as error:
            raise Refused(
                f"Anthropic's API refuses the request (HTTP {error.status_code}): {_said(error)}",
                ["git config --global mem.learnModel MODEL names another model"],
            ) from None
        except sdk.APITimeoutError:
            raise Late("no answer in time") from None
        except sdk.APIConnectionError:
            raise Unreachable("Anthropic's API cannot be reached") from None
        except sdk.APIStatusError as error:
            raise Unreachable(f"Anthropic's API is not available (HTTP {error.status_code})") from None
        except (sdk.AnthropicError, ValueError) as error:
            raise Unreachable(f"the answer could not be read ({type(error).__name__})") from None
        return self._reply(message)

    def _reply(self, message: Any) -> Reply:
        usage = message.usage
        written = getattr(usage, "cache_creation_input_tokens", None) or 0
        read = getattr(usage, "cache_read_input_tokens", None) or 0
        price = self._price
        usd = (
            usage.input_tokens * price.input
            + written * price.write
            + read * price.read
            + usage.output_tokens * price.output
        ) / 1e6
        self.spent += usd
        if message.stop_reason == "refusal":
            raise Declined("the model would not answer")
        if message.stop_reason in ("max_tokens", "model_context_window_exceeded"):
            raise Declined("the answer broke off")
        text = "".join(block.text for block in message.content if block.type == "text")
        return Reply(text, usage.input_tokens + written + read + usage.output_tokens, usd)


def _said(error: Any) -> str:
    """The API's own words, which hold nothing of ours."""
    body = error.body if isinstance(error.body, dict) else {}
    found = body.get("error")
    words = found.get("message", "") if isinstance(found, dict) else ""
    return " ".join(str(words).split())[:160] or "no reason given"

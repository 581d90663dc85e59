"""From the text of an answer to its JSON object, or the reason why there is none."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_CHARS = 1_000_000
MAX_DEPTH = 12
_FENCE = re.compile(r"^```[a-zA-Z]*[ \t]*\n(.*?)\n?^```[ \t]*$", re.M | re.S)


def parse(text: str) -> dict[str, Any]:
    """The one JSON object of an answer: the whole of it, or what stands in its one fenced block.

    Words around a fence are borne; anything else beside the object is not, for nobody can tell then which part was meant.

    Raises:
        ValueError: prose, half an object, several, a key twice, or far too much; the message says which.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"more than {MAX_CHARS} characters")
    body = text.strip().lstrip("\ufeff")
    if not body:
        raise ValueError("it is empty")
    if not body.startswith("{"):
        blocks = _FENCE.findall(body)
        if len(blocks) != 1:
            raise ValueError("several fenced blocks" if blocks else "no JSON object")
        body = blocks[0].strip()
    if _depth(body) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    try:
        value = json.loads(body, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(
            "half a JSON object" if error.pos >= len(body) - 1 else f"no JSON: {error.msg}"
        ) from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"`{name}` is no JSON")


def _depth(text: str) -> int:
    """How deeply brackets nest outside strings, without parsing."""
    depth = deepest = 0
    inside = escaped = False
    for char in text:
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest

"""From the text of an answer to its JSON object, or the reason why there is none."""

from __future__ import annotations

import json
from typing import Any

MAX_CHARS = 1_000_000
MAX_DEPTH = 12


def parse(text: str) -> dict[str, Any]:
    """The one JSON object of an answer. Words around it, and a fence, are borne; a second object or a piece of one is not, for
    nobody can tell then which was meant.

    Raises:
        ValueError: prose, half an object, several, a key twice, or far too much; the message says which.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"more than {MAX_CHARS} characters")
    if not text.strip():
        raise ValueError("it is empty")
    start = text.find("{")
    if start < 0 or text.lstrip().startswith("["):
        raise ValueError("no JSON object")
    body = text[start:]
    if _depth(body) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    try:
        value, end = _DECODER.raw_decode(body)
    except json.JSONDecodeError as error:
        raise ValueError(
            "half a JSON object" if error.pos >= len(body.rstrip()) - 1 else f"no JSON: {error.msg}"
        ) from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if "{" in body[end:] or "}" in body[end:]:
        raise ValueError("more than one JSON object")
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


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)

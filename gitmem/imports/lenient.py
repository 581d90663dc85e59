"""Frontmatter that other programs wrote: read what can be read, never fail. Text in, text out.

YAML where it is YAML; where it is not, and for values that YAML would cut at ` #`, the first colon of a line
divides key from value.
"""

from __future__ import annotations

import re

from gitmem.errors import FormatError
from gitmem.model import frontmatter

_KEY = re.compile(r"([ \t]*)([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")


def split(text: str) -> tuple[dict[str, object], str]:
    """`(meta, body)`; an empty mapping and the whole text where there is no frontmatter."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found = _fenced(text)
    if found is None:
        return {}, text
    head, body = found
    rough = by_first_colon(head)
    try:
        meta, _ = frontmatter.parse_yaml("\n".join(head))
    except FormatError:
        meta = rough
    if not isinstance(meta, dict):
        meta = rough
    for key, value in rough.items():
        if (
            isinstance(value, str)
            and " #" in value
            and isinstance(meta.get(key), str)
            and value.startswith(str(meta[key]))
        ):
            meta[key] = value
    return meta, body


def _fenced(text: str) -> tuple[list[str], str] | None:
    """The lines between the fences and the text below them, as python-frontmatter parts them; None without fences."""
    from frontmatter import YAMLHandler

    handler = YAMLHandler()
    if not handler.detect(text) or text.split("\n", 1)[0].rstrip() != "---":
        return None
    lines = text.split("\n")
    ended = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if ended is None:
        return None
    if lines[ended].rstrip() == "...":
        # YAML's own end mark, which the library does not know
        return lines[1:ended], "\n".join(lines[ended + 1 :])
    head, body = handler.split(text)
    return head.strip("\n").split("\n"), body.removeprefix("\n")


def by_first_colon(lines: list[str]) -> dict[str, object]:
    """Keys and values by the first colon; indented keys belong to the key above them, other lines go on a value."""
    out: dict[str, object] = {}
    inner: dict[str, object] | None = None
    last: tuple[dict[str, object], str] | None = None
    for line in lines:
        match = _KEY.match(line)
        if match and match[1] and inner is not None:
            inner[match[2]] = _bare(match[3] or "")
            last = (inner, match[2])
        elif match and not match[1]:
            value = _bare(match[3] or "")
            inner = None
            if value:
                out.setdefault(match[2], value)
            else:
                inner = {}
                out.setdefault(match[2], inner)
            last = (out, match[2])
        elif last is not None and line.strip():
            holder, key = last
            if isinstance(holder[key], str):
                holder[key] = f"{holder[key]} {line.strip()}".strip()
            elif line.lstrip().startswith("- "):
                holder[key] = [_bare(line.lstrip()[2:])]
            elif holder[key] == {}:
                holder[key] = line.strip()
        if last is not None and isinstance(last[0].get(last[1]), list) and line.lstrip().startswith("- "):
            items = last[0][last[1]]
            item = _bare(line.lstrip()[2:])
            if isinstance(items, list) and item not in items:
                items.append(item)
    return {key: "" if value == {} else value for key, value in out.items()}


def text_of(meta: dict[str, object], *keys: str) -> str:
    """The first of `keys` that holds text."""
    for key in keys:
        value = meta.get(key)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())
    return ""


def list_of(meta: dict[str, object], key: str) -> list[str]:
    value = meta.get(key)
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return [str(item) for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _bare(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return "" if value in ("|", ">", "|-", ">-") else value

"""Merge two versions of a registry file by entry, leaving every line of ours that did not change as it is.

Pure: texts in, a text out. A new entry never conflicts; one that both sides changed is merged field by field, lists by
what each side added and took out.
"""

from __future__ import annotations

from typing import Any

from gitmem.authoring import registry_edit
from gitmem.model import frontmatter

_GONE = object()


class Conflict(Exception):
    """Both sides changed the same thing, each to something else. `where`: entry and field."""

    def __init__(self, where: str):
        super().__init__(where)
        self.where = where


def merge(base: str, ours: str, theirs: str) -> str:
    """Our text with what they changed since `base`.

    Raises:
        Conflict: both changed one value, each to something else.
        FormatError: one of them is no YAML.
    """
    old, own, other = (_entries(text) for text in (base, ours, theirs))
    text = ours
    for name in dict.fromkeys([*own, *other]):
        before, mine, yours = (side.get(name, _GONE) for side in (old, own, other))
        if yours in (before, mine):
            continue
        merged = yours if mine == before else _merged(name, before, mine, yours)
        if merged is _GONE:
            text = registry_edit.drop(text, name)
        elif merged != mine:
            text = _put(text, name, merged)
    return text


def _entries(text: str) -> dict[str, Any]:
    value, _ = frontmatter.parse_yaml(text)
    return value if isinstance(value, dict) else {}


def _merged(where: str, before: Any, mine: Any, yours: Any) -> Any:
    """Three versions of one value as one; a tombstone list only grows."""
    if mine == yours or yours == before:
        return mine
    if mine == before:
        return yours
    if _GONE in (mine, yours):
        raise Conflict(where)
    if isinstance(mine, dict) and isinstance(yours, dict):
        old = before if isinstance(before, dict) else {}
        found = {}
        for key in dict.fromkeys([*mine, *yours]):
            value = _merged(
                f"{where}.{key}", old.get(key, _GONE), mine.get(key, _GONE), yours.get(key, _GONE)
            )
            if value is not _GONE:
                found[key] = value
        return found
    if isinstance(mine, list) and isinstance(yours, list):
        return _lists(before if isinstance(before, list) else [], mine, yours)
    if where.endswith(".token_sha256"):
        # each device wrote a token for the same agent: one of them holds, the same one on both
        return min(mine, yours)
    raise Conflict(where)


def _lists(before: list[Any], mine: list[Any], yours: list[Any]) -> list[Any]:
    """What either side added stays, what either side took out is gone."""
    kept = [one for one in mine if one in yours or one not in before]
    return kept + [one for one in yours if one not in mine and one not in before]


def _put(text: str, name: str, value: Any) -> str:
    """An entry of fields, or a plain value at the top of the file."""
    if isinstance(value, dict):
        return registry_edit.put(text, name, value)
    block = "\n".join(frontmatter.dump_yaml([(name, value)])) + "\n"
    rest = registry_edit.drop(text, name)
    return (rest if rest.endswith("\n") or not rest else rest + "\n") + block


def changes(before: str, after: str) -> list[str]:
    """Which entries differ between two versions: `codex added`, `web: status archived`."""
    old, new = _entries(before), _entries(after)
    found = []
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name, _GONE), new.get(name, _GONE)
        if was == now:
            continue
        if was is _GONE:
            found.append(f"{name} added")
        elif now is _GONE:
            found.append(f"{name} gone")
        elif isinstance(was, dict) and isinstance(now, dict):
            fields = [key for key in dict.fromkeys([*was, *now]) if was.get(key) != now.get(key)]
            found.append(f"{name}: " + ", ".join(f"{key} {_short(now.get(key))}" for key in fields))
        else:
            found.append(f"{name} changed")
    return found


def _short(value: Any) -> str:
    if value is None:
        return "gone"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)[:40]

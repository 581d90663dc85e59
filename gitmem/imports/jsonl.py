"""Cards as JSON lines, written by a program: `{"conclusion": …, "type": …, "scope": …, "also": [], "body": …}`.

`id` makes a line the same memory when it comes again with other words. `evidence` is the words it stands on: text, or a
list of texts or of objects with `quote`. A key that is not known is an error, so that no misspelt one is lost.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import replace
from typing import Any

from gitmem.errors import FormatError
from gitmem.imports.entry import Entry, Reading, make, one_line, quote_of, says_something, short_digest

KEYS = ("conclusion", "type", "scope", "also", "body", "evidence", "valid_from", "expires", "id")
_EVIDENCE_KEYS = frozenset({"quote", "source", "turn", "role", "reported_by"})


def read(data: bytes, name: str = "the file") -> Reading:
    """Entries of the lines.

    Raises:
        FormatError: naming the line that is not of this form.
    """
    entries: list[Entry] = []
    seen: set[str] = set()
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw)
        except ValueError as error:
            raise FormatError(
                f"`{name}`:{number} is no JSON: {getattr(error, 'msg', error)}", number
            ) from error
        entry = _entry(value, name, number)
        if entry.key in seen:
            raise FormatError(
                f"`{name}`:{number} says what an earlier line says",
                number,
                ["give each line an `id` of its own, or drop one"],
            )
        seen.add(entry.key)
        entries.append(entry)
    return Reading(tuple(entries))


def _entry(value: Any, name: str, number: int) -> Entry:
    def wrong(message: str, *hints: str) -> FormatError:
        return FormatError(f"`{name}`:{number} {message}", number, list(hints))

    if not isinstance(value, dict):
        raise wrong("is no object", 'one card a line: {"conclusion": "…", "type": "fact"}')
    for key in value:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, 1)
            raise wrong(
                f"has the unknown key `{key}`",
                f"did you mean `{near[0]}`?" if near else f"keys are {', '.join(KEYS)}",
            )
    texts = {}
    for key in ("conclusion", "type", "scope", "body", "valid_from", "expires", "id"):
        found = value.get(key)
        if found is not None and not isinstance(found, str):
            raise wrong(f"has a `{key}` that is no text")
        texts[key] = (found or "").strip()
    if not says_something(texts["conclusion"]):
        raise wrong("has no `conclusion`")
    also = _texts(value.get("also"))
    quotes = _quotes(value.get("evidence"))
    if also is None or quotes is None:
        raise wrong(
            f"has a `{'also' if also is None else 'evidence'}` that is neither text nor a list of texts"
        )
    said = one_line(texts["conclusion"])
    document = "\n\n".join(dict.fromkeys(filter(None, [*quotes, said, texts["body"]])))
    entry = make(
        texts["id"] or short_digest(f"{texts['type']}\0{said}"),
        document,
        conclusion=said,
        body=texts["body"],
        type=texts["type"] or "fact",
        scope=texts["scope"] or None,
        also=tuple(one_line(one) for one in also if one.strip()),
        valid_from=texts["valid_from"] or None,
        expires=texts["expires"] or None,
    )
    return replace(entry, quote=quote_of(entry.document_text, quotes[0])) if quotes else entry


def _texts(value: Any) -> list[str] | None:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    return list(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def _quotes(value: Any) -> list[str] | None:
    """The words of `evidence`; sources it names lie in another memory and are not followed."""
    if not isinstance(value, list):
        return _texts([value["quote"]] if isinstance(value, dict) and "quote" in value else value)
    found = []
    for item in value:
        if isinstance(item, dict) and set(item) <= _EVIDENCE_KEYS:
            item = item.get("quote")
        if not isinstance(item, str):
            return None
        found.append(item.strip())
    return found

"""Text from a file, typed and judged by a schema of `schemas/`.

In a schema, `$comment` beside a `pattern` or an `anyOf` names the form in words ("a time in UTC …"),
and inside a `not` it says what the value is that cannot be; the messages are made of them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from gitmem import resources

# no number in a memory is longer; Python itself refuses to read very long ones
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})\Z")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?\Z")
_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class Fault:
    """What does not fit, and where: `path` as in `Document.line`."""

    path: tuple[str | int, ...]
    message: str
    hint: str = ""


def typed(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """Convert text to the integer, number or boolean that `schema` asks for; leave what is none of these."""
    if "$ref" in schema:
        name, _, pointer = schema["$ref"].partition("#")
        root = resources.schema(name.removesuffix(".json")) if name else root
        schema = root
        for part in filter(None, pointer.split("/")):
            schema = schema[part]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        other = schema.get("additionalProperties")
        other = other if isinstance(other, dict) else {}
        return {key: typed(item, known.get(key, other), root) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item, schema.get("items", {}), root) for item in value]
    kind = schema.get("type")
    if kind == "integer" and isinstance(value, str) and _INTEGER.match(value):
        return int(value)
    if kind == "number" and isinstance(value, str) and _NUMBER.match(value):
        return float(value)
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    for option in schema.get("anyOf", ()):
        converted = typed(value, option, root)
        if converted is not value:
            return converted
    return value


def faults(value: Any, name: str) -> list[Fault]:
    """What in `value` does not fit `schemas/<name>.json`, each thing once, in order of place."""
    found = dict.fromkeys(fault for error in _validator(name).iter_errors(value) for fault in _words(error))
    return sorted(found, key=lambda fault: [str(part) for part in fault.path])


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    # what the others refer to; known beforehand, or it would be read again at every reference
    shared = DRAFT202012.create_resource(_strict(resources.schema("card")))
    registry = Registry().with_resource("card.json", shared).crawl()
    return Draft202012Validator(_strict(resources.schema(name)), registry=registry)


def _strict(schema: Any) -> Any:
    """The schema with `$` as JSON Schema means it: Python's also matches before a last line end."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: _strict(item) for key, item in schema.items()}
    if isinstance(out.get("pattern"), str):
        out["pattern"] = out["pattern"].replace("$", r"\Z")
    if "patternProperties" in out:
        out["patternProperties"] = {
            key.replace("$", r"\Z"): item for key, item in out["patternProperties"].items()
        }
    return out


def _words(error: Any) -> Iterator[Fault]:
    """A jsonschema error in words for a person who has not read the schema."""
    path = tuple(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        yield _bad_name(error, path)
        return
    keys = [part for part in path if isinstance(part, str)]
    name = ".".join(keys) or "the file"
    value, asked = error.instance, error.validator_value
    comment = error.schema.get("$comment", "") if isinstance(error.schema, dict) else ""
    shown = _shown(value)
    match error.validator:
        case "required":
            inside = f" in `{name}`" if path else ""
            for key in asked:
                if key not in value:
                    yield Fault(path, f"`{key}` is missing{inside}")
        case "additionalProperties":
            yield from _unknown_keys(error, path)
        case "type":
            hint = ""
            if asked == "array" and isinstance(value, str) and value:
                word = keys and len(value) <= 40 and value.isprintable() and " " not in value
                hint = f"write it as a list: {keys[-1]}: [{value}]" if word else ""
            elif asked in ("integer", "number"):
                least, most = (error.schema.get(key) for key in ("minimum", "maximum"))
                between = f" from {least} to {most}" if least is not None and most is not None else ""
                hint = (
                    f"write {_kind(asked)}{between}, or leave it out" if between else f"write {_kind(asked)}"
                )
            yield Fault(path, f"`{name}` is {shown}, not {_kind(asked)}", hint)
        case "enum":
            near = difflib.get_close_matches(str(value), asked, 1)
            yield Fault(
                path,
                f"`{name}` is {shown}, not one of {', '.join(f'`{one}`' for one in asked)}",
                f"did you mean `{near[0]}`?" if near else "",
            )
        case "pattern" | "anyOf" if value == "":
            yield Fault(path, f"`{name}` is empty", "fill it, or leave it out")
        case "pattern" | "anyOf":
            yield Fault(path, f"`{name}` is {shown}, not {comment or 'of its form'}")
        case "not":
            reason = asked.get("$comment", "")
            if "enum" in asked:
                yield Fault(path, f"`{name}` is {shown}, {reason or 'which cannot be here'}")
            else:
                yield Fault(path, f"`{name}` cannot be here", reason)
        case "oneOf":
            mentioned = _required_names(asked)
            present = [key for key in value if key in mentioned]
            yield Fault(
                (*path, *present[-1:]),
                f"{' and '.join(f'`{key}`' for key in present)} cannot stand together",
                comment,
            )
        case "maxLength":
            yield Fault(path, f"`{name}` has {len(value)} characters, more than {asked}", "say it shorter")
        case "minLength" | "minItems":
            yield Fault(path, f"`{name}` is empty", "fill it, or leave it out")
        case "maxItems":
            yield Fault(path, f"`{name}` has {len(value)} entries, more than {asked}")
        case "minimum":
            yield Fault(path, f"`{name}` is {shown}, less than {asked}", comment)
        case "maximum":
            yield Fault(path, f"`{name}` is {shown}, more than {asked}", comment)
        case "uniqueItems":
            twice = next(item for i, item in enumerate(value) if item in value[:i])
            yield Fault(path, f"`{name}` names {_shown(twice)} twice", "keep one of the two")
        case _:
            yield Fault(path, f"`{name}` is {shown}, which does not fit", comment)


def _bad_name(error: Any, path: tuple[str | int, ...]) -> Fault:
    """A key that a person chose (a project id, an agent id, …) and that cannot be one."""
    key = error.instance
    if error.validator == "not":
        return Fault((*path, key), f"{_shown(key)} is {error.validator_value.get('$comment', 'no name')}")
    return Fault((*path, key), f"the name {_shown(key)} is not {error.schema.get('$comment', 'of its form')}")


def _unknown_keys(error: Any, path: tuple[str | int, ...]) -> Iterator[Fault]:
    known = list(error.schema.get("properties", {}))
    own = list(error.schema.get("patternProperties", {}))
    for key in error.instance:
        if key in known or any(re.search(pattern, key) for pattern in own):
            continue
        near = difflib.get_close_matches(key, known, 1, 0.7)
        if key.startswith("x-") and own:
            hint = "after `x-` stand 1 to 40 of a to z, 0 to 9 and `-`"
        elif near:
            hint = f"did you mean `{near[0]}`?"
        elif own:
            hint = "keys of your own begin with `x-`"
        else:
            hint = f"known here: {', '.join(known)}"
        yield Fault((*path, key), f"unknown key {_shown(key)}", hint)


def _required_names(schema: Any) -> set[str]:
    """Every key that a schema mentions in `required`, at any depth."""
    if isinstance(schema, list):
        return set().union(*(_required_names(item) for item in schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("required", ()))
    return own.union(*(_required_names(item) for key, item in schema.items() if key != "required"))


def _shown(value: Any) -> str:
    """A value as a message may show it: one line, not long, nothing that moves a cursor."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "`key: value` lines"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    if text == "":
        return "empty"
    cut = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
    return f"`{plain}`"


def _kind(asked: Any) -> str:
    names = {
        "integer": "a whole number",
        "number": "a number",
        "array": "a list",
        "object": "`key: value` lines",
        "string": "text",
        "boolean": "`true` or `false`",
    }
    kinds = asked if isinstance(asked, list) else [asked]
    return " or ".join(names.get(one, one) for one in kinds)

"""The registry's files: their form, typed content, and what one entry may not say of another."""

from __future__ import annotations

from typing import Any

from gitmem.checks.problem import SCHEMA, Problem
from gitmem.errors import FormatError
from gitmem.git.objects import REGULAR
from gitmem.model import frontmatter
from gitmem.model import schema as schemas
from gitmem.resources import schema

FILES = ("memory", "projects", "profiles", "agents", "types", "forgotten")


def read(name: str, data: bytes) -> tuple[dict[str, Any], list[tuple[int, str, str]]]:
    """A registry file as typed values, and its faults as `(line, message, hint)`."""
    try:
        text = frontmatter.decode(data, 1 << 20)
        value, lines = frontmatter.parse_yaml(text)
    except FormatError as error:
        return {}, [(error.line or 1, error.message, " ".join(error.hints))]
    if not isinstance(value, dict):
        return {}, [(1, "the file is not `key: value` lines", "")]
    typed = schemas.typed(value, schema(name), schema(name))
    document = frontmatter.Document(value, "", lines, 1)
    found = [(document.line(f.path), f.message, f.hint) for f in schemas.faults(typed, name)]
    return typed, sorted(found)


def judge_file(path: str, mode: str, data: bytes) -> list[Problem]:
    """Judge one file below `registry/`."""
    name = path.removeprefix("registry/").removesuffix(".yaml")
    if path != f"registry/{name}.yaml" or name not in FILES:
        return [
            Problem(path, 1, SCHEMA, f"`registry/` holds only {', '.join(f'{one}.yaml' for one in FILES)}")
        ]
    if mode != REGULAR:
        return [Problem(path, 1, SCHEMA, "not a regular file (100644)")]
    return [Problem(path, line, SCHEMA, message, hint) for line, message, hint in read(name, data)[1]]

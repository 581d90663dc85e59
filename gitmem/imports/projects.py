"""Projects that records name: which registered one is meant, and the registry file with the new ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from gitmem.checks import registry_files
from gitmem.errors import Refused
from gitmem.model import frontmatter
from gitmem.model.card import RESERVED_SCOPES
from gitmem.model.registry import Registry

PATH = "registry/projects.yaml"


def project_id(name: str) -> str | None:
    """The id of a project called `name`: lower case, `/` and whatever else an id cannot hold as `-`; None: none left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    made = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:64].strip("-")
    return made if made and made not in RESERVED_SCOPES else None


def known(registry: Registry, name: str) -> str | None:
    """The registered project that is called so by name, alias or id."""
    wanted = name.casefold()
    for project in registry.projects.values():
        if wanted in (project.name.casefold(), project.id, *(alias.casefold() for alias in project.aliases)):
            return project.id
    made = project_id(name)
    return made if made in registry.projects else None


def with_new(data: bytes, new: Mapping[str, str]) -> bytes:
    """`registry/projects.yaml` with projects `id -> name` added below what is there, comments kept.

    Raises:
        Refused: the file as it is cannot be read.
    """
    before, faults = registry_files.read("projects", data)
    if faults:
        line, message, _ = faults[0]
        raise Refused(f"`{PATH}`:{line} {message}", ["git mem check --all"])
    pairs = [
        (id_, {"name": name, "status": "active"}) for id_, name in sorted(new.items()) if id_ not in before
    ]
    wanted = {**before, **{id_: dict(entry) for id_, entry in pairs}}
    text = data.decode("utf-8")
    grown = (
        text
        + ("" if not text or text.endswith("\n") else "\n")
        + "\n".join(frontmatter.dump_yaml(pairs))
        + "\n"
    )
    if registry_files.read("projects", grown.encode()) == (wanted, []):
        return grown.encode()
    # `{}` and other flow style cannot be added to at the end
    return ("\n".join(frontmatter.dump_yaml(list(wanted.items()))) + "\n").encode()

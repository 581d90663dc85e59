"""Read a sample of any schema, and say what is wrong with it."""

from gitmem.checks import registry_files
from gitmem.errors import FormatError
from gitmem.model import card, source


def faults_of(kind: str, data: bytes) -> list[list]:
    """`[line, message, hint]` of each fault; none for a valid file."""
    if kind == "card":
        return [[fault.line, fault.message, fault.hint] for fault in card.read(data)[1]]
    if kind == "source":
        try:
            source.parse(data)
        except FormatError as error:
            return [[error.line, error.message, " ".join(error.hints)]]
        return []
    return [list(fault) for fault in registry_files.read(kind, data)[1]]

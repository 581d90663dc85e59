"""A work order: one question to a model, whole in itself. Who answers it, and how it travels, is `ways`' affair."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from gitmem import resources
from gitmem.learn.marker import LEARNER_MARK

DISTIL, REVIEW, CONSOLIDATE = "distil", "review", "consolidate"


@dataclass(frozen=True, slots=True)
class Order:
    """One question.

    Args:
        id: names the question: it changes with every word of it.
        kind: `distil`, `review` or `consolidate`.
        scope: the one scope whose words stand in it; it goes only to a reader with rights there.
        system: what is the same in every order of the kind, for a model's cache.
        content: what is asked about, fenced as data; its first line is the learner's mark.
        subject: the work it belongs to, for messages: a session, or a scope and a count.
    """

    id: str
    kind: str
    scope: str
    system: str
    content: str
    subject: str

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the answer, in the form that structured output takes."""
        return answer_schema(self.kind)

    @property
    def text(self) -> str:
        """The order as one text, for a command's standard input or a file."""
        schema = json.dumps(self.schema, ensure_ascii=False, indent=1)
        return (
            f"{self.system}\n\n{self.content}\n\n## The answer\n\n"
            "Answer with one JSON object and nothing else: no sentence before or after it, no tool, no file read.\n"
            f"It fits this JSON Schema:\n\n```json\n{schema}\n```\n"
        )


def make(kind: str, scope: str, content: str, subject: str) -> Order:
    """An order of a kind about `content`."""
    system = prompt(kind)
    marked = f"{LEARNER_MARK}\n\n{content}"
    digest = hashlib.sha256(f"{kind}\0{scope}\0{system}\0{marked}".encode("utf-8", "surrogatepass"))
    return Order(f"{kind}-{digest.hexdigest()[:12]}", kind, scope, system, marked, subject)


@cache
def prompt(kind: str) -> str:
    """The instructions of a kind of order: `templates/learn/<kind>.md`."""
    return resources.read_text(f"templates/learn/{kind}.md").strip()


def prompt_hash(kind: str) -> str:
    """Which version of the instructions asked; it stands in the commit."""
    return hashlib.sha256(prompt(kind).encode()).hexdigest()[:12]


@cache
def answer_schema(kind: str) -> dict[str, Any]:
    """`schemas/learn/<kind>.json`, without what is only for people."""
    schema: dict[str, Any] = json.loads(resources.read_text(f"schemas/learn/{kind}.json"))
    return {key: value for key, value in schema.items() if not key.startswith("$")}

"""Names of projects that are everyday words: a prompt that merely uses the word would name the project."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.context import Context
from gitmem.health.finding import LOOK, Finding, spelt
from gitmem.index import background
from gitmem.index.analyse import tokens

# One short text in so many holds the word.
EVERYDAY = 0.03


def findings(context: Context) -> Iterator[Finding]:
    for project in context.registry.projects.values():
        if not project.active or not context.caller.reads(project.id):
            continue
        for alias in project.aliases:
            if everyday(alias):
                file = spelt(context.memory.root / "registry" / "projects.yaml", context.env)
                words = f"project `{project.id}` is also called `{alias}`, an everyday word: prompts name it by accident"
                yield Finding(
                    LOOK, "name-everyday", "names", words, f"take `{alias}` out of {file} and commit"
                )
        if project.name != project.id and everyday(project.name):
            words = f"project `{project.id}` is called `{project.name}`, an everyday word: prompts name it by accident"
            yield Finding(
                LOOK,
                "name-everyday",
                "names",
                words,
                f"git mem project add {project.id} --name {project.id}",
            )


def everyday(name: str) -> bool:
    """Whether even the rarest word of a name is common."""
    found = tokens(name)
    # the single characters of a Chinese word are rarer in the table than the word they make
    telling = [one for one in found if len(one) > 1 or one.isascii()] or found
    return bool(telling) and min(background.probability(one) for one in telling) >= EVERYDAY

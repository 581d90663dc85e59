"""What stands at the start of a session: rules, the project's brief, and titles, within the profile's bytes.

Without ages and without a clock in its words, so that the same live cards give the same bytes and a host can
keep it in a cached prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gitmem.identity import Caller
from gitmem.index.catalogue import Catalogue, Item
from gitmem.model import ids, layers, live
from gitmem.model.registry import Registry
from gitmem.recall import answer, render
from gitmem.recall import scope as scopes

HEADER = "Standing notes of this person, recorded earlier; verify before use. Whole card: git mem show ID. More: git mem search WORDS"
# What each host loads itself at the start of a session: its own memory, and instruction files in its folder.
# Cards that were imported from there, by the name of their import.
LOADS = {
    "claude-code": frozenset({"claude-code", "claude-md"}),
    "codex": frozenset({"codex", "agents-md"}),
    "hermes": frozenset({"hermes", "agents-md"}),
    "pi": frozenset({"agents-md", "claude-md"}),
}
_TYPES = ("rule", "preference", "convention", "pitfall", "habit", "decision", "fact", "result")


@dataclass(frozen=True, slots=True)
class Brief:
    """`text`: the block, empty when there is nothing to say; `cards`: the ids that stand in it."""

    text: str
    cards: tuple[str, ...]


def brief(
    catalogue: Catalogue,
    registry: Registry,
    caller: Caller,
    project: str | None,
    standing: str,
    now: datetime,
    omit: frozenset[str] = frozenset(),
) -> Brief:
    """The brief of a caller in a project.

    Args:
        standing: the text of the project's brief file, empty without one.
        omit: import hosts whose cards the host loads itself, e.g. `claude-code`.
    """
    scope = scopes.resolve(caller, registry, project, "this folder", None)
    own = [name for name in scope.names if name in ("global", "personal", project)]
    if not own:
        return Brief("", ())
    marks = ",".join("?" * len(own))
    found = [
        item
        for item in catalogue.items(f"kind = 'card' AND scope IN ({marks})", own)
        if item.type != "task"
        and (scope.holds(item.scope, item.type) or item.type == "rule")
        and live.status(catalogue, item.id, registry, now).live
        and not live.fork_losers(catalogue, item.id, registry, now)
        and not (omit and _origin(catalogue, item) in omit)
    ]
    found.sort(key=lambda item: _order(item, project))
    heard = project in scope.names and not registry.archived(project)
    return _fit(found, standing if heard else "", caller.profile.brief_bytes)


def _order(item: Item, project: str | None) -> tuple:
    """Rules first, then the project's own, then by importance, type and id."""
    kind = _TYPES.index(item.type) if item.type in _TYPES else len(_TYPES)
    return (item.type != "rule", item.scope != project, -item.importance, kind, item.id)


def _origin(catalogue: Catalogue, item: Item) -> str | None:
    """The host whose own memory or instruction files a card was imported from."""
    facts = catalogue.facts(item.id)
    path = facts.import_source if facts else None
    if not path:
        return None
    name = path.rsplit("/", 1)[-1]
    return next(
        (
            host
            for host in ("claude-code", "claude-md", "agents-md", "codex", "hermes")
            if name.startswith(host)
        ),
        None,
    )


def _fit(items: Sequence[Item], standing: str, max_bytes: int) -> Brief:
    lines: list[str] = []
    kept: list[str] = []
    used = len(f"{render.OPEN}\n{HEADER}\n{render.CLOSE}\n".encode())
    rules = [item for item in items if item.type == "rule"]
    others = [item for item in items if item.type != "rule"]
    text = layers.cut(" ".join(standing.split()), max(0, max_bytes // 2))
    parts = [(f"- rule, {item.scope}: {render.plain(item.l0)}\n", item.id) for item in rules]
    if text:
        parts.append((f"- {render.plain(text)}\n", ""))
    parts.extend(
        (f"- {ids.short(item.id)} {item.type}, {item.scope}: {render.plain(item.l0)}\n", item.id)
        for item in others
    )
    for line, card in parts:
        size = len(line.encode())
        if used + size > max_bytes:
            continue
        lines.append(line)
        used += size
        if card:
            kept.append(card)
    if not lines:
        return Brief("", ())
    return Brief(f"{render.OPEN}\n{HEADER}\n" + "".join(lines) + f"{render.CLOSE}\n", tuple(kept))


def standing_text(git, tip: str | None, project: str | None) -> str:  # type: ignore[no-untyped-def]
    """The project's brief file at the memory's tip; empty without one."""
    if not tip or not project:
        return ""
    found = git.run("cat-file", "blob", f"{tip}:briefs/{project}.md", check=False)
    return found.out.decode("utf-8", "replace") if found.code == 0 else ""


def brief_text(context, project: str | None, host: str | None = None) -> tuple[str, tuple[str, ...]]:  # type: ignore[no-untyped-def]
    """The brief for a caller, what `host` loads itself left out."""
    from gitmem.recall.opening import LiveIndex

    omit = LOADS.get(host or "", frozenset())
    standing = standing_text(context.memory.git, context.memory.tip, project)
    index = LiveIndex(context.memory, context.registry, lexical=True)
    made = answer.using(
        index,
        lambda opened: brief(
            opened.catalogue, context.registry, context.caller, project, standing, context.now, omit
        ),
    )
    return made.text, made.cards

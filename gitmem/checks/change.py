"""What one commit may do: judged against its own parent, never against what it brings itself.

In: the parent's corpus and registry, the paths that differ, and who makes the commit. Out: problems.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gitmem.checks import card as card_check
from gitmem.checks import registry_files
from gitmem.checks.problem import APPEND_ONLY, EVIDENCE, SCHEMA, SCOPE, SUPERSEDES, Problem
from gitmem.git.objects import REGULAR, Change
from gitmem.model import card as cards
from gitmem.model import ids, layers, live
from gitmem.model import source as sources
from gitmem.model.card import EDGES, Card
from gitmem.model.frontmatter import Document
from gitmem.model.registry import LEARNER, Registry, Tombstones

MARK = "registry/memory.yaml"
FOLDERS = ("registry/", "cards/", "briefs/", "sources/")


class Corpus(live.Graph, Protocol):
    """The valid cards of the parent, and where every card id stands, valid or not."""

    def path_of(self, card_id: str) -> str | None: ...

    def all_ids(self) -> Iterable[str]: ...


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit under test. `agent`: the identity it was made with; `person`: nobody but a person made it.

    `registry` is the parent's (None: the parent is no memory, this commit begins one).
    `new_registry` is what the commit would leave behind, for scopes only. `tombstones`: what else counts as
    forgotten, beyond what the parent's registry says.
    """

    changes: Sequence[Change]
    registry: Registry | None
    new_registry: Registry | None
    corpus: Corpus
    read_new: Callable[[str], bytes]
    read_source: Callable[[str], bytes | None]
    now: datetime
    agent: str | None = None
    person: bool = True
    author_email: str | None = None
    merge: bool = False
    tombstones: Tombstones = field(default_factory=Tombstones)

    @property
    def forgotten(self) -> Tombstones:
        return self.registry.tombstones | self.tombstones if self.registry else self.tombstones


@dataclass(slots=True)
class _Found:
    problems: list[Problem] = field(default_factory=list)
    cards: dict[str, tuple[str, Card, Document]] = field(default_factory=dict)
    edited: set[str] = field(default_factory=set)
    kinds: dict[str, str] = field(default_factory=dict)


def judge(commit: Commit) -> list[Problem]:
    """Every problem of a commit, in order of path and line."""
    found = _Found()
    for change in commit.changes:
        if not change.path.startswith(FOLDERS):
            continue
        if change.new is None:
            found.problems.extend(_deleted(commit, change))
        elif change.path.startswith("cards/"):
            _card(commit, change, found)
        elif change.path.startswith("sources/"):
            _source(commit, change, found)
        elif change.path.startswith("registry/"):
            found.problems.extend(
                registry_files.judge_file(change.path, change.new.mode, commit.read_new(change.new.oid))
            )
        else:
            found.problems.extend(_brief(commit, change))
    if not commit.merge:
        _edges(commit, found)
    _rights(commit, found)
    return sorted(found.problems, key=lambda problem: (problem.path, problem.line))


def brought_back(
    changes: Sequence[Change], forgotten: Tombstones, read_new: Callable[[str], bytes]
) -> list[Problem]:
    """What a merge takes over unchanged from its other side, and was forgotten: nobody has to answer for the rest."""
    problems = []
    for change in changes:
        if change.new is None or change.new.mode != REGULAR:
            continue
        card_id = cards.id_of_path(change.path) if change.path.startswith("cards/") else None
        if card_id in forgotten.cards:
            problems.append(_was_forgotten(change.path, 1, str(card_id)))
        elif change.path.startswith("sources/") and forgotten.turns:
            name = change.path.rsplit("/", 1)[-1].removesuffix(".md")
            data = read_new(change.new.oid)
            if any(told_in == name or told_in.encode() in data for _, told_in, _ in forgotten.turns):
                source, _ = card_check.judge_source(change.path, change.new.mode, data)
                problems.extend(_forgotten_turns(forgotten, change.path, source, data) if source else ())
    return problems


def _card(commit: Commit, change: Change, found: _Found) -> None:
    assert change.new is not None
    data = commit.read_new(change.new.oid) if change.new.mode == REGULAR else b""
    verdict = card_check.judge(change.path, change.new.mode, data, commit.read_source)
    found.problems.extend(verdict.problems)
    card, document = verdict.card, verdict.document
    if card is None or document is None:
        return
    found.problems.extend(_forgotten_card(commit, change.path, card, document))
    registry = commit.registry or commit.new_registry
    if registry is not None:
        found.problems.extend(in_registry(change.path, card, document, registry, commit.new_registry))
    if (
        not card.evidence
        and not card.retracts
        and commit.author_email
        and card.author not in (commit.author_email, commit.agent)
    ):
        found.problems.append(
            Problem(
                change.path,
                document.line(("author",)),
                EVIDENCE,
                f"a card without evidence carries its writer's e-mail: `{card.author}` is not `{commit.author_email}`",
                f"author: {commit.author_email}",
            )
        )
    there = commit.corpus.path_of(card.id)
    twin = found.cards.get(card.id)
    if (there is not None and there != change.path) or twin:
        other = twin[0] if twin else there
        found.problems.append(
            Problem(
                change.path,
                document.line(("id",)),
                SCHEMA,
                f"the id `{card.id}` is taken by {other}",
                "git mem new draws a fresh one",
            )
        )
    if change.old is not None:
        found.edited.add(card.id)
        found.problems.extend(_edited(commit, change, card, document))
    found.cards[card.id] = (change.path, card, document)


def _forgotten_card(commit: Commit, path: str, card: Card, document: Document) -> list[Problem]:
    """A card that was forgotten stays so, under its id and by its words."""
    forgotten = commit.forgotten
    if card.id in forgotten.cards:
        return [_was_forgotten(path, document.line(("id",)), card.id)]
    if not forgotten.hashes:
        return []
    said: list[tuple[tuple[str | int, ...], str]] = [(("conclusion",), card.conclusion or "")]
    said.extend((("also", number), text) for number, text in enumerate(card.also))
    said.extend((("evidence", number), item.quote) for number, item in enumerate(card.evidence))
    return [
        Problem(
            path, document.line(where), APPEND_ONLY, "these words were forgotten", "say it in other words"
        )
        for where, text in said
        if text and forgotten.knows(text)
    ]


def _was_forgotten(path: str, line: int, card_id: str) -> Problem:
    return Problem(
        path,
        line,
        APPEND_ONLY,
        f"the card `{card_id}` was forgotten",
        "git mem sync --accept-rewrite, if it comes from a copy that still has it",
    )


def _forgotten_turns(forgotten: Tombstones, path: str, source: sources.Source, data: bytes) -> list[Problem]:
    """Turns that were forgotten, by their place or by their words."""
    host, session = sources.told_in(path, source)
    lines = data.decode("utf-8", "replace").split("\n")
    return [
        Problem(
            path,
            next((at for at, line in enumerate(lines, 1) if line.startswith(f"## {turn.number} ")), 1),
            APPEND_ONLY,
            f"turn {turn.number} of this session was forgotten",
            "leave the turn out, and the cards that cite it",
        )
        for turn in source.turns
        if (host, session, turn.number) in forgotten.turns or forgotten.knows(turn.text)
    ]


def in_registry(
    path: str, card: Card, document: Document, registry: Registry, new: Registry | None = None
) -> list[Problem]:
    """What the registry says of a card: its type, its scope, its author."""
    problems = []
    if card.type is not None and card.type not in registry.types:
        near = difflib.get_close_matches(card.type, registry.types, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"types are {', '.join(registry.types)}"
        problems.append(Problem(path, document.line(("type",)), SCHEMA, f"unknown type `{card.type}`", hint))
    rule = registry.types.get(card.type or "")
    if rule is not None and rule.scopes == "personal" and card.scope != "personal":
        problems.append(
            Problem(
                path,
                document.line(("scope",)),
                SCOPE,
                f"a `{card.type}` belongs in `personal`, not in `{card.scope}`",
            )
        )
    if not registry.is_scope(card.scope) and not (new and new.is_scope(card.scope)):
        near = difflib.get_close_matches(card.scope, [*registry.projects, "global", "personal"], 1)
        hint = f"did you mean `{near[0]}`?" if near else f"git mem project add {card.scope}"
        problems.append(Problem(path, document.line(("scope",)), SCHEMA, f"no project `{card.scope}`", hint))
    if not registry.known_author(card.author) and not (new and new.known_author(card.author)):
        problems.append(
            Problem(
                path,
                document.line(("author",)),
                SCHEMA,
                f"unknown author `{card.author}`",
                f"use your e-mail, or register the agent: git mem agent add {card.author}",
            )
        )
    return problems


def _source(commit: Commit, change: Change, found: _Found) -> None:
    assert change.new is not None
    data = commit.read_new(change.new.oid) if change.new.mode == REGULAR else b""
    if change.old is not None:
        found.problems.append(
            Problem(
                change.path,
                1,
                APPEND_ONLY,
                "a source never changes",
                "restore it: git checkout HEAD -- " + change.path,
            )
        )
    source, problems = card_check.judge_source(change.path, change.new.mode, data)
    found.problems.extend(problems)
    if source is not None:
        found.problems.extend(_forgotten_turns(commit.forgotten, change.path, source, data))
        found.kinds[change.path] = source.kind


def _brief(commit: Commit, change: Change) -> list[Problem]:
    assert change.new is not None
    if change.new.mode != REGULAR:
        return [Problem(change.path, 1, SCHEMA, "not a regular file (100644)")]
    data = commit.read_new(change.new.oid)
    problems = card_check.scan(change.path, data, "brief")
    name = change.path.removeprefix("briefs/").removesuffix(".md")
    registry = commit.new_registry or commit.registry
    if not change.path.endswith(".md") or "/" in name or (registry and name not in registry.projects):
        problems.append(
            Problem(change.path, 1, SCHEMA, "a brief is `briefs/<project id>.md` of a registered project")
        )
    return problems


def _deleted(commit: Commit, change: Change) -> list[Problem]:
    if change.path == MARK:
        return [
            Problem(
                change.path,
                1,
                SCOPE,
                "the mark of the memory cannot be removed",
                "to give the memory up, remove its folder",
            )
        ]
    if not change.path.startswith(("cards/", "sources/")):
        return []
    registry = commit.new_registry
    card_id = change.path.removesuffix(".md")[-ids.LENGTH :]
    if change.path.startswith("cards/") and registry and card_id in registry.forgotten:
        return []
    if change.path.startswith("cards/") and commit.corpus.facts(card_id) is None:
        # a card that never passed the checks was never part of the memory: taking it out again is mending
        return []
    what = "card" if change.path.startswith("cards/") else "source"
    return [
        Problem(
            change.path,
            1,
            APPEND_ONLY,
            f"a {what} is never deleted or renamed",
            f"git mem retract {ids.short(card_id)} takes it back"
            if what == "card"
            else f"restore it: git checkout HEAD -- {change.path}",
        )
    ]


def _edited(commit: Commit, change: Change, card: Card, document: Document) -> list[Problem]:
    """People may edit a card's text by hand; what identifies it stays."""
    assert change.old is not None
    if commit.merge:
        return []
    if commit.agent is not None or not commit.person:
        return [
            Problem(
                change.path,
                1,
                APPEND_ONLY,
                "an agent does not change a card that is there",
                f'git mem supersede {ids.short(card.id)} "…"',
            )
        ]
    before = commit.corpus.facts(card.id)
    if before is None:
        # it never passed the checks: this mends it
        return []
    problems = []
    for key, old, new in (
        ("scope", before.scope, card.scope),
        ("type", before.type, card.type),
        ("created", before.created, card.created),
    ):
        if old != new:
            problems.append(
                Problem(
                    change.path,
                    document.line((key,)),
                    APPEND_ONLY,
                    f"`{key}` of a card does not change: it was `{old}`",
                )
            )
    if set(before.edges) != set(card.edges()):
        problems.append(
            Problem(
                change.path,
                1,
                APPEND_ONLY,
                "the edges of a card do not change",
                "write a new card: git mem supersede, confirm or retract",
            )
        )
    return problems


def _edges(commit: Commit, found: _Found) -> None:
    """Every edge of a new card: its target is there, of the right scope, and still open in the parent."""
    for path, card, document in found.cards.values():
        if card.id in found.edited and commit.corpus.facts(card.id) is not None:
            continue
        for kind in EDGES:
            for target in getattr(card, kind):
                found.problems.extend(_edge(commit, found, path, card, document, kind, target))
    for path, card, document in found.cards.values():
        if _cyclic(commit, found, card.id):
            found.problems.append(
                Problem(
                    path,
                    document.line(("supersedes",)),
                    SUPERSEDES,
                    f"`{card.id}` supersedes itself over a chain",
                )
            )


def _edge(
    commit: Commit, found: _Found, path: str, card: Card, document: Document, kind: str, target: str
) -> list[Problem]:
    line = document.line((kind,))

    def problem(message: str, hint: str = "") -> list[Problem]:
        return [Problem(path, line, SUPERSEDES, message, hint)]

    if target == card.id:
        return problem("a card points at itself")
    facts = commit.corpus.facts(target)
    fresh = found.cards.get(target)
    if facts is None and fresh is None:
        if target in commit.forgotten.cards:
            return []
        return problem(f"no card `{target}`", _did_you_mean(commit, found, target, card.scope))
    scope = facts.scope if facts else fresh[1].scope  # type: ignore[index]
    type_ = facts.type if facts else fresh[1].type  # type: ignore[index]
    if kind == "overrides":
        if scope != "global":
            return problem(f"`{target}` is of `{scope}`: only a global card is overridden")
    elif scope != card.scope:
        return problem(
            f"`{target}` is of `{scope}`, this card of `{card.scope}`",
            "an edge stays in its scope" + ("; in one project alone: overrides" if scope == "global" else ""),
        )
    if kind == "corroborates" and type_ != card.type:
        return problem(f"`{target}` is a `{type_}`, this confirmation a `{card.type}`")
    if facts is None:
        return []
    if kind in ("supersedes", "corroborates", "retracts"):
        if by := live.retracted_by(commit.corpus, target, commit.now):
            return problem(
                f"`{target}` was already retracted by `{by[0]}`", f"git mem show {ids.short(target)}"
            )
        by = live.superseded_by(commit.corpus, target, commit.now)
        # whoever takes back a replacement may take back what it replaced in the same breath
        if kind == "retracts" and by and set(by) <= _taken_back(found):
            return []
        if by and not (kind == "supersedes" and all(_split(commit, other, card) for other in by)):
            return problem(
                f"`{target}` was already superseded by `{by[0]}`",
                f"point at the newest card: git mem show {ids.short(by[0])}",
            )
    if kind == "supersedes" and _same_content(commit, facts, card):
        return problem(f"`{target}` says the same", f"git mem confirm {ids.short(target)} says it again")
    return []


def _taken_back(found: _Found) -> set[str]:
    return {target for _, card, _ in found.cards.values() for target in card.retracts}


def _split(commit: Commit, other: str, card: Card) -> bool:
    """Cards that name the same import source may share a target."""
    facts = commit.corpus.facts(other)
    own = import_source(card)
    return facts is not None and own is not None and facts.import_source == own


def import_source(card: Card) -> str | None:
    """What an imported card came from, parts of one import counted as one; None for any other card."""
    for item in card.evidence:
        if item.role == "document":
            return sources.part_of(item.source)
    return None


def _same_content(commit: Commit, facts: live.Facts, card: Card) -> bool:
    """Whether a replacement says and means nothing that its target does not."""
    if facts.l0 != layers.l0(card):
        return False
    data = commit.read_source(commit.corpus.path_of(facts.id) or "")
    before = cards.read(data)[0] if data is not None else None
    return before is not None and _content(before) == _content(card)


def _content(card: Card) -> tuple[object, ...]:
    return (
        card.type, layers.l0(card), card.body.strip(), set(card.also), set(card.tags), card.valid_from, card.expires, card.importance,
    )  # fmt: skip


def _cyclic(commit: Commit, found: _Found, start: str) -> bool:
    """Whether supersedes edges lead from a new card back to it."""
    queue, seen = [start], set()
    while queue:
        current = queue.pop()
        fresh = found.cards.get(current)
        if fresh is not None:
            targets = list(fresh[1].supersedes)
        else:
            facts = commit.corpus.facts(current)
            targets = facts.targets("supersedes") if facts else []
        if start in targets:
            return True
        queue.extend(target for target in targets if target not in seen)
        seen.update(targets)
    return False


def _did_you_mean(commit: Commit, found: _Found, target: str, scope: str) -> str:
    known = [*commit.corpus.all_ids(), *found.cards]
    near = difflib.get_close_matches(target, known, 1, cutoff=0.6)
    if not near:
        return "git mem search finds the card that is meant"
    facts = commit.corpus.facts(near[0])
    l0 = facts.l0 if facts else layers.l0(found.cards[near[0]][1]) if near[0] in found.cards else ""
    return f"did you mean `{near[0]}`" + (f" ({layers.shorten(l0, 80)})" if l0 else "?")


def _rights(commit: Commit, found: _Found) -> None:
    """What an agent may not do, by the parent's registry."""
    if commit.registry is None:
        return
    registry = commit.registry
    # a person who edits a card by hand does not become its author
    fresh = [entry for entry in found.cards.values() if entry[1].id not in found.edited]
    authors = {card.author for _, card, _ in fresh if card.author in registry.agents}
    agent = commit.agent
    if agent is None and authors:
        agent = sorted(authors)[0]
    if commit.agent is None and commit.person and agent is not None and not commit.merge:
        for path, card, _ in found.cards.values():
            if card.id in found.edited and commit.corpus.facts(card.id) is not None:
                found.problems.append(
                    Problem(
                        path,
                        1,
                        APPEND_ONLY,
                        "an agent does not change a card that is there",
                        "commit your own edits apart from an agent's cards",
                    )
                )
    if agent is not None and agent != LEARNER:
        for path, card, document in fresh:
            if card.author in registry.agents and card.author != agent:
                found.problems.append(
                    Problem(
                        path,
                        document.line(("author",)),
                        SCOPE,
                        f"the commit is by `{agent}`, the card by `{card.author}`",
                    )
                )
    if agent is None and commit.person:
        return
    entry = registry.agents.get(agent) if agent is not None and agent != LEARNER else None
    if agent not in (None, LEARNER) and (entry is None or entry.status != "active"):
        found.problems.append(
            Problem(
                MARK, 1, SCOPE, f"no active agent `{agent}`", f"git mem agent add {agent} --profile working"
            )
        )
        return
    name = agent or "an agent without identity"
    for change in commit.changes:
        if change.path.startswith(("registry/", "briefs/")):
            found.problems.append(
                Problem(
                    change.path,
                    1,
                    SCOPE,
                    f"`{name}` may not write `{change.path.split('/')[0]}/`",
                    "that is for people",
                )
            )
    for path, kind in found.kinds.items():
        if agent != LEARNER and kind != "statement":
            found.problems.append(
                Problem(
                    path,
                    1,
                    EVIDENCE,
                    f"an agent brings no source of kind `{kind}`",
                    "files are imported by people: git mem import",
                )
            )
    for path, card, document in found.cards.values():
        rule = registry.types.get(card.type or "")
        if rule is not None and rule.writers == "people":
            found.problems.append(
                Problem(
                    path,
                    document.line(("type",)),
                    SCOPE,
                    f"`{name}` may not write a `{card.type}`",
                    "that is for people",
                )
            )
        allowed = entry.writes(card.scope) if entry else agent == LEARNER or card.scope != "personal"
        if not allowed:
            found.problems.append(
                Problem(
                    path,
                    document.line(("scope",)),
                    SCOPE,
                    f"`{name}` may not write in `{card.scope}`",
                    f"git mem agent add {name} --write … widens its rights (for people)",
                )
            )
        if agent != LEARNER:
            for number, item in enumerate(card.evidence):
                if item.role == "user" and not item.reported_by:
                    found.problems.append(
                        Problem(
                            path,
                            document.line(("evidence", number)),
                            EVIDENCE,
                            f"`{name}` passes on the user's words without `reported_by`",
                            'git mem add "…" --quote "their words" --session ID',
                        )
                    )

"""Memories for tests of recall and of the index: cards by name, asked as a profile or an agent would ask."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from gitmem import config, context, identity, resources
from gitmem.git import locate, write
from gitmem.git.locate import Memory
from gitmem.index import build
from gitmem.model import card as cards
from gitmem.model import ids, when
from gitmem.model import source as sources
from gitmem.model.card import Card, Evidence
from gitmem.recall import answer, opening, turn
from gitmem.recall.session import Session
from gitmem.recall.trace import Answer
from gitmem.registry import load

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
PROFILES = ("full", "working", "personal")


@dataclass(frozen=True, slots=True)
class Spec:
    """A card by name; edges name other specs. `days_ago` counts back from NOW."""

    name: str
    conclusion: str
    scope: str = "global"
    type: str = "preference"
    also: tuple[str, ...] = ()
    body: str = ""
    days_ago: float = 10
    tags: tuple[str, ...] = ()
    quoted: bool = True
    edges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


def spec(name: str, conclusion: str, **given: Any) -> Spec:
    edges = {kind: tuple(given.pop(kind)) for kind in cards.EDGES if kind in given}
    plain = {key: given.pop(key) for key in list(given) if key in Spec.__dataclass_fields__}
    plain.update({key: tuple(value) for key, value in plain.items() if isinstance(value, list)})
    return Spec(name, conclusion, edges=edges, more=given, **plain)


def card_id(name: str) -> str:
    value = int.from_bytes(hashlib.sha256(f"test card {name}".encode()).digest()[:16], "big")
    return ids.new_id(lambda bits: value % (1 << bits))


def files_of(one: Spec) -> dict[str, bytes | None]:
    """The card's file and its source's."""
    created = when.stamp(NOW - timedelta(days=one.days_ago))
    mine = card_id(one.name)
    files: dict[str, bytes | None] = {}
    evidence: tuple[Evidence, ...] = ()
    if one.quoted and not one.edges.get("retracts"):
        said = (one.conclusion or "yes, as before").split("\n")[0]
        turns = (sources.Turn(1, "user", created, said),)
        source = sources.Source("codex", f"s-{mine}", one.scope, created, "session", turns)
        path = sources.source_path(source, f"{created[:10].replace('-', '')}-{mine}")
        files[path] = sources.dump(source)
        evidence = (Evidence(path, 1, "user", said),)
    standalone = not one.edges.get("retracts") and not one.edges.get("corroborates")
    card = Card(
        mine, one.scope, created, "codex",
        type=None if one.edges.get("retracts") else one.type,
        conclusion=one.conclusion if standalone else None,
        body=one.body + "\n" if one.body else ("" if standalone else one.conclusion + "\n"),
        also=one.also, evidence=evidence, tags=one.tags,
        **{kind: tuple(card_id(name) for name in names) for kind, names in one.edges.items()}, **one.more,
    )  # fmt: skip
    files[cards.card_path(card)] = cards.dump(card)
    return files


def commit(memory: Memory, files: Mapping[str, bytes | None], message: str = "mem: cards") -> Memory:
    """One commit on the memory as it is now, checks left aside."""
    write.write(locate.refreshed(memory), lambda _: write.Draft(dict(files), message))
    return locate.refreshed(memory)


def put(memory: Memory, *specs: Spec) -> Memory:
    files: dict[str, bytes | None] = {}
    for one in specs:
        files.update(files_of(one))
    return commit(memory, files)


def projects_file(projects: Mapping[str, Mapping[str, Any]]) -> bytes:
    entries = {name: {"name": name, "status": "active", **entry} for name, entry in projects.items()}
    return yaml.safe_dump(entries, allow_unicode=True).encode()


@dataclass(slots=True)
class World:
    """A memory and who is asked for. `names`: card id -> name."""

    memory: Memory
    names: dict[str, str] = field(default_factory=dict)

    @property
    def registry(self):  # type: ignore[no-untyped-def]
        return load.current(self.memory)

    def put(self, *specs: Spec) -> World:
        self.memory = put(self.memory, *specs)
        self.names.update({card_id(one.name): one.name for one in specs})
        return self

    def commit(self, files: Mapping[str, bytes | None]) -> World:
        self.memory = commit(self.memory, files)
        return self

    def built(self) -> World:
        build.build(self.memory, self.registry)
        return self

    def caller(self, profile: str | None = None, agent: str | None = None) -> identity.Caller:
        env = config.read(self.memory.git.env, self.memory.root)
        return identity.resolve(env, self.registry, self.memory, agent, profile)

    def context(
        self,
        profile: str | None = None,
        agent: str | None = None,
        now: datetime = NOW,
        cwd: Path | None = None,
    ) -> context.Context:
        env = config.read(self.memory.git.env, cwd or self.memory.root)
        return context.Context(env, self.memory, self.registry, self.caller(profile, agent), now)

    def ask(self, prompt: str, profile: str | None = "full", here: str | None = None, *, agent: str | None = None, now: datetime = NOW, lexical: bool = False,
            session: Session | None = None, **request: Any) -> Answer:  # fmt: skip
        """One explicit recall, without a session's file. `here`: the project of the folder."""
        asked = answer.Request(
            prompt, now, from_cwd=here, lexical=lexical, deadline_s=time.monotonic() + 60, **request
        )
        index = opening.LiveIndex(self.memory, self.registry, lexical)
        return answer.recall(asked, self.caller(profile, agent), self.registry, session or Session(), index)

    def said(self, prompt: str, profile: str = "full", here: str | None = None, **more: Any) -> list[str]:
        """The names of the cards that an explicit recall says, in order."""
        return [self.names.get(item.id, item.id) for item in self.ask(prompt, profile, here, **more).items]

    def turn(self, prompt: str, profile: str = "full", *, agent: str | None = None, session: str | None = None, cwd: Path | None = None, now: datetime = NOW,
             explicit: bool = False, **more: Any) -> tuple[str, Answer]:  # fmt: skip
        """One turn as a host's hook or the command line runs it: the bytes that were emitted, and the answer."""
        texts: list[str] = []
        deadline_s = time.monotonic() + 60
        found = turn.turn(
            self.context(profile, agent, now, cwd), prompt, session=session, cwd=cwd, explicit=explicit, automatic=True, deadline_s=deadline_s, emit=texts.append, **more
        )  # fmt: skip
        assert len(texts) <= 1
        return "".join(texts), found


def make(
    place: Path,
    template: Path,
    specs: Iterable[Spec] = (),
    projects: Mapping[str, Mapping[str, Any]] | None = None,
    files: Mapping[str, bytes | None] | None = None,
) -> World:
    """A new memory at `place` with projects and cards, not indexed yet."""
    shutil.copytree(template, place, symlinks=True)
    found = locate.open_at(place, config.from_process())
    assert found is not None
    world = World(found)
    first: dict[str, bytes | None] = dict(files or {})
    if projects:
        first["registry/projects.yaml"] = projects_file(projects)
    if first:
        world.commit(first)
    listed = list(specs)
    return world.put(*listed) if listed else world


def register_folder(memory: Memory, project: str, folder: Path) -> Memory:
    memory.git.run("config", "--add", f"mem.project.{project}.path", str(folder))
    return locate.refreshed(memory)


def profiles_file(**changes: Mapping[str, Any]) -> bytes:
    """The registry's profiles with some fields changed."""
    entries = yaml.safe_load(resources.read_text("templates/registry/profiles.yaml"))
    for name, fields in changes.items():
        entries[name] = {**entries.get(name, entries["working"]), **fields}
    # through JSON: lists that two profiles share would be written as an anchor and an alias
    return yaml.safe_dump(json.loads(json.dumps(entries))).encode()


__all__ = [
    "NOW",
    "PROFILES",
    "Spec",
    "World",
    "card_id",
    "commit",
    "files_of",
    "make",
    "profiles_file",
    "projects_file",
    "put",
    "register_folder",
    "replace",
    "spec",
]

"""A memory to ask: built once in a folder of the run through the product's own import, then opened and kept open."""

from __future__ import annotations

import array
import json
import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from eval.data import Card, Dataset, digest
from gitmem import config, resources
from gitmem.authoring import init
from gitmem.git import locate
from gitmem.git.locate import Memory
from gitmem.identity import Caller
from gitmem.imports import decisions, land
from gitmem.imports.entry import Entry, make
from gitmem.index import build, embed
from gitmem.index.catalogue import Catalogue, Item
from gitmem.model import live
from gitmem.model.registry import Profile, Registry
from gitmem.recall.answer import Opened
from gitmem.recall.opening import LiveIndex
from gitmem.registry import load

Progress = Callable[[str, int, int], None]
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "OMP_NUM_THREADS", "LD_LIBRARY_PATH")


class Vectors:
    """Vectors of prompts, each computed once a run."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], array.array] = {}
        self._lock = threading.Lock()

    def of(self, text: str, embedder: str) -> array.array:
        with self._lock:
            if (embedder, text) not in self._known:
                self._known[embedder, text] = embed.load(embedder).query(text)
            return self._known[embedder, text]


class Ready:
    """A prompt's vector that is there already, as recall waits for one."""

    problem: str | None = None

    def __init__(self, vector: array.array, embedder: str):
        self._vector, self.embedder = vector, embedder

    def get(self, timeout_s: float) -> array.array:
        return self._vector


class Held(Opened):
    """The opened index as recall reads it; it stays open when recall is done with it."""

    def close(self) -> None:
        return None


@dataclass(slots=True)
class World:
    """One memory, open. `keys`: card id -> its key in the data set. It is the index that recall asks, too."""

    memory: Memory
    registry: Registry
    now: datetime
    held: Held
    embedder: str
    vectors: Vectors
    keys: dict[str, str]
    left_out: tuple[str, ...] = ()
    items: dict[str, Item] = field(default_factory=dict)
    alive: dict[str, bool] = field(default_factory=dict)

    # what `gitmem.recall.answer.recall` asks of an index

    def vector(self, text: str) -> Ready | None:
        return None if self.embedder == "none" else Ready(self.vectors.of(text, self.embedder), self.embedder)

    def open(self) -> Held:
        return self.held

    def repair(self, error: Exception) -> bool:
        return False

    # what the systems ask

    @property
    def catalogue(self) -> Catalogue:
        return self.held.catalogue

    def key(self, card_id: str) -> str:
        return self.keys.get(card_id, card_id)

    def caller(self, profile: Profile) -> Caller:
        return Caller(None, None, profile, ("all",), ("all",))

    def all_items(self) -> list[Item]:
        """Every card, dead ones included, in the order of their ids."""
        if not self.items:
            self.items = {item.id: item for item in self.catalogue.items("kind = 'card'")}
        return list(self.items.values())

    def is_live(self, card_id: str) -> bool:
        if card_id not in self.alive:
            self.alive[card_id] = live.status(self.catalogue, card_id, self.registry, self.now).live
        return self.alive[card_id]

    def close(self) -> None:
        self.held.catalogue.close()
        if self.held.words is not None:
            self.held.words.close()


class Worlds:
    """The memories of one data set: one built of its cards, or one a snapshot of an existing memory."""

    def __init__(
        self,
        dataset: Dataset,
        folder: Path,
        now: datetime,
        seed: int,
        vectors: Vectors,
        progress: Progress | None = None,
    ):
        self._dataset, self._now, self._seed, self._vectors = dataset, now, seed, vectors
        self._progress = progress
        self.folder = (
            folder / f"{dataset.name}-{digest(dataset.cards_hash(), seed, now.isoformat(), _maker())}"
        )
        self._open: dict[str, World] = {}

    def of(self, snapshot: str = "") -> World:
        if snapshot not in self._open:
            if self._dataset.memory:
                self._open[snapshot] = self._as_of(snapshot)
            else:
                self._open[snapshot] = self._made(snapshot)
        return self._open[snapshot]

    def close(self) -> None:
        for world in self._open.values():
            world.close()
        self._open.clear()

    def _made(self, snapshot: str) -> World:
        """A memory of the cards; of a snapshot, which is a day, of those that are strictly older."""
        room = self.folder / (snapshot or "whole")
        noted = room / "keys.json"
        if not noted.is_file():
            shutil.rmtree(room, ignore_errors=True)
            env = environment(room)
            init.init(env, room / "memory", "main")
            cards = tuple(card for card in self._dataset.cards if not snapshot or card.date < snapshot)
            keys, left_out = _imported(
                replace(self._dataset, cards=cards),
                _memory(room / "memory", env),
                self._moment(snapshot),
                self._seed,
                self._progress,
            )
            noted.write_text(
                json.dumps({"keys": keys, "left_out": left_out}, ensure_ascii=False), encoding="utf-8"
            )
        found = json.loads(noted.read_text(encoding="utf-8"))
        return self._opened(room, found["keys"], tuple(found["left_out"]), self._moment(snapshot))

    def _moment(self, snapshot: str) -> datetime:
        return datetime.fromisoformat(snapshot).replace(tzinfo=self._now.tzinfo) if snapshot else self._now

    def _as_of(self, snapshot: str) -> World:
        """A clone that ends with the snapshot: what came later is not in it."""
        room = self.folder / (snapshot or "whole")
        env = environment(room)
        place = room / "memory"
        if not (place / ".git").is_dir():
            source = locate.open_at(Path(self._dataset.memory), env)
            if source is None:
                raise FileNotFoundError(f"`{self._dataset.memory}` is no memory")
            commit = snapshot or source.tip or ""
            source.git.run(
                "clone", "-q", "--no-checkout", "--no-hardlinks", "--no-tags", str(source.root), str(place)
            )
            clone = _git(place, env)
            clone.run("remote", "remove", "origin")
            clone.run("checkout", "-q", "-B", source.branch, commit)
            clone.run("config", "mem.branch", source.branch)
        stamp = int(_git(place, env).run("log", "-1", "--format=%ct").text())
        return self._opened(
            room, {}, (), datetime.fromtimestamp(stamp, self._now.tzinfo) if snapshot else self._now
        )

    def _opened(self, room: Path, keys: dict[str, str], left_out: tuple[str, ...], moment: datetime) -> World:
        memory = _memory(room / "memory", environment(room))
        registry = load.current(memory)
        build.build(memory, registry, self._progress)
        opened = LiveIndex(memory, registry).open()
        from gitmem.index import coverage

        embedder = coverage.embedder_name(memory, registry)
        held = Held(opened.catalogue, opened.words, opened.state, opened.degraded)
        return World(memory, registry, moment, held, embedder, self._vectors, keys, left_out)


def environment(room: Path) -> config.Env:
    """Nobody's: no identity, host or configuration of the person who runs it."""
    # git runs elsewhere: to it a path from here would lead nowhere
    room = room.resolve()
    room.mkdir(parents=True, exist_ok=True)
    settings = room / "gitconfig"
    if not settings.is_file():
        settings.write_text(
            "[user]\n\tname = Evaluation\n\temail = evaluation@example.com\n[gc]\n\tauto = 0\n"
        )
    own = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return config.read(
        {
            **own,
            "HOME": str(room),
            "XDG_CONFIG_HOME": str(room),
            "GIT_CONFIG_GLOBAL": str(settings),
            "GIT_CONFIG_NOSYSTEM": "1",
        },
        room,
    )


def entries_of(cards: tuple[Card, ...]) -> list[Entry]:
    """Cards as the entries of an import. A project that they name is registered by it."""
    return [
        make(
            card.key,
            "\n\n".join(filter(None, (card.conclusion, card.body))),
            conclusion=card.conclusion,
            body=card.body,
            type=card.type,
            scope=card.scope if card.scope in ("global", "personal") else None,
            project_name=None if card.scope in ("global", "personal") else card.scope,
            also=card.also,
            valid_from=card.date,
            expires=card.expires,
            supersedes_keys=card.supersedes,
        )
        for card in cards
    ]


def _imported(
    dataset: Dataset, memory: Memory, now: datetime, seed: int, progress: Progress | None
) -> tuple[dict[str, str], list[str]]:
    records = dataset.decisions is not None
    entries = (
        list(decisions.read_json(dataset.decisions or b"").entries) if records else entries_of(dataset.cards)
    )
    drawn = random.Random(seed)
    landed = land.land(
        memory, load.current(memory), entries, kind="decisions" if records else "evaluation", email="evaluation@example.com",
        now=now, random_bits=drawn.getrandbits, progress=progress, env=memory.git.env,
    )  # fmt: skip
    keys: dict[str, str] = {}
    left_out = []
    for item in landed.plan.items:
        if item.card_id:
            keys[item.card_id] = f"{item.scope}/{item.entry.key}" if records else item.entry.key
        else:
            left_out.append(f"{item.entry.key}: {item.action} {item.reason}".strip())
    return keys, left_out


def _maker() -> str:
    """Of the code that turns cards into a memory: built anew when it changes, and not when recall does."""
    import gitmem

    root = Path(gitmem.__file__).parent
    files = [
        file for part in ("imports", "model", "authoring") for file in sorted((root / part).glob("*.py"))
    ]
    # `init` writes the profiles into the memory
    profiles = resources.read_text("templates/registry/profiles.yaml").encode()
    return digest(profiles, *(file.read_bytes() for file in [*files, Path(__file__)]))


def _memory(place: Path, env: config.Env) -> Memory:
    found = locate.open_at(place, env)
    if found is None:
        raise FileNotFoundError(f"`{place}` is no memory")
    return found


def _git(place: Path, env: config.Env) -> Any:
    from gitmem.git.run import clean

    return clean(place, env.vars)


@contextmanager
def opened(
    dataset: Dataset, folder: Path, now: datetime, seed: int = 1, vectors: Vectors | None = None
) -> Iterator[Worlds]:
    worlds = Worlds(dataset, folder, now, seed, vectors or Vectors())
    try:
        yield worlds
    finally:
        worlds.close()

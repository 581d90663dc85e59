"""The catalogue, brought from tree to tree, the catalogue made anew, and the plain reading of a tree say the same."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gitmem import judge
from gitmem.git import objects
from gitmem.index import catalogue, place, refresh
from gitmem.index.catalogue import Catalogue
from gitmem.model import card as cards
from gitmem.model import live
from gitmem.registry import load
from tests.checks.by_hand import make, quoted

NOW = datetime(2026, 12, 1, tzinfo=UTC)
PROJECTS = "atlas:\n  name: atlas\n  status: active\n"
COMMITS = 7


class History:
    """Commits of random changes, good and bad ones; `files` is the tree as `path -> (mode, bytes)`."""

    def __init__(self, seed: int):
        self.chance = random.Random(seed)
        self.files: dict[bytes, tuple[str, bytes]] = {
            b"registry/projects.yaml": ("100644", PROJECTS.encode())
        }
        self.ids: list[str] = []
        self.gone: dict[bytes, tuple[str, bytes]] = {}
        self.forgotten: list[str] = []

    def some(self, most: int) -> tuple[str, ...]:
        return tuple(self.chance.sample(self.ids, min(len(self.ids), self.chance.randint(1, most))))

    def put(self, path: str | bytes, data: bytes, mode: str = "100644") -> None:
        self.files[path if isinstance(path, bytes) else path.encode()] = (mode, data)

    def add(self, **more) -> None:  # type: ignore[no-untyped-def]
        name = f"c{self.chance.getrandbits(40):x}"
        scope = more.pop("scope", self.chance.choice(["global", "atlas"]))
        if self.chance.random() < 0.4 or "corroborates" in more:
            card, files = quoted(name, f"the words of {name} as they were said", scope=scope, **more)
            for path, data in files.items():
                self.put(path, data)
        else:
            card = make(name, scope=scope, **more)
        self.ids.append(card.id)
        self.put(cards.card_path(card), cards.dump(card))

    def of(self, folder: bytes) -> bytes | None:
        found = sorted(path for path in self.files if path.startswith(folder))
        return self.chance.choice(found) if found else None

    def step(self) -> None:
        match self.chance.choice(
            [
                *(
                    "add",
                    "add",
                    "add",
                    "replace",
                    "replace",
                    "retract",
                    "confirm",
                    "edit",
                    "break",
                    "delete",
                    "unsource",
                ),
                *(
                    "restore",
                    "twin",
                    "stranger",
                    "nowhere",
                    "circle",
                    "link",
                    "bytes",
                    "forget",
                    "later",
                    "expired",
                ),
            ]
        ):
            case "replace" if self.ids:
                self.add(supersedes=self.some(2))
            case "retract" if self.ids:
                name = f"r{self.chance.getrandbits(40):x}"
                card = replace(make(name), type=None, conclusion=None, retracts=self.some(2))
                self.ids.append(card.id)
                self.put(cards.card_path(card), cards.dump(card))
            case "confirm" if self.ids:
                self.add(corroborates=self.some(1), conclusion=None)
            case "edit" if path := self.of(b"cards/"):
                mode, data = self.files[path]
                self.put(path, data + b"Edited.\n", mode)
            case "break" if path := self.of(b"cards/"):
                mode, data = self.files[path]
                bad = [
                    b"\xef\xbb\xbf" + data,
                    data.replace(b"turn: 7", b"turn: 8"),
                    data.replace(b"\n---\n", b"\n", 1),
                    b"",
                ]
                self.put(path, self.chance.choice(bad), mode)
            case "delete" if path := self.of(b"cards/"):
                self.gone[path] = self.files.pop(path)
            case "unsource" if path := self.of(b"sources/"):
                self.gone[path] = self.files.pop(path)
            case "restore" if self.gone:
                path = self.chance.choice(sorted(self.gone))
                self.files[path] = self.gone.pop(path)
            case "twin" if path := self.of(b"cards/"):
                self.put(path.replace(b"2026-11-09-", b"2026-11-09-twin-"), self.files[path][1])
            case "stranger":
                self.add(
                    **self.chance.choice(
                        [{"author": "stranger"}, {"type": "gossip"}, {"scope": "nowhere"}, {"type": "habit"}]
                    )
                )
            case "nowhere":
                self.add(supersedes=("z000000000",))
            case "circle" if len(self.ids) > 1:
                self._circle()
            case "link" if path := self.of(self.chance.choice([b"cards/", b"sources/"])):
                self.put(path, self.files[path][1], self.chance.choice(["120000", "100755"]))
            case "bytes":
                self.put(b"cards/global/\xff-%d.md" % len(self.files), b"no card")
            case "forget" if self.ids:
                self.forgotten.append(self.chance.choice(self.ids))
                self.put(
                    "registry/forgotten.yaml",
                    f"cards: [{', '.join(dict.fromkeys(self.forgotten))}]\n".encode(),
                )
            case "later":
                self.add(valid_from="2027-01-01")
            case "expired":
                self.add(expires="2026-11-20")
            case _:
                self.add()

    def _circle(self) -> None:
        """Let two or three cards replace one another."""
        paths = sorted(path for path in self.files if path.startswith(b"cards/"))
        self.chance.shuffle(paths)
        found = [
            (path, card)
            for path in paths
            if (card := cards.read(self.files[path][1])[0]) and not card.corroborates and not card.retracts
        ]
        ring = found[: self.chance.randint(2, 3)]
        for (path, card), (_, other) in zip(ring, ring[1:] + ring[:1], strict=True):
            if card.id != other.id:
                self.put(path, cards.dump(replace(card, supersedes=(other.id,), overrides=())))

    def commits(self) -> bytes:
        """A stream for `git fast-import`."""
        out = []
        for number in range(COMMITS):
            for _ in range(self.chance.randint(1, 4)):
                self.step()
            out.append(
                b"commit refs/heads/random\ncommitter T <you@example.com> %d +0000\ndata 0\n"
                % (1_790_000_000 + number)
            )
            out.append(b"from refs/heads/main^0\n" if number == 0 else b"")
            out.append(b"D cards\nD sources\n")
            for path, (mode, data) in sorted(self.files.items()):
                quoted_path = b'"%s"' % b"".join(b"\\%03o" % c if c > 126 else bytes([c]) for c in path)
                out.append(b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), quoted_path, len(data), data))
        return b"".join(out)


def _empty() -> Catalogue:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(catalogue.TABLES + f"INSERT INTO meta VALUES ('format', '{place.FORMAT}');")
    return Catalogue(connection)


def _said(corpus, ids, registry):  # type: ignore[no-untyped-def]
    """Everything the checks and recall ask of a corpus."""
    return {
        one: (corpus.facts(one), list(corpus.pointing_at(one)), corpus.path_of(one), live.status(corpus, one, registry, NOW), sorted(live.live_ends(corpus, one, registry, NOW)))
        for one in ids
    } | {"all": list(corpus.all_ids())}  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_three_readings_of_a_random_history_agree(memory, seed):
    history = History(seed)
    git = memory.git
    git.run("fast-import", "--quiet", "--force", input=history.commits())
    step = _empty()
    before = None
    for commit in git.lines("rev-list", "--reverse", "main..random"):
        tree, registry_tree = git.lines("rev-parse", f"{commit}^{{tree}}", f"{commit}:registry")
        here = replace(memory, tip=commit, tree=tree, registry_tree=registry_tree)
        registry = load.at(git, commit)
        step = Catalogue(step.db)  # what was looked up is kept for one state only
        refresh.refresh(here, registry, step, objects.changes(git, before, tree, "cards", "sources"))
        fresh = _empty()
        refresh.refresh(here, registry, fresh, objects.changes(git, None, tree, "cards", "sources"))
        reader = objects.open_light(git)
        plain = judge.tree_corpus(git, commit, reader, registry)
        wanted = _said(plain, history.ids, registry)
        reader.close()
        assert _said(fresh, history.ids, registry) == wanted
        assert _said(step, history.ids, registry) == wanted
        assert step.faults() == fresh.faults()
        before = tree
        fresh.close()
    step.close()


def test_the_random_histories_hold_what_they_are_for(memory):
    """Enough of them is valid, invalid, replaced, retracted, circular and forgotten."""
    words: set[str] = set()
    faults: set[str] = set()
    for seed in range(30):
        history = History(seed)
        memory.git.run("fast-import", "--quiet", "--force", input=history.commits())
        tree, registry_tree = memory.git.lines("rev-parse", "random^{tree}", "random:registry")
        here = replace(memory, tip="random", tree=tree, registry_tree=registry_tree)
        registry = load.at(memory.git, "random")
        found = _empty()
        refresh.refresh(here, registry, found, objects.changes(memory.git, None, tree, "cards", "sources"))
        words |= {live.status(found, one, registry, NOW).word for one in history.ids}
        faults |= {message.split("`")[0] for _, _, message in found.faults()}
        found.close()
    assert words >= {"live", "superseded", "retracted", "expired", "not yet", "missing"}
    assert faults >= {
        "SCHEMA unknown author ", "SCHEMA unknown type ", "SCHEMA no project ", "SCHEMA the id ", "APPEND-ONLY this card was forgotten",
        "SUPERSEDES no card ", "SCHEMA a symbolic link, not a regular file (100644)", "EVIDENCE card ",
    }  # fmt: skip

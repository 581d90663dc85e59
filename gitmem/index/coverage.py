"""How much of the memory the index knows, and by which embedder. Cheap to ask, and all that a fresh index needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gitmem.git.locate import Memory
from gitmem.index import anchors, embed, languages, place, vectors
from gitmem.index.analyse import ANALYSER_VERSION
from gitmem.index.catalogue import Catalogue
from gitmem.model.registry import Registry


@dataclass(frozen=True, slots=True)
class Coverage:
    """Numbers of cards: all, those findable by words, those with vectors of `embedder`."""

    cards: int
    worded: int
    embedded: int
    embedder: str

    @property
    def complete(self) -> bool:
        return self.worded == self.cards and (self.embedder == "none" or self.embedded == self.cards)


def embedder_name(memory: Memory, registry: Registry) -> str:
    """The embedder in force here: local configuration, else the registry's if it is bundled; `none` where absent."""
    name = memory.setting("mem.embedder") or registry.memory.embedder
    if name not in embed.BUNDLED and memory.setting("mem.embedder") != name:
        name = "none"
    return name if embed.available(name) else "none"


def coverage(catalogue: Catalogue, embedder: str) -> Coverage:
    cards, worded, embedded = catalogue.db.execute(
        "SELECT count(*), coalesce(sum(worded), 0), count(slot) FROM cards WHERE kind = 'card' AND fault IS NULL"
    ).fetchone()
    if catalogue.meta("embedder") != embedder:
        embedded = 0
    return Coverage(cards, worded, embedded, embedder)


def is_complete(catalogue: Catalogue, embedder: str) -> bool:
    """`coverage(…).complete`, without counting."""
    db = catalogue.db
    if db.execute("SELECT 1 FROM cards WHERE worded = 0 LIMIT 1").fetchone():
        return False
    if embedder == "none":
        return True
    bare = "SELECT 1 FROM cards WHERE slot IS NULL AND kind = 'card' AND fault IS NULL LIMIT 1"
    others = catalogue.meta("embedder") != embedder and catalogue.number()
    return not others and not db.execute(bare).fetchone()


def has_vectors(catalogue: Catalogue, state: Path) -> bool:
    """Whether the vectors that the catalogue speaks of are there."""
    needed = 4 * int(catalogue.meta("slots") or "0") * int(catalogue.meta("dim") or "0")
    return not needed or _size(place.vectors(state, catalogue.meta("embedder") or "")) >= needed


def has_anchors(catalogue: Catalogue, state: Path) -> bool:
    """Whether the vectors that a prompt is measured by are there."""
    needed = 4 * anchors.ROWS * int(catalogue.meta("dim") or "0")
    return (
        not needed or _size(place.anchors(state, catalogue.meta("embedder") or "", anchors.VERSION)) == needed
    )


def are_sound(catalogue: Catalogue, state: Path) -> bool:
    """Whether the vectors and the anchors, as far as they are there, hold vectors; reads both whole."""
    name, dim = catalogue.meta("embedder") or "", int(catalogue.meta("dim") or "0")
    if not dim:
        return True
    slots = int(catalogue.meta("slots") or "0")
    return (not slots or vectors.sound(place.vectors(state, name), dim, slots)) and (
        not has_anchors(catalogue, state) or _anchors_sound(place.anchors(state, name, anchors.VERSION), dim)
    )


def _anchors_sound(file: Path, dim: int) -> bool:
    try:
        vectors.means(file, dim, languages.ROWS)
    except vectors.Damaged:
        return False
    return vectors.sound(file, dim, len(anchors.TEXTS), languages.ROWS)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def speaks_of(catalogue: Catalogue, memory: Memory) -> bool:
    """Whether the catalogue is of exactly this tree and registry, cut by this analyser."""
    return (
        catalogue.tree == (memory.tree or "")
        and catalogue.meta("registry") == (memory.registry_tree or "")
        and catalogue.meta("analyser") == str(ANALYSER_VERSION)
    )

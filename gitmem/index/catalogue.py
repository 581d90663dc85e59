"""The catalogue: what the index knows of every card of one tree, in SQLite.

It is derived from the tree alone and says which tree. It answers liveness (`Graph`), the checks (`Corpus`)
and recall. `refresh` brings it from one tree to another at the cost of what differs.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitmem.git.run import Git
from gitmem.index import place
from gitmem.model.live import Facts

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE cards(
  row INTEGER PRIMARY KEY, path TEXT UNIQUE, blob TEXT, id TEXT, scope TEXT, type TEXT, kind TEXT,
  created TEXT, valid_from TEXT, expires TEXT, importance INTEGER, author TEXT, l0 TEXT, l1 TEXT, also TEXT,
  strength INTEGER, said_at TEXT, import_source TEXT, unquoted INTEGER, fold TEXT,
  fault TEXT, registry_fault TEXT, slot INTEGER, worded INTEGER DEFAULT 0);
CREATE INDEX cards_id ON cards(id);
CREATE INDEX cards_scope ON cards(scope, kind);
CREATE INDEX cards_fold ON cards(fold);
CREATE INDEX cards_slot ON cards(slot);
CREATE INDEX cards_todo ON cards(worded) WHERE worded = 0;
CREATE INDEX cards_bare ON cards(row DESC) WHERE slot IS NULL AND kind = 'card' AND fault IS NULL;
CREATE INDEX cards_faulty ON cards(path) WHERE fault IS NOT NULL OR registry_fault IS NOT NULL;
CREATE TABLE edges(row INTEGER, kind TEXT, target TEXT);
CREATE INDEX edges_row ON edges(row);
CREATE INDEX edges_target ON edges(target);
CREATE TABLE cites(row INTEGER, source TEXT);
CREATE INDEX cites_source ON cites(source);
CREATE INDEX cites_row ON cites(row);
CREATE TABLE dropped(row INTEGER PRIMARY KEY);
CREATE TABLE numbers(scope TEXT PRIMARY KEY, cards INTEGER) WITHOUT ROWID;
CREATE TRIGGER cards_came AFTER INSERT ON cards WHEN NEW.kind = 'card' BEGIN
  INSERT INTO numbers VALUES (NEW.scope, 1) ON CONFLICT(scope) DO UPDATE SET cards = cards + 1; END;
CREATE TRIGGER cards_went AFTER DELETE ON cards WHEN OLD.kind = 'card' BEGIN
  UPDATE numbers SET cards = cards - 1 WHERE scope = OLD.scope; END;
"""


@dataclass(frozen=True, slots=True)
class Item:
    """A card as recall meets it. `row` is its number in the index, `slot` its vector's (None: not embedded yet)."""

    row: int
    path: str
    blob: str
    id: str
    scope: str
    type: str | None
    kind: str
    created: str
    valid_from: str | None
    importance: int
    author: str
    l0: str
    l1: str
    also: tuple[str, ...]
    unquoted: bool
    slot: int | None

    @property
    def embedded(self) -> str:
        """The text whose vector stands for the card: L0, the other wordings and L1."""
        return "\n".join(part for part in (self.l0, *self.also, self.l1) if part)


ITEM_COLUMNS = "row, path, blob, id, scope, type, kind, created, valid_from, importance, author, l0, l1, also, unquoted, slot"
_FACTS = "row, id, scope, type, created, valid_from, expires, l0, strength, said_at, import_source"
_VALID = "fault IS NULL AND registry_fault IS NULL"


class Catalogue:
    """One open catalogue. Reads see one consistent state from `begin` to `close`."""

    def __init__(self, connection: sqlite3.Connection):
        self.db = connection
        self._facts: dict[str, Facts | None] = {}
        self._pointing: dict[str, list[Facts]] = {}

    def close(self) -> None:
        self.db.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: everything or, when it raises, nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
            self.db.execute("COMMIT")
        except BaseException:
            # where SQLite has taken all back itself, there is nothing left to take back
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise

    # what the index says of itself

    def meta(self, key: str) -> str | None:
        found = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return found[0] if found else None

    def set_meta(self, key: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @property
    def tree(self) -> str | None:
        return self.meta("tree")

    def count(self, where: str = "1", *values: Any) -> int:
        return self.db.execute(f"SELECT count(*) FROM cards WHERE {where}", values).fetchone()[0]

    def number(self, scopes: Sequence[str] | None = None) -> int:
        """How many cards there are, of all scopes or of some; kept as they come and go, so it costs the same for any number."""
        where, values = "1", ()
        if scopes is not None:
            where, values = f"scope IN ({','.join('?' * len(scopes))})", tuple(scopes)
        return self.db.execute(
            f"SELECT coalesce(sum(cards), 0) FROM numbers WHERE {where}", values
        ).fetchone()[0]

    # the graph and the corpus

    def facts(self, card_id: str) -> Facts | None:
        if card_id not in self._facts:
            found = self.db.execute(
                f"SELECT {_FACTS} FROM cards WHERE id = ? AND {_VALID}", (card_id,)
            ).fetchone()
            self._facts[card_id] = self._as_facts(found) if found else None
        return self._facts[card_id]

    def pointing_at(self, card_id: str) -> Sequence[Facts]:
        if card_id not in self._pointing:
            rows = self.db.execute(
                f"SELECT DISTINCT {', '.join('c.' + name for name in _FACTS.split(', '))} FROM edges e JOIN cards c ON c.row = e.row"
                f" WHERE e.target = ? AND {_VALID} ORDER BY c.id",
                (card_id,),
            ).fetchall()
            self._pointing[card_id] = [self._as_facts(row) for row in rows]
        return self._pointing[card_id]

    def _as_facts(self, row: tuple) -> Facts:
        edges = self.db.execute(
            "SELECT kind, target FROM edges WHERE row = ? ORDER BY rowid", (row[0],)
        ).fetchall()
        return Facts(*row[1:8], tuple(edges), *row[8:])

    def prefetch(self, card_ids: Iterable[str]) -> None:
        """Look up many cards and what points at them in three queries; those asked for later cost nothing."""
        wanted = [one for one in dict.fromkeys(card_ids) if one not in self._facts][:500]
        if not wanted:
            return
        marks = ",".join("?" * len(wanted))
        pointing = self.db.execute(
            f"SELECT DISTINCT e.target, c.id FROM edges e JOIN cards c ON c.row = e.row WHERE e.target IN ({marks}) AND {_VALID} ORDER BY c.id",
            wanted,
        ).fetchall()
        both = list(dict.fromkeys([*wanted, *(holder for _, holder in pointing)]))
        marks = ",".join("?" * len(both))
        rows = self.db.execute(
            f"SELECT {_FACTS} FROM cards WHERE id IN ({marks}) AND {_VALID}", both
        ).fetchall()
        held: dict[int, list[tuple[str, str]]] = {}
        marks = ",".join("?" * len(rows))
        for row, kind, target in self.db.execute(
            f"SELECT row, kind, target FROM edges WHERE row IN ({marks}) ORDER BY rowid",
            [row[0] for row in rows],
        ):
            held.setdefault(row, []).append((kind, target))
        found = {row[1]: Facts(*row[1:8], tuple(held.get(row[0], ())), *row[8:]) for row in rows}
        for one in both:
            self._facts[one] = found.get(one)
        for one in wanted:
            self._pointing[one] = [found[holder] for target, holder in pointing if target == one]

    def path_of(self, card_id: str) -> str | None:
        found = self.db.execute("SELECT path FROM cards WHERE id = ? ORDER BY path", (card_id,)).fetchone()
        return found[0] if found else None

    def all_ids(self) -> Iterable[str]:
        return [
            row[0]
            for row in self.db.execute("SELECT DISTINCT id FROM cards WHERE id IS NOT NULL ORDER BY id")
        ]

    # cards

    def item(self, row: int) -> Item | None:
        found = self.db.execute(
            f"SELECT {ITEM_COLUMNS} FROM cards WHERE row = ? AND {_VALID}", (row,)
        ).fetchone()
        return as_item(found) if found else None

    def items(self, where: str = "1", values: Sequence[Any] = (), order: str = "id") -> list[Item]:
        rows = self.db.execute(
            f"SELECT {ITEM_COLUMNS} FROM cards WHERE {_VALID} AND {where} ORDER BY {order}", values
        )
        return [as_item(row) for row in rows]

    def by_id(self, card_id: str) -> Item | None:
        found = self.items("id = ?", (card_id,))
        return found[0] if found else None

    def by_prefix(self, prefix: str) -> list[Item]:
        return self.items("id >= ? AND id < ?", (prefix, prefix + "~"))

    def faults(self) -> list[tuple[str, int, str]]:
        """`(path, line, message)` of every card that is left out."""
        rows = self.db.execute(
            "SELECT path, fault, registry_fault FROM cards WHERE fault IS NOT NULL OR registry_fault IS NOT NULL ORDER BY path"
        )
        found = []
        for path, fault, registry_fault in rows:
            line, message = json.loads(fault) if fault else (1, registry_fault)
            found.append((path, line, message))
        return found


def as_item(row: tuple) -> Item:
    *head, importance, author, l0, l1, also, unquoted, slot = row
    return Item(
        *head, importance or 0, author, l0, l1, tuple(json.loads(also)) if also else (), bool(unquoted), slot
    )


def open_for_reading(state: Path, whole: bool = False) -> Catalogue | None:
    """The catalogue as it is; None when there is none, or none of this format. Never waits for a builder.

    Args:
        whole: None, too, when a part of it is damaged: every page is looked at, which a prompt has no time for.
    """
    file = place.database(state)
    if not file.is_file():
        return None
    connection = None
    try:
        connection = _connected(file)
        if whole:
            _look_over(connection)
        connection.execute("BEGIN")
        if connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() != (
            str(place.FORMAT),
        ):
            connection.close()
            return None
        return Catalogue(connection)
    except sqlite3.Error:
        if connection is not None:
            connection.close()
        return None


def _connected(file: Path) -> sqlite3.Connection:
    uri = f"file:{_quoted(file)}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, timeout=1.0, isolation_level=None)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        return connection
    except sqlite3.OperationalError as error:
        # in a folder that cannot be written SQLite can set up no shared memory beside the file
        connection.close()
        if is_damage(error) or os.access(file.parent, os.W_OK):
            raise
        return sqlite3.connect(uri + "&immutable=1", uri=True, isolation_level=None)


def _look_over(connection: sqlite3.Connection) -> None:
    """Look at every page.

    Raises:
        sqlite3.DatabaseError: one of them is not what was written.
    """
    found = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != ("ok",):
        raise sqlite3.DatabaseError(f"damaged: {found[0] if found else ''}")


def look_over(catalogue: Catalogue) -> None:
    """`_look_over` for an open catalogue.

    Raises:
        sqlite3.DatabaseError: a page is not what was written.
    """
    _look_over(catalogue.db)


def faults_of(state: Path) -> list[tuple[str, int, str]]:
    """`Catalogue.faults` of the catalogue as it is; none where it cannot be read: whoever answers next rebuilds it."""
    found = open_for_reading(state)
    if found is None:
        return []
    try:
        return found.faults()
    except (sqlite3.DatabaseError, ValueError):
        return []
    finally:
        found.close()


def open_for_writing(state: Path) -> Catalogue:
    """The catalogue for a builder that holds the index lock; a broken one is thrown away and begun anew."""
    file = place.database(state)
    file.parent.mkdir(parents=True, exist_ok=True)
    for attempt in (1, 2):
        connection = sqlite3.connect(file, timeout=10.0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            has = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'meta'").fetchone()[0]
            if not has:
                connection.executescript(
                    "BEGIN;" + TABLES + f"INSERT INTO meta VALUES ('format', '{place.FORMAT}'); COMMIT;"
                )
            elif connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() != (
                str(place.FORMAT),
            ):
                raise sqlite3.DatabaseError("another format")
            return Catalogue(connection)
        except sqlite3.DatabaseError as error:
            connection.close()
            if attempt == 2 or not is_damage(error):
                raise
            discard(state)
            file.parent.mkdir(parents=True, exist_ok=True)
    raise AssertionError


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says that the file is not what was written, and not that it is locked or that the disk is full."""
    if isinstance(error, sqlite3.OperationalError):
        return any(words in str(error) for words in ("no such", "already exists", "Could not decode"))
    return type(error) is sqlite3.DatabaseError


def discard(state: Path) -> None:
    """Throw the index away; the next use builds it again."""
    import shutil

    shutil.rmtree(place.folder(state), ignore_errors=True)


def corpus_of(git: Git, tree: str) -> Catalogue | None:
    """The catalogue as a corpus for the checks, when it knows exactly this tree."""
    found = git.run(
        "rev-parse", "--path-format=absolute", "--git-common-dir", f"{tree}^{{tree}}", check=False
    )
    if found.code != 0:
        return None
    common, oid = found.text().split("\n")
    catalogue = open_for_reading(Path(common) / "git-mem")
    if catalogue is None:
        return None
    if catalogue.tree != oid:
        catalogue.close()
        return None
    return catalogue


def _quoted(file: Path) -> str:
    from urllib.parse import quote

    return quote(str(file))


Progress = Callable[[str, int, int], None]

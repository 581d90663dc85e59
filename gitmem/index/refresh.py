"""Bring the catalogue to a tree: read what differs, judge it, note it. No embedder and no Whoosh in here."""

from __future__ import annotations

import json
from collections.abc import Callable

from gitmem.checks import card as card_check
from gitmem.checks.corpus import facts_of, registry_fault
from gitmem.checks.problem import printable
from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.git.objects import Change
from gitmem.index.catalogue import Catalogue, Progress
from gitmem.model import layers
from gitmem.model.card import Card, id_of_path
from gitmem.model.registry import Registry
from gitmem.record import changed

# So many files are noted at a time when a memory is read from nothing.
READ_BATCH = 5000


def differences(memory: Memory, catalogue: Catalogue) -> list[Change]:
    """Cards and sources that differ between the catalogue's tree and the memory's."""
    if memory.tree is None or memory.tree == catalogue.tree:
        return []
    return objects.changes(memory.git, catalogue.tree, memory.tree, "cards", "sources")


def read(memory: Memory, registry: Registry, catalogue: Catalogue, progress: Progress | None = None) -> None:
    """`refresh` for a builder: from nothing in parts that are kept, so that a reading that was broken off goes on.

    It goes on to the tree it was reading, whatever the memory's is now, and from there as always.
    """
    if catalogue.tree is None:
        begun, _, done = (catalogue.meta("reading") or "").partition(" ")
        if begun and not _is_there(memory, begun):
            begun = ""
        aim = changed(memory, tree=begun or memory.tree)
        changes = differences(aim, catalogue)
        if len(changes) > READ_BATCH:
            _read_in_parts(aim, catalogue, changes, int(done) if begun else 0, progress)
            refresh(aim, registry, catalogue, [], progress, read_before=True)
    refresh(memory, registry, catalogue, differences(memory, catalogue), progress)


def _read_in_parts(
    memory: Memory, catalogue: Catalogue, changes: list[Change], done: int, progress: Progress | None
) -> None:
    """Note every file of a tree, a transaction a part; nobody takes the catalogue for the tree's before all are."""
    reader = objects.open_bulk(memory.git, str(memory.common_dir))
    # of a tree that is read from nothing, no source changes the verdict on a card that was noted before
    cards = [change for change in changes if change.path.startswith("cards/")]
    entries = {change.path: change.new for change in changes if change.path.startswith("sources/")}
    if not done:
        _clear(catalogue)
    try:
        for start in range(done, len(cards), READ_BATCH):
            blobs = objects.Blobs(reader)
            told = progress and _shifted(progress, start, len(cards))
            part = cards[start : start + READ_BATCH]
            with catalogue.writing():
                _note(catalogue, part, blobs, _source_reader(memory, entries, blobs), told)
                catalogue.set_meta("reading", f"{memory.tree} {start + len(part)}")
    finally:
        reader.close()


def _shifted(progress: Progress, done: int, total: int) -> Progress:
    return lambda what, count, _: progress(what, done + count, total)


def _is_there(memory: Memory, tree: str) -> bool:
    return memory.git.run("cat-file", "-e", f"{tree}^{{tree}}", check=False).code == 0


def _clear(catalogue: Catalogue) -> None:
    """Forget what a reading that was broken off has noted."""
    for table in ("cards", "edges", "cites"):
        catalogue.db.execute(f"DELETE FROM {table}")
    catalogue.db.execute("DELETE FROM meta WHERE key = 'reading'")


def refresh(
    memory: Memory,
    registry: Registry,
    catalogue: Catalogue,
    changes: list[Change],
    progress: Progress | None = None,
    read_before: bool = False,
) -> None:
    """Note `changes` and the registry; afterwards the catalogue speaks of `memory.tree`.

    Args:
        read_before: the tree's files are noted already.
    """
    reader = (
        objects.open_light(memory.git)
        if len(changes) < 100
        else objects.open_bulk(memory.git, str(memory.common_dir))
    )
    blobs = objects.Blobs(reader)
    try:
        with catalogue.writing() as db:
            if catalogue.tree is None and not read_before and catalogue.meta("reading"):
                _clear(catalogue)
            touched: set[str] = set()
            if changes:
                sources = _source_reader(memory, _known_sources(memory, changes), blobs)
                touched = _note(catalogue, changes, blobs, sources, progress)
            same_registry = catalogue.meta("registry") == (memory.registry_tree or "")
            if touched or not same_registry:
                _judge_by_registry(catalogue, registry, touched if same_registry else None)
            catalogue.set_meta("tree", memory.tree or "")
            catalogue.set_meta("commit", memory.tip or "")
            catalogue.set_meta("registry", memory.registry_tree or "")
            db.execute("DELETE FROM meta WHERE key = 'reading'")
    finally:
        reader.close()


def _note(
    catalogue: Catalogue,
    changes: list[Change],
    blobs: objects.Blobs,
    tree_source: Callable[[str], bytes | None],
    progress: Progress | None,
) -> set[str]:
    """Bring the rows in step with `changes`; the ids of the cards that came or went."""
    db = catalogue.db
    touched: set[str] = set()
    todo = {change.path: change.new for change in changes if change.path.startswith("cards/")}
    # a source that came or went changes the verdict on the cards that cite it
    moved = [change.path for change in changes if change.path.startswith("sources/")]
    if moved and db.execute("SELECT 1 FROM cards LIMIT 1").fetchone():
        for source in moved:
            for path, blob in db.execute(
                "SELECT c.path, c.blob FROM cites s JOIN cards c ON c.row = s.row WHERE s.source = ?",
                (source,),
            ):
                todo.setdefault(path, objects.Entry(path, objects.REGULAR, blob))
    for number, (path, entry) in enumerate(todo.items(), 1):
        if progress and number % 200 == 0:
            progress("reading cards", number, len(todo))
        touched.update(drop(catalogue, path))
        if entry is not None and path.endswith(".md"):
            data = blobs[entry.oid] if entry.mode in (objects.REGULAR, "100755") else b""
            verdict = card_check.judge(path, entry.mode, data, tree_source, with_safety=False)
            touched.update(add(catalogue, path, entry.oid, verdict))
    if progress and len(todo) >= 200:
        progress("reading cards", len(todo), len(todo))
    return touched


def drop(catalogue: Catalogue, path: str) -> list[str]:
    """Take out the row of a path; the id it had."""
    found = catalogue.db.execute(
        "SELECT row, worded, id FROM cards WHERE path = ?", (printable(path),)
    ).fetchone()
    if not found:
        return []
    for table in ("edges", "cites", "cards"):
        catalogue.db.execute(f"DELETE FROM {table} WHERE row = ?", (found[0],))
    if found[1]:
        # its words leave Whoosh after this is committed, so that no reader misses a card it still lists
        catalogue.db.execute("INSERT OR IGNORE INTO dropped VALUES (?)", (found[0],))
    return [found[2]] if found[2] else []


def add(catalogue: Catalogue, path: str, blob: str, verdict: card_check.Verdict) -> list[str]:
    """A new row; also for a card that cannot be read, so that it can be named. The id, by the file's name if need be."""
    db = catalogue.db
    path = printable(
        path
    )  # a name of odd bytes is no text, and must not keep the other cards from being read
    row = _next_row(catalogue)
    error = next((p for p in verdict.problems if p.severity == "error"), None)
    fault = json.dumps([error.line, f"{error.code} {error.message}"], ensure_ascii=False) if error else None
    card = verdict.card
    if card is None:
        named = id_of_path(path)
        db.execute(
            "INSERT INTO cards(row, path, blob, id, fault, worded) VALUES (?, ?, ?, ?, ?, 1)",
            (row, path, blob, named, fault),
        )
        return [named] if named else []
    facts = facts_of(card)
    kind = kind_of(card)
    worded = 0 if kind == "card" and fault is None else 1
    db.execute(
        "INSERT INTO cards VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,NULL,NULL,?)",
        (
            row, path, blob, card.id, card.scope, card.type, kind, card.created, card.valid_from, card.expires, card.importance,
            card.author, facts.l0, layers.l1(card) if kind == "card" else "", json.dumps(card.also, ensure_ascii=False) if card.also else None,
            facts.strength, facts.said_at, facts.import_source, int(not card.evidence), folded(facts.l0) if kind == "card" else None,
            fault, worded,
        ),
    )  # fmt: skip
    db.executemany(
        "INSERT INTO edges VALUES (?, ?, ?)", [(row, edge, target) for edge, target in card.edges()]
    )
    db.executemany(
        "INSERT INTO cites VALUES (?, ?)",
        [(row, source) for source in {item.source for item in card.evidence}],
    )
    return [card.id]


def kind_of(card: Card) -> str:
    return "retraction" if card.retracts else "confirmation" if card.corroborates else "card"


def folded(text: str) -> str:
    """A conclusion for comparing: case, width, white space and a full stop at its end do not count."""
    import unicodedata

    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .。")


def _next_row(catalogue: Catalogue) -> int:
    """Row numbers are never used twice: Whoosh may still hold the words of a dropped one."""
    row = int(catalogue.meta("next_row") or "1")
    catalogue.set_meta("next_row", str(row + 1))
    return row


def _judge_by_registry(catalogue: Catalogue, registry: Registry, touched: set[str] | None) -> None:
    """What depends on the registry or on other cards: types, scopes, authors, twins, edges that lead nowhere.

    `touched`: ids of cards that came or went; they, the cards that point at them and those that replace them over
    a chain (it may have become a circle, or ceased to be one) are judged. None: all are.
    """
    db = catalogue.db
    where = "id IS NOT NULL"
    if touched is not None:
        db.execute("CREATE TEMP TABLE IF NOT EXISTS touched(id TEXT PRIMARY KEY)")
        db.execute("DELETE FROM touched")
        db.executemany("INSERT OR IGNORE INTO touched VALUES (?)", [(one,) for one in touched])
        where = (
            "row IN (WITH RECURSIVE above(id) AS (SELECT id FROM touched UNION SELECT c.id FROM above a"
            " JOIN edges e ON e.target = a.id AND e.kind = 'supersedes' JOIN cards c ON c.row = e.row)"
            " SELECT c.row FROM above a JOIN cards c ON c.id = a.id"
            " UNION SELECT e.row FROM touched t JOIN edges e ON e.target = t.id)"
        )
    rows = db.execute(
        f"SELECT row, path, id, type, scope, author, fault FROM cards WHERE {where} ORDER BY path"
    ).fetchall()
    faults = []
    for row, path, card_id, type_, scope, author, fault in rows:
        found = None
        if fault is None:
            found = registry_fault(type_, scope, author, registry)
            found = (
                f"SCHEMA {found}" if found else _fault_among_cards(catalogue, registry, row, path, card_id)
            )
        faults.append((found, row))
    db.executemany(
        "UPDATE cards SET registry_fault = ? WHERE row = ? AND registry_fault IS NOT ?",
        [(found, row, found) for found, row in faults],
    )


def _fault_among_cards(
    catalogue: Catalogue, registry: Registry, row: int, path: str, card_id: str
) -> str | None:
    db = catalogue.db
    twin = db.execute("SELECT min(path) FROM cards WHERE id = ?", (card_id,)).fetchone()[0]
    if twin != path:
        return f"SCHEMA the id `{card_id}` is taken by {twin}"
    if card_id in registry.forgotten:
        return "APPEND-ONLY this card was forgotten"
    edges = db.execute("SELECT kind, target FROM edges WHERE row = ?", (row,)).fetchall()
    for _, target in edges:
        # a target that is there and cannot be read is no reason to leave its successor out
        if (
            target not in registry.forgotten
            and not db.execute("SELECT 1 FROM cards WHERE id = ?", (target,)).fetchone()
        ):
            return f"SUPERSEDES no card `{target}`"
    if any(kind == "supersedes" for kind, _ in edges) and _leads_back(catalogue, card_id):
        return f"SUPERSEDES `{card_id}` supersedes itself over a chain"
    return None


def _leads_back(catalogue: Catalogue, start: str) -> bool:
    """Whether supersedes edges lead from a card back to it."""
    seen: set[str] = set()
    queue = [start]
    while queue:
        current = queue.pop()
        for (target,) in catalogue.db.execute(
            "SELECT e.target FROM cards c JOIN edges e ON e.row = c.row WHERE c.id = ? AND c.fault IS NULL AND e.kind = 'supersedes'"
            " AND c.path = (SELECT min(path) FROM cards twin WHERE twin.id = c.id)",
            (current,),
        ):
            if target == start:
                return True
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return False


def _known_sources(memory: Memory, changes: list[Change]) -> dict[str, objects.Entry | None]:
    """The sources that came with the cards; all of the tree where many cards come at a time."""
    known: dict[str, objects.Entry | None] = {c.path: c.new for c in changes if c.path.startswith("sources/")}
    if len(changes) > 50:
        known.update(
            (entry.path, entry) for entry in objects.entries(memory.git, memory.tree or "", "sources")
        )
    return known


def _source_reader(
    memory: Memory, known: dict[str, objects.Entry | None], blobs: objects.Blobs
) -> Callable[[str], bytes | None]:
    """Sources of the tree by their paths: the known ones, the others asked for one by one."""

    def read(path: str) -> bytes | None:
        if path not in known:
            found = objects.entries(memory.git, memory.tree or "", path)
            known[path] = found[0] if found and found[0].path == path else None
        entry = known[path]
        # a link, a submodule or an executable is no source
        return blobs[entry.oid] if entry is not None and entry.mode == objects.REGULAR else None

    return read

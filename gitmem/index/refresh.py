"""Bring the catalogue to a tree: read what differs, judge it, note it. No embedder and no Whoosh in here."""

from __future__ import annotations

import json
from collections.abc import Callable

from gitmem.checks import card as card_check
from gitmem.checks.corpus import facts_of
from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.git.objects import Change
from gitmem.index.catalogue import Catalogue, Progress, registry_fault
from gitmem.model import layers
from gitmem.model.card import Card
from gitmem.model.registry import Registry

Read = Callable[[str], bytes]


def differences(memory: Memory, catalogue: Catalogue) -> list[Change]:
    """Cards and sources that differ between the catalogue's tree and the memory's."""
    if memory.tree is None or memory.tree == catalogue.tree:
        return []
    return objects.changes(memory.git, catalogue.tree, memory.tree, "cards", "sources")


def refresh(memory: Memory, registry: Registry, catalogue: Catalogue, changes: list[Change], progress: Progress | None = None) -> None:
    """Note `changes` and the registry; afterwards the catalogue speaks of `memory.tree`."""
    db = catalogue.db
    reader = objects.open_light(memory.git) if len(changes) < 100 else objects.open_bulk(memory.git, str(memory.common_dir))
    blobs = objects.Blobs(reader)
    try:
        db.execute("BEGIN IMMEDIATE")
        try:
            if changes:
                _note(memory, catalogue, changes, blobs, progress)
            if changes or catalogue.meta("registry") != memory.registry_tree:
                _judge_by_registry(catalogue, registry)
            catalogue.set_meta("tree", memory.tree or "")
            catalogue.set_meta("commit", memory.tip or "")
            catalogue.set_meta("registry", memory.registry_tree or "")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
    finally:
        reader.close()


def _note(memory: Memory, catalogue: Catalogue, changes: list[Change], blobs: objects.Blobs, progress: Progress | None) -> None:
    db = catalogue.db
    tree_source = _source_reader(memory, changes, blobs)
    todo = {change.path: change.new for change in changes if change.path.startswith("cards/")}
    # a source that came or went changes the verdict on the cards that cite it
    moved = [change.path for change in changes if change.path.startswith("sources/")]
    if catalogue.count():
        for source in moved:
            for path, blob in db.execute("SELECT c.path, c.blob FROM cites s JOIN cards c ON c.row = s.row WHERE s.source = ?", (source,)):
                todo.setdefault(path, objects.Entry(path, objects.REGULAR, blob))
    for number, (path, entry) in enumerate(todo.items(), 1):
        if progress and number % 200 == 0:
            progress("reading cards", number, len(todo))
        drop(catalogue, path)
        if entry is not None and path.endswith(".md"):
            data = blobs[entry.oid] if entry.mode in (objects.REGULAR, "100755") else b""
            verdict = card_check.judge(path, entry.mode, data, tree_source, with_safety=False)
            add(catalogue, path, entry.oid, verdict)
    if progress and len(todo) >= 200:
        progress("reading cards", len(todo), len(todo))


def drop(catalogue: Catalogue, path: str) -> None:
    found = catalogue.db.execute("SELECT row, worded FROM cards WHERE path = ?", (path,)).fetchone()
    if not found:
        return
    for table in ("edges", "cites", "cards"):
        catalogue.db.execute(f"DELETE FROM {table} WHERE row = ?", (found[0],))
    if found[1]:
        # its words leave Whoosh after this is committed, so that no reader misses a card it still lists
        catalogue.db.execute("INSERT OR IGNORE INTO dropped VALUES (?)", (found[0],))


def add(catalogue: Catalogue, path: str, blob: str, verdict: card_check.Verdict) -> None:
    """A new row; also for a card that cannot be read, so that it can be named."""
    db = catalogue.db
    row = _next_row(catalogue)
    error = next((p for p in verdict.problems if p.severity == "error"), None)
    fault = json.dumps([error.line, f"{error.code} {error.message}"], ensure_ascii=False) if error else None
    card = verdict.card
    if card is None:
        db.execute("INSERT INTO cards(row, path, blob, fault, worded) VALUES (?, ?, ?, ?, 1)", (row, path, blob, fault))
        return
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
    db.executemany("INSERT INTO edges VALUES (?, ?, ?)", [(row, edge, target) for edge, target in card.edges()])
    db.executemany("INSERT INTO cites VALUES (?, ?)", [(row, source) for source in {item.source for item in card.evidence}])


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


def _judge_by_registry(catalogue: Catalogue, registry: Registry) -> None:
    """What depends on the registry or on other cards: types, scopes, authors, twins, edges that lead nowhere."""
    db = catalogue.db
    db.execute("UPDATE cards SET registry_fault = NULL WHERE registry_fault IS NOT NULL")
    for type_, scope, author in db.execute("SELECT DISTINCT type, scope, author FROM cards WHERE id IS NOT NULL").fetchall():
        fault = registry_fault({"type": type_, "scope": scope, "author": author}, registry)
        if fault:
            db.execute(
                "UPDATE cards SET registry_fault = ? WHERE type IS ? AND scope = ? AND author = ?", (f"SCHEMA {fault}", type_, scope, author)
            )
    db.execute(
        "UPDATE cards SET registry_fault = 'SCHEMA the id `' || id || '` is taken by another card' WHERE id IN"
        " (SELECT id FROM cards WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1)"
        " AND path <> (SELECT min(path) FROM cards twin WHERE twin.id = cards.id)"
    )
    if registry.forgotten:
        db.executemany(
            "UPDATE cards SET registry_fault = 'APPEND-ONLY this card was forgotten' WHERE id = ?", [(one,) for one in registry.forgotten]
        )
    missing = db.execute(
        "SELECT e.row, e.target FROM edges e LEFT JOIN cards t ON t.id = e.target AND t.fault IS NULL AND t.registry_fault IS NULL WHERE t.row IS NULL"
    ).fetchall()
    for row, target in missing:
        if target not in registry.forgotten:
            db.execute("UPDATE cards SET registry_fault = ? WHERE row = ?", (f"SUPERSEDES no valid card `{target}`", row))
    for row, card_id in _cycles(catalogue):
        db.execute("UPDATE cards SET registry_fault = ? WHERE row = ?", (f"SUPERSEDES `{card_id}` supersedes itself over a chain", row))


def _cycles(catalogue: Catalogue) -> list[tuple[int, str]]:
    targets: dict[str, list[str]] = {}
    rows: dict[str, int] = {}
    for row, card_id, target in catalogue.db.execute(
        "SELECT c.row, c.id, e.target FROM edges e JOIN cards c ON c.row = e.row WHERE e.kind = 'supersedes'"
    ):
        targets.setdefault(card_id, []).append(target)
        rows[card_id] = row
    found = []
    for start in targets:
        seen: set[str] = set()
        queue = [start]
        while queue:
            for target in targets.get(queue.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
        if start in seen:
            found.append((rows[start], start))
    return found


def _source_reader(memory: Memory, changes: list[Change], blobs: objects.Blobs) -> Callable[[str], bytes | None]:
    """Sources of the tree, asked for one by one, or listed once where many cards come at a time."""
    known: dict[str, str | None] = {c.path: c.new.oid if c.new else None for c in changes if c.path.startswith("sources/")}
    if len(changes) > 50:
        known.update((entry.path, entry.oid) for entry in objects.entries(memory.git, memory.tree or "", "sources"))

    def read(path: str) -> bytes | None:
        if path not in known:
            found = memory.git.run("rev-parse", "--verify", "-q", f"{memory.tree}:{path}", check=False)
            known[path] = found.text() if found.code == 0 else None
        oid = known[path]
        return blobs[oid] if oid else None

    return read

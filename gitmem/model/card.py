"""A card: one thing to remember, with the words it came from. Values in, values out; no git, no clock."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from gitmem.errors import FormatError
from gitmem.model import frontmatter, ids, layers, when
from gitmem.model import schema as schemas
from gitmem.resources import schema

EDGES = ("supersedes", "corroborates", "retracts", "overrides")
RESERVED_SCOPES = frozenset({"global", "personal", "projects", "all"})
MAX_CONCLUSION_BYTES = 200
_ORDER = (
    "id", "type", "scope", "conclusion", "also", "created", "author", "valid_from", "expires", "importance",
    "confidence", "tags", "session", *EDGES, "evidence",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Evidence:
    """`quote` stands in turn `turn` of the file `source`, said by `role`."""

    source: str
    turn: int
    role: str
    quote: str
    reported_by: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """One card. `conclusion` is None where the body's first sentence stands for it (hand-written cards),
    in confirmations and in retractions. Times are the text of the file."""

    id: str
    scope: str
    created: str
    author: str
    type: str | None = None
    conclusion: str | None = None
    body: str = ""
    also: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    supersedes: tuple[str, ...] = ()
    corroborates: tuple[str, ...] = ()
    retracts: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    valid_from: str | None = None
    expires: str | None = None
    importance: int | None = None
    confidence: float | None = None
    tags: tuple[str, ...] = ()
    session: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def edges(self) -> list[tuple[str, str]]:
        """`(kind, target id)` in the order of the file's kinds."""
        return [(kind, target) for kind in EDGES for target in getattr(self, kind)]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong in a card's file, at which line (from 1)."""

    line: int
    message: str
    hint: str = ""


def read(data: bytes) -> tuple[Card | None, list[Fault], frontmatter.Document | None]:
    """Parse a card's file.

    Returns:
        The card (None when anything is wrong), what is wrong, and the document when it could be split.
    """
    try:
        document = frontmatter.parse(data)
    except FormatError as error:
        return None, [Fault(error.line or 1, error.message, " ".join(error.hints))], None
    meta = schemas.typed(document.meta, schema("card"), schema("card"))
    found = [Fault(document.line(f.path), f.message, f.hint) for f in schemas.faults(meta, "card")]
    if not found:
        found = list(_beyond_schema(meta, document))
    if found:
        return None, sorted(found, key=lambda fault: fault.line), document
    return _build(meta, document.body), [], document


def parse(data: bytes) -> Card:
    """Parse a card's file.

    Raises:
        FormatError: the first thing that is wrong.
    """
    card, found, _ = read(data)
    if card is None:
        raise FormatError(found[0].message, found[0].line, [found[0].hint] if found[0].hint else [])
    return card


def _beyond_schema(meta: dict[str, Any], document: frontmatter.Document):
    """What JSON Schema cannot say: bytes instead of characters, and days that exist."""
    for key in ("conclusion",):
        size = len(meta.get(key, "").encode())
        if size > MAX_CONCLUSION_BYTES:
            yield Fault(
                document.line((key,)),
                f"`{key}` has {size} bytes, more than {MAX_CONCLUSION_BYTES}",
                "say it shorter, and the rest in the body",
            )
    if "conclusion" in meta and not _says(meta["conclusion"]):
        yield Fault(
            document.line(("conclusion",)),
            f"`conclusion` is `{meta['conclusion']}`, without a letter or a digit",
            "say it in words",
        )
    for key in ("created", "valid_from", "expires"):
        if key in meta and meta[key] != "never":
            try:
                when.parse(meta[key])
            except ValueError:
                yield Fault(document.line((key,)), f"`{key}` is `{meta[key]}`, a day that does not exist")
    if "retracts" not in meta and "corroborates" not in meta and "conclusion" not in meta:
        sentence = layers.first_sentence(document.body)
        if not sentence:
            yield Fault(1, "`conclusion` is missing and the body is empty", "add a line `conclusion: …`")
        elif len(sentence.encode()) > MAX_CONCLUSION_BYTES:
            yield Fault(
                document.body_line,
                f"`conclusion` is missing and the body's first sentence has more than {MAX_CONCLUSION_BYTES} bytes",
                "add a line `conclusion: …`",
            )


def _says(text: str) -> bool:
    """Whether there is a letter or a digit of any script: nothing else can be searched for."""
    return any(char.isalnum() for char in text)


def _build(meta: dict[str, Any], body: str) -> Card:
    known = {key: meta[key] for key in _ORDER if key in meta}
    for key in ("also", "tags", *EDGES):
        if key in known:
            known[key] = tuple(known[key])
    if "evidence" in known:
        known["evidence"] = tuple(Evidence(**item) for item in known["evidence"])
    extra = {key: value for key, value in meta.items() if key.startswith("x-")}
    return Card(**known, body=body, extra=extra)


def dump(card: Card) -> bytes:
    """The bytes of a card's file; `parse(dump(card)) == card`."""
    pairs: list[tuple[str, Any]] = []
    for key in _ORDER:
        value = getattr(card, key)
        if value is None or value == ():
            continue
        if key == "evidence":
            value = [_evidence_pairs(item) for item in value]
        elif isinstance(value, tuple):
            value = list(value)
        elif not isinstance(value, str):
            # never in scientific notation, which the schema does not read
            value = format(Decimal(repr(value)), "f")
        pairs.append((key, value))
    pairs.extend(card.extra.items())
    return frontmatter.dump(pairs, card.body)


def _evidence_pairs(item: Evidence) -> dict[str, str]:
    out = {"source": item.source, "turn": str(item.turn), "role": item.role, "quote": item.quote}
    if item.reported_by:
        out["reported_by"] = item.reported_by
    return out


_PATH = re.compile(
    r"cards/(?P<scope>[a-z0-9-]+)/(?P<y>\d{4})/(?P<m>\d{2})/(?P<d>\d{2})/(?P<date>\d{4}-\d{2}-\d{2})(?:-[a-z0-9-]+)?-(?P<id>[0-9a-z]{10})\.md\Z"
)


def path_faults(path: str, card: Card) -> list[str]:
    """What in a card's path does not fit its scope, its day and its id."""
    match = _PATH.match(path)
    if not match:
        return [f"the path is not `{card_path(card)}` (a slug may stand before the id)"]
    found = []
    if match["scope"] != card.scope:
        found.append(f"the path says scope `{match['scope']}`, the card `{card.scope}`")
    if match["id"] != card.id:
        found.append(f"the path says id `{match['id']}`, the card `{card.id}`")
    day = when.day(card.created).isoformat()
    if match["date"] != day or "-".join((match["y"], match["m"], match["d"])) != day:
        found.append(f"the path says {match['date']}, the card was created on {day} (UTC)")
    return found


def card_path(card: Card, slug: str = "") -> str:
    """`cards/<scope>/<yyyy>/<mm>/<dd>/<yyyy-mm-dd>[-<slug>]-<id>.md`"""
    day = when.day(card.created).isoformat()
    middle = f"-{slug}" if slug else ""
    return f"cards/{card.scope}/{day[:4]}/{day[5:7]}/{day[8:]}/{day}{middle}-{card.id}.md"


def id_of_path(path: str) -> str | None:
    """The card id that a file's name ends with; None when it ends with none."""
    tail = path.removesuffix(".md")[-ids.LENGTH :]
    return tail if ids.is_id(tail) else None


def slug(text: str, max_chars: int = 32) -> str:
    """ASCII words of `text` for a file name; empty where it has none."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    out = ""
    for word in words:
        if len(out) + len(word) + 1 > max_chars:
            break
        out += ("-" if out else "") + word
    return out

"""What a reader hands on: entries of a foreign memory, ready to become cards, and what it had to leave out.

In: texts. Out: `Entry` values and the sentences they are made of. Knows no git, no clock and no registry.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from gitmem.model import fold, layers
from gitmem.model.card import MAX_CONCLUSION_BYTES

# A card's file may have 64 KiB and a source 256 KiB; what stands around the text needs room too.
MAX_BODY_BYTES = 48 * 1024
MAX_DOCUMENT_BYTES = 128 * 1024
MAX_QUOTE_CHARS = 400
NEVER = "never"
_MARKER = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a foreign memory says.

    Args:
        key: what tells it from the others of its kind and scope; `file#digest` where a file has many entries.
        conclusion: one line of at most 200 bytes.
        document_text: the words of the file; `quote` stands in them.
        scope: None: the scope the import was asked for.
        ended: it is over already: it expires on its own date, or before the import where it has none.
        ended_unless_replaced: the same, but only when no successor of it is imported or there already.
        supersedes_keys: entries of the same kind and scope that this one replaces.
        project_name: the project it names itself; registered when nobody has.
        problems: what a person should know about it, although it is imported.
    """

    key: str
    conclusion: str
    document_text: str
    quote: str
    type: str = "fact"
    body: str = ""
    also: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scope: str | None = None
    valid_from: str | None = None
    expires: str | None = None
    ended: bool = False
    ended_unless_replaced: bool = False
    supersedes_keys: tuple[str, ...] = ()
    project_name: str | None = None
    problems: tuple[str, ...] = ()

    @property
    def file(self) -> str | None:
        """The file among whose entries this one is, when the key says so."""
        head, mark, _ = self.key.rpartition("#")
        return head if mark else None

    def digest(self) -> str:
        """Of what the file says, whatever the reader makes of it: the same digest, nothing to import."""
        parts = (
            self.document_text,
            self.type,
            self.valid_from or "",
            self.expires or "",
            str(self.ended or self.ended_unless_replaced),
            *sorted(self.supersedes_keys),
        )
        return short_digest("\0".join(parts), 16)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something in the file that becomes no card, and why."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found, in the order of its files."""

    entries: tuple[Entry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def __add__(self, other: Reading) -> Reading:
        return Reading(self.entries + other.entries, self.left_out + other.left_out)


def make(
    key: str,
    text: str,
    *,
    conclusion: str | None = None,
    body: str | None = None,
    tags: Iterable[str] = (),
    **rest: object,
) -> Entry:
    """An entry of `text`.

    Args:
        conclusion: what it says in short; its own first sentence where None.
        body: the card's text; `text` where None, nothing where the conclusion says it all.
        tags: what stood above it in the file: searched, never recited.
    """
    document = cut_bytes(tidy(text), MAX_DOCUMENT_BYTES)
    said, more = conclude(document) if conclusion is None else (one_line(conclusion), document)
    if body is not None:
        more = tidy(body)
    if len(said.encode()) > MAX_CONCLUSION_BYTES:
        more = more if same_words(said, more) or said in one_line(more) else f"{said}\n\n{more}".strip()
        said = cut_at_word(said, MAX_CONCLUSION_BYTES)
    if same_words(said, more):
        more = ""
    also = tuple(dict.fromkeys(cut_at_word(one, 200) for one in rest.pop("also", ()) if one != said))[:12]  # type: ignore[union-attr]
    more = cut_bytes(more, MAX_BODY_BYTES)
    quote = quote_of(document, said)
    return Entry(
        key, said, document, quote, body=f"{more}\n" if more else "", also=also, tags=_tags(tags), **rest
    )  # type: ignore[arg-type]


def _tags(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for word in words if (tag := one_line(word)[:60].strip())))[:20]


def tidy(text: str) -> str:
    """LF ends, no NUL and no byte order mark, no white space around it."""
    text = _encodable(text).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").replace("\ufeff", "")
    return text.strip("\n").rstrip()


def one_line(text: str) -> str:
    return " ".join(_encodable(text).split())


def _encodable(text: str) -> str:
    """Without lone surrogates, which JSON can spell and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


def conclude(text: str) -> tuple[str, str]:
    """`(conclusion, body)` of a text without a heading of its own.

    A short text of one paragraph is its own conclusion. Of a longer one the first sentence is, cut at a word
    where it must be, and the whole text is the body.
    """
    plain = text.strip()
    head = _MARKER.sub("", opening(plain), count=1) if _MARKER.match(plain) else opening(plain)
    line = one_line(head)
    if len(line.encode()) <= MAX_CONCLUSION_BYTES:
        return line, "" if same_words(head, plain) else text
    said = ""
    for sentence in layers.split_sentences(line):
        said += sentence
        # "Note." alone says nothing
        if fold.units(said) >= fold.MIN_UNITS:
            break
    return cut_at_word(said.strip(), MAX_CONCLUSION_BYTES), text


def opening(text: str) -> str:
    """The first paragraph, up to a blank line, a nested list, a fence or a table."""
    lines = text.split("\n")
    kept = [lines[0]]
    for line in lines[1:]:
        bare = line.lstrip()
        if not bare or _MARKER.match(bare) or bare.startswith(("```", "~~~", "|", ">", "#")):
            break
        kept.append(line)
    return "\n".join(kept)


def quote_of(document: str, wanted: str) -> str:
    """Words of the document that hold as evidence: the conclusion as it stands there, else its opening."""
    span = fold.find(wanted, document) if wanted else None
    if span is not None:
        words = document[span[0] : span[1]]
        if len(words) <= MAX_QUOTE_CHARS and fold.long_enough(words, document):
            return words
    if len(document) <= MAX_QUOTE_CHARS:
        return document.strip()
    words = ""
    for sentence in layers.split_sentences(document):
        words += sentence
        if fold.long_enough(words, document):
            break
    words = words.strip()
    if len(words) <= MAX_QUOTE_CHARS:
        return words
    at = document.index(words[:1])
    end = document.rfind(" ", at + MAX_QUOTE_CHARS // 2, at + MAX_QUOTE_CHARS)
    return document[at : end if end > 0 else at + MAX_QUOTE_CHARS].strip()


def cut_at_word(text: str, max_bytes: int) -> str:
    """`text` in at most `max_bytes` bytes with `…` where it was cut: behind a word, or between two Chinese characters."""
    if len(text.encode()) <= max_bytes:
        return text
    kept = text.encode()[: max_bytes - len("…".encode())].decode("utf-8", "ignore")
    following = text[len(kept) : len(kept) + 1]
    if following and not following.isspace() and not fold.is_cjk(following) and not fold.is_cjk(kept[-1]):
        at = max(kept.rfind(" "), max((i for i, c in enumerate(kept) if fold.is_cjk(c)), default=-1) + 1)
        kept = kept[:at] if at > max_bytes // 3 else kept
    return kept.rstrip(" ,;:，；：、(（") + "…"


def cut_bytes(text: str, max_bytes: int) -> str:
    """`text` up to the last line that fits, and a line that says it was cut."""
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    kept = data[: max_bytes - 40].decode("utf-8", "ignore")
    at = kept.rfind("\n")
    return (kept[:at] if at > len(kept) // 2 else kept).rstrip() + "\n\n[the file goes on]"


def same_words(a: str, b: str) -> bool:
    return one_line(a) == one_line(b)


def says_something(text: str) -> bool:
    return fold.units(text) >= 3


def short_digest(text: str, length: int = 10) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def numbered(file: str, text: str, taken: set[str]) -> str:
    """`file#digest of text`, told apart from those in `taken`, which it joins."""
    key = f"{file}#{short_digest(one_line(text))}"
    while key in taken:
        key += "x"
    taken.add(key)
    return key

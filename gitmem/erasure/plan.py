"""From ids of cards to what goes: the cards, the turns they cite, the words in both, and who else says them.

One rule for what is shared: words go wholly, or the command refuses and names every other card that holds them; they are
forgotten together, or (`keep_shared`) the words stay where the others hold them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.context import Context
from gitmem.erasure import roots
from gitmem.erasure.order import Order
from gitmem.erasure.words import Words
from gitmem.errors import FormatError, Refused, Usage
from gitmem.git import objects
from gitmem.git.locate import Memory
from gitmem.git.objects import REGULAR, Entry
from gitmem.model import card as cards
from gitmem.model import ids, layers
from gitmem.model import source as sources
from gitmem.model.card import Card, Evidence
from gitmem.model.registry import Tombstones, keyed_hash

Turn = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Going:
    """A card that goes. `quotes`: the words it cites; `asked`: named on the command line, not a confirmation that follows."""

    id: str
    scope: str
    path: str
    says: str
    quotes: tuple[str, ...]
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """What will go, and what that touches.

    Args:
        turns: (host, session, number) of every turn that goes; `texts`: whole turns, for their hashes.
        words: conclusions, other wordings and quotes, of every version of the cards on any ref.
        shared: other cards that hold these words or cite these turns, as (id, what they say).
        revived: cards that one of these replaced or took back, and that may be live again.
        briefs: briefs in which the words become `[forgotten]`.
        known: ids that were forgotten before.
        sessions: (host, session) that the words come from.
    """

    cards: tuple[Going, ...]
    turns: frozenset[Turn]
    texts: tuple[str, ...]
    words: Words
    shared: tuple[tuple[str, str], ...] = ()
    revived: tuple[tuple[str, str], ...] = ()
    briefs: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    sessions: tuple[tuple[str, str], ...] = ()
    keep_shared: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(one.id for one in self.cards)

    def order(self, tombstones: Tombstones) -> Order:
        """What is to be erased, with all that was forgotten before."""
        ours = Tombstones(frozenset(self.ids), self.turns)
        return Order.by(ours | tombstones, self.words.texts, self.keep_shared)

    def hashes(self, key: str) -> list[str]:
        """Keyed hashes of the words and turns, those left out that another card still holds."""
        texts = dict.fromkeys((*self.words.texts, *self.texts))
        if self.shared:
            texts = dict.fromkeys(self.words.texts if not self.keep_shared else ())
        return sorted({one for text in texts if (one := keyed_hash(key, text))})


def make(context: Context, asked: Sequence[str], keep_shared: bool = False) -> Plan:
    """What goes when these ids or prefixes are forgotten.

    Raises:
        Refused: no such card, or several.
        Usage: nothing was asked for.
    """
    if not asked:
        raise Usage("which card?", ["git mem search WORDS finds it", "git mem forget ID"])
    memory = context.memory
    shelf = _Shelf(memory)
    try:
        return _made(context, shelf, asked, keep_shared)
    finally:
        shelf.close()


def _made(context: Context, shelf: _Shelf, asked: Sequence[str], keep_shared: bool) -> Plan:
    named, known = _resolve(shelf, asked, context.registry.forgotten)
    following = shelf.confirmations(named)
    going, turns, texts, told, targets = [], set(), [], [], []
    heard: set[tuple[str, str]] = set()
    for card_id in (*named, *following):
        card = shelf.card(card_id)
        quotes = tuple(item.quote for item in card.evidence)
        says = layers.l0(card)
        scope = shelf.paths[card_id].split("/")[1]
        going.append(Going(card_id, scope, shelf.paths[card_id], says, quotes, card_id in named))
        for version in (card, *shelf.versions(card_id)):
            texts += [layers.l0(version), *version.also, *(item.quote for item in version.evidence)]
            for item in version.evidence:
                if found := shelf.turn(item.source, item.turn):
                    turns.add(found[0])
                    told.append(found[1])
                if source := shelf.source(item.source):
                    heard.add((source.host, source.session))
            targets += [*version.supersedes, *version.retracts]
    words = Words.of(texts)
    gone = {one.id for one in going}
    shared, kept_turns = shelf.others(gone, turns, words)
    if keep_shared:
        turns -= kept_turns
    return Plan(
        tuple(going),
        frozenset(turns),
        tuple(dict.fromkeys(told)),
        words,
        tuple((one, shelf.says(one)) for one in shared),
        tuple(
            (one, shelf.says(one)) for one in dict.fromkeys(targets) if one in shelf.paths and one not in gone
        ),
        () if keep_shared else shelf.briefs(words),
        tuple(known),
        tuple(sorted(heard)),
        keep_shared,
    )


def words_of(memory: Memory, order: Order) -> list[str]:
    """The words of cards that tombstones name, as far as any ref still holds them."""
    shelf = _Shelf(memory)
    try:
        return [
            text
            for card in shelf.versions(*sorted(order.cards))
            for text in (layers.l0(card), *card.also, *(item.quote for item in card.evidence))
        ]
    finally:
        shelf.close()


def refuse_shared(plan: Plan) -> None:
    """
    Raises:
        Refused: another card still holds the words, and nobody said that it may.
    """
    if not plan.shared or plan.keep_shared:
        return
    others = [one for one, _ in plan.shared]
    every = " ".join(ids.short(one) for one in (*(c.id for c in plan.cards if c.asked), *others))
    raise Refused(
        f"{len(others)} other card{'s hold' if len(others) > 1 else ' holds'} the same words, nothing was forgotten",
        [
            f"to forget them together: git mem forget {every}",
            "to leave the words where other cards hold them: repeat with --keep-shared",
        ],
        [f"{ids.short(one)}  {layers.shorten(says, 80)}" for one, says in plan.shared[:8]],
    )


def _resolve(shelf: _Shelf, asked: Sequence[str], forgotten: frozenset[str]) -> tuple[list[str], list[str]]:
    """Ids of cards that are there, and of those that were forgotten before."""
    named: list[str] = []
    known: list[str] = []
    for text in asked:
        prefix = ids.normal_prefix(text)
        found = sorted(one for one in shelf.paths if prefix and one.startswith(prefix))
        before = sorted(one for one in forgotten if prefix and one.startswith(prefix) and one not in found)
        if len(found) + len(before) > 1:
            raise Refused(
                f"`{text}` fits {len(found) + len(before)} cards",
                ["type one more character"],
                [f"{one}  {layers.shorten(shelf.says(one), 80)}" for one in found[:6]],
            )
        if found and found[0] not in named:
            named.append(found[0])
        known += [one for one in before if one not in known]
        if not found and not before:
            raise Refused(
                f"no card `{text}`", [f"git mem search {text}" if prefix is None else "git mem list --all"]
            )
    return named, known


_LINE = re.compile(r"^[ -]*(conclusion|source|turn|quote): *(.+?) *$", re.MULTILINE)


def _readable(data: bytes, card_id: str) -> Card:
    """A card; of one that is not in the form, the lines that say what it says and cites."""
    card = cards.read(data)[0]
    if card is not None:
        return card
    told: dict[str, list[str]] = {"conclusion": [], "source": [], "turn": [], "quote": []}
    for key, value in _LINE.findall(data.decode("utf-8", "replace")):
        told[key].append(value.strip("\"'"))
    places = [(s, int(n)) for s, n in zip(told["source"], told["turn"], strict=False) if n.isdecimal()]
    quotes = [*told["quote"], *[""] * len(places)]
    evidence = [Evidence(source, turn, "", quotes[i]) for i, (source, turn) in enumerate(places)]
    evidence += [Evidence("", 0, "", quote) for quote in told["quote"][len(places) :]]
    says = next(iter(told["conclusion"]), "")
    return Card(card_id, "", "", "", conclusion=says, evidence=tuple(evidence))


class _Shelf:
    """The files at the memory's tip, each read when it is asked for."""

    def __init__(self, memory: Memory):
        self._memory = memory
        found = objects.entries(memory.git, memory.tip, "cards", "sources", "briefs") if memory.tip else []
        self._files: dict[str, Entry] = {one.path: one for one in found if one.mode == REGULAR}
        self.paths: dict[str, str] = {}
        for path in self._files:
            if path.startswith("cards/") and (card_id := cards.id_of_path(path)):
                self.paths.setdefault(card_id, path)
        self._reader = objects.open_bulk(memory.git, str(memory.common_dir))
        self._cards: dict[str, Card] = {}

    def close(self) -> None:
        self._reader.close()

    def data(self, path: str) -> bytes:
        return self._reader.blob(self._files[path].oid)

    def card(self, card_id: str) -> Card:
        """A card; what can be told of it where its file is not in the form."""
        if card_id not in self._cards:
            self._cards[card_id] = _readable(self.data(self.paths[card_id]), card_id)
        return self._cards[card_id]

    def says(self, card_id: str) -> str:
        return layers.l0(self.card(card_id)) if card_id in self.paths else ""

    def confirmations(self, named: Sequence[str]) -> list[str]:
        """Cards that only say again what one of these says."""
        found = []
        for card_id, path in self.paths.items():
            if card_id in named:
                continue
            data = self.data(path)
            may = b"corroborates" in data and any(one.encode() in data for one in named)
            if may and set(self.card(card_id).corroborates) & set(named):
                found.append(card_id)
        return found

    def versions(self, *card_ids: str) -> list[Card]:
        """What the files of cards ever said, on any ref, where they can be read."""
        if not card_ids:
            return []
        # the list of stashes is a reflog, and only its newest one a ref
        others = [oid for oid, _ in roots.stashes(self._memory)]
        out = self._memory.git.run(
            "log", "--all", "-m", "--raw", "-z", "--no-abbrev", "--no-renames", "--format=",
            *others, "--", *(f":(glob)cards/**/*{card_id}.md" for card_id in card_ids),
        ).out  # fmt: skip
        found: dict[str, Card] = {}
        for change in objects.raw_changes(out.replace(b"\n", b"")):
            for entry in (change.old, change.new):
                if entry is not None and entry.mode == REGULAR and entry.oid not in found:
                    with contextlib.suppress(KeyError):
                        card_id = cards.id_of_path(entry.path) or ""
                        found[entry.oid] = _readable(self._reader.blob(entry.oid), card_id)
        return list(found.values())

    def source(self, path: str) -> sources.Source | None:
        if path not in self._files:
            return None
        try:
            return sources.parse(self.data(path))
        except FormatError:
            return None

    def turn(self, path: str, number: int) -> tuple[Turn, str] | None:
        """A cited turn, as what it is everywhere, and its words."""
        source = self.source(path)
        found = source.turn(number) if source else None
        return ((*sources.told_in(path, source), number), found.text) if source and found else None

    def others(self, gone: set[str], turns: set[Turn], words: Words) -> tuple[list[str], set[Turn]]:
        """Cards that stay and cite one of these turns or hold one of these words; and the turns they cite."""
        holding: dict[str, set[Turn]] = {}
        saying: set[str] = set()
        for path in self._files:
            if path.startswith("sources/") and (source := self._told(path, turns, words)):
                told_in = sources.told_in(path, source)
                holding[path] = {(*told_in, turn.number) for turn in source.turns} & turns
                if any(
                    words.stand_in(turn.text) for turn in source.turns if (*told_in, turn.number) not in turns
                ):
                    saying.add(path)
        found: dict[str, None] = {}
        kept: set[Turn] = set()
        for card_id, path in sorted(self.paths.items()):
            if card_id in gone:
                continue
            data = self.data(path)
            text = data.decode("utf-8", "replace")
            cited = [one for one in (*holding, *saying) if one in text]
            for item in self.card(card_id).evidence if cited else ():
                if here := self.turn(item.source, item.turn):
                    if here[0] in turns:
                        kept.add(here[0])
                        found[card_id] = None
                    elif item.source in saying and words.stand_in(here[1]):
                        found[card_id] = None
            if words.stand_in(text):
                found[card_id] = None
        return list(found), kept

    def _told(self, path: str, turns: set[Turn], words: Words) -> sources.Source | None:
        """A source that may hold one of these turns or words."""
        data = self.data(path)
        text = data.decode("utf-8", "replace")
        if any(name in text or name in path for _, name, _ in turns) or words.stand_in(text):
            return self.source(path)
        return None

    def briefs(self, words: Words) -> tuple[str, ...]:
        return tuple(
            path
            for path in sorted(self._files)
            if path.startswith("briefs/") and words.taken_out(self.data(path)) != self.data(path)
        )

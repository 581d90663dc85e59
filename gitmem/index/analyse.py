"""Text in, search tokens out: the one analyser for cards and for queries.

Because both sides go through `tokens`, whatever is folded here is found, and whatever is told apart here
stays apart. A query is data: no character has a meaning as syntax. The module knows nothing of cards,
scores or indexes.

In order: control and zero-width characters go; Unicode NFKC; accents off Latin, Greek and Cyrillic;
traditional Chinese to simplified; then tokens, case-folded and stemmed.

Stemming is Snowball's English stemmer through PyStemmer: C, 0.7 ms to import, 0.3 us a word, wheels for
Linux (glibc and musl), macOS and Windows. `whoosh.lang.porter` was turned down: it anchors two patterns at
the wrong end of the word, so `running` becomes `runn` and misses `run`. `whoosh.lang.snowball` loads
fifteen languages and is twenty times slower a word.

Traditional Chinese goes through OpenCC (`t2s`), whose import and load cost about 12 ms, so it is loaded only
for text that it would change. Simplified text is recognised without its tables: every Han character that GB
2312 can encode, but for those in `_CHANGES_INSIDE_GB2312`, is left alone by `t2s`, and Python carries that
codec. tests/index/test_analyse.py checks the claim against OpenCC's own tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import Stemmer

# Any change of what `tokens` returns, for any text, must raise this: indexes built with another number are
# rebuilt. A new release of PyStemmer or OpenCC can change the output too; the golden list in
# tests/index/golden/analyse.json fails then, and when this number was forgotten.
ANALYSER_VERSION: int = 1

MAX_TOKEN_CHARS = 64  # longer words are cut here and longer joined forms left out: blobs, not words

# Cc, Cf and Cs without the white space among them, variation selectors, the grapheme joiner and the invisible
# Hangul fillers.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
# Marks that the NFD form of Latin, Greek and Cyrillic letters uses; kana voicing marks and Hangul are elsewhere.
_ACCENTS = re.compile("[\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f]+")
_LETTERS = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D"}
    | {"ł": "l", "Ł": "L", "ı": "i", "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "−": "-"}
)

_HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001b000-\U0001b16f"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
# Scripts without spaces between words: Thai, Lao, Tibetan, Myanmar, Khmer.
_UNSPACED = _THAI + "\u0e81-\u0ece\u0f40-\u0fbc\u1000-\u103f\u1050-\u108f\u1780-\u17d3\u17d7\u17dd"
# Combining marks that belong to words of other scripts: Hebrew, Arabic, Syriac, Indic.
_MARKS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4"
    "\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0963\u0980-\u0df3"
)
_WORD = rf"[\w{_MARKS}]"
# A word with the inner dots, hyphens and English contractions that hold it together; C++ and C#; .NET.
_CHUNK = re.compile(
    r"(?<![A-Za-z0-9_.])\.[Nn][Ee][Tt](?![A-Za-z0-9_])"
    rf"|{_WORD}+(?:[.\-]{_WORD}+|'(?:[sStTdDmM]|[rR][eE]|[vV][eE]|[lL][lL])(?!{_WORD}))*(?:\+\+(?!\+)|\#(?!\w))?"
)
_POSSESSIVE = re.compile(rf"'[sS](?!{_WORD})")
_GROUPED_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,])[0-9]{1,3}(?:[,_][0-9]{3})+(?![0-9_]|,[0-9])")
_DOTS = re.compile(r"(?<![0-9])\.|\.(?![0-9])")  # every dot but those inside a number or version
_PIECE = re.compile(
    r"(?<![A-Za-z])[vV]?[0-9]+(?:\.[0-9]+)+|[0-9]+(?:\.[0-9]+)*"
    r"|[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+"
)
_PIECE_OF_OTHER_SCRIPT = re.compile(r"[0-9]+(?:\.[0-9]+)*|[^0-9.]+")

# Names written with a capital inside that are one word to everybody.
_NAMES = (
    "chatgpt deepseek devops eslint fastapi github gitlab graphql iphone ipad ios javascript latex linkedin "
    "macos mongodb mysql numpy oauth openai powerpoint powershell postgresql pytest pytorch readme sqlite "
    "sqlalchemy tensorflow typescript vscode webassembly websocket wechat whatsapp wifi youtube"
)
_ONE_WORD = frozenset(_NAMES.split())
# Where Snowball would merge words of different meaning, and short plurals that it is not asked about.
_STEMS = {"important": "important", "importance": "important", "importantly": "important"}
_STEMS |= dict.fromkeys(("authorize", "authorized", "authorizes", "authorizing", "authorization"), "authoriz")
_STEMS |= dict.fromkeys(("authorise", "authorised", "authorises", "authorising", "authorisation"), "authoriz")
_STEMS |= {"ids": "id", "prs": "pr", "vms": "vm", "uis": "ui", "dbs": "db", "ing": "ing", "its": "its"}

_stem_word = Stemmer.Stemmer("english", 0).stemWord  # no cache of its own: _memo below holds whole chunks
_memo: dict[str, tuple[str, ...]] = {}
_MEMO_MAX = 50_000

# Characters of GB 2312 that t2s changes wherever they stand, or as part of the words shown.
_CHANGES_INSIDE_GB2312 = re.compile(
    "[乾菸薹拚捱摺吒後徵夥榘於袷麴醣麽沈藉哩]|[回答批重反函示明申拜]覆|覆[覆墓按文校信呈命]|[捏毛土打陶拉一]坏|坏[土子布]"
)

# First and last code point of the blocks that `scripts` names.
_SCRIPT_BLOCKS = (
    ("digit", "0", "9"),
    ("latin", "A", "\u024f"),
    ("latin", "\u1e00", "\u1eff"),
    ("greek", "\u0370", "\u03ff"),
    ("greek", "\u1f00", "\u1fff"),
    ("cyrillic", "\u0400", "\u052f"),
    ("thai", "\u0e01", "\u0e4e"),
    ("kana", "\u3041", "\u30ff"),
    ("kana", "\u31f0", "\u31ff"),
    ("hangul", "\u1100", "\u11ff"),
    ("hangul", "\uac00", "\ud7fb"),
    ("han", "\u2e80", "\u3029"),
    ("han", "\u3400", "\u9fff"),
    ("han", "\U00020000", "\U0003ffff"),
)


def tokens(text: str, limit: int | None = None) -> list[str]:
    """Split text into search tokens, in order of appearance and with repeats.

    Latin, Greek, Cyrillic and other spaced scripts give stems of words. An identifier gives its parts and one
    joined form, so that `parse_table`, `parseTable`, `parse-table` and `ParseTable` are the same tokens
    (`pars`, `tabl`, `parset`). Numbers and versions stay whole (`3.11`); one of three components also gives
    its first two. Han, kana and Hangul give every character and every pair of neighbours; Thai, Lao, Tibetan,
    Myanmar and Khmer give pairs only. Punctuation and emoji give nothing.

    Args:
        text: anything, including lone surrogates and control characters.
        limit: at most this many tokens, the first ones; None for all.

    Returns:
        Case-folded tokens without white space, 1 to 64 characters each (a case fold may add a few). Time is
        linear in the length of the text.
    """
    out: list[str] = []
    folded = _fold(text)
    if folded.isascii():
        _words(folded, out, limit)
    else:
        start = 0
        for run in _unspaced_runs().finditer(folded):
            _words(folded[start : run.start()], out, limit)
            if limit is not None and len(out) >= limit:
                break
            start = run.end()
            part = run.group() if limit is None else run.group()[: limit + 1]
            _characters(part, run.lastindex != 3, out)
        else:
            _words(folded[start:], out, limit)
    return out if limit is None else out[:limit]


def scripts(text: str) -> frozenset[str]:
    """Name the scripts found in the tokens of a text.

    Returns:
        Of `latin`, `greek`, `cyrillic`, `han`, `kana`, `hangul`, `thai`, `digit` and `other`; empty for a
        text without tokens.
    """
    found = set()
    for character in set("".join(tokens(text))):
        if character.isalnum():
            named = {name for name, first, last in _SCRIPT_BLOCKS if first <= character <= last}
            found |= named or {"digit" if character.isdigit() else "other"}
    return frozenset(found)


def is_identifier_like(token: str) -> bool:
    """Tell whether a token looks like a name from code rather than a word: `utf8`, `3.11`, `c++`, `npm`.

    A joined form such as `parset` cannot be told from a word and gives False; so does a plain number.
    """
    if not token.isascii():
        return False
    if not token.isalnum():
        return True
    if token.isalpha():
        return len(token) >= 3 and not any(letter in "aeiouy" for letter in token)
    return not token.isdigit()


def _fold(text: str) -> str:
    """Make equal what should match, keeping case, which still shows where a camelCase word breaks."""
    text = _INVISIBLE.sub("", text)
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFD", normalize("NFKC", text))
        text = normalize("NFC", _ACCENTS.sub("", text)).translate(_LETTERS)
        text = _simplified(text)
    if "," in text or "_" in text:
        text = _GROUPED_NUMBER.sub(lambda number: number.group().replace(",", "").replace("_", ""), text)
    return text


def _simplified(text: str) -> str:
    """What OpenCC's `t2s` gives, without loading OpenCC where that is the text itself."""
    han = "".join(sign for sign in set(text) if "\u3400" <= sign <= "\u9fff" or sign >= "\U00020000")
    if han:
        try:
            han.encode("gb2312")
        except UnicodeEncodeError:
            return _t2s()(text)
        if _CHANGES_INSIDE_GB2312.search(text):
            return _t2s()(text)
    return text


@lru_cache(maxsize=1)
def _t2s() -> Callable[[str], str]:
    from opencc import OpenCC

    return OpenCC("t2s").convert


@lru_cache(maxsize=1)
def _unspaced_runs() -> re.Pattern[str]:
    """Runs of Han and kana, of Hangul, of scripts in pairs only; 1.5 ms to compile, so not for ASCII text."""
    return re.compile(f"([{_HAN}{_KANA}\u3105-\u312f]+)|([{_HANGUL}]+)|([{_UNSPACED}]+)")


def _characters(run: str, with_single: bool, out: list[str]) -> None:
    """Append characters and neighbouring pairs, or pairs alone where a single sign says nothing."""
    if with_single:
        for first, second in pairwise(run):
            out.append(first)
            out.append(first + second)
        out.append(run[-1])
    elif len(run) == 1:
        out.append(run)
    else:
        out.extend(map("".join, pairwise(run)))


def _words(text: str, out: list[str], limit: int | None) -> None:
    for chunk in _CHUNK.findall(text):
        found = _memo.get(chunk)
        if found is None:
            found = tuple(_compound(chunk))
            if len(chunk) <= MAX_TOKEN_CHARS:
                if len(_memo) >= _MEMO_MAX:
                    _memo.clear()
                _memo[chunk] = found
        out.extend(found)
        if limit is not None and len(out) >= limit:
            return


def _compound(chunk: str) -> list[str]:
    """Tokens of one chunk: of each group between dots its parts and joined form, then all groups joined."""
    if chunk[0] == ".":
        return [".net"]
    marked = ""
    if chunk[-1] in "+#":
        chunk, marked = chunk.rstrip("+#"), chunk.lower()
    if "'" in chunk:
        chunk = _POSSESSIVE.sub("", chunk).replace("'", "")
    if marked and chunk.isalpha() and len(chunk) < (2 if marked[-1] == "#" else 13):
        return [marked] if len(chunk) == 1 else [_finish(chunk), marked]
    found: list[str] = []
    whole: list[str] = []
    for group in _DOTS.split(chunk) if "." in chunk else (chunk,):
        words = [word for word in group.replace("-", "_").split("_") if word]
        if not words:
            continue
        parts = [part for word in words for part in _parts(word)]
        joined = _join(words)
        found.extend(map(_finish, parts))
        is_version = (
            len(parts) == 1 and "." in parts[0] and joined[-len(parts[0]) - 1 :] in (joined, parts[0])
        )
        if is_version and parts[0].count(".") == 2:
            found.append(parts[0].rpartition(".")[0])
        elif not is_version and joined != parts[0] and len(joined) <= MAX_TOKEN_CHARS:
            found.append(_finish(joined))
        whole.append(joined)
    if len(whole) > 1:
        joined = _join(whole)
        if len(joined) <= MAX_TOKEN_CHARS:
            found.append(_finish(joined))
    return found


def _parts(word: str) -> list[str]:
    """Break one word at changes of case and between letters and digits, where that leaves sensible parts."""
    if word.isalpha() and (word[1:].islower() or word.islower() or word.lower() in _ONE_WORD):
        return [word]
    if not word.isascii():
        return _PIECE_OF_OTHER_SCRIPT.findall(word)
    pieces = _PIECE.findall(word)
    if len(pieces) == 1:
        return [pieces[0].lstrip("vV") if "." in pieces[0] else pieces[0]]
    # `k8s`, `e5` and `x86` are names of one piece; a hash or a key has no parts worth finding.
    is_short_name = len(pieces[0]) == 1 and pieces[0].isalpha()
    is_key = len(pieces) > 4 and len(word) < 3 * len(pieces)
    if (is_short_name or is_key) and any(character.isdigit() for character in word):
        return [word]
    return [piece for piece in pieces if len(piece) > 1 or piece.isdigit()] or [word]


def _join(words: list[str]) -> str:
    """Run words together, with a hyphen only between digits, where `3-11` must not become `311`."""
    joined = ""
    if sum(map(len, words)) > MAX_TOKEN_CHARS:
        return "".join(words)[: MAX_TOKEN_CHARS + 1]
    for word in words:
        joined += "-" + word if joined and joined[-1].isdigit() and word[0].isdigit() else word
    return joined


def _finish(word: str) -> str:
    word = word[:MAX_TOKEN_CHARS].casefold()
    if not (word.isascii() and word.isalpha()):
        return word
    return _STEMS.get(word) or (_stem_word(word) if len(word) > 3 else word)

"""The safety check: text in, findings out.

Refuses phrases that command a model, commands that carry credentials away, characters nobody sees, and secrets.
Pure: knows no files, no git and no registry. A card's decoded values (a YAML escape can spell what the file's bytes
do not show) are the caller's to pass in as further texts.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from gitmem.checks import patterns as p


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found. `line` counts from 1 within the scanned text, `name` is stable, `what` never holds a secret."""

    line: int
    what: str
    hint: str
    severity: str
    name: str


class Secret(NamedTuple):
    """A secret in a text: text[start:end], in characters."""

    start: int
    end: int
    name: str


class _View(NamedTuple):
    """A folded form of a text; starts[i] is where source line i + 1 begins in it."""

    text: str
    starts: list[int]

    def line(self, offset: int) -> int:
        return bisect_right(self.starts, offset)


def scan(text: str, *, kind: str = "card") -> list[Finding]:
    """Judge one text.

    Args:
        text: a whole file or a single value; lines end with LF or CRLF.
        kind: `card`, `brief` or `source`. A source is never put before a model, so there a phrase or a pasted
            zero-width character only warns, while bidirectional overrides, tag characters and secrets do not.

    Returns:
        Findings by line, at most one per line and name.

    Raises:
        ValueError: kind is none of the three.
    """
    if kind not in ("card", "brief", "source"):
        raise ValueError(f"unknown kind `{kind}`")
    found = [*_invisible(text, kind), *_secrets(text), *_phrases(text, kind), *_commands(text, kind)]
    first: dict[tuple[int, str], Finding] = {}
    for finding in found:
        known = first.get((finding.line, finding.name))
        if known is None or (known.severity == "warning" and finding.severity == "error"):
            first[finding.line, finding.name] = finding
    return sorted(first.values(), key=lambda f: (f.line, f.severity, f.name))


def mask_secrets(text: str) -> str:
    """The text with each secret replaced by `[secret: NAME]`, everything else unchanged; holds none any more."""
    # A mask can free the edge of a token that was glued to it, so look again; each round masks at least one.
    while secrets := find_secrets(text):
        out, at = [], 0
        for secret in secrets:
            out += [text[at : secret.start], f"[secret: {secret.name}]"]
            at = secret.end
        text = "".join([*out, text[at:]])
    return text


@cache
def _compile(source: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(source, flags)


# -- folded views ------------------------------------------------------------------------------------------

# Nothing of these is seen, so none of them may split a phrase or a token.
_UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
# Letters drawn alike in Latin; only English phrases are looked for, so folding them can hide nothing.
_LOOKALIKE = str.maketrans("аеорсухіјѕԁһоαοιν", "aeopcyxijsdhoaoiv")
_SIMPLIFIED = str.maketrans(
    "無視統從現開後須訴發請詞設規則聽遵應戶開擴輸顯洩終執運刪傳裝載準為們這過讓個並當對話內徵詢問許確認",
    "无视统从现开后须诉发请词设规则听遵应户开扩输显泄终执运删传装载准为们这过让个并当对话内征询问许确认",
)
_WIDTH = {0xFF01 + i: 0x21 + i for i in range(94)} | {0x3000: 0x20}


def _line(line: str) -> str:
    if line.isascii():
        return line.lower()
    return unicodedata.normalize("NFKC", _compile(_UNSEEN).sub("", line)).lower()


def _words(line: str) -> str:
    if not line.isascii():
        line = "".join(c for c in unicodedata.normalize("NFKD", line) if not unicodedata.combining(c))
        line = line.translate(_LOOKALIKE).replace("’", "'")
    line = _compile(r"[.!?;。！？；]+(?=\s|$)").sub("\x01", line.replace("'", ""))
    return _compile(r"[^\w\x01]+|_+").sub(" ", line).replace("\x01", " . ")


def _zh(line: str) -> str:
    line = _compile(r"\s+").sub("", line.translate(_SIMPLIFIED))
    return _compile(r"[^\w。]+").sub(",", _compile(r"[。!?;]+|\.(?!\w)").sub("。", line))


def _view(lines: list[str], fold, glue: str) -> _View:
    parts, starts, at = [], [], 0
    for line in map(fold, lines):
        if glue == " ":
            line = " ".join(line.split())
        starts.append(at)
        if line:
            parts.append(line + glue)
            at += len(line) + len(glue)
    return _View("".join(parts), starts)


# -- phrases -----------------------------------------------------------------------------------------------

_PHRASE_HINT = "write what holds in the project, not what a model shall do; a card is a note, never an order"
_TAG_HINT = "name the tag in words; written out it could close or open a block of the host"
_SENTENCE = 160  # characters of context that a guard may read


def _phrases(text: str, kind: str) -> Iterator[Finding]:
    folded = [_line(line) for line in text.split("\n")]
    views = {"lines": _view(folded, str, "\n"), "words": _view(folded, _words, " ")}
    views["zh"] = _view(folded, _zh, "") if _compile("[一-鿿]").search(text) else _View("", [0])
    for rule in p.RULES:
        view = views[rule.view]
        if not any(cue in view.text for cue in rule.cues):
            continue
        for match in _compile(rule.regex).finditer(view.text):
            before, after = _around(view.text, match.start(), match.end())
            if rule.unless and _compile(rule.unless).search(before):
                continue
            severity = "warning" if kind == "source" else rule.severity
            if rule.soften and _compile(rule.soften).search(f"{before} | {after}"):
                severity = "warning"
            forged = rule.view == "lines"
            what = "forges a turn or a tag of the host" if forged else "speaks to a model"
            yield Finding(
                view.line(match.start()),
                f"{what}: `{_excerpt(match.group())}`",
                _TAG_HINT if forged else _PHRASE_HINT,
                severity,
                rule.name,
            )


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    """The rest of the sentence before and after text[start:end], each at most _SENTENCE characters."""
    before = _compile(r"[.。\n]").split(text[max(0, start - _SENTENCE) : start])[-1]
    after = _compile(r"[.。\n]").split(text[end : end + _SENTENCE])[0]
    return before, after


def _excerpt(text: str) -> str:
    text = " ".join("".join(c if c.isprintable() else " " for c in text.replace("`", "'")).split())
    return text if len(text) <= 60 else text[:59] + "…"


# -- commands and credential files -------------------------------------------------------------------------

_SEND_HINT = "describe the danger without the command; no card may carry credentials to a host"


def _commands(text: str, kind: str) -> Iterator[Finding]:
    folded = _line(text.replace("\\\n", "\x02 "))
    sends = any(
        cue in folded
        for cue in (
            *p.SENDER_CUES,
            *p.COPIER_CUES,
            "requests.",
            "fetch(",
            "urlopen",
            "axios",
            "httpx",
            "://",
            "发",
            "传",
        )
    )
    names = kind != "source" and any(cue in folded for cue in p.CREDENTIAL_CUES)
    if not sends and not names:
        return
    number = 1
    for line in folded.split("\n"):
        hit = _sends(line) if sends else None
        if hit:
            name, severity, what = hit
            yield Finding(number, what, _SEND_HINT, "warning" if kind == "source" else severity, name)
        elif names and (file := _compile(p.CREDENTIAL_FILE).search(line)):
            what = f"names a credential file: `{_excerpt(file.group())}`"
            yield Finding(
                number,
                what,
                "fine as a warning to others; never store its content",
                "warning",
                "credential-file",
            )
        number += 1 + line.count("\x02")


def _sends(line: str) -> tuple[str, str, str] | None:
    """(name, severity, what) when the line sends credentials, or a file, to another host."""
    credential = _compile(p.CREDENTIAL_FILE)
    if any(cue in line for cue in p.SENDER_CUES) and (sender := _compile(p.SENDER).search(line)):
        bare = _compile(p.USES_KEY).sub("", line)
        tool, verdict = sender.group(), None
        if _piped(bare) or _substituted(bare, credential):
            verdict = "error"
        else:
            for part in _compile(r"[|;]|&&").split(bare):
                if _compile(p.SENDER).search(part):
                    verdict = _uploads(part, credential) or verdict
        if verdict == "error":
            return "exfiltration", "error", f"sends credentials to a host with `{tool}`"
        if verdict:
            return "upload", "warning", f"sends a file or a secret variable to a host with `{tool}`"
    if any(cue in line for cue in p.COPIER_CUES) and _compile(p.COPIER).search(line):
        bare = _compile(p.USES_KEY).sub("", line)
        if _compile(
            p.COPIER
            + r"[^|;\n]{0,120}?(?:\.ssh/id_|id_)(?:rsa|ed25519|ecdsa|dsa)(?![\w-])(?!\.pub)[^|;\n]{0,80} \S{1,80}:"
        ).search(bare):
            return "exfiltration", "error", "copies a private key to another host"
    if call := _compile(p.HTTP_CALL).search(line):
        chunk = line[call.end() : call.end() + 300]
        opened = _compile(r"(?:open|readfile\w*|read_text|read_bytes|path)\(").search(chunk)
        dumped = _compile(r"os\.environ(?![\[.\w])|stringify\(process\.env\)|dict\(os\.environ\)").search(
            chunk
        )
        if dumped or (opened and credential.search(chunk, opened.end())):
            return "exfiltration", "error", f"sends credentials to a host with `{call.group().rstrip('(')}`"
    if any(cue in line for cue in ("://", "webhook", "外部")) or _compile(r"\d\.\d+\.\d+\.\d").search(line):
        for source in (p.SEND_WORDS, p.ZH_SEND_WORDS):
            if match := _compile(source % p.CREDENTIAL_FILE).search(line):
                before = line[max(0, match.start() - 24) : match.start()]
                if not _compile(
                    r"(?:\b(?:never|not|don'?t|cannot|avoid)|不要|别|禁止|请勿|不得|不能|切勿|严禁)[ \w]{0,12}$"
                ).search(before):
                    return (
                        "exfiltration",
                        "error",
                        f"asks to send credentials to a host: `{_excerpt(match.group())}`",
                    )
    return None


def _piped(line: str) -> bool:
    """Does a credential file, or the whole environment, flow through a pipe into a network tool?"""
    parts = line.split("|")
    tainted = False
    for part in parts:
        if tainted and _compile(p.SENDER).search(part[:60]):
            return True
        tainted = tainted or bool(
            _compile(p.CREDENTIAL_FILE).search(part) or _compile(p.ENV_DUMP).search(part[-40:])
        )
    return False


def _substituted(line: str, credential: re.Pattern[str]) -> bool:
    """Does a command substitution read a credential file or the environment?"""
    for match in _compile(r"\$\(|`|<\(").finditer(line):
        inner = line[match.end() : match.end() + 120].split(")")[0].split("`")[0]
        dump = _compile(r"^\s{0,4}(?:env|printenv|export -p|set)\b\s{0,4}(?:\||$)").search(inner)
        # `env` in backticks is also how prose names the command, so there a fetch must come before it
        if dump and (match.group() != "`" or _compile("curl|wget").search(line, 0, match.start())):
            return True
        reads = _compile(r"^\s{0,4}(?:<|(?:cat|base64|head|tail|xxd|gzip|tar|openssl|sed|awk)\b)").search(
            inner
        )
        if reads and credential.search(inner) and not _compile(p.SENDER).search(inner):
            return True
    return False


def _uploads(part: str, credential: re.Pattern[str]) -> str | None:
    """`error` when a credential file is the upload, `warning` when another file or a secret variable is."""
    verdict = None
    if _compile(p.LOCAL_HOST).search(part):
        return None
    for flag in _compile(p.UPLOAD).finditer(part):
        value = part[flag.end() : flag.end() + 120].split(" -")[0].split("://")[0]
        if credential.search(value):
            return "error"
        if "@" in value or flag.group() in ("-t", "--upload-file", "--post-file"):
            verdict = "warning"
    fed = _compile(r"<\s{0,4}(?![<(])(\S{1,120})").search(part)
    if fed and credential.search(fed.group(1)):
        return "error"
    if fed and _compile(r"(?<![\w.-])(?:nc|ncat|netcat|socat|telnet)(?![\w.-])").search(part):
        verdict = "warning"
    if _compile(r"https?://\S{0,200}[?&]\w{1,40}=\$\{?\w{0,30}(?:token|secret|password|key)").search(part):
        verdict = "warning"
    return verdict


# -- invisible characters ----------------------------------------------------------------------------------

_SUSPECT = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
_FLAGS = ("gbeng", "gbsct", "gbwls")  # the three flags spelled with tag characters
# Scripts whose letters join or part by ZWJ and ZWNJ: Arabic and Syriac, the Indic blocks, Myanmar, Khmer, Mongolian.
_JOINING = (
    (0x0600, 0x08FF),
    (0x0900, 0x0DFF),
    (0x1000, 0x109F),
    (0x1780, 0x18AF),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFC),
)


def _invisible(text: str, kind: str) -> Iterator[Finding]:
    if text.isascii() and text.replace("\r\n", "\n").replace("\n", "").replace("\t", "").isprintable():
        return
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        for match in _compile(_SUSPECT).finditer(line):
            if _needed(line, match.start()):
                continue
            c = match.group()
            name, harsh = _class(ord(c))
            label = unicodedata.name(c, "control character").lower()
            what = f"holds a character that is not seen: `U+{ord(c):04X}` ({label}), character {match.start() + 1}"
            severity = "warning" if kind == "source" and not harsh else "error"
            yield Finding(
                number, what, "delete it; it can hide words from you that a model reads", severity, name
            )


def _class(code: int) -> tuple[str, bool]:
    """(name, stays an error in sources)."""
    if 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
        return "bidi-control", True
    if code in (0x200E, 0x200F, 0x061C):  # they order single characters and come with pasted file names
        return "direction-mark", False
    if 0xE0000 <= code <= 0xE007F:
        return "tag-character", True
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return "variation-selector", False
    if code < 0xA0 and code != 0xAD:
        return "control-character", False
    return "zero-width", False


def _needed(line: str, at: int) -> bool:
    """Is this one part of an emoji, a flag or a word that is spelled with it?"""
    c, before, after = line[at], line[at - 1 : at], line[at + 1 : at + 2]
    if not before:
        return False
    if c in "\ufe0e\ufe0f":
        return _emoji(before) or (before in "#*0123456789" and after == "\u20e3")
    if c in "\u200c\u200d":
        if (
            c == "\u200d"
            and (_emoji(before) or (before == "\ufe0f" and _emoji(line[at - 2 : at - 1])))
            and _emoji(after)
        ):
            return True
        return _joins(before) and (
            c == "\u200d" or not after or after.isspace() or not after.isalpha() or _joins(after)
        )
    if "\U000e0000" <= c <= "\U000e007f":
        start = line.rfind("\U0001f3f4", max(0, at - 6), at)
        spelled = "".join(
            chr(ord(t) - 0xE0000) for t in line[start + 1 : start + 7] if "\U000e0000" <= t <= "\U000e007f"
        )
        return start >= 0 and spelled[:5] in _FLAGS and spelled[5:] == "\x7f" and at <= start + 6
    return False


def _emoji(c: str) -> bool:
    if not c:
        return False
    return (
        unicodedata.category(c) in ("So", "Sk")
        or c in "‼⁉〰〽"
        or "\u2190" <= c <= "\u21ff"
        or "\u25a0" <= c <= "\u27bf"
        or "\u2900" <= c <= "\u2bff"
    )


def _joins(c: str) -> bool:
    return any(low <= ord(c) <= high for low, high in _JOINING) and unicodedata.category(c)[0] in "LM"


# -- secrets -----------------------------------------------------------------------------------------------


def _secrets(text: str) -> Iterator[Finding]:
    hint = "name where it is kept instead; if it was ever pushed, revoke it"
    for secret in find_secrets(text):
        severity = "warning" if secret.name == "local-url-password" else "error"
        number = text.count("\n", 0, secret.start) + 1
        yield Finding(
            number,
            f"holds a secret: `{secret.name}`, {secret.end - secret.start} characters",
            hint,
            severity,
            secret.name,
        )


def find_secrets(text: str) -> list[Secret]:
    """Secrets in order of place, none overlapping; width and unseen characters inside a secret hide nothing."""
    if text.isascii():
        return _find_secrets(text)
    unseen = _compile(_UNSEEN)
    kept = None
    if unseen.search(text):
        kept = [i for i, c in enumerate(text) if not unseen.match(c)]
        folded = "".join(text[i] for i in kept).translate(_WIDTH)
    else:
        folded = text.translate(_WIDTH)
    found = _find_secrets(folded)
    return found if kept is None else [Secret(kept[s.start], kept[s.end - 1] + 1, s.name) for s in found]


def _find_secrets(text: str) -> list[Secret]:
    found: list[Secret] = []
    for name, (cues, source) in p.TOKENS.items():
        if any(cue in text for cue in cues):
            matches = _compile(source, re.ASCII).finditer(text)
            found += [Secret(m.start(), m.end(), name) for m in matches if not _sample(m.group())]
    if "PRIVATE KEY" in text:
        found += _private_keys(text)
    if "://" in text:
        for match in _compile(p.URL_PASSWORD).finditer(text):
            user, password, host = match.groups()
            if password.lower() not in (
                user.lower(),
                "password",
                "pass",
                "passwd",
                "secret",
                "pwd",
                "pw",
                "postgres",
                "guest",
                "root",
                "test",
                "token",
            ) and not _placeholder(password):
                local = host.split(":")[0] in ("localhost", "127.0.0.1", "db", "redis", "postgres", "mysql")
                found.append(Secret(*match.span(2), "local-url-password" if local else "url-password"))
    lower = text.lower()
    if any(cue in lower for cue in p.ASSIGNED_CUES):
        found += _assigned(text, p.ASSIGNED)
    if any(cue in text for cue in p.ZH_ASSIGNED_CUES):
        found += _assigned(text, p.ZH_ASSIGNED)
    found += _spoken(text, lower)
    out: list[Secret] = []
    for secret in sorted(found, key=lambda s: (s.start, -s.end)):
        if not out or secret.start >= out[-1].end:
            out.append(secret)
    return out


def _private_keys(text: str) -> Iterator[Secret]:
    """Blocks with key material; the header alone is how people speak about the format."""
    at = 0
    while match := _compile(p.PRIVATE_KEY).search(text, at):
        at = match.end()
        if not _compile(r"[A-Za-z0-9+/=]{32}").search(text, at, at + 400):
            continue
        end = _compile(r"-----END [A-Z0-9 ]{1,40}-----").search(text, at, at + 20_000)
        at = (
            end.end()
            if end
            else _compile(r"(?:[^\n]{0,400}\n?){0,1}(?:[ \t>]{0,8}[A-Za-z0-9+/=]{16,400}\s{0,4}){0,400}")
            .match(text, at)
            .end()
        )
        yield Secret(match.start(), at, "private-key")


def _assigned(text: str, source: str) -> Iterator[Secret]:
    for match in _compile(source).finditer(text):
        value = match["value"].rstrip(".,;:)]}!?*'\"`")
        key = match["key"]
        if _placeholder(value) or _compile(p.ALGORITHM).match(value):
            continue
        if key.isascii():
            long = key.lower() in p.STRICT_KEYS
            said = match["said"].strip()
            if (
                not said
                and key.lower() != "bearer"
                and text[max(0, match.start() - 2) : match.start()] != "--"
            ):
                # `the token abc…`: no more than prose, but for what can be nothing else
                strong = long and _random(value, 32) and not _compile(p.HEX).match(value)
            elif said in p.ANNOUNCED and not said.isascii():
                strong = _random(value, 8) or (len(value) >= (16 if long else 6) and _password_like(value))
            elif said and key.lower().startswith("pass"):
                strong = _random(value, 8) or (len(value) >= 8 and _one_word(value) and _password_like(value))
            else:
                strong = _random(value, 20 if long else 8)
        elif key in ("密钥", "金鑰", "令牌"):
            strong = _random(value, 16)
        else:
            strong = _password_like(value)
        if strong:
            start = match.start("value")
            yield Secret(
                start,
                start + len(value),
                "password"
                if key[:1] in "pP密口" and "key" not in key.lower() and key not in ("密钥",)
                else "credential",
            )


def _spoken(text: str, lower: str) -> Iterator[Secret]:
    """Passwords in a command's option or said in passing, numbers of cards."""
    if any(cue in lower for cue in p.LOGIN_CUES):
        for match in _compile(p.LOGIN).finditer(text):
            value = match["value"].rstrip(".,;:)]}?*'\"`")
            if not _placeholder(value) and _one_word(value) and _password_like(value):
                yield Secret(match.start("value"), match.start("value") + len(value), "password")
    if any(cue in text for cue in p.USER_OPTION_CUES):
        for match in _compile(p.USER_OPTION).finditer(text):
            if (
                not _placeholder(match["value"])
                and not match["value"].isalpha()
                and not match["value"].isdigit()
            ):
                yield Secret(*match.span("value"), "password")
    if "pin" in lower:
        yield from (Secret(*m.span("value"), "pin") for m in _compile(p.PIN).finditer(text))
    for match in _compile(p.CARD_NUMBER, re.ASCII).finditer(text):
        digits = [int(c) for c in match.group() if c.isdigit()]
        if 13 <= len(digits) <= 19 and _luhn(digits):
            yield Secret(match.end() - len(match.group().lstrip("是为：: ")), match.end(), "card-number")


def _luhn(digits: Sequence[int]) -> bool:
    """Whether the last digit checks the others. Source: ISO/IEC 7812-1, annex B."""
    doubled = [d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0 and any(digits)


def _one_word(value: str) -> bool:
    """No path, version or compound: `base64-encoded`, `v2.1`, `conf/app1`."""
    return not _compile(r"[-_./:]").search(value)


def _sample(token: str) -> bool:
    return bool(_compile(p.SAMPLE).search(token)) or len(set(token)) < 8


def _placeholder(value: str) -> bool:
    return bool(_compile(p.PLACEHOLDER).search(value)) or len(set(value)) < 5


def _identifier(value: str) -> bool:
    """Words joined by separators, as in `k8s-secret-v2`, `config.db.password` or `accessTokenV2`."""
    parts = [part for part in _compile(r"[-_./:]+").split(value) if part]
    return all(len(part) <= 4 or _compile(r"[A-Za-z]+\d{0,4}$|\d{1,10}$").match(part) for part in parts) and (
        len(parts) > 1 or not any(c.isdigit() for c in value) or len(value) < 16
    )


def _random(value: str, min_length: int) -> bool:
    """Does the value look drawn by chance: long enough, letters with digits, changing class often?"""
    if (
        len(value) < min_length
        or _identifier(value)
        or not any(map(str.isdigit, value))
        or not any(map(str.isalpha, value))
    ):
        return False
    classes = ["d" if c.isdigit() else "a" if c.isalpha() else "s" for c in value]
    changes = sum(a != b for a, b in pairwise(classes))
    symbols = any(c in "!@#$%^&*?~+=" for c in value)
    return (changes >= 3 or (changes >= 2 and symbols)) and _entropy(value) >= 2.6


def _password_like(value: str) -> bool:
    """Looser, for `密码是 …`, which announces the value itself: digits alone, or letters with digits or signs."""
    digits, letters = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    symbols = any(c in "!@#$%^&*?~+=" for c in value)
    if _compile(r"\d{6,}$").match(value):
        return True
    if _compile(r"[a-z]+(?:[-_./][a-z0-9]+)+$", re.IGNORECASE).match(value):
        return False
    return letters and (digits or symbols)


def _entropy(value: str) -> float:
    """Shannon entropy, in bits a character."""
    return -sum((n := value.count(c) / len(value)) * math.log2(n) for c in set(value))

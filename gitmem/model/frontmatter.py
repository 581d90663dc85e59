"""A Markdown file with YAML frontmatter: exactly three dashes, plain strings, and an error instead of a guess.

In: the bytes of a file. Out: a mapping whose scalars are all text, the body, and the line of every key.
Values are typed later, by a schema, so `no`, `010` and `12:30:45` stay what was written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from gitmem.errors import FormatError

MAX_BYTES = 64 * 1024
MAX_DEPTH = 16
_CONFLICT = re.compile(r"^(<<<<<<<|>>>>>>>)( |$)")


@dataclass(frozen=True, slots=True)
class Document:
    """`meta`: text, lists and mappings only. `lines`: JSON-pointer-like path of a key -> line from 1."""

    meta: dict[str, Any]
    body: str
    lines: dict[tuple[str | int, ...], int]
    body_line: int

    def line(self, path: tuple[str | int, ...]) -> int:
        """The line of a key, or of the nearest key around it."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return 1


def decode(data: bytes, max_bytes: int = MAX_BYTES) -> str:
    """Bytes of a memory file as text with LF ends.

    Raises:
        FormatError: too large, a BOM, not UTF-8, a NUL, a conflict marker.
    """
    if len(data) > max_bytes:
        raise FormatError(f"the file has {len(data):,} bytes, more than {max_bytes:,}")
    if data.startswith(b"\xef\xbb\xbf"):
        raise FormatError("the file begins with a byte order mark (BOM)", 1, ["save it as UTF-8 without BOM"])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError("the file is not UTF-8", line, ["save it as UTF-8"]) from error
    if "\0" in text:
        raise FormatError("the file holds a NUL character", text.count("\n", 0, text.index("\0")) + 1)
    text = text.replace("\r\n", "\n")
    for number, line in enumerate(text.split("\n"), 1):
        if line[:1] in "<>" and _CONFLICT.match(line):
            raise FormatError(
                f"a conflict marker `{line[:7]}` was left in the file", number, ["resolve the conflict"]
            )
    return text


def parse(data: bytes, max_bytes: int = MAX_BYTES) -> Document:
    """Split a file into frontmatter and body.

    Raises:
        FormatError: with the line, for whatever is not exactly the format.
    """
    text = decode(data, max_bytes)
    lines = text.split("\n")
    if lines[0].rstrip() != "---" or lines[0].startswith(" "):
        raise FormatError(
            "the file does not begin with a line `---`", 1, ["frontmatter stands between two lines `---`"]
        )
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise FormatError("the frontmatter has no closing line `---`", 1, ["add a line `---` below it"])
    for number, line in enumerate(lines[1:end], 2):
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise FormatError("a tab is used as indentation", number, ["indent with spaces"])
    meta, marks = parse_yaml("\n".join(lines[1:end]), first_line=2)
    if not isinstance(meta, dict):
        raise FormatError(
            f"the frontmatter is a {'list' if isinstance(meta, list) else 'single value'}, not `key: value` lines",
            2,
            ["write lines such as `type: fact`, without `- ` before them"]
            if isinstance(meta, list)
            else ["write lines such as `type: fact`"],
        )
    return Document(meta, "\n".join(lines[end + 1 :]), marks, end + 2)


def parse_yaml(text: str, first_line: int = 1) -> tuple[Any, dict[tuple[str | int, ...], int]]:
    """YAML whose every scalar is text, and the line of each entry. An empty text is an empty mapping.

    Raises:
        FormatError: not YAML, a duplicate key, a key that is no text, an anchor, alias or tag.
    """
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        # Aliases are refused before composing: they can unfold a few bytes into gigabytes.
        if "&" in text or "*" in text or "!" in text:
            for event in yaml.parse(text, Loader=loader):
                tagged = getattr(event, "tag", None) not in (None, "!")
                if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or tagged:
                    line = event.start_mark.line + first_line
                    raise FormatError(
                        "anchors, aliases and tags are not used here",
                        line,
                        ["put the value in double quotes"],
                    )
        node = yaml.compose(text, Loader=loader)
    except RecursionError as error:
        raise FormatError("lists or mappings stand too deep inside each other", first_line) from error
    except yaml.YAMLError as error:
        raise _yaml_error(error, text, first_line) from error
    marks: dict[tuple[str | int, ...], int] = {}
    if node is None:
        return {}, marks
    return _plain(node, (), marks, first_line), marks


def _plain(node: Any, path: tuple[str | int, ...], marks: dict, first_line: int) -> Any:
    import yaml

    marks.setdefault(path, node.start_mark.line + first_line)
    if len(path) > MAX_DEPTH:
        raise FormatError(
            "lists or mappings stand too deep inside each other", node.start_mark.line + first_line
        )
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*path, i), marks, first_line) for i, item in enumerate(node.value)]
    out: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + first_line
        if not isinstance(key_node, yaml.ScalarNode):
            raise FormatError("a key is not plain text", line)
        key = key_node.value
        if key in out:
            raise FormatError(f"the key `{key}` is there twice", line, ["keep one of the two"])
        marks[(*path, key)] = line
        out[key] = _plain(value_node, (*path, key), marks, first_line)
    return out


def _yaml_error(error: Exception, text: str, first_line: int) -> FormatError:
    if strange := _UNREADABLE.search(text):
        return FormatError(
            f"a control character (U+{ord(strange.group()):04X}) in the YAML",
            text.count("\n", 0, strange.start()) + first_line,
            ["take it out, or write it as an escape in double quotes"],
        )
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "cannot be read"
    line = (mark.line if mark else 0) + first_line
    lines = text.split("\n")
    shown = lines[mark.line] if mark and mark.line < len(lines) else ""
    key, colon, value = shown.partition(":")
    if "mapping values are not allowed" in problem and colon:
        return FormatError(
            "a `: ` inside an unquoted value",
            line,
            [f"put the value in quotes: {key.strip()}: {json.dumps(value.strip(), ensure_ascii=False)}"],
        )
    if "quoted scalar" in (getattr(error, "context", None) or ""):
        opened = getattr(error, "context_mark", None)
        return FormatError("a quotation mark is not closed", (opened.line if opened else 0) + first_line)
    if "another document" in problem:
        return FormatError("a second YAML document begins here", line, ["keep one, without a line `---`"])
    return FormatError(f"the YAML cannot be read: {problem}", line, ["put values in double quotes"])


_PLAIN = re.compile(r"[^\W_](?:[^:#\n\"'\\\[\]{},&*!|>%@`]|:(?! |$)|,(?=\S))*\Z")
_AMBIGUOUS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"])
# what YAML readers refuse, fold or take for a line end
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\ufeff\u2028\u2029\ufffe\uffff]")
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")


def scalar(text: str) -> str:
    """A YAML scalar that reads back as exactly `text`: plain where that is safe, else double-quoted."""
    if _PLAIN.match(text) and not text.endswith((" ", ":")) and not _ODD.search(text) and " #" not in text:
        # other YAML readers would make a boolean or nothing of these words
        return json.dumps(text) if text.lower() in _AMBIGUOUS else text
    return _json(text)


def _json(value: Any) -> str:
    """A value in the part of JSON that every YAML reader reads alike."""
    return _ODD.sub(lambda m: f"\\u{ord(m.group()):04x}", json.dumps(value, ensure_ascii=False))


def dump(pairs: list[tuple[str, Any]], body: str) -> bytes:
    """Frontmatter of `pairs` in order (text, lists of text, lists of mappings of text), then the body."""
    out = ["---", *dump_yaml(pairs), "---"]
    return ("\n".join(out) + "\n" + body).encode("utf-8")


def dump_yaml(pairs: list[tuple[str, Any]], indent: str = "") -> list[str]:
    """Lines of block YAML for ordered pairs.

    Lists of scalars stand in flow style, lists of mappings in block style, whatever else in JSON.
    """
    out: list[str] = []
    for key, value in pairs:
        if isinstance(value, str):
            out.append(f"{indent}{scalar(key)}: {scalar(value)}")
        elif isinstance(value, dict):
            out.append(f"{indent}{scalar(key)}:" + ("" if value else " {}"))
            out.extend(dump_yaml(list(value.items()), indent + "  "))
        elif all(isinstance(item, str) for item in value):
            out.append(f"{indent}{scalar(key)}: [{', '.join(_flow(item) for item in value)}]")
        elif not all(isinstance(item, dict) and item for item in value):
            out.append(f"{indent}{scalar(key)}: {_json(value)}")
        else:
            out.append(f"{indent}{scalar(key)}:")
            for item in value:
                first, *rest = dump_yaml(list(item.items()), indent + "    ")
                out.append(f"{indent}  - {first.lstrip()}")
                out.extend(rest)
    return out


def _flow(text: str) -> str:
    plain = scalar(text)
    return plain if plain.startswith('"') or not set(plain) & set(",?-") else _json(text)

"""Settings files as people keep them, drawn at random, and a reader of them that shares no code with ours."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import strategies as st

EVENTS = ["SessionStart", "UserPromptSubmit", "SessionEnd", "PreToolUse", "Stop"]
WORDS = st.sampled_from(
    [
        "opus",
        "中文 设置",
        'say "hi"',
        "C:\\tools\\x",
        "// not a comment",
        "/* nor this */",
        "a,]",
        "é\u2028",
        "😀",
    ]
)
HOOKS = st.fixed_dictionaries(
    {
        "type": st.just("command"),
        "command": st.sampled_from(["~/bin/log.sh", "npx lint", "git memo hook x", "echo 好"]),
    },
    optional={"timeout": st.integers(1, 600)},
)
GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(HOOKS, min_size=1, max_size=3)},
    optional={"matcher": st.sampled_from(["Bash", "startup", "*"])},
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "$schema": st.just("https://json.schemastore.org/claude-code-settings.json"),
        "model": WORDS,
        "permissions": st.fixed_dictionaries(
            {},
            optional={
                "allow": st.lists(WORDS, max_size=3),
                "deny": st.lists(st.lists(WORDS, max_size=2), max_size=2),
            },
        ),
        "env": st.dictionaries(WORDS, WORDS, max_size=2),
        "hooks": st.dictionaries(st.sampled_from(EVENTS), st.lists(GROUPS, max_size=2), max_size=4),
        "cleanupPeriodDays": st.sampled_from([30, -1, 1.5e3, 0]),
        "includeCoAuthoredBy": st.sampled_from([True, False, None]),
    },
).flatmap(lambda made: st.permutations(list(made.items())).map(dict))


@st.composite
def neat(draw: st.DrawFn) -> str:
    """As an editor or `JSON.stringify` writes it, perhaps with comments on lines and at line ends."""
    data = draw(SETTINGS)
    indent = draw(st.sampled_from(["  ", "    ", "\t", " ", None]))
    if indent is None:
        text = json.dumps(
            data, ensure_ascii=False, separators=draw(st.sampled_from([(",", ":"), (", ", ": ")]))
        )
    else:
        lines = json.dumps(data, ensure_ascii=draw(st.booleans()), indent=indent).split("\n")
        text = "\n".join(_commented(draw, line) for line in lines)
    return _framed(draw, text)


def _commented(draw: st.DrawFn, line: str) -> str:
    choice = draw(st.integers(0, 11))
    space = re.match(r"\s*", line).group()  # type: ignore[union-attr]
    return {
        0: line + " // 说明: keep, }",
        1: f'{space}// "old": true,\n{line}',
        2: line + " /* two\n lines */",
        4: "\n" + line,
    }.get(choice, line)


@st.composite
def wild(draw: st.DrawFn) -> str:
    """Any white space and any comment between any two tokens, trailing commas, duplicate keys."""
    trivia = st.lists(
        st.sampled_from(
            ["", " ", "  ", "\n", "\t", "\n    ", "/* c */", "// l\n", "/* a\n b */ /* c */", "\n\n"]
        ),
        max_size=3,
    ).map("".join)

    def gap() -> str:
        return draw(trivia) if draw(st.booleans()) else ""

    def value(data: Any) -> str:
        if isinstance(data, dict) and data:
            pairs = list(data.items())
            if draw(st.integers(0, 9)) == 0 and not isinstance(pairs[0][1], dict | list):
                pairs.insert(0, pairs[0])
            return "{" + items([json.dumps(k) + gap() + ":" + gap() + value(v) for k, v in pairs]) + "}"
        if isinstance(data, list) and data:
            return "[" + items([value(v) for v in data]) + "]"
        if isinstance(data, dict | list):
            return ("{%s}" if isinstance(data, dict) else "[%s]") % gap()
        return json.dumps(data, ensure_ascii=draw(st.booleans()))

    def items(texts: list[str]) -> str:
        trailing = "," + gap() if draw(st.integers(0, 3)) == 0 else ""
        return ",".join(gap() + text + gap() for text in texts) + trailing

    return _framed(draw, gap() + value(draw(SETTINGS)) + gap())


def _framed(draw: st.DrawFn, text: str) -> str:
    text += draw(st.sampled_from(["", "\n", "\n\n", "\n// end\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "", "", "\ufeff"])) + text


ANY_SETTINGS = st.one_of(neat(), wild())

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/|[{}\[\],:]|[^\s"{}\[\],:/]+', re.DOTALL)


def plain(text: str) -> Any:
    """The values, read by dropping comments and trailing commas and asking the standard library."""
    tokens = [t for t in _TOKENS.findall(text.removeprefix("\ufeff")) if not t.startswith(("//", "/*"))]
    kept = [
        t
        for t, after in zip(tokens, [*tokens[1:], ""], strict=True)
        if not (t == "," and after in ("}", "]"))
    ]
    return json.loads("".join(kept))

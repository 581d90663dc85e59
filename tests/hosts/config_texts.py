"""YAML settings as people keep them, drawn at random: comments, anchors, blocks and brackets, any indentation."""

from __future__ import annotations

from hypothesis import strategies as st

EVENTS = ["pre_llm_call", "post_llm_call", "on_session_finalize", "pre_tool_call", "on_session_end"]
COMMANDS = ["~/bin/log.sh", "git memo hook hermes", "echo 好", "python3 -m audit"]
SCALARS = [
    "opus", "中文 设置", "'it''s'", '"a # b"', "3.5", "true", "null", "~", "", "2026-01-02", "&a 好", "!!str 5", ".nan", "https://x.invalid/a#b",
    "|\n{i}  two\n{i}  lines", ">-\n{i}  folded\n\n{i}  text", "|+\n{i}  kept\n", "[a, {b: c}, ]", "{}", "[]", "plain\n{i}  on two lines", "\"é\\u2028\"", "😀",
]  # fmt: skip
COMMENTS = ["# mine", "# - command: old", "#", "# 说明: keep, }", "#hooks:"]


@st.composite
def configs(draw: st.DrawFn) -> str:
    """A whole file; `hooks` may be missing, empty, in blocks or in brackets."""
    unit, offset = draw(st.sampled_from([2, 4, 3])), draw(st.sampled_from([0, 2, 4]))
    lines: list[str] = []

    def comment(indent: int) -> None:
        if draw(st.integers(0, 5)) == 0:
            lines.append(" " * indent + draw(st.sampled_from(COMMENTS)))
        if draw(st.integers(0, 9)) == 0:
            lines.append("")

    def tail() -> str:
        return draw(st.sampled_from(["", "", "", "  # c", " # } ]"]))

    def scalar(indent: int) -> str:
        return draw(st.sampled_from(SCALARS)).replace("{i}", " " * indent)

    def plain(key: str, indent: int, depth: int) -> None:
        comment(indent)
        choice = draw(st.integers(0, 4 if depth < 2 else 1))
        if choice <= 1:
            value = scalar(indent)
            lines.append(
                f"{' ' * indent}{key}:" + (f" {value}" if value else "") + ("" if "\n" in value else tail())
            )
        elif choice == 2:
            lines.append(f"{' ' * indent}{key}:" + tail())
            for name in draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True)):
                plain(name, indent + unit, depth + 1)
        else:
            lines.append(f"{' ' * indent}{key}:" + tail())
            for _ in range(draw(st.integers(1, 2))):
                comment(indent + offset)
                lines.append(
                    " " * (indent + offset)
                    + "- "
                    + draw(st.sampled_from(["x", "'y: z'", "{k: v}", "k: v"]))
                    + tail()
                )

    def entry_in_braces() -> str:
        command = draw(st.sampled_from(COMMANDS))
        return "{command: " + command + draw(st.sampled_from([", timeout: 5", "", ', matcher: "^t"'])) + "}"

    def bracketed(event: str) -> str:
        entries = [entry_in_braces() for _ in range(draw(st.integers(0, 2)))]
        return (
            f"{event}: [" + ", ".join(entries) + (draw(st.sampled_from(["", ","])) if entries else "") + "]"
        )

    def event_block(event: str, indent: int) -> None:
        comment(indent)
        form = draw(st.integers(0, 4))
        if form == 0:
            lines.append(" " * indent + bracketed(event) + tail())
        elif form == 1:
            lines.append(
                f"{' ' * indent}{event}:" + draw(st.sampled_from(["", " ~", " null", " []"])) + tail()
            )
        else:
            lines.append(f"{' ' * indent}{event}:" + tail())
            for _ in range(draw(st.integers(1, 2))):
                comment(indent + offset)
                dash = " " * (indent + offset)
                lines.append(f"{dash}- command: {draw(st.sampled_from(COMMANDS))}" + tail())
                if draw(st.booleans()):
                    comment(indent + offset + 2)
                    lines.append(f"{dash}  timeout: {draw(st.integers(1, 300))}" + tail())
        comment(indent)

    def hooks() -> None:
        comment(0)
        events = draw(st.lists(st.sampled_from(EVENTS), max_size=3, unique=True))
        form = draw(st.integers(0, 3))
        if form == 0 or not events:
            lines.append("hooks:" + draw(st.sampled_from(["", " {}", " null", " ~", " { }"])) + tail())
        elif form == 1:
            inner = [bracketed(event) for event in events]
            joint = draw(st.sampled_from([", ", ",\n  ", ", # c\n  "]))
            lines.append(
                "hooks: {" + joint.join(inner) + draw(st.sampled_from(["", ",", "\n  "])) + "}" + tail()
            )
        else:
            lines.append("hooks:" + tail())
            for event in events:
                event_block(event, unit)

    keys = draw(
        st.lists(
            st.sampled_from(["model", "memory", "terminal", "语言", "mcp_servers", '"quoted key"']),
            max_size=4,
            unique=True,
        )
    )
    place = draw(st.integers(-1, len(keys)))
    for i, key in enumerate([*keys, None]):
        if i == place:
            hooks()
        if key is not None:
            plain(key, 0, 0)
    comment(0)
    text = "\n".join(lines)
    if draw(st.integers(0, 7)) == 0:
        text = "---\n" + text + draw(st.sampled_from(["", "\n...\n", "\n..."]))
    text += draw(st.sampled_from(["\n", "\n", "", "\n\n", "\n# end\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))
    return draw(st.sampled_from(["", "", "", "\ufeff"])) + text

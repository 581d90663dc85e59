"""A block of ours in a file of the person's: in, out, and every other byte as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.hosts import marked_block
from gitmem.hosts.marked_block import Block

BLOCK = Block("<!-- ours: begin -->", "<!-- ours: end -->", ("look it up: `git mem search`", "- 只记原话"))
OLDER = Block(BLOCK.begin, BLOCK.end, ("an older sentence",))
LINES = st.sampled_from(
    [
        "# Mine",
        "",
        "- 打包用 `make pack`",
        "  indented",
        "<!-- ours: begin -->",
        "<!-- ours: end -->",
        "\t",
        "a\u2028b",
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A person's file: any line ends, mixed too, with or without a last one, a byte order mark, stray markers of ours."""
    ends = draw(st.sampled_from([("\n",), ("\r\n",), ("\r",), ("\n", "\r\n")]))
    lines = draw(st.lists(LINES, max_size=8))
    if not draw(st.booleans()):
        lines = [line for line in lines if "ours" not in line]
    elif "<!-- ours: begin -->" in lines and "<!-- ours: end -->" in lines:
        lines = lines[: lines.index("<!-- ours: end -->")]
    text = "".join(line + draw(st.sampled_from(ends)) for line in lines)
    last = draw(st.sampled_from(["", "no line end", "  "]))
    return draw(st.sampled_from(["", "\ufeff"])) + text + last


def has_pair(text: str) -> bool:
    return marked_block._find(BLOCK, text) is not None


def through_json(note):  # type: ignore[no-untyped-def]
    return json.loads(json.dumps(note))


@settings(max_examples=400, deadline=None)
@given(texts().filter(lambda text: not has_pair(text)))
def test_what_was_put_in_and_taken_out_leaves_the_very_bytes_of_before(text: str) -> None:
    new, note = marked_block.put(BLOCK, text)
    assert new.startswith(text) and marked_block.stands(BLOCK, new)
    assert marked_block.put(BLOCK, new, note) == (new, note)
    assert marked_block.take(BLOCK, new, through_json(note)) == text


@settings(max_examples=300, deadline=None)
@given(
    # a lone carriage return before a line feed of the edit would become one line end with it
    texts().filter(lambda text: "ours" not in text and "\r" not in text.replace("\r\n", "")),
    st.sampled_from(["\n\nmore\n", "more", "\n"]),
    st.sampled_from(["first\n", ""]),
)
def test_what_was_written_around_it_in_between_stays_and_only_ours_goes(
    text: str, after: str, before: str
) -> None:
    new, note = marked_block.put(BLOCK, text)
    back = marked_block.take(BLOCK, before + new + after, through_json(note))
    assert back is not None and not has_pair(back) and "ours" not in back
    kept = before + text
    assert back == kept + after or back == kept + marked_block._newline(new[len(text) :]) + after


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_that_somebody_wrote_between_the_markers_stay(newline: str) -> None:
    text = f"# Mine{newline}"
    new, note = marked_block.put(BLOCK, text)
    edited = new.replace("- 只记原话", f"- my own line{newline}- 只记原话")
    assert marked_block.take(BLOCK, edited, note) == f"# Mine{newline}- my own line{newline}"
    again, note = marked_block.put(BLOCK, edited, note)
    assert marked_block.stands(BLOCK, again) and again.endswith(f"{BLOCK.end}{newline}- my own line{newline}")


def test_an_older_block_is_replaced_where_it_stands() -> None:
    old, note = marked_block.put(OLDER, "# Mine\n")
    text = old + "after\n"
    new, note = marked_block.put(BLOCK, text, note)
    assert new == text.replace(OLDER.text("\n"), BLOCK.text("\n"))
    assert marked_block.take(BLOCK, new, note) == "# Mine\nafter\n"


def test_a_file_that_we_made_goes_and_one_that_was_empty_stays() -> None:
    for text in (None, "", "\ufeff"):
        new, note = marked_block.put(BLOCK, text)
        assert marked_block.take(BLOCK, new, through_json(note)) == text
    new, note = marked_block.put(BLOCK, None)
    assert marked_block.take(BLOCK, new + "mine\n", note) == "mine\n"


def test_editors_that_change_line_ends_do_not_hide_the_block() -> None:
    new, note = marked_block.put(BLOCK, "# Mine\n")
    assert marked_block.stands(BLOCK, new.replace("\n", "\r\n"))
    assert marked_block.take(BLOCK, new.replace("\n", "\r\n"), note) == "# Mine\r\n"


def test_the_note_holds_none_of_the_persons_words() -> None:
    _, note = marked_block.put(BLOCK, "my s3cret plan\n")
    assert "s3cret" not in json.dumps(note)


def test_text_without_the_block_is_given_back_as_it_is() -> None:
    for text in (None, "", "# Mine\n", f"{BLOCK.begin}\nno end\n"):
        assert marked_block.take(BLOCK, text) == text

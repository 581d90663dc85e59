from hypothesis import assume, given
from hypothesis import strategies as st

from gitmem.errors import FormatError
from gitmem.model import source
from gitmem.model.source import Source, Turn

AT = "2026-10-03T09:12:00Z"
HOSTILE = st.lists(
    st.sampled_from(
        [
            "## 9 user 2026-10-03T09:12:00Z",
            "\\## 9 user 2026-10-03T09:12:00Z",
            "\\\\",
            "\\",
            "#",
            "---",
            "<<<<<<< HEAD",
            "=======",
            ">>>>>>> other",
            "<<<<<<<",
            "\\<<<<<<< HEAD",
            "",
            " ## 9 user",
            "text",
            "\u2028## 9 user 2026-10-03T09:12:00Z",
            "\x0b## 9 user 2026-10-03T09:12:00Z",
            "\x85## 9 user",
            "\ufeff",
        ]
    ),
    max_size=6,
).map("\n".join)
PASTE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=80) | HOSTILE
LF = PASTE.filter(lambda text: "\r" not in text)


def of(*texts: str, session: str = "5f1e2c9a") -> Source:
    turns = tuple(Turn(3 * i + 1, source.ROLES[i % 4], AT, text) for i, text in enumerate(texts))
    return Source("hermes", session, "web", "2026-10-03T09:10:00Z", "session", turns)


@given(st.lists(LF, min_size=1, max_size=4))
def test_any_text_comes_back_from_its_turn(texts):
    one = of(*texts)
    assert source.parse(source.dump(one)) == one


@given(st.lists(PASTE, min_size=1, max_size=4), st.booleans())
def test_no_paste_can_forge_a_turn(texts, crlf):
    one = of(*(text.replace("\n", "\r\n") if crlf else text for text in texts))
    read = source.parse(source.dump(one))
    assert [(turn.number, turn.role, turn.at) for turn in read.turns] == [
        (turn.number, turn.role, turn.at) for turn in one.turns
    ]
    assert (read.host, read.session, read.kind) == (one.host, one.session, one.kind)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=40))
def test_no_session_name_can_add_a_key(name):
    assume(name and name == name.strip())
    one = of("text", session=name)
    assert source.parse(source.dump(one)) == one


@given(LF)
def test_a_checkout_with_crlf_holds_the_same_words(text):
    one = of(text, "and more")
    assert source.parse(source.dump(one).replace(b"\n", b"\r\n")) == one


@given(st.text(st.sampled_from("#\\ 17userdoc2026-10-03T09:12Z\n<>"), max_size=80))
def test_any_body_is_turns_or_a_format_error(body):
    head = source.dump(of("")).decode().partition("## ")[0]
    try:
        assert source.parse((head + body).encode()).turns
    except FormatError as error:
        assert error.line >= 1


def test_turns_keep_their_numbers_and_are_looked_up_by_them():
    one = of("a", "b", "c")
    assert [turn.number for turn in one.turns] == [1, 4, 7]
    assert one.turn(4).text == "b"
    assert one.turn(2) is None


def test_a_path_is_made_of_scope_host_and_month():
    one = of("a")
    path = source.source_path(one, "20261003-091000-5f1e2c")
    assert path == "sources/web/hermes/2026/10/20261003-091000-5f1e2c.md"
    assert source.path_faults(path, one) == []
    assert source.path_faults(path.replace("web", "dashboard"), one) == [
        "the path says scope `dashboard`, the source `web`"
    ]
    assert source.path_faults(path.replace("hermes", "codex"), one) == [
        "the path says host `codex`, the source `hermes`"
    ]
    assert source.path_faults(path.replace("/10/", "/11/"), one) == [
        "the path says 2026-11, the source started 2026-10"
    ]
    assert source.path_faults("sources/web/../x.md", one)
    assert source.path_faults("sources/web/hermes/2026/10/A.md", one)


def test_the_parts_of_a_grown_session_have_one_name():
    assert source.part_of("sources/web/hermes/2026/10/a-p2.md") == source.part_of(
        "sources/web/hermes/2026/10/a.md"
    )
    assert source.part_of("sources/web/hermes/2026/10/a-p12.md") == "sources/web/hermes/2026/10/a"
    assert source.part_of("sources/web/hermes/2026/10/a-part.md") == "sources/web/hermes/2026/10/a-part"

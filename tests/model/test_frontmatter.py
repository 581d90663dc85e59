import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import FormatError
from gitmem.model import frontmatter
from gitmem.model.card import Card, Evidence, dump, parse
from gitmem.model.frontmatter import parse_yaml, scalar

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
AMBIGUOUS = st.sampled_from(
    ["no", "No", "NO", "on", "off", "yes", "y", "n", "true", "false", "null", "~", "010", "0o10", "0x1f", "1.10", "1e3", "12:30:45", "2026-10-03", "0123456", ".inf", ".nan", "-", "-x", "?", ":", "#", "#x", "a:b", "a:", "{}", "[]", "[a]", "{a}", "&", "*", "!", "!!str", "|", ">", "%", "@", "`", "'", '"', "''", "--", "---", "...", "<<<", "<<", "=", ",", "a,b", "a,", "2026-10-03T09:12:44Z", "1_000", "+1", "-1", "C#", ":a", "a#b", "x-"]
) | st.sampled_from(["", " ", " a", "a ", "a: b", "a #b", "- a", "a\n", "\ta", "a\\nb", "a, b", "a\u00a0", "\u2028", "\x85"])  # fmt: skip
VALUE = TEXT | AMBIGUOUS
NESTED = st.recursive(
    VALUE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(VALUE, inner, max_size=3), max_leaves=8
)
LINE = VALUE.map(lambda text: " ".join(text.split())[:60]).filter(bool)
# a file's line ends are LF; a lone CR is kept, CR LF is one line end
BODY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=80).filter(
    lambda text: (
        not any(line[:8] in ("<<<<<<< ", ">>>>>>> ", "<<<<<<<", ">>>>>>>") for line in text.split("\n"))
    )
)


@given(VALUE)
def test_any_text_comes_back_from_a_scalar(text):
    assert parse_yaml(f"key: {scalar(text)}")[0] == {"key": text}
    assert "\n" not in scalar(text)


@given(VALUE)
def test_another_yaml_reader_reads_the_words_or_says_what_kind_they_have_but_never_fails(text):
    read = yaml.safe_load(f"key: {scalar(text)}")["key"]
    # the safe loader makes numbers and dates of plain ones; it must not make a boolean or nothing of a word
    assert read == text or not isinstance(read, (str, bool, type(None)))


@given(st.dictionaries(VALUE, NESTED, max_size=4), BODY)
def test_any_frontmatter_of_text_lists_and_mappings_comes_back(meta, body):
    document = frontmatter.parse(frontmatter.dump(list(meta.items()), body))
    assert document.meta == meta
    assert document.body == body


@given(
    conclusion=LINE.filter(lambda text: any(char.isalnum() for char in text)),
    also=st.lists(LINE, max_size=3),
    quote=VALUE.filter(bool),
    reported_by=st.none() | LINE,
    confidence=st.none() | st.floats(0, 1),
    importance=st.none() | st.integers(1, 10),
    extra=NESTED,
    body=BODY,
)
def test_any_card_comes_back(conclusion, also, quote, reported_by, confidence, importance, extra, body):
    evidence = Evidence("sources/web/hermes/2026/10/a.md", 7, "user", quote, reported_by)
    card = Card(
        "k3v9x2m7qa",
        "web",
        "2026-10-03T09:12:44Z",
        "hermes",
        "fact",
        conclusion,
        body,
        tuple(also),
        (evidence,),
        confidence=confidence,
        importance=importance,
        extra={"x-own": extra},
    )
    if len(conclusion.encode()) <= 200:
        assert parse(dump(card)) == card


@pytest.mark.parametrize(
    "word",
    [
        "no",
        "on",
        "off",
        "yes",
        "true",
        "null",
        "~",
        "010",
        "1.10",
        "1e3",
        "0x1f",
        "12:30:45",
        "2026-10-03",
        "2026-10-03T09:12:44Z",
        "0123456",
        ".inf",
    ],
)
def test_numbers_dates_and_words_of_yaml_stay_text(word):
    assert parse_yaml(f"key: {word}\nlist: [{word}]\n{word}: key")[0] == {
        "key": word,
        "list": [word],
        word: "key",
    }


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_a_format_error(data):
    for form in (data, b"---\n" + data, b"---\n" + data + b"\n---\n"):
        try:
            frontmatter.parse(form)
        except FormatError as error:
            assert 1 <= error.line <= form.count(b"\n") + form.count(b"\r") + 3


@given(st.text(st.sampled_from("ab:-[]{}\"'#&*!|>?%@,\n \t\r.x"), max_size=60))
def test_any_yaml_is_read_or_refused_in_our_words(text):
    try:
        value, lines = parse_yaml(text)
    except FormatError as error:
        assert error.line >= 1
    else:
        assert all(line >= 1 for line in lines.values())
        assert value is not None


def test_every_key_knows_its_line():
    document = frontmatter.parse(b"---\na: 1\n# note\nlist:\n  - b: 2\n    c: 3\n  - b: 4\n---\n\nbody\n")
    assert document.line(("a",)) == 2
    assert document.line(("list",)) == 4
    assert document.line(("list", 0, "c")) == 6
    assert document.line(("list", 1)) == 7
    assert document.line(("list", 1, "c")) == 7
    assert document.line(("unknown",)) == 1
    assert document.body_line == 9
    assert document.body == "\nbody\n"


def test_an_error_in_crlf_text_names_the_same_line():
    for data in (b"---\na: 1\na: 2\n---\n", b"---\r\na: 1\r\na: 2\r\n---\r\n"):
        with pytest.raises(FormatError) as caught:
            frontmatter.parse(data)
        assert caught.value.line == 3


def test_the_hint_for_a_colon_is_a_line_that_works():
    with pytest.raises(FormatError) as caught:
        frontmatter.parse(b'---\nconclusion: Say "uv": always\n---\n')
    line = caught.value.hints[0].partition("quotes: ")[2]
    assert parse_yaml(line)[0] == {"conclusion": 'Say "uv": always'}


def test_aliases_that_would_unfold_into_gigabytes_are_refused_at_once():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 20)]
    with pytest.raises(FormatError, match="aliases"):
        parse_yaml("\n".join(lines))


def test_signs_of_yaml_inside_quotes_are_text():
    assert parse_yaml('a: "&b *c !d"\nb: R&D\nc: 2*3!')[0] == {"a": "&b *c !d", "b": "R&D", "c": "2*3!"}

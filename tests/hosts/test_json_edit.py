from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import Refused
from gitmem.hosts.json_edit import insert, inverse, remove, splice
from gitmem.hosts.json_read import parse
from tests.hosts.settings_texts import ANY_SETTINGS, plain


def added(text: str, *path: str, value: object = "new") -> str:
    return splice(text, insert(text, path, value))


def cut(text: str, *path: int, blank: str = "") -> str:
    return splice(text, remove(parse(text), path, blank))


@settings(max_examples=200, deadline=None)
@given(ANY_SETTINGS)
def test_the_reader_understands_what_a_lenient_json_reader_does(text: str) -> None:
    assert parse(text).root.value == plain(text)


@settings(max_examples=200, deadline=None)
@given(ANY_SETTINGS, st.sampled_from([("made", "deep"), ("env2",), ("a", "b", "c")]))
def test_an_insert_keeps_every_character_and_its_inverse_takes_it_back(
    text: str, path: tuple[str, ...]
) -> None:
    edits = insert(text, path, {"k": ["中", 1]})
    new = splice(text, edits)
    assert splice(new, inverse(text, edits)) == text
    value = plain(new)
    for key in path[:-1]:
        value = value[key]
    assert value[path[-1]] == [{"k": ["中", 1]}]
    assert {k: v for k, v in plain(new).items() if k != path[0]} == plain(text)


@settings(max_examples=200, deadline=None)
@given(ANY_SETTINGS, st.data())
def test_removing_any_item_removes_that_item_only(text: str, data: st.DataObject) -> None:
    doc = parse(text)
    path, node = [], doc.root
    while node.items and (not path or data.draw(st.booleans())):
        path.append(data.draw(st.integers(0, len(node.items) - 1)))
        node = node.items[path[-1]].node
    if not path:
        return
    new = splice(text, remove(doc, path))
    parent = doc.at(path[:-1])
    left = [item for i, item in enumerate(parent.items) if i != path[-1]]
    assert [(i.key, i.node.value) for i in parse(new).at(path[:-1]).items] == [
        (i.key, i.node.value) for i in left
    ]
    gone = doc.comments_in(parent.items[path[-1]].start, parent.items[path[-1]].end)
    kept = [text[a:b].rstrip() for a, b in doc.comments if (a, b) not in gone]
    assert [new[a:b].rstrip() for a, b in parse(new).comments] == kept


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("{}", '{\n  "a": [\n    "new"\n  ]\n}'),
        ("", '{\n  "a": [\n    "new"\n  ]\n}\n'),
        ("\ufeff{}\r\n", '\ufeff{\r\n  "a": [\r\n    "new"\r\n  ]\r\n}\r\n'),
        ('{"a":[]}', '{"a":["new"]}'),
        ('{"a": [1], "b": 2}', '{"a": [1, "new"], "b": 2}'),
        ('{"b":1}', '{"b":1,"a":["new"]}'),
        ('{\n\t"a": [\n\t\t1 // one\n\t]\n}', '{\n\t"a": [\n\t\t1, // one\n\t\t"new"\n\t]\n}'),
        ('{\n    "a": [\n        1,\n    ],\n}', '{\n    "a": [\n        1,\n        "new",\n    ],\n}'),
        ('{\n  "a": [1, 2]\n}', '{\n  "a": [1, 2, "new"]\n}'),
        ('{\n  "a": [\n    // none yet\n  ]\n}', '{\n  "a": [\n    // none yet\n    "new"\n  ]\n}'),
        ('{"a": [1 // one\n]}', '{"a": [1, // one\n  "new"\n]}'),
        ('{"a": [1], "a": [2]}', '{"a": [1], "a": [2, "new"]}'),
        ('{\n  "b": 1\n  // "c": 2\n}', '{\n  "b": 1,\n  "a": [\n    "new"\n  ]\n  // "c": 2\n}'),
    ],
)
def test_new_text_looks_like_the_text_around_it(text: str, new: str) -> None:
    assert added(text, "a") == new


@pytest.mark.parametrize(
    ("text", "path", "new"),
    [
        ("[1, 2, 3]", (0,), "[2, 3]"),
        ("[1, 2, 3]", (1,), "[1, 3]"),
        ("[1, 2, 3]", (2,), "[1, 2]"),
        ("[ 1 ]", (0,), "[]"),
        ("[1, 2,]", (1,), "[1,]"),
        ("[\n  1, // one\n  2 // two\n]", (1,), "[\n  1 // one\n  // two\n]"),
        ("[\n  1, // one\n  2 ]", (1,), "[\n  1 // one\n ]"),
        ("[\n  // first\n  1,\n  2\n]", (0,), "[\n  // first\n  2\n]"),
        ("[\n  1, /* x */\n  2 /* y */ , // z\n  3\n]", (1,), "[\n  1, /* x */\n   /* y */ // z\n  3\n]"),
        ('{"a": {"b": 1}, "c": 2}', (0, 0), '{"a": {}, "c": 2}'),
    ],
)
def test_a_removed_item_takes_its_comma_and_its_line_along(
    text: str, path: tuple[int, ...], new: str
) -> None:
    assert cut(text, *path) == new


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "line 1, column 2"),
        ('{"a": 1 "b": 2}', "line 1, column 9"),
        ('{\r\n  "a": tru\r\n}', "line 2, column 8"),
        ('\ufeff{"a": [1,,2]}', "line 1, column 10"),
        ("{\n  'a': 1\n}", "line 2, column 3"),
        ('{"中": \n"open\n}', "line 2, column 1"),
        ('{"a": "\\q"}', "line 1, column 7"),
        ('{"a": 1}\n{"b": 2}', "line 2, column 1"),
        ('{"a": 1} /* open', "line 1, column 10"),
        ('{"a": 01}', "line 1, column 8"),
        ('{"a": NaN}', "line 1, column 7"),
        ("{,}", "line 1, column 2"),
        ("// nothing else", "line 1, column 16"),
        ('{"a": ' + "9" * 5000 + "}", "line 1, column 7"),
        ("[" * 100_000, "line 1, column 201"),
        ('{"a": 1\u00a0}', "line 1, column 8"),
    ],
)
def test_malformed_text_is_refused_with_line_and_column(text: str, place: str) -> None:
    with pytest.raises(Refused, match=f"at {place}$"):
        insert(text, ("a",), 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "the whole is not an object at line 1, column 1"),
        ('{"a": {}}', "`a` is not an array at line 1, column 7"),
        ('{"a":\n null}', "`a` is not an array at line 2, column 2"),
    ],
)
def test_a_path_through_something_of_another_kind_is_refused(text: str, message: str) -> None:
    with pytest.raises(Refused) as refused:
        insert(text, ("a",), 1)
    assert refused.value.message == message


def test_non_ascii_text_is_written_as_it_is() -> None:
    assert json.loads(added("{}", "键", value="值")) == {"键": ["值"]}
    assert "值" in added("{}", "键", value="值")

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings

from gitmem.errors import Refused
from gitmem.hosts.json_edit import inverse, splice
from gitmem.hosts.yaml_edit import insert, remove, same
from gitmem.hosts.yaml_read import parse
from tests.hosts.config_texts import configs

PATH = ("hooks", "pre_llm_call")
ENTRY = {"command": "run me", "timeout": 5}


def added(text: str, path: tuple[str, ...] = PATH) -> str:
    return splice(text, insert(text, path, ENTRY))


def readable(text: str) -> bool:
    try:
        parse(text)
        return True
    except Refused:
        return False


@settings(max_examples=300, deadline=None)
@given(configs())
def test_an_added_entry_changes_no_other_value_and_no_line_and_can_be_undone(text: str) -> None:
    if not readable(text):
        return
    edits = insert(text, PATH, ENTRY)
    new = splice(text, edits)
    value, before = yaml.safe_load(new), yaml.safe_load(text) or {}
    assert value["hooks"]["pre_llm_call"].pop() == ENTRY
    wanted = {**before, "hooks": {**(before.get("hooks") or {})}}
    wanted["hooks"].setdefault("pre_llm_call", [])
    wanted["hooks"]["pre_llm_call"] = wanted["hooks"]["pre_llm_call"] or []
    assert same(value, wanted)
    assert splice(new, inverse(text, edits)) == text


@settings(max_examples=300, deadline=None)
@given(configs())
def test_an_added_entry_leaves_every_comment(text: str) -> None:
    if not readable(text):
        return
    doc, new = parse(text), parse(added(text))
    assert [new.text[slice(*c)] for c in new.comments] == [doc.text[slice(*c)] for c in doc.comments]


@settings(max_examples=300, deadline=None)
@given(configs())
def test_every_member_can_be_cut_out_without_another_changing(text: str) -> None:
    if not readable(text):
        return
    doc = parse(text)
    for h, (key, hooks) in enumerate(doc.root.pairs if doc.root else ()):
        for e, (event, entries) in enumerate(hooks.pairs if key.text == "hooks" else ()):
            for i in range(len(entries.items)):
                new = splice(text, remove(doc, (h, e, i), "[]"))
                wanted = yaml.safe_load(text)
                del wanted["hooks"][event.text][i]
                assert same(yaml.safe_load(new), wanted)
                after = parse(new)
                assert [new[slice(*c)] for c in after.comments] == [text[slice(*c)] for c in doc.comments]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: 1\n", 'a: 1\nhooks:\n  pre_llm_call:\n    - command: "run me"\n      timeout: 5\n'),
        ("a:\n- x\n", 'a:\n- x\nhooks:\n  pre_llm_call:\n  - command: "run me"\n    timeout: 5\n'),
        ("a:\n    b:\n        - x\n", 'a:\n    b:\n        - x\nhooks:\n    pre_llm_call:\n        - command: "run me"\n          timeout: 5\n'),
        ("hooks: # mine\nb: 2\n", 'hooks: # mine\n  pre_llm_call:\n    - command: "run me"\n      timeout: 5\nb: 2\n'),
        ("hooks: {} # none\n", 'hooks: # none\n  pre_llm_call:\n    - command: "run me"\n      timeout: 5\n'),
        ("hooks:\n  pre_llm_call: ~\n", 'hooks:\n  pre_llm_call:\n    - command: "run me"\n      timeout: 5\n'),
        ("hooks: {a: []}\n", 'hooks: {a: [], pre_llm_call: [{command: "run me", timeout: 5}]}\n'),
        ('{"hooks": {"pre_llm_call": [{"command": "x"}]}}', '{"hooks": {"pre_llm_call": [{"command": "x"}, {"command": "run me", "timeout": 5}]}}'),
        ("hooks: {pre_llm_call: [\n    {command: x}, # c\n  ]}\n", 'hooks: {pre_llm_call: [\n    {command: x}, # c\n    {command: "run me", timeout: 5},\n  ]}\n'),
        ("hooks: {pre_llm_call: [\n    {command: x} # c\n  ]}\n", 'hooks: {pre_llm_call: [\n    {command: x}, # c\n    {command: "run me", timeout: 5}\n  ]}\n'),
        ("hooks:\n  pre_llm_call: &l # d\n    - command: x # e\n  # z\nb: 1\n", 'hooks:\n  pre_llm_call: &l # d\n    - command: x # e\n    - command: "run me"\n      timeout: 5\n  # z\nb: 1\n'),
        ("hooks:\n  pre_llm_call:\n    - command: x\n    # - command: y\n  b: 1\n", 'hooks:\n  pre_llm_call:\n    - command: x\n    # - command: y\n    - command: "run me"\n      timeout: 5\n  b: 1\n'),
        ("---\na: 1\n...\n", '---\na: 1\nhooks:\n  pre_llm_call:\n    - command: "run me"\n      timeout: 5\n...\n'),
        ("a: 1", 'a: 1\nhooks:\n  pre_llm_call:\n    - command: "run me"\n      timeout: 5'),
        ("a: |\n  no line end", 'hooks:\n  pre_llm_call:\n    - command: "run me"\n      timeout: 5\na: |\n  no line end'),
        ("a: 1\r\nhooks:\r\n  b: []\r\n", 'a: 1\r\nhooks:\r\n  b: []\r\n  pre_llm_call:\r\n    - command: "run me"\r\n      timeout: 5\r\n'),
        ("", 'hooks:\n  pre_llm_call:\n    - command: "run me"\n      timeout: 5\n'),
        ("\ufeff# only words\n", '\ufeff# only words\nhooks:\n  pre_llm_call:\n    - command: "run me"\n      timeout: 5\n'),
    ],
    ids=range(18),
)  # fmt: skip
def test_new_text_follows_the_layout_that_is_there(text: str, wanted: str) -> None:
    assert added(text) == wanted


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hooks: [1\n", "line 2, column 1"),
        ("a: 1\n b: 2\n", "line 2, column 3"),
        ("a: \tb: c\n", "line 1"),
        ("a: 1\n---\nb: 1\n", "another document"),
        ("a: \x07\n", "not valid YAML"),
        ("a: !include x\n", "line 1, column 4"),
        ("a: 2026-13-45\n", "not valid YAML"),
        ("[" * 3000, "not valid YAML"),
        ("hooks: yes\n", "`hooks` is not a map"),
        ("hooks:\n  pre_llm_call: {command: x}\n", "`hooks.pre_llm_call` is not a list"),
        ("hooks:\n  - x\n", "`hooks` is not a map"),
        ("- 1\n", "the whole is not a map"),
        ("just words\n", "the whole is not a map"),
    ],
    ids=range(13),
)
def test_what_cannot_be_read_or_has_another_shape_is_refused(text: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        added(text)
    assert words in refused.value.message


@pytest.mark.parametrize(
    "text",
    [
        "x: &a\n- command: q\nhooks:\n  pre_llm_call: *a\n",
        "hooks:\n  pre_llm_call: &a\n  - command: q\n  post_llm_call: *a\n",
        "b: &b {pre_llm_call: [{command: q}]}\nhooks:\n  <<: *b\n",
        "b: &b {}\nhooks: *b\n",
        "hooks: &h\nz: *h\n",
        "hooks: &h\n  pre_llm_call: [*h]\n",
    ],
)
def test_a_place_that_something_else_shares_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        added(text)


def test_of_equal_keys_the_last_one_gets_the_entry() -> None:
    new = added("hooks:\n  a: [1]\nhooks:\n  b: [2]\n")
    assert yaml.safe_load(new)["hooks"] == {"b": [2], "pre_llm_call": [ENTRY]}


def test_a_comment_on_a_line_that_goes_gets_a_line_of_its_own() -> None:
    text = "hooks:\n  a:\n    # first\n    - command: x # mine\n      # inside\n      timeout: 5\n    - command: y\n"
    assert splice(text, remove(parse(text), (0, 0, 0))) == (
        "hooks:\n  a:\n    # first\n    # mine\n      # inside\n    - command: y\n"
    )


@pytest.mark.parametrize("blank", ["", "~", "[]"])
def test_an_emptied_list_is_left_as_it_is_told(blank: str) -> None:
    text = "hooks:\n  a: &x # c\n    - command: x\n  b: 1\n"
    wanted = f"hooks:\n  a: &x {blank} # c\n  b: 1\n" if blank else "hooks:\n  a: &x # c\n  b: 1\n"
    assert splice(text, remove(parse(text), (0, 0, 0), blank)) == wanted

"""One JSON object, or the reason why not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.learn import answer

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=8), values, max_size=4)


@given(
    objects,
    st.sampled_from(
        [
            "{}",
            "  {}\n",
            "```json\n{}\n```",
            "Here it is:\n\n```\n{}\n```\nThat is all.",
            "Here is the answer: {}",
            "Sure: ```json\n{}\n```",
        ]
    ),
)
def test_an_object_comes_back_whole_however_it_is_wrapped(value, form):
    text = form.replace("{}", json.dumps(value, ensure_ascii=False))
    assert answer.parse(text) == value


@given(objects.filter(bool), st.data())
def test_a_cut_object_is_none(value, data):
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(ValueError):
        answer.parse(text[:cut])


@given(st.text(max_size=200))
def test_any_text_gives_an_object_or_a_value_error(text):
    try:
        assert isinstance(answer.parse(text), dict)
    except ValueError as error:
        assert str(error)


@pytest.mark.parametrize(
    "text",
    [
        "", "no facts", "[]", "1", "null", '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": 1} {"b": 2}', "```\n{}\n```\n```\n{}\n```",
        'I think {"facts": []} or {"facts": [1]} is right', 'so {"facts": []} and } here', '{"a":' * 5000, "[" * 100_000, '{"a": ' + "[" * 50 + "]" * 50 + "}", "{" + " " * 1_000_001 + "}",
    ],
)  # fmt: skip
def test_what_is_no_single_object_is_refused(text):
    with pytest.raises(ValueError):
        answer.parse(text)

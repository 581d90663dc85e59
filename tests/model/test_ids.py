import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.model import ids
from gitmem.resources import schema


@given(st.randoms(use_true_random=False))
def test_a_new_id_is_an_id_and_begins_with_a_letter(source):
    one = ids.new_id(source.getrandbits)
    assert ids.is_id(one)
    assert one[0].isalpha()
    assert ids.normal_prefix(one) == one
    assert ids.short(one) == one[:7]


def test_ids_use_the_whole_alphabet_and_do_not_meet():
    source = random.Random(7)
    made = {ids.new_id(source.getrandbits) for _ in range(5000)}
    assert len(made) == 5000
    for place in range(1, ids.LENGTH):
        assert {one[place] for one in made} == set(ids.ALPHABET)
    assert {one[0] for one in made} == set(ids.ALPHABET[10:])


def test_the_largest_and_the_smallest_numbers_make_ids():
    assert ids.new_id(lambda bits: 0) == "a000000000"
    assert ids.is_id(ids.new_id(lambda bits: (1 << bits) - 1))


@given(st.text(max_size=12))
def test_only_what_the_schema_takes_is_an_id(text):
    import re

    pattern = schema("card")["$defs"]["id"]["pattern"].replace("$", r"\Z")
    assert ids.is_id(text) == bool(re.match(pattern, text))


@pytest.mark.parametrize(
    ("typed", "prefix"),
    [
        ("k3v", "k3v"),
        ("K3V9X2M", "k3v9x2m"),
        ("`k3v9`", "k3v9"),
        (" k3v9\n", "k3v9"),
        ("oil", "011"),
        ("k3v9x2m7qa", "k3v9x2m7qa"),
        ("k3", None),
        ("", None),
        ("k3v9x2m7qab", None),
        ("k3u", None),
        ("k-3", None),
        ("每个项目", None),
    ],
)
def test_a_typed_prefix_is_read_as_a_person_means_it(typed, prefix):
    assert ids.normal_prefix(typed) == prefix

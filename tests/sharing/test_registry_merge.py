"""Registry files merge by entry: what each side added or took out holds, and only one thing said twice differently stops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.authoring import registry_edit
from gitmem.model import frontmatter
from gitmem.sharing import registry_merge

BASE = "# Projects of this memory.\nweb:\n  name: web\n  status: active\natlas:\n  name: atlas\n  aliases: [a]\n  status: active\n"


def entries(text: str):
    return frontmatter.parse_yaml(text)[0]


def test_both_sides_add_and_comments_stay():
    ours = registry_edit.put(BASE, "thesis", {"name": "thesis", "status": "active"})
    theirs = registry_edit.put(BASE, "shop", {"name": "shop", "status": "active"})
    merged = registry_merge.merge(BASE, ours, theirs)
    assert set(entries(merged)) == {"web", "atlas", "thesis", "shop"}
    assert merged.startswith("# Projects of this memory.\n")


def test_fields_of_one_entry_merge_and_lists_by_what_was_added_and_taken_out():
    ours = registry_edit.put(BASE, "atlas", {"name": "atlas", "aliases": ["a", "b"], "status": "active"})
    theirs = registry_edit.put(BASE, "atlas", {"name": "atlas", "aliases": ["c"], "status": "archived"})
    merged = entries(registry_merge.merge(BASE, ours, theirs))["atlas"]
    assert (merged["aliases"], merged["status"]) == (["b", "c"], "archived")


def test_one_value_changed_to_two_others_stops_and_names_it():
    ours = BASE.replace("name: web", "name: Web shop")
    theirs = BASE.replace("name: web", "name: Storefront")
    with pytest.raises(registry_merge.Conflict, match=r"web\.name"):
        registry_merge.merge(BASE, ours, theirs)


def test_two_devices_that_connected_the_same_host_agree_on_one_token():
    ours = "codex:\n  profile: working\n  token_sha256: bbbb\n"
    theirs = "codex:\n  profile: working\n  token_sha256: aaaa\n"
    assert entries(registry_merge.merge("", ours, theirs))["codex"]["token_sha256"] == "aaaa"
    assert entries(registry_merge.merge("", theirs, ours))["codex"]["token_sha256"] == "aaaa"


def test_tombstones_are_a_union():
    base, ours, theirs = "cards: []\n", "cards: [a]\nkeys: [k]\n", "cards: [b]\n"
    merged = entries(registry_merge.merge(base, ours, theirs))
    assert (sorted(merged["cards"]), merged["keys"]) == (["a", "b"], ["k"])


names = st.sampled_from(["web", "atlas", "shop", "thesis", "lab"])
files = st.dictionaries(
    names,
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["n", "m"]),
            "aliases": st.lists(st.sampled_from("abcd"), unique=True, max_size=3),
        }
    ),
    max_size=4,
)


def text_of(value) -> str:
    text = ""
    for name, entry in value.items():
        text = registry_edit.put(text, name, entry)
    return text


@given(files, files, files)
def test_both_directions_say_the_same_or_both_stop(base, ours, theirs):
    texts = [text_of(one) for one in (base, ours, theirs)]

    def plain(value):
        return {name: {**entry, "aliases": sorted(entry.get("aliases", []))} for name, entry in value.items()}

    try:
        one = plain(entries(registry_merge.merge(*texts)))
    except registry_merge.Conflict:
        with pytest.raises(registry_merge.Conflict):
            registry_merge.merge(texts[0], texts[2], texts[1])
        return
    assert one == plain(entries(registry_merge.merge(texts[0], texts[2], texts[1])))


@given(files, files)
def test_a_side_that_changed_nothing_changes_nothing(base, ours):
    old, new = text_of(base), text_of(ours)
    assert registry_merge.merge(old, new, old) == new
    assert entries(registry_merge.merge(old, old, new)) == entries(new)

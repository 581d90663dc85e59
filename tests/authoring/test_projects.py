"""Projects and agents: entries of registry files that people also edit by hand."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.authoring import registry_edit
from gitmem.authoring.projects import add_agent, add_project, project_id, revoke_agent, set_status
from gitmem.errors import Refused
from gitmem.model import frontmatter
from tests.authoring.test_cards import codex, me  # noqa: F401

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
TEXTS = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\u2028\u2029\x85\ufeff"),
    max_size=12,
)
ENTRIES = st.fixed_dictionaries(
    {"name": TEXTS, "aliases": st.lists(TEXTS, max_size=3), "status": st.sampled_from(["active", "archived"])}
)
COMMENTS = st.from_regex(r"# [a-z: -]{0,12}", fullmatch=True)


@st.composite
def files(draw):  # type: ignore[no-untyped-def]
    """A registry file as a person may leave it: entries, comments and blank lines between them."""
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=5))
    lines: list[str] = draw(st.lists(COMMENTS, max_size=2))
    values = {}
    for name in names:
        values[name] = draw(ENTRIES)
        lines.extend(frontmatter.dump_yaml([(name, values[name])]))
        lines.extend(draw(st.lists(st.one_of(COMMENTS, st.just("")), max_size=2)))
    return "\n".join(lines) + draw(st.sampled_from(["\n", ""])), values


def read(text: str) -> dict:
    return frontmatter.parse_yaml(text)[0]


@given(files(), ENTRIES, st.data())
def test_changing_one_entry_leaves_every_other_line_and_the_order(file, entry, data):
    text, values = file
    name = data.draw(st.sampled_from(list(values)))
    changed = registry_edit.put(text, name, entry)
    assert read(changed) == {**values, name: entry}
    assert list(read(changed)) == list(values)
    outside = [line for line in changed.split("\n") if line.startswith("#")]
    assert outside == [line for line in text.split("\n") if line.startswith("#")]
    assert registry_edit.put(changed, name, entry) == changed


@given(files(), NAMES, ENTRIES)
def test_a_new_entry_is_added_below_what_is_there(file, name, entry):
    text, values = file
    if name not in values:
        added = registry_edit.put(text, name, entry)
        assert added.startswith(text)
        assert read(added) == {**values, name: entry}
        assert registry_edit.drop(added, name).rstrip("\n") == text.rstrip("\n")


@given(files(), st.data())
def test_dropping_an_entry_drops_only_it(file, data):
    text, values = file
    name = data.draw(st.sampled_from(list(values)))
    assert read(registry_edit.drop(text, name)) == {
        key: value for key, value in values.items() if key != name
    }


def test_entries_by_hand_in_any_style_are_found():
    text = "'web': {name: Web, status: active} # mine\n# between\n\"api\":\n  name: API\n\n  # inside\n  status: active\nold:\n- x\n"
    assert registry_edit.put(text, "web", {"name": "New"}).startswith("web:\n  name: New\n# between\n")
    assert "old:\n- x\n" in registry_edit.put(text, "api", {"name": "New"})
    assert registry_edit.drop(text, "old").endswith("  status: active\n")


@pytest.mark.parametrize(
    "name, wanted",
    [("My App", "my-app"), ("--x--", "x"), ("a__b", "a-b"), ("项目", ""), ("a" * 80, "a" * 64)],
)
def test_a_project_id_is_made_of_a_name(name, wanted):
    assert project_id(name) == wanted


def entries(found, name: str) -> dict:  # type: ignore[no-untyped-def]
    return read(found.memory.git.run("cat-file", "blob", f"main:registry/{name}.yaml").out.decode())


def repository(place, remote: str):  # type: ignore[no-untyped-def]
    place.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    subprocess.run(["git", "remote", "add", "origin", remote], cwd=place, check=True)
    return place


def test_a_folder_that_is_named_is_meant_and_not_the_one_we_stand_in(me, home, monkeypatch):  # noqa: F811
    here = repository(home / "here", "https://git.example.com/me/here.git")
    there = repository(home / "there", "ssh://git@git.example.com:22/me/there")
    monkeypatch.chdir(here)
    project, _, folders = add_project(me(), None, paths=[there])
    assert (project.id, project.remotes, folders) == ("there", ("git.example.com/me/there",), [there])
    project, _, folders = add_project(me(), None)
    assert (project.id, project.remotes, folders) == ("here", ("git.example.com/me/here",), [here])


def test_adding_again_adds_and_says_so_only_when_something_is_new(me):  # noqa: F811
    add_project(me(), "atlas", aliases=["maps"])
    project, written, _ = add_project(me(), "atlas", name="Atlas", aliases=["cards"])
    assert (project.name, project.aliases) == ("Atlas", ("maps", "cards"))
    assert written is not None
    assert add_project(me(), "atlas", aliases=["maps"])[1] is None
    assert entries(me(), "projects") == {
        "atlas": {"name": "Atlas", "aliases": ["maps", "cards"], "status": "active"}
    }


def test_a_remote_belongs_to_one_project(me):  # noqa: F811
    add_project(me(), "one", remotes=["https://git.example.com/me/x"])
    with pytest.raises(Refused, match="belongs to project `one`"):
        add_project(me(), "two", remotes=["git@git.example.com:me/x.git"])


@pytest.mark.parametrize("name", ["global", "personal", "projects", "all", "Upper", "a b", "-x", ""])
def test_what_is_no_project_id_is_refused(me, name):  # noqa: F811
    with pytest.raises(Refused, match="is no project id"):
        add_project(me(), name)


def test_an_archived_project_keeps_its_entry(me):  # noqa: F811
    add_project(me(), "atlas")
    assert set_status(me(), "atlas", "archived") is not None
    assert set_status(me(), "atlas", "archived") is None
    assert entries(me(), "projects")["atlas"]["status"] == "archived"
    with pytest.raises(Refused, match="no project `nowhere`"):
        set_status(me(), "nowhere", "archived")


def test_of_a_token_the_memory_keeps_the_hash_and_this_computer_the_words(me):  # noqa: F811
    _, token, _ = add_agent(me(), "codex", "working", write=["global"])
    entry = entries(me(), "agents")["codex"]
    assert token and token not in str(entry)
    kept = me().memory.state / "tokens" / "codex"
    assert kept.read_text() == token + "\n" and kept.stat().st_mode & 0o777 == 0o600
    assert entry["write"] == ["global"]
    again, none, written = add_agent(me(), "codex", "working", renew=False)
    assert (none, written, again.write) == (None, None, ("global",))
    revoke_agent(me(), "codex")
    assert entries(me(), "agents")["codex"]["status"] == "revoked"
    assert not kept.exists()


def test_the_registry_is_for_people(codex):  # noqa: F811
    for call in (
        lambda: add_project(codex(), "new"),
        lambda: add_agent(codex(), "other", "full"),
        lambda: set_status(codex(), "atlas", "archived"),
        lambda: revoke_agent(codex(), "codex"),
    ):
        with pytest.raises(Refused, match="that is for people"):
            call()

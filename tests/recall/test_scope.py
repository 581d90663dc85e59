"""Whose cards are heard where: folders, remotes, names in prompts, profiles and rights."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitmem import identity
from gitmem.errors import Refused
from gitmem.recall import scope as scopes
from gitmem.whereabouts import normal_remote, project_of_folder, project_of_prompt
from tests.recall.world import World, card_id, profiles_file, register_folder, spec

PROJECTS = {
    "web": {"name": "Web Shop", "aliases": ["the shop", "网店"], "remotes": ["example.org/acme/web"]},
    "lab": {"name": "Lab notes", "aliases": ["notes", "笔记"]},
    "diary": {"name": "Diary", "aliases": ["notes"]},
    "attic": {"name": "Attic", "status": "archived", "aliases": ["the attic"]},
}
CARDS = (
    spec("g", "Use an isolated uv environment for Python"),
    spec("w", "Use an isolated conda environment for Python in the shop", scope="web", type="convention"),
    spec("l", "Use an isolated nix environment for Python in the lab", scope="lab", type="convention"),
    spec("a", "Use an isolated pyenv environment for Python in the attic", scope="attic", type="convention"),
    spec("d", "Use an isolated docker environment for Python services", type="decision"),
)
PROMPT = "set up the isolated Python environment"
AGENTS = b"""
narrow: {profile: full, read: [global, lab], status: active}
closed: {profile: working, read: [lab], status: active}
asker: {profile: full, read: [global, projects, personal], status: active}
everything: {profile: full, read: [all], status: active}
worker: {profile: working, status: active}
gone: {profile: full, status: revoked}
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory, _memory_template) -> World:
    from tests.recall.world import make

    place = tmp_path_factory.mktemp("scopes") / "memory"
    return make(place, _memory_template, CARDS, PROJECTS, {"registry/agents.yaml": AGENTS}).built()


def git(*args: str, cwd: Path) -> None:
    subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True)


def where(world: World, folder: Path) -> str | None:
    return project_of_folder(folder, world.memory, world.registry)


@pytest.mark.parametrize(
    "url",
    [
        "git@example.org:acme/web.git", "https://example.org/acme/web", "https://example.org/acme/web.git", "ssh://git@example.org:22/acme/web/",
        "https://user:secret@example.org/acme/web.git/", "git://EXAMPLE.org/acme/web", "example.org:acme/web", "  https://example.org/acme/web\n",
        "https://example.org:8443/acme/web.git",
    ],
)  # fmt: skip
def test_a_remote_is_the_same_however_it_is_written(url):
    assert normal_remote(url) == "example.org/acme/web"


def test_remotes_that_differ_stay_apart():
    urls = [
        "https://example.org/acme/web",
        "https://example.org/acme/web2",
        "https://example.com/acme/web",
        "/srv/git/web.git",
        "../web",
        "https://example.org/acme/sub/web",
    ]
    assert len({normal_remote(url) for url in urls}) == len(urls)


def test_a_registered_folder_holds_for_its_sub_folders_links_and_worktrees(world, tmp_path):
    repo, other = tmp_path / "code" / "web", tmp_path / "code" / "web-other"
    (repo / "src" / "deep").mkdir(parents=True)
    other.mkdir()
    git("init", "-q", ".", cwd=repo)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=repo)
    git("worktree", "add", "-q", str(tmp_path / "elsewhere"), cwd=repo)
    (tmp_path / "link").symlink_to(repo)
    memory = register_folder(world.memory, "web", repo)
    here = World(memory)
    try:
        for place in (
            repo,
            repo / "src" / "deep",
            tmp_path / "elsewhere",
            tmp_path / "link",
            tmp_path / "link" / "src",
        ):
            assert where(here, place) == "web", place
        for place in (other, tmp_path, tmp_path / "code", repo / ".." / "web-other"):
            assert where(here, place) is None, place
        # the deeper of two registered folders wins
        deeper = World(register_folder(memory, "lab", repo / "src"))
        assert where(deeper, repo / "src" / "deep") == "lab"
        assert where(deeper, repo) == "web"
    finally:
        for name in ("web", "lab"):
            world.memory.git.run("config", "--unset-all", f"mem.project.{name}.path", check=False)


@pytest.mark.parametrize("url", ["git@example.org:acme/web.git", "https://example.org/acme/web"])
def test_a_clone_is_known_by_its_remote_in_its_worktrees_too(world, tmp_path, url):
    repo = tmp_path / "clone"
    (repo / "src").mkdir(parents=True)
    git("init", "-q", ".", cwd=repo)
    git("remote", "add", "fork", "https://example.org/me/web", cwd=repo)
    git("remote", "add", "upstream", url, cwd=repo)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=repo)
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=repo)
    assert where(world, repo / "src") == "web"
    assert where(world, tmp_path / "tree") == "web"


def test_no_folder_and_a_folder_that_is_gone_are_no_project(world, tmp_path):
    assert where(world, tmp_path / "missing") is None
    assert where(world, tmp_path) is None
    assert where(world, Path("/")) is None


def test_a_git_environment_of_a_hook_does_not_change_where_we_are(world, tmp_path, monkeypatch):
    repo = tmp_path / "repo"
    repo.mkdir()
    git("init", "-q", ".", cwd=repo)
    git("remote", "add", "origin", "https://example.org/acme/web", cwd=repo)
    monkeypatch.setenv("GIT_DIR", str(world.memory.git_dir))
    assert where(world, repo) == "web"
    assert os.environ["GIT_DIR"]


@pytest.mark.parametrize(
    ("prompt", "project"),
    [
        ("fix the web build", "web"), ("fix the Web Shop", "web"), ("in the shop, rename it", "web"), ("网店的按钮", "web"), ("看看网店", "web"), ("笔记里写了什么", "lab"),
        ("the lab is closed", "lab"), ("LAB!", "lab"), ("read my notes", None), ("web and lab", None), ("the website", None), ("my-web", None), ("lab_2 is slow", None),
        ("collaborate", None), ("in the attic", None), ("attic", None), ("", None), ("diary", "diary"),
    ],
)  # fmt: skip
def test_a_prompt_names_a_project_only_when_it_points_at_exactly_one(world, prompt, project):
    assert project_of_prompt(prompt, world.registry) == project


def test_full_hears_every_active_project_and_a_named_one_ranks_higher(world):
    assert set(world.said(PROMPT)) == {"g", "w", "l", "d"}
    assert world.said(PROMPT + " of the shop")[0] == "w"
    near = {
        here: {one.id: one.relevance for one in world.ask(PROMPT, "full", here).trace.candidates}
        for here in ("lab", None)
    }
    assert near["lab"][card_id("l")] > near[None][card_id("l")]
    assert set(world.said(PROMPT, "full", "lab")) == {"g", "w", "l", "d"}
    assert set(world.said(PROMPT + " of the shop")) >= {"w", "g"}


@pytest.mark.parametrize(
    ("here", "heard"), [("web", {"g", "w"}), ("lab", {"g", "l"}), (None, {"g"}), ("attic", {"g"})]
)
def test_working_hears_the_folders_project_and_three_types_of_global(world, here, heard):
    assert set(world.said(PROMPT, "working", here)) <= heard
    assert set(world.said(PROMPT + " of the shop", "working", here)) <= heard
    assert "g" in world.said(PROMPT, "working", here)


def test_a_prompt_never_opens_another_project_for_working(world):
    for prompt in (PROMPT + " of the shop", "in web: " + PROMPT, "网店 " + PROMPT):
        assert "w" not in world.said(prompt, "working", None)
        assert "w" not in world.said(prompt, "working", "lab")


@pytest.mark.parametrize(
    ("agent", "here", "heard"),
    [
        ("narrow", "web", {"g", "l", "d"}), ("closed", "web", set()), ("closed", "lab", {"l"}), ("closed", None, set()), ("worker", "web", {"g", "w"}), ("asker", None, {"g", "w", "l", "d"}),
    ],
)  # fmt: skip
def test_an_agent_hears_no_more_than_its_entry_allows(world, agent, here, heard):
    assert set(world.said(PROMPT, None, here, agent=agent)) <= heard
    assert bool(world.said(PROMPT, None, here, agent=agent)) == bool(heard)


@pytest.mark.parametrize("project", ["web", "attic"])
def test_a_named_project_opens_nothing_that_the_entry_closes(world, project):
    assert set(world.said(PROMPT, None, None, agent="narrow", project=project)) <= {"g", "l", "d"}
    assert world.said(PROMPT, None, None, agent="closed", project=project) == []


def test_personal_is_heard_by_full_only_where_it_was_asked_for(world):
    def names(agent: str) -> tuple[str, ...]:
        return scopes.resolve(world.caller(None, agent), world.registry, None, "", None).names

    assert "personal" in names("asker")
    assert "personal" not in names("narrow")
    assert "personal" not in names("everything")
    assert "personal" not in scopes.resolve(world.caller("full"), world.registry, None, "", None).names
    assert scopes.resolve(world.caller("personal"), world.registry, "web", "", None).names == ("personal",)


def test_a_profile_only_narrows_an_agents_own(world):
    assert world.caller("working", "narrow").profile.name == "working"
    for agent, profile in (("worker", "full"), ("worker", "personal"), ("closed", "full")):
        with pytest.raises(Refused):
            world.caller(profile, agent)
    with pytest.raises(Refused):
        world.caller("working", "gone")
    with pytest.raises(Refused):
        world.caller("nothing")


@pytest.mark.parametrize(
    "field",
    [
        {"max_items": 3},
        {"max_bytes": 700},
        {"threshold": 0.2},
        {"level": "l0+l1"},
        {"projects": "all"},
        {"support": 0.0},
        {"threshold_cross": 0.2},
        {"global_types": ["preference", "decision"]},
        {"trigger": ["every_turn"]},
    ],
)
def test_a_profile_that_is_wider_in_one_field_is_refused(make, field):
    own = {"trigger": ["first_turn", "cue"]}
    made = make(
        (),
        {},
        {
            "registry/profiles.yaml": profiles_file(working=own, wider={**own, **field}),
            "registry/agents.yaml": b"worker: {profile: working, status: active}\n",
        },
    )
    with pytest.raises(Refused, match="is wider than `working`"):
        made.caller("wider", "worker")


def test_a_host_that_nobody_connected_gets_the_smallest_dose(world):
    from gitmem import config

    env = config.read({"HOME": "/nowhere", "CLAUDECODE": "1"}, Path("/"))
    caller = identity.resolve(env, world.registry, world.memory)
    assert caller.profile.name == "working" and not caller.person
    assert not caller.reads("personal")


def test_a_project_card_takes_the_place_of_a_global_one_in_its_project_alone(make):
    cards = (
        spec("g", "Use an isolated uv environment for each Python project"),
        spec("twin", "Use an isolated conda environment for each Python project", scope="lab"),
        spec("g2", "Commit messages are written in English", type="convention"),
        spec(
            "over",
            "Commit messages are written in French here",
            scope="lab",
            type="convention",
            overrides=["g2"],
        ),
    )
    world = make(cards, {"lab": {}, "web": {}}).built()
    assert world.said(cards[0].conclusion, "working", "lab") == ["twin"]
    assert world.said(cards[0].conclusion, "working", "web") == ["g"]
    assert set(world.said(cards[0].conclusion, "full", "web")) == {"g", "twin"}
    assert "g2" not in world.said("in which language are commit messages written", "full", "lab")
    assert "g2" in world.said("in which language are commit messages written", "full", "web")
    assert "g2" not in world.said("write the commit messages in English", "working", "lab")
    # a retracted override overrides nothing
    world.put(spec("back", "not any more", scope="lab", retracts=["over"], days_ago=0))
    assert world.said("in which language are commit messages written", "full", "lab") == ["g2"]

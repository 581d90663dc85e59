"""project, agent, profile, and off."""

from __future__ import annotations

import json
import subprocess

import pytest

from gitmem import identity
from gitmem.recall import switches
from tests.conftest import open_memory


def test_a_project_is_the_repository_one_stands_in(memory, run, home):
    web = home / "src" / "web"
    web.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=web, check=True)
    subprocess.run(["git", "remote", "add", "origin", "git@git.example.com:me/web.git"], cwd=web, check=True)
    ran = run("project", "add", "--alias", "website", cwd=web)
    assert ran.out == "web\n"
    commit = open_memory(memory.root).tip[:7]
    assert (
        ran.err
        == f"project `web`, commit {commit}\n  aliases  website\n  remotes  git.example.com/me/web\n  folders  ~/src/web\n"
    )
    assert run("project", "add", "web", cwd=web).err.startswith(
        "project `web`: already so, nothing written\n"
    )
    assert run("project", "list").out == "web    website    ~/src/web, git.example.com/me/web\n"
    assert "here      `web`\n" in run("status", cwd=web).out


def test_a_folder_is_counted_from_where_one_types(memory, run, home):
    (home / "work" / "atlas").mkdir()
    run("project", "add", "atlas", "--path", "atlas")
    assert json.loads(run("project", "list", "--json").out)["projects"][0]["folders"] == [
        str(home / "work" / "atlas")
    ]


def test_outside_a_repository_a_project_needs_a_name(memory, run):
    ran = run("project", "add")
    assert (ran.code, ran.out, ran.err) == (
        1,
        "",
        "error: this folder is no git repository\nhint: git mem project add ID --path DIR\n",
    )


def test_a_project_goes_into_the_archive_and_out_again(demo_memory, run):
    assert run("project", "archive", "thesis").code == 0
    assert run("list", "--scope", "thesis").out == ""
    assert "thesis         archived" in run("project", "list").out
    assert (
        run("project", "archive", "thesis").err
        == "project `thesis` is archived: already so, nothing written\n"
    )
    run("project", "unarchive", "thesis")
    assert run("list", "--scope", "thesis").out != ""
    assert run("project", "archive", "nothing").code == 1


def test_an_agents_token_is_printed_once_and_only_its_hash_is_kept(memory, run):
    ran = run(
        "agent",
        "add",
        "codex",
        "--profile",
        "working",
        "--read",
        "global, projects,personal",
        "--write",
        "projects",
    )
    token = ran.out.strip()
    assert ran.out == token + "\n"
    assert ran.err.splitlines()[1:] == [
        "  reads     global, projects, personal",
        "  writes    projects",
        "  identity  GIT_MEM_AGENT=codex GIT_MEM_TOKEN=… (the line on stdout; it is not shown again)",
    ]
    text = open_memory(memory.root).git.run("grep", "-F", "-e", token, "main", check=False)
    assert text.code == 1
    assert (
        identity.hashed(token) in open_memory(memory.root).git.run("show", "main:registry/agents.yaml").text()
    )
    assert run("list", env={"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": token}).code == 0
    assert run("list", env={"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": "gmt_guess"}).code == 1


def test_an_agent_keeps_its_token_until_it_is_renewed(memory, run):
    first = run("agent", "add", "codex", "--profile", "working").out.strip()
    again = run("agent", "add", "codex", "--profile", "full")
    assert again.out == ""
    assert run("list", env={"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": first}).code == 0
    second = run("agent", "add", "codex", "--renew").out.strip()
    assert run("list", env={"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": first}).code == 1
    assert run("list", env={"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": second}).code == 0
    assert run("agent", "list").out == "codex  full  reads global, projects  writes global, projects\n"


def test_a_new_agent_needs_a_profile(memory, run):
    ran = run("agent", "add", "codex")
    assert (ran.code, ran.out) == (2, "")
    assert "hint: git mem agent add codex --profile working\n" in ran.err


def test_a_revoked_agent_is_turned_away(memory, run):
    token = run("agent", "add", "codex", "--profile", "working").out.strip()
    assert run("agent", "revoke", "codex").code == 0
    assert run("list", env={"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": token}).code == 1
    assert run("agent", "list").out.rstrip().endswith("revoked")


@pytest.mark.parametrize(
    "args",
    [
        ("project", "add", "web"),
        ("agent", "add", "x", "--profile", "full"),
        ("agent", "revoke", "codex"),
        ("off", "--here"),
        ("off", "--for", "1h"),
    ],
)
def test_what_is_for_people_is_refused_to_agents(memory, run, args):
    token = run("agent", "add", "codex", "--profile", "working").out.strip()
    before = open_memory(memory.root).tip
    ran = run(*args, env={"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": token})
    assert ran.code == 1
    assert "for people" in ran.err
    assert open_memory(memory.root).tip == before
    assert switches.load(memory.state) == switches.Switches()


def test_profiles_stand_side_by_side_and_one_with_its_meaning(memory, run):
    table = run("profile").out.splitlines()
    assert table[0].split() == ["full", "working", "personal"]
    assert table[-1].split() == ["agents", "-", "-", "-"]
    assert run("profile", "list").out.splitlines() == table
    assert "max_bytes        600 " in run("profile", "show", "working").out
    assert run("profile", "show", "loud").code == 1


def test_every_field_of_a_profile_is_explained(memory, run):
    from gitmem.cli.profiles import FIELDS
    from gitmem.model.registry import Profile

    assert set(FIELDS) == set(Profile.__dataclass_fields__) - {"name"}


def test_off_here_for_a_while_only_there_and_back_on(memory, run, home):
    assert run("off").out == "nothing is switched off\n"
    assert run("off", "--here").out == "off  in ~/work\n"
    (home / "work" / "deep").mkdir()
    assert json.loads(run("off", "--json", cwd=home / "work" / "deep").out)["here"] == f"off in {home}/work"
    ran = run("off", "--for", "2h", "--only", str(home / "notes"))
    assert [line.split(" until ")[0] for line in ran.out.splitlines()] == [
        "off  everything",
        "off  everywhere but in ~/notes",
        "off  in ~/work",
    ]
    assert run("off", "--here", "--end", cwd=home / "work" / "deep").code == 0
    assert switches.load(memory.state).folders == ()
    assert run("off", "--end").out == "nothing is switched off\n"
    assert run("off", "--end", "--here").code == 1


@pytest.mark.parametrize("span", ["x", "0h", "2", "-1h", "2 weeks"])
def test_a_length_of_time_that_is_none_is_a_usage_error(memory, run, span):
    ran = run("off", "--for", span)
    assert ran.code == 2
    assert switches.load(memory.state) == switches.Switches()


def test_recall_is_silent_where_it_is_off(demo_memory, run):
    ask = ("recall", "Set up an isolated Python environment for each project")
    assert "uv environment" in run(*ask, process=True).out
    run("off", "--here")
    assert run(*ask, process=True).out == ""

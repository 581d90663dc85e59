"""`git mem mcp`: its calls by themselves, and a real client over standard input and output."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem import config
from gitmem.hosts.mcp_calls import Calls
from tests.conftest import open_memory

needs_sdk = pytest.mark.skipif(
    importlib.util.find_spec("mcp") is None or importlib.util.find_spec("mcp_types") is None,
    reason="the MCP SDK is not installed: pip install 'git-mem[mcp]'",
)
UV = "Use an isolated uv environment for each Python project"


@pytest.fixture
def web(memory, run, home) -> Any:
    """Two projects with a card each, a global and a personal one; `~/web` is a project's folder."""
    (home / "web").mkdir()
    run("project", "add", "web", "--path", str(home / "web"))
    run("project", "add", "thesis", "--path", str(home / "thesis"))
    run("add", UV)
    run("add", "The thesis is about glaciers", "--scope", "thesis", "--type", "fact")
    run("add", "The dentist is on Mondays", "--scope", "personal")
    return open_memory(memory.root)


def calls(home: Path, agent: str | None = None, **variables: str) -> Calls:
    from gitmem.cli.reading import told

    return Calls(config.read({**os.environ, **variables}, home / "web"), None, agent, told)


def ids_of(found: Any) -> list[str]:
    return [hit["l0"] for hit in found.data["hits"]]


def test_a_call_without_a_session_is_a_question_and_with_one_a_turn(web, home) -> None:
    asked = calls(home).recall("Set up the Python environment")
    assert UV in asked.text and asked.data["status"] == "items"
    desk = calls(home)
    assert UV in desk.recall("Set up the Python environment", session="one").text
    again = desk.recall("Now rename the Python environment", session="one")
    assert (again.data["items"], again.data["silent_because"]) == ([], "a later turn without a cue")


def test_the_folder_of_a_call_tells_the_project(web, home, run) -> None:
    run("add", "Staging runs on port 8443", "--scope", "web", "--type", "fact")
    assert "8443" in calls(home).recall("which port has staging").text
    elsewhere = calls(home).recall("which port has staging", cwd=str(home))
    assert elsewhere.data["items"] == [] and elsewhere.text.startswith("Nothing to say: ")


def test_a_client_without_identity_is_never_a_person(web, home, run) -> None:
    run("hooks", "install")
    desk = calls(home)
    for wish in (
        {"type_": "preference"},
        {"type_": "rule"},
        {"scope": "global"},
        {"scope": "personal", "quote": "so", "session": "s"},
    ):
        refused = desk.add("Always deploy by hand", **wish)  # type: ignore[arg-type]
        assert refused.failed, wish
    assert ids_of(desk.search("dentist Mondays", everywhere=True)) == []
    done = desk.add("Staging runs on port 8443")
    assert (done.data["type"], done.data["scope"], done.data["written"]) == ("fact", "web", True), done.text
    assert "\nauthor: mcp\n" in web.git.run("show", f"main:{_path(web, done.data['id'])}").text()
    assert run("check", "--all", cwd=web.root).code == 0


def _path(memory: Any, card: str) -> str:
    return next(line for line in memory.git.lines("ls-tree", "-r", "--name-only", "main") if card in line)


def test_a_quote_counts_as_the_persons_words(web, home) -> None:
    done = calls(home).add("Use tabs", type_="preference", quote="please, tabs from now on", session="s-1")
    assert done.data["type"] == "preference"
    shown = calls(home).show(done.data["id"][:7])
    assert "please, tabs from now on" in shown.text and "as mcp tells" in shown.text


def test_an_agent_sees_and_writes_only_its_own_scopes(web, home, run) -> None:
    token = run(
        "agent", "add", "codex", "--profile", "working", "--read", "web", "--write", "web"
    ).out.strip()
    thesis = next(
        line.split("-")[-1][:10]
        for line in web.git.lines("ls-tree", "-r", "--name-only", "main", "cards/thesis")
    )
    desk = calls(home, GIT_MEM_AGENT="codex", GIT_MEM_TOKEN=token)
    assert ids_of(desk.search("glaciers thesis", everywhere=True)) == []
    assert ids_of(desk.search("Python environment", everywhere=True)) == []
    assert desk.search("glaciers", project="thesis").data["error"] == "`codex` may not read `thesis`"
    assert desk.brief("thesis").failed
    assert desk.show(thesis).data["error"] == f"no card `{thesis}`"
    assert desk.recall("what is the thesis about, glaciers?", cwd=str(home / "thesis")).data["items"] == []
    assert desk.add("The thesis is late", scope="thesis").data["error"] == "`codex` may not write in `thesis`"
    assert desk.add("The thesis is about lakes", supersedes=[thesis]).data["error"] == f"no card `{thesis}`"
    done = desk.add("Staging runs on port 8443")
    assert not done.failed and ids_of(desk.search("staging port", everywhere=True)) == [
        "Staging runs on port 8443"
    ]


def test_an_agents_token_is_the_one_that_was_kept_here(web, home, run) -> None:
    token = run("agent", "add", "codex", "--profile", "working").out.strip()
    run("agent", "add", "other", "--profile", "working")
    assert not calls(home, "codex").add("Staging runs on port 8443").failed
    assert calls(home, "codex", GIT_MEM_TOKEN="gmt_guessed").search("port").failed
    assert "missing" in calls(home, "codex", GIT_MEM_AGENT="other").search("port").text
    assert not calls(home, "codex", GIT_MEM_AGENT="other", GIT_MEM_TOKEN=token).search("port").failed
    (web.state / "tokens" / "codex").unlink()
    gone = calls(home, "codex").search("port")
    assert gone.data["hints"][0] == "git mem agent add codex --renew makes one and keeps it"
    assert calls(home, "../tokens/other").search("port").failed


def test_a_near_duplicate_is_refused_in_the_tools_own_words(web, home) -> None:
    desk = calls(home)
    first = desk.add("Staging runs on port 8443").data["id"]
    refused = desk.add("Staging runs on the port 8443")
    assert (
        refused.failed
        and refused.data["hints"][0]
        == f'if it replaces that card: add it again with supersedes ["{first[:7]}"]'
    )
    replaced = desk.add("Staging runs on the port 9443", supersedes=[first[:7]])
    assert replaced.data["written"] and "9443" in desk.recall("which port has staging").text
    assert desk.add("Staging runs on the port 9443").data == {
        "id": replaced.data["id"], "type": "fact", "scope": "web", "written": False, "commit": None,
    }  # fmt: skip


def test_a_failing_memory_is_an_answer_and_a_mended_one_goes_on(web, home, monkeypatch) -> None:
    desk = calls(home)
    aside = web.root.rename(home / "aside")
    assert desk.recall("Python environment").data["exit_code"] == 128
    aside.rename(web.root)
    from gitmem.recall import turn

    monkeypatch.setattr(turn, "turn", lambda *_, **__: 1 / 0)
    failed = desk.recall("Python environment")
    assert failed.failed and failed.data["error"] == "the memory failed: ZeroDivisionError: division by zero"
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    assert UV in desk.recall("Set up the Python environment").text


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files in /proc")
def test_calls_leave_nothing_open_and_load_the_embedder_once(web, home, monkeypatch) -> None:
    from gitmem.index import embed

    loads: list[str] = []
    real = embed._load
    monkeypatch.setattr(embed, "_loaded", {})
    monkeypatch.setattr(embed, "_load", lambda name, for_query: loads.append(name) or real(name, for_query))
    desk = calls(home)

    def work(number: int) -> None:
        assert desk.add(f"Sensor {number} hangs in room {number * 7}", force=True).data["written"]
        desk.recall("Set up the Python environment")
        desk.search("sensor room")
        desk.show("zzzzzzz")
        desk.brief()

    work(1)
    before = len(os.listdir("/proc/self/fd"))
    for number in range(2, 5):
        work(number)
    assert len(os.listdir("/proc/self/fd")) == before
    assert len(loads) <= 1


def test_without_the_sdk_the_command_says_what_to_install(memory, run, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "gitmem.hosts.mcp", raising=False)
    ran = run("mcp")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: `git mem mcp` needs the MCP SDK: ")
    assert "hint: pip install 'git-mem[mcp]'" in ran.err


def talk(home: Path, work: Callable[[Any], Any], *args: str, **variables: str) -> Any:
    """Run `await work(client)` against a server process in `~/web`."""
    import anyio
    from mcp import Client, StdioServerParameters, stdio_client

    async def session() -> Any:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "gitmem", "mcp", *args],
            env={**os.environ, **variables},
            cwd=str(home / "web"),
        )
        # standard error may be no file of the system's here
        with (home / "mcp.err").open("w") as errors:
            async with Client(stdio_client(server, errlog=errors)) as client:
                return await work(client)

    return anyio.run(session)


@needs_sdk
def test_a_client_lists_the_tools_recalls_adds_and_searches(web, home) -> None:
    async def work(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["recall", "search", "show", "add", "brief"]
        assert all(tool.description and tool.output_schema for tool in tools.values())
        assert tools["recall"].annotations.read_only_hint and not tools["add"].annotations.read_only_hint
        assert list(tools["add"].input_schema["properties"]) == [
            "conclusion", "type", "scope", "body", "also", "quote", "session", "supersedes", "force",
        ]  # fmt: skip
        said = await client.call_tool("recall", {"prompt": "Set up the Python environment"})
        assert said.content[0].text.startswith("<memory-context>\n") and UV in said.content[0].text
        assert [one["conclusion"] for one in said.structured_content["items"]] == [UV]
        done = await client.call_tool(
            "add", {"conclusion": "Staging runs on port 8443", "also": ["预发环境的端口是 8443"]}
        )
        assert not done.is_error, done.content
        card = done.structured_content["id"]
        found = await client.call_tool("search", {"words": "预发环境 端口"})
        assert found.structured_content["hits"][0]["id"] == card
        shown = await client.call_tool("show", {"id": card[:7]})
        assert shown.structured_content["card"]["also"] == ["预发环境的端口是 8443"]
        assert "8443" in (await client.call_tool("brief", {})).content[0].text
        refused = await client.call_tool("add", {"conclusion": "Use tabs", "type": "preference"})
        assert refused.is_error and refused.content[0].text.startswith(
            "error: a preference needs the user's own words\nhint: "
        )

    talk(home, work)


@needs_sdk
def test_a_client_with_an_agents_identity_sees_that_agents_scopes(web, home, run) -> None:
    run("agent", "add", "codex", "--profile", "working", "--read", "web", "--write", "web")
    run("agent", "add", "mail", "--profile", "personal", "--read", "personal", "--write", "personal")

    async def everything(client: Any) -> list[str]:
        found = await client.call_tool(
            "search", {"words": "glaciers dentist uv environment Mondays", "everywhere": True}
        )
        return sorted(hit["l0"] for hit in found.structured_content["hits"])

    assert talk(home, everything, "--agent", "codex") == []
    assert talk(home, everything, "--agent", "mail") == ["The dentist is on Mondays"]


@needs_sdk
def test_the_server_outlives_a_missing_memory(home, run) -> None:
    (home / "web").mkdir()

    async def work(client: Any) -> None:
        none = await client.call_tool("search", {"words": "anything"})
        assert none.is_error and "there is no memory yet" in none.content[0].text
        assert run("init", process=True).code == 0
        assert not (await client.call_tool("search", {"words": "anything"})).is_error

    talk(home, work)

"""An agent with few rights walks through every command: no word of a scope it may not read comes out, none goes in.

Every text of a closed scope holds a word of its own that begins with `zq`: cards, words quoted, briefs, the project's id,
name, alias, remote and folder, subjects of commits, logged prompts.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from gitmem.cli.main import COMMANDS
from tests.conftest import open_memory
from tests.recall.world import card_id, make, profiles_file, spec

TOKEN = re.compile(r"zq[a-z]+[0-9]*", re.IGNORECASE)
CLOSED = "zqproject"
PROJECTS = {
    "meadow": {"aliases": ["the meadow app"]},
    CLOSED: {"name": "Zqname", "aliases": ["zqalias"], "remotes": ["git@example.com:me/zqremote.git"]},
}
AGENTS = (
    "narrow: {profile: full, read: [global, meadow], write: [meadow], status: active}\n"
    "zqagent: {profile: full, read: [zqproject, personal], write: [zqproject], status: active}\n"
)
BAD = f"cards/{CLOSED}/2026/11/10/2026-11-10-zqbad-n0tacard00.md"


def _cards():  # type: ignore[no-untyped-def]
    for scope in (CLOSED, "personal", "meadow", "global"):
        own = f"zq{scope[:4]}" if scope in (CLOSED, "personal") else f"open{scope}"
        for number, kind in enumerate(("fact", "preference", "decision", "task", "pitfall")):
            word = f"{own}card{chr(97 + number)}"
            yield spec(
                f"{scope}-{kind}",
                f"The {word} table of the station is stored in one file",
                scope=scope,
                type=kind,
                also=[f"{word} 表按站点分区存储"],
                body=f"Because of {word}.",
                tags=[word],
                days_ago=1,
            )
        yield spec(f"{scope}-next", f"The {own}next table of the station is in two files", scope=scope,
                   type="decision", supersedes=[f"{scope}-decision"], days_ago=0.5)  # fmt: skip
        yield spec(
            f"{scope}-gone", f"{own}gone was wrong", scope=scope, retracts=[f"{scope}-pitfall"], days_ago=0.4
        )
        yield spec(f"{scope}-rule", f"The {own}rule stands", scope=scope, type="rule", days_ago=1)
        yield spec(
            f"{scope}-old", f"The {own}old table ran out", scope=scope, type="fact", expires="2026-11-12"
        )


@pytest.fixture(scope="module")
def _walled(tmp_path_factory, _memory_template) -> Path:
    place = tmp_path_factory.mktemp("rights") / "memory"
    files = {
        "registry/profiles.yaml": profiles_file(),
        "registry/agents.yaml": AGENTS.encode(),
        f"briefs/{CLOSED}.md": b"Standing: zqbrief.\n",
        "briefs/meadow.md": b"Standing: the meadow.\n",
        BAD: b"---\nid: zqbroken\n---\nzqbody\n",
    }
    world = make(place, _memory_template, list(_cards()), PROJECTS, files)
    world.built()
    return place


@pytest.fixture
def walled(home, _walled, run, monkeypatch):  # type: ignore[no-untyped-def]
    """The memory, with a person's writes and recalls about the closed scopes in its logs; whose folder we are in."""
    shutil.copytree(_walled, home / "memory", symlinks=True)
    with (home / ".gitconfig").open("a") as file:
        file.write(f"[mem]\n\trepo = {home / 'memory'}\n")
    (home / "zqfolder").mkdir()
    (home / "meadow").mkdir()
    assert run("project", "add", CLOSED, "--path", str(home / "zqfolder")).code == 0
    assert run("project", "add", "meadow", "--path", str(home / "meadow")).code == 0
    assert run("add", "The zqadded one is quite another thing", "--scope", CLOSED).code == 0
    assert run("add", "The zqundone one is nothing to keep", "--scope", "personal").code == 0
    assert run("undo").code == 0
    for words in ("how is the zqprompt table stored", "zqproject station table"):
        assert run("recall", words, "--session", "zqsession").code == 0
        assert run("search", words).code == 0
    # a token that the agent has, as `agent add` gives one
    token = run("agent", "add", "narrow", "--renew").out.strip()
    monkeypatch.setenv("GIT_MEM_AGENT", "narrow")
    monkeypatch.setenv("GIT_MEM_TOKEN", token)
    monkeypatch.chdir(home / "meadow")
    return open_memory(home / "memory")


_ID = card_id(f"{CLOSED}-fact")
_MINE = card_id("meadow-fact")
_PROMPT = "how is the table of the station stored, and what is in two files"
_EVENT = json.dumps(
    {"hook_event_name": "UserPromptSubmit", "prompt": _PROMPT, "session_id": "s1", "cwd": "."}
)
_START = json.dumps({"hook_event_name": "SessionStart", "source": "startup", "session_id": "s2", "cwd": "."})

# What is tried of each command beyond the bare one and `--json`; {commit}: a person's write in a closed scope.
LINES: dict[str, list[tuple[str, ...]]] = {
    "add": [
        ("The table of the station is stored in one file",),
        ("The table of the station is stored in one file", "--scope", CLOSED, "--type", "fact"),
        ("The table of the station is stored elsewhere", "--supersedes", _ID),
        ("The station table is stored in one file or in two", "--type", "fact", "--force"),
        ("something for everybody", "--scope", "global", "--type", "fact"),
        ("something of my own", "--scope", "personal", "--quote", "something of my own", "--session", "s1"),
    ],
    "search": [(_PROMPT,), (_PROMPT, "--everywhere"), (_PROMPT, "--project", CLOSED), (_PROMPT, "--scope", "personal"),
               (_PROMPT, "--all", "--everywhere", "--json"), ("表按站点分区存储", "--everywhere")],
    "show": [(_ID,), (_ID[:4],), (_MINE,), (_ID, "--json"), (card_id("personal-decision"),), (_MINE, "--json")],
    "recall": [(_PROMPT,), (_PROMPT, "--project", CLOSED), (_PROMPT, "--explain"), (_PROMPT, "--json", "--session", "n1"),
               (_PROMPT, "--at", "HEAD"), ("where were we", "--session", "n2"), (_PROMPT, "--agent", "zqagent"),
               (_PROMPT, "--lexical", "--explain", "--json"), (_PROMPT, "--profile", "personal")],
    "connect": [("--status",), ("--check",), ("codex",)],
    "edit": [(_ID, "another text"), (_ID,)],
    "list": [("--all",), ("--all", "--json"), ("--scope", CLOSED), ("--scope", "personal"), ("--expiring",), ("--type", "decision")],
    "brief": [("--project", CLOSED), ("--project", "meadow"), ("--edit", CLOSED), ("--profile", "full"), ("--project", CLOSED, "--json")],
    "why": [(_ID,), (_MINE,), (_ID, "--json")],
    "supersede": [(_ID, "The table is elsewhere"), (_MINE, _ID, "The table is elsewhere")],
    "confirm": [(_ID,)],
    "retract": [(_ID,), (_MINE, _ID)],
    "undo": [("{commit}",), ("HEAD",)],
    "import": [("--dry-run",), ("jsonl", "cards.jsonl", "--scope", CLOSED), ("claude-md", ".", "--dry-run")],
    "project": [("list",), ("list", "--json"), ("archive", CLOSED), ("unarchive", CLOSED), ("add", "mine"), ("add", CLOSED, "--alias", "mine")],
    "agent": [("list",), ("list", "--json"), ("add", "narrow", "--read", "all"), ("revoke", "zqagent"), ("add", "zqagent", "--renew")],
    "profile": [("list",), ("show", "full"), ("full",)],
    "disconnect": [("codex",)],
    "check": [("--all",), ("--all", "--json"), ("--all", "--format", "github"), ("--range", "HEAD~8..HEAD"), ("--staged",)],
    "off": [("--here",), ("--end",), ("--for", "1h"), ("--end",)],
    "log": [("-n", "100"), ("--recalls",), ("-n", "100", "--json"), ("--recalls", "--json")],
    "completion": [("bash",)],
    "help": [("privacy",)],
    "capture": [("--dry-run",), ("--dry-run", "--json")],
    "index": [("--status",), ("--rebuild",)],
    "hook": [("codex",), ("claude-code",), ("hermes",), ("pi",)],
    "hooks": [("status",), ("status", "--json"), ("install",), ("uninstall",)],
    "inbox": [("--dropped",), ("--json",)],
    "consolidate": [("--dry-run",), ("--scope", CLOSED), ("--apply",)],
    "sync": [("--fetch-only",)],
    "learn": [("--dry-run",), ("--delegate", "orders"), ("--every", "6h")],
    "forget": [(_ID, "--yes"), (_ID, "--dry-run"), (_ID, "--dry-run", "--json")],
    "uninstall": [("--yes",)],
}  # fmt: skip
# `demo` shows an invented memory of its own, and `init`, `clone` and `uninstall` speak of folders, not of cards.
INPUT = {"hook": [_EVENT, _START]}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_tells_an_agent_a_word_of_a_scope_that_is_closed_to_it(walled, run, name):
    commit = walled.git.run("log", "--format=%H", "--grep=zqadded", "-1", "main").text()
    before = walled.git.run("rev-parse", "main").text()
    lines = [(), ("--json",), *LINES.get(name, [])] if name != "demo" else [("-h",)]
    leaks, heard = [], ""
    for line in lines:
        line = tuple(commit if word == "{commit}" else word for word in line)
        for given in INPUT.get(name, [""]):
            done = run(name, *line, input=given, process=name == "hook")
            said = done.out + done.err
            heard += said
            for word in sorted(line, key=len, reverse=True):
                # what the caller typed is repeated to it
                said = said.replace(word, "")
            leaks.extend((line, done.code, token) for token in TOKEN.findall(said))
            assert "Traceback" not in done.err and done.code in (0, 1, 2, 3, 128), (line, done.err)
    assert leaks == []
    if name in ("search", "show", "recall", "list", "brief", "hook", "status"):
        assert re.search("openglobal|openmeadow|meadow", heard), heard
    written = walled.git.run("diff", "--name-only", before, "main").text().split()
    assert [path for path in written if path.split("/")[1] != "meadow"] == [], written


def test_a_host_without_identity_reads_nothing_personal_in_any_command(walled, run, monkeypatch):
    monkeypatch.delenv("GIT_MEM_AGENT")
    monkeypatch.delenv("GIT_MEM_TOKEN")
    monkeypatch.setenv("CLAUDECODE", "1")
    leaks = []
    for name in sorted(set(COMMANDS) - {"demo", "hooks"}):
        for line in [(), ("--json",), *LINES.get(name, [])]:
            for given in INPUT.get(name, [""]):
                args = [word for word in line if word != "{commit}"]
                done = run(name, *args, input=given, process=name == "hook")
                leaks.extend((name, line, token) for token in re.findall(r"zqpers\w+", done.out + done.err))
    assert leaks == []


def test_an_agent_that_starts_a_run_of_learning_hears_of_its_own_scopes(walled, run):
    from types import SimpleNamespace as Some

    from gitmem import config, context
    from gitmem.cli import learned
    from gitmem.learn.run import Result

    caller = context.build(config.from_process()).caller
    held = Some(digest=Some(project=""))
    mine, closed = (Some(scope=one, conclusion=f"zq{one}") for one in ("meadow", CLOSED))
    result = Result(
        steps=[mine, closed],  # type: ignore[list-item]
        dropped=[(held, mine), (held, closed), (held, Some(scope=""))],  # type: ignore[list-item]
        unmatched=[(Some(digest=Some(project=CLOSED)), Some(scope=""))],  # type: ignore[list-item]
        waiting={"/home/me/zqfolder": 2},
    )
    told = learned.for_caller(caller, result)
    assert (told.steps, told.dropped, told.unmatched, told.waiting) == ([mine], [(held, mine)], [], {})


def test_a_wrong_token_opens_nothing(walled, run, monkeypatch):
    monkeypatch.setenv("GIT_MEM_TOKEN", "wrong")
    for name in ("search", "list", "recall", "log", "brief", "status", "show", "check"):
        args = {"search": ["table"], "recall": ["table"], "show": [_MINE], "check": ["--all"]}.get(name, [])
        done = run(name, *args)
        assert done.code == 1 and "openmeadow" not in done.out, (name, done)

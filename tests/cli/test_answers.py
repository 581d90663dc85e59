"""Every `--json` answer fits its schema, and the schemas leave no room beside them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from gitmem import resources
from gitmem.authoring.demo import demo_id
from gitmem.recall import log

LINES: list[tuple[str, tuple[str, ...]]] = [
    ("status", ("status",)),
    ("show", ("show", "tmh3", "atv2by1", "n3f5")),
    ("list", ("list",)),
    ("list", ("list", "--all")),
    ("list", ("list", "--expiring")),
    ("log", ("log",)),
    ("log", ("log", "--recalls")),
    ("init", ("init",)),
    ("project", ("project", "list")),
    ("agent", ("agent", "list")),
    ("profile", ("profile",)),
    ("profile", ("profile", "list")),
    ("profile", ("profile", "show", "working")),
    ("off", ("off",)),
    ("recall", ("recall", "Set up the Python environment")),
    ("recall", ("recall", "--explain", "--profile", "working", "nothing of the kind")),
    ("recall", ("recall", "--at", "HEAD~1", "Set up the Python environment")),
    ("search", ("search", "uv", "--all")),
    ("brief", ("brief",)),
    ("index", ("index", "--status")),
    ("index", ("index",)),
    ("hooks", ("hooks", "status")),
    ("check", ("check", "--staged")),
    ("import", ("import",)),
    ("capture", ("capture", "--dry-run")),
    ("forget", ("forget", "tmh3", "--dry-run")),
]


def faults(name: str, answer: Any) -> list[str]:
    schema = resources.schema(f"answers/{name}")
    jsonschema.Draft202012Validator.check_schema(schema)
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(answer)]


@pytest.fixture
def busy_memory(demo_memory, run, home):
    """The demo with something in every field that an answer has."""
    run("agent", "add", "hermes", "--profile", "full")
    run(
        "project",
        "add",
        "web",
        "--alias",
        "site",
        "--remote",
        "git@git.example.com:me/web.git",
        "--path",
        str(home),
    )
    run("add", "Use pnpm 10 here", "--scope", "dashboard", "--force", "--tag", "build")
    run("confirm", demo_id("teal"))
    run("off", "--for", "2h", "--only", str(home))
    log.append(
        demo_memory.state,
        {
            "event": "recall",
            "agent": "hermes",
            "said": [demo_id("teal")],
            "prompt": "x",
            "best": 0.5,
            "fired": True,
        },
    )
    card = demo_memory.root / "cards" / "global" / "2026" / "11" / "09" / "2026-11-09-n3f5t8kwq1.md"
    card.parent.mkdir(parents=True, exist_ok=True)
    card.write_text("---\nid: n3f5t8kwq1\n")
    demo_memory.git.run("add", "-A")
    demo_memory.git.run("commit", "-qm", "forced")
    return demo_memory


@pytest.mark.parametrize(("name", "line"), LINES, ids=[" ".join(line) for _, line in LINES])
def test_a_json_answer_fits_its_schema(busy_memory, run, name, line):
    ran = run(*line, "--json")
    # `hooks status` says with its exit code that this memory has none
    assert ran.code == (1 if line[0] == "hooks" else 0), ran.err
    assert faults(name, json.loads(ran.out)) == []


@pytest.mark.parametrize(
    ("name", "line"),
    [("status", ("status",)), ("list", ("list",)), ("log", ("log",)), ("agent", ("agent", "list"))],
)
def test_an_empty_memorys_json_answer_fits_its_schema(memory, run, name, line):
    assert faults(name, json.loads(run(*line, "--json").out)) == []


@pytest.mark.parametrize("name", sorted({name for name, _ in LINES}))
def test_a_schema_refuses_what_it_does_not_name(name):
    assert faults(name, {"surprise": 1}) != []


@pytest.mark.parametrize("name", sorted({name for name, _ in LINES}))
def test_every_object_of_an_answer_is_closed(name):
    def objects(schema: Any):  # type: ignore[no-untyped-def]
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                yield schema
            for value in schema.values():
                yield from objects(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from objects(value)

    found = list(objects(resources.schema(f"answers/{name}")))
    assert found
    for one in found:
        assert "additionalProperties" in one
        assert one["additionalProperties"] is False or "properties" not in one


def _leaves() -> list[tuple[str, ...]]:
    from click import Group

    from gitmem.cli.main import git_mem

    found = []
    for name in (
        "show",
        "list",
        "status",
        "log",
        "path",
        "completion",
        "help",
        "init",
        "project",
        "agent",
        "profile",
        "off",
    ):
        command = git_mem.get_command(None, name)  # type: ignore[arg-type]
        found.append((name,))
        if isinstance(command, Group):
            found.extend((name, sub) for sub in command.commands)
    return found


@pytest.mark.parametrize("words", _leaves(), ids=" ".join)
def test_every_command_has_a_summary_and_help_for_each_option(run, words):
    import click

    from gitmem.cli.main import git_mem

    command = git_mem
    for word in words:
        command = command.get_command(None, word)  # type: ignore[attr-defined, arg-type]
    assert command.help and command.help.splitlines()[0].endswith(".")
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help and not option.help.endswith("."), option.name
    ran = run(*words, "-h")
    assert (ran.code, ran.err) == (0, "")
    if not isinstance(command, click.Group):
        assert "Examples:" in ran.out


def test_a_failing_check_fits_its_schema(busy_memory, run):
    ran = run("check", "--all", "--json")
    assert ran.code == 1
    answer = json.loads(ran.out)
    assert not answer["ok"] and faults("check", answer) == []


def test_an_import_fits_its_schema(busy_memory, run, home):
    (home / "AGENTS.md").write_text("# x\n\n- Always run the formatter before a commit\n- z\n")
    ran = run("import", "agents-md", str(home / "AGENTS.md"), "--json")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    assert answer[0]["items"] and faults("import", answer) == []


def test_the_last_automatic_turn_fits_its_schema(demo_memory, run):
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s",
        "cwd": "/",
        "prompt": "Set up the Python environment",
    }
    assert run("hook", "claude-code", input=json.dumps(event), process=True).code == 0
    ran = run("why", "--json")
    assert ran.code == 0, ran.err
    assert faults("why", json.loads(ran.out)) == []

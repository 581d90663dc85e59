"""Pi's session files: the branch that stands, and who typed what."""

from __future__ import annotations

from gitmem.learn.readers import lines, pi
from tests.learn.told import Pi, iso


def read(told: Pi):
    return pi.read(lines.split(told.bytes()))


def test_a_session_becomes_typed_words_tools_and_final_answers():
    told = Pi()
    told.add("model_change", provider="p", modelId="m")
    told.user("Rye first")
    told.add("custom_message", customType="git-mem", content="Notes: rye is dark", display=False)
    told.calls("bash", "c1")
    told.message(
        "toolResult",
        toolCallId="c1",
        toolName="bash",
        content=[{"type": "text", "text": "timed out"}],
        isError=True,
    )
    told.says("", "error")
    told.says("Rye stands first.")
    told.message("bashExecution", command="git status", output="", exitCode=1)
    told.add("session_info", name="Order of breads")
    found = read(told)
    assert [(turn.role, turn.text) for turn in found.turns] == [
        ("user", "Rye first"),
        ("tool", "bash; bash failed: timeout"),
        ("assistant", "Rye stands first."),
    ]
    assert (found.title, found.tool_errors, found.shell_lines) == ("Order of breads", 1, 1)
    assert (found.started, found.last) == (iso(0), iso(90))


def test_a_branch_that_was_left_is_taken_back():
    told = Pi().talk("One")
    fork = told.parent
    told.talk("Dead end")
    told.parent = fork
    told.add("branch_summary", fromId="x", summary="Dead end, dropped")
    found = read(told.talk("Two"))
    assert ([turn.text for turn in found.typed], found.undone) == (["One", "Two"], ("Dead end",))
    assert [turn.number for turn in found.typed] == [1, 5]


def test_the_words_after_a_skill_are_typed():
    told = Pi()
    told.user('<skill name="s" location="/x/SKILL.md">\nReferences\n\n# S\n</skill>\n\nFor rye only')
    told.user('<skill name="s" location="/x/SKILL.md">\nReferences\n</skill>')
    assert [turn.text for turn in read(told).typed] == ["For rye only"]


def test_a_compaction_removes_nothing():
    told = Pi().talk("One")
    told.add("compaction", summary="They said One", firstKeptEntryId="x")
    found = read(told.talk("Two"))
    assert ([turn.text for turn in found.typed], found.compactions) == (["One", "Two"], 1)


def test_a_forks_copied_entries_are_its_parents():
    parent = Pi().talk("One", "Two")
    told = Pi(
        "90b38500-0000-4000-8000-000000000002", start=5000, parentSession=f"/x/2026_{parent.session}.jsonl"
    )
    told.records += parent.records[1:]
    told.parent = parent.parent
    found = read(told.talk("Three"))
    assert ([turn.text for turn in found.typed], found.parent) == (["Three"], parent.session)
    assert [turn.text for turn in found.before if turn.role == "user"] == ["One", "Two"]
    assert found.started == iso(5000)


def test_version_1_has_no_ids_and_is_linear():
    told = Pi().talk("One", "Two")
    del told.records[0]["version"]
    for record in told.records[1:]:
        del record["id"], record["parentId"]
    assert [turn.text for turn in read(told).typed] == ["One", "Two"]


def test_a_title_line_before_the_header_and_unknown_entries_are_passed_over():
    told = Pi().talk("One")
    told.records.insert(0, {"type": "title", "title": "x"})
    told.add("from_the_future", anything=[1])
    assert (read(told).session, [turn.text for turn in read(told).typed]) == (told.session, ["One"])

"""Readers of hosts' own memories and of instruction files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import FormatError, Refused, Usage
from gitmem.imports import (
    blocks,
    claude_memory,
    codex_memory,
    find,
    hermes,
    instructions,
    jsonl,
    kinds,
    lenient,
)
from gitmem.imports.entry import conclude, cut_at_word, make
from gitmem.model import fold


def said(reading):
    return [entry.conclusion for entry in reading.entries]


CLAUDE = {
    "MEMORY.md": "- [Colour of drafts](drafts.md) — teal\n- [Gone](gone.md) — was deleted\n- Plain line of the index\n".encode(),
    "drafts.md": "---\nname: drafts\ndescription: drafts use teal: list page only # not the map\ntype: feedback\n---\n\nMark drafts in teal.\n\n**Why:** 看得清。\n".encode(),
    "lang.md": "---\nname: lang\ndescription: \"笔记用中文\"\nmetadata: \n  node_type: memory\n  type: user\n---\n\nNotes in Chinese.\n".encode(),
    "board.md": b"---\nname: Review board\nmetadata:\n  type: reference\n---\n\nThe board is `docs/board.md`. It is cleared on Thursdays.\n",
    "steps.md": b"Sync first, then pack.\n",
    "bad.md": b"\xff\xfe",
}  # fmt: skip


def test_claude_memory_reads_both_shapes_and_files_without_frontmatter():
    found = claude_memory.read(CLAUDE, "k")
    rows = {entry.key: (entry.type, entry.scope, entry.conclusion) for entry in found.entries}
    assert rows["k/drafts.md"] == ("preference", None, "drafts use teal: list page only # not the map")
    assert rows["k/lang.md"] == ("preference", "global", "笔记用中文")
    assert rows["k/board.md"] == ("fact", None, "The board is `docs/board.md`. It is cleared on Thursdays.")
    assert rows["k/steps.md"] == ("fact", None, "Sync first, then pack.")
    assert "Plain line of the index" in said(found)
    also = {entry.key: entry.also for entry in found.entries}
    assert (also["k/drafts.md"], also["k/board.md"]) == (("Colour of drafts",), ("Review board",))


def test_claude_memory_names_index_lines_without_a_file_and_files_it_cannot_read():
    assert [left.key for left in claude_memory.read(CLAUDE).left_out] == ["bad.md", "gone.md"]


def test_frontmatter_that_is_no_yaml_is_read_by_its_first_colons():
    meta, body = lenient.split("---\nname: a: b\nmetadata: \n  type: user\n  odd: {\n---\ntext")
    assert (meta["name"], meta["metadata"], body) == ("a: b", {"type": "user", "odd": "{"}, "text")


@given(st.text(max_size=200))
def test_frontmatter_of_any_kind_never_fails(text):
    lenient.split(f"---\n{text}\n---\nbody")
    lenient.split(text)


def test_hermes_entries_are_divided_by_a_line_that_is_only_the_sign():
    found = hermes.read(
        {
            "MEMORY.md": "one thing, on\ntwo lines\n§\nrule §3 stays whole\n§\n".encode(),
            "USER.md": b"Likes short answers",
            "MEMORY.md.lock": b"x",
        }
    )
    assert said(found) == ["one thing, on two lines", "rule §3 stays whole", "Likes short answers"]
    assert [(entry.type, entry.scope) for entry in found.entries] == [
        ("fact", None),
        ("fact", None),
        ("preference", "global"),
    ]


def repo(tmp_path: Path) -> Path:
    root = tmp_path / "atlas"
    (root / ".claude/rules/deep").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "CLAUDE.md").write_text(
        "# Atlas\n\n@docs/style.md\nAsk @lin, see @~/mine.md and @data.json.\n\n<!-- hidden\nnote -->\n\n- Pack with `make pack`\n"
        "- In code `@docs/code.md` is no import\n  - nested stays\n\n```\n@docs/code.md\n<!-- shown -->\n```\n"
    )
    (root / "docs/style.md").write_text("- Full-width punctuation\n@deeper.md\n@../CLAUDE.md\n")
    (root / "docs/deeper.md").write_text("Commit messages are English.\n")
    (root / "docs/code.md").write_text("- never read\n")
    (root / "data.json").write_text('{"never": "read this"}')
    (root / "CLAUDE.local.md").write_text("- python3.12 here\n")
    (root / ".claude/rules/deep/yaml.md").write_text(
        '---\npaths:\n  - "data/**/*.yaml"\n---\n\n- Keep keys in order.\n'
    )
    (tmp_path / "mine.md").write_text("- Prefer short names\n")
    return root


def test_claude_md_follows_imports_but_not_from_code_nor_to_what_is_no_text(tmp_path):
    found = instructions.read_claude(repo(tmp_path), home=tmp_path)
    assert said(found) == [
        "Ask @lin, see @~/mine.md and @data.json.",
        "Pack with `make pack`",
        "In code `@docs/code.md` is no import",
        "Full-width punctuation",
        "Commit messages are English.",
        "Prefer short names",
        "python3.12 here",
        "Keep keys in order.",
    ]
    assert [left.reason for left in found.left_out] == ["it is no text for a memory"]
    assert found.entries[5].problems == ("it comes from `~/mine.md`, outside the folder",)
    third, last = found.entries[2], found.entries[-1]
    assert "- nested stays" in third.body and "<!-- shown -->" in third.body and "hidden" not in str(found)
    assert last.body == "Applies to `data/**/*.yaml`.\n" and third.tags == ("CLAUDE.md", "Atlas")
    assert third.key.startswith("atlas/CLAUDE.md#")


def test_imports_end_after_four_hops(tmp_path):
    for i in range(7):
        (tmp_path / f"f{i}.md").write_text(f"- Line of file number {i}\n@f{i + 1}.md\n")
    found = instructions.read_claude(tmp_path / "f0.md")
    assert said(found) == [f"Line of file number {i}" for i in range(5)]
    assert "more than 4 imports away" in found.left_out[-1].reason


def test_a_private_key_is_never_imported_from_a_cloned_project(tmp_path):
    (tmp_path / "id_rsa").write_text("secret words of a key\n")
    (tmp_path / "CLAUDE.md").write_text("@id_rsa and @~/id_rsa\n")
    (tmp_path / "link.md").symlink_to(tmp_path / "id_rsa")
    (tmp_path / "AGENTS.md").write_text("x")
    (tmp_path / "CLAUDE.local.md").write_text("@link.md\n")
    assert "secret words" not in str(instructions.read_claude(tmp_path, home=tmp_path))


def test_a_rule_keeps_its_bullet_whole(tmp_path):
    long = "Never push to main " + "without a review of the whole change " * 8
    (tmp_path / "AGENTS.md").write_text(f"## Rules\n\n- {long}\n  - not even at night\n")
    entry = instructions.read_agents(tmp_path, as_rule=True).entries[0]
    assert entry.type == "rule" and len(entry.conclusion.encode()) <= 200 and entry.conclusion.endswith("…")
    assert long.strip() in entry.body and "- not even at night" in entry.body


def test_a_line_that_leads_in_to_a_list_is_context_and_no_entry():
    found = blocks.blocks(
        "## Release\n\nBefore a release:\n\n1. Run the tests\n2. Write the log\n\nA plain line.\n"
    )
    assert [(block.text, block.trail) for block in found] == [
        ("Run the tests", ("Release", "Before a release:")),
        ("Write the log", ("Release", "Before a release:")),
        ("A plain line.", ("Release",)),
    ]


@given(st.text(alphabet="ab -*#`>|\n\t1.", max_size=120))
def test_no_word_of_any_text_is_lost_between_blocks(text):
    found = blocks.blocks(text)
    kept = "".join(block.text + "".join(block.trail) for block in found)
    headings = [line for line in text.split("\n") if line.startswith("#")]
    for letter in "ab":
        assert kept.count(letter) >= text.count(letter) - sum(line.count(letter) for line in headings)


def test_codex_bullets_take_the_scope_of_their_folder():
    text = (
        "# Task Group: export\n\nscope: colours\napplies_to: cwd=/w/atlas; reuse_rule=safe\n\n## Task 1: x\n\n### keywords\n\n- amber\n\n"
        "## User preferences\n\n- use teal, not amber [Task 1]\n\n## Failures\n\n- sync before packing [Task 1][Task 2]\n\n"
        "# Task Group: other\n\napplies_to: cwd=/w/else; x\n\n## Reusable knowledge\n\n- runs on port 9\n"
    )
    found = codex_memory.read_codex(
        {"MEMORY.md": text.encode()}, lambda folder: {"/w/atlas": "atlas"}.get(folder)
    )
    rows = [(entry.type, entry.scope, entry.conclusion) for entry in found.entries]
    assert rows == [
        ("preference", "atlas", "use teal, not amber"),
        ("pitfall", "atlas", "sync before packing"),
    ]
    assert "no project holds `/w/else`" in found.left_out[0].reason


def test_openclaw_leaves_out_copies_superseded_lines_and_excerpts():
    found = codex_memory.read_openclaw(
        {
            "MEMORY.md": b"# Memory\n\n## Preferences\n\n- teal for drafts\n",
            "USER.md": b"- 2026-11-20 active: English commits\n- 2026-11-19 superseded: Chinese commits\n",
            "memory/2026-11-20.md": b"- packed the site\n",
            "memory/2026-11-20-x.md": b"user: hi\nassistant: hello\n",
            "memory/imports/codex/MEMORY.md": b"- a copy\n",
        }
    )
    assert [(entry.type, entry.conclusion) for entry in found.entries] == [
        ("preference", "teal for drafts"), ("preference", "English commits"), ("result", "packed the site"),
    ]  # fmt: skip


def test_json_lines_of_cards_keep_their_fields_and_quote_their_evidence():
    line = '{"id": "t1", "conclusion": "Drafts are teal", "type": "preference", "scope": "atlas", "also": ["草稿用青色"], "body": "Since May.", "evidence": [{"quote": "use teal for drafts"}]}'
    entry = jsonl.read(line.encode()).entries[0]
    assert (entry.key, entry.type, entry.scope, entry.also, entry.body) == (
        "t1",
        "preference",
        "atlas",
        ("草稿用青色",),
        "Since May.\n",
    )
    assert (
        entry.quote == "use teal for drafts"
        and entry.document_text == "use teal for drafts\n\nDrafts are teal\n\nSince May."
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"conclusion": "Drafts are teal", "scop": "atlas"}', "unknown key `scop`"),
        ("{broken", "is no JSON"),
        ('{"conclusion": ""}', "no `conclusion`"),
        ('{"conclusion": "Drafts are teal", "also": 3}', "`also`"),
    ],
)
def test_a_line_that_is_no_card_is_an_error_that_names_it(line, words):
    with pytest.raises(FormatError) as caught:
        jsonl.read(f'{{"conclusion": "Maps are blue"}}\n{line}\n'.encode(), "cards.jsonl")
    assert (
        caught.value.line == 2 and "`cards.jsonl`:2" in caught.value.message and words in caught.value.message
    )


def test_long_text_gets_its_first_sentence_as_conclusion():
    assert (
        conclude("Note. Keep tides as text. " + "More words follow here. " * 12)[0]
        == "Note. Keep tides as text."
    )
    assert cut_at_word("潮" * 100, 200).endswith("潮…")
    assert cut_at_word("word " * 60, 200).endswith("word…")


@given(st.text(min_size=1, max_size=900), st.none() | st.text(min_size=1, max_size=300))
def test_every_entry_quotes_its_own_document_and_stays_within_limits(text, conclusion):
    if not text.strip() or (conclusion is not None and not conclusion.strip()):
        return
    entry = make("k", text, conclusion=conclusion)
    assert len(entry.conclusion.encode()) <= 200 and "\n" not in entry.conclusion
    if fold.fold(entry.document_text).text:
        assert fold.find(entry.quote, entry.document_text) is not None
        assert fold.long_enough(entry.quote, entry.document_text)
    assert len(entry.quote) <= 4000


def test_what_is_on_this_computer_is_found_with_the_folder_it_is_about(tmp_path):
    work = tmp_path / "work" / "潮池"
    work.mkdir(parents=True)
    project = tmp_path / ".claude/projects" / find.encoded(str(work))
    (project / "memory").mkdir(parents=True)
    (project / "memory/steps.md").write_text("Sync first, then pack.\n")
    (project / "a.jsonl").write_text(f'{{"type":"summary"}}\n{{"cwd": "{work}"}}\n{{"cwd": "/cut')
    (tmp_path / "h/memories").mkdir(parents=True)
    (tmp_path / "h/memories/USER.md").write_text("Likes tea\n§\nWrites notes")
    (work / ".git").mkdir()
    (work / "AGENTS.md").write_text("- Pack with make\n")
    (work / "docs/adr").mkdir(parents=True)
    (work / "docs/adr/0001-x.md").write_text("# Keep tides\n\nStatus: accepted\n")
    (work / "sub").mkdir()
    rows = [
        (one.kind, one.count, one.folder)
        for one in find.found(tmp_path, work / "sub", {"HERMES_HOME": str(tmp_path / "h")})
    ]
    assert rows == [
        ("claude-code", 1, work),
        ("hermes", 2, None),
        ("agents-md", 1, work),
        ("decisions", 1, work),
    ]


def test_an_empty_computer_has_nothing_to_import(tmp_path):
    assert find.found(tmp_path, None, {}) == []


def test_unknown_kinds_missing_paths_and_rules_from_elsewhere_are_refused(tmp_path):
    with pytest.raises(Usage) as caught:
        kinds.read("hermess", tmp_path)
    assert caught.value.hints == ("did you mean `hermes`?",)
    with pytest.raises(Refused, match="there is nothing at"):
        kinds.read("hermes", tmp_path / "none")
    with pytest.raises(Usage, match="holds no rules"):
        kinds.read("hermes", tmp_path, as_rule=True)


def test_the_project_of_a_records_folder_is_the_first_that_is_not_called_docs(tmp_path):
    assert kinds.folder_project(tmp_path / "tides" / "docs" / "adr") == "tides"

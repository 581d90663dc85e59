"""`git mem show`: one card, its words, its chain; whatever became of it."""

from __future__ import annotations

from datetime import datetime

import pytest

from gitmem.authoring.demo import demo_id
from gitmem.recall import log
from tests.conftest import open_memory


def recorded(run, name: str) -> tuple[str, str]:  # type: ignore[no-untyped-def]
    """The day a demo card was recorded, and how old it is, in the words of `show`."""
    import json

    card = json.loads(run("show", demo_id(name), "--json").out)["cards"][0]
    day = card["recorded"][:10]
    return day, f"{(datetime.now().date() - datetime.fromisoformat(day).date()).days} days old"


def test_a_card_shows_its_words_its_chain_and_who_has_heard_it(demo_memory, run):
    teal, amber = demo_id("teal"), demo_id("amber")
    assert run("confirm", teal[:4]).code == 0
    for agent in ("codex", "hermes", "hermes"):
        log.append(demo_memory.state, {"event": "recall", "agent": agent, "said": [teal], "prompt": "x"})
    log.append(demo_memory.state, {"event": "search", "agent": "pi", "said": [teal], "prompt": "x"})
    log.append(demo_memory.state, {"event": "recall", "agent": "pi", "said": [amber], "prompt": "x"})
    (first, _), (day, age) = recorded(run, "amber"), recorded(run, "teal")
    today = datetime.now().date().isoformat()
    ran = run("show", teal[:4], process=True)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"{teal}   preference in `dashboard`, live, recorded {day}, {age}\n"
        "未验证的条目标成青色\n"
        "\n"
        "chain, oldest first\n"
        f"  {amber[:7]}  未验证的条目标成琥珀色   {first} to {day}\n"
        "           you to hermes: “未验证的条目标成琥珀色”\n"
        f"  {teal[:7]}  未验证的条目标成青色     since {day}\n"
        "           you to codex: “还是换成青色吧”\n"
        "also       Mark unverified entries in teal\n"
        f"confirmed  once, {today}, by you\n"
        "recalled   3 times since: hermes 2, codex 1\n"
        f"file       cards/dashboard/{day.replace('-', '/')}/{day}-{teal}.md\n"
        f'next       git mem supersede {teal[:4]} "…"    git mem retract {teal[:4]}    git mem confirm {teal[:4]}\n'
    )


def test_a_card_that_was_replaced_says_by_what(demo_memory, run):
    ran = run("show", demo_id("amber"))
    assert f"superseded by {demo_id('teal')[:7]}" in ran.out.splitlines()[0]
    assert ran.out.splitlines()[-1] == f"next       git mem show {demo_id('teal')[:7]}"


def test_a_card_that_ran_out_says_when(demo_memory, run):
    ran = run("show", demo_id("old-baseline-f1"))
    assert ", expired after 20" in ran.out.splitlines()[0]
    assert "\nsaid       codex: “macro F1 0.684 on the raw records”\n" in ran.out


def test_a_card_and_its_retraction_lead_to_each_other(demo_memory, run):
    pnpm = demo_id("pnpm")
    retraction = run("retract", pnpm, "-m", "we moved to yarn").out.strip()
    card, taken = run("show", pnpm).out, run("show", retraction).out
    assert f"convention in `dashboard`, retracted by {retraction[:7]}," in card
    assert (
        f"next       git mem retract {retraction[:7]}  (takes the retraction back: the card holds again)\n"
        in card
    )
    assert taken.startswith(f"{retraction}   retraction in `dashboard`, counts, recorded ")
    assert f"\ntakes back  {pnpm[:7]}  Use pnpm here, never npm\n\nwe moved to yarn\n" in taken


def test_a_confirmation_is_shown_as_what_it_is(demo_memory, run):
    confirmation = run("confirm", demo_id("pnpm")).out.strip()
    ran = run("show", confirmation)
    assert ran.out.startswith(f"{confirmation}   confirmation in `dashboard`, counts, recorded ")
    assert f"says again  {demo_id('pnpm')[:7]}  Use pnpm here, never npm\n" in ran.out


def test_a_card_of_an_archived_project_says_so(demo_memory, run):
    run("project", "archive", "atlas")
    ran = run("show", demo_id("parquet-store"))
    assert "decision in `atlas`, set aside with its archived project," in ran.out
    assert ran.out.endswith("next       git mem project unarchive atlas\n")


def test_a_card_that_fails_the_checks_is_shown_with_its_fault(demo_memory, run):
    card = demo_memory.root / "cards" / "global" / "2026" / "11" / "09" / "2026-11-09-n3f5t8kwq1.md"
    card.parent.mkdir(parents=True, exist_ok=True)
    card.write_text("---\nid: n3f5t8kwq1\ntype: fact\n\x1b[31m")
    demo_memory.git.run("add", "-A")
    demo_memory.git.run("commit", "-qm", "forced")
    ran = run("show", "n3f5")
    assert ran.code == 0
    assert ran.out.startswith(
        "n3f5t8kwq1   invalid, not recalled\ncards/global/2026/11/09/2026-11-09-n3f5t8kwq1.md:"
    )
    assert "\x1b" not in ran.out
    assert "n3f5t8k  invalid     global" in run("list", "--all").out
    assert "n3f5t8k" not in run("list").out


def test_a_body_is_shown_whole_and_an_escape_sequence_is_not_obeyed(memory, run):
    card = run("add", "Use uv", "-m", "One environment each.\n\n## Why\n\nSpeed.").out.strip()
    assert (
        "Use uv\n\nOne environment each.\n\n## Why\n\nSpeed.\n\nsaid       you: “Use uv”\n"
        in run("show", card).out
    )


def test_words_instead_of_an_id_lead_to_search(demo_memory, run):
    ran = run("show", "some", "words")
    assert (ran.code, ran.out, ran.err) == (
        2,
        "",
        'error: `some words` is no card id\nhint: git mem search "some words"\n',
    )


def test_an_id_that_nothing_has_is_refused(demo_memory, run):
    ran = run("show", "zzzz")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "error: no card `zzzz`\nhint: git mem search zzzz\nhint: git mem list\n"


def test_an_agent_sees_only_what_it_may_read(demo_memory, run):
    token = run("agent", "add", "codex", "--profile", "working", "--read", "global,thesis").out.strip()
    env = {"GIT_MEM_AGENT": "codex", "GIT_MEM_TOKEN": token}
    assert run("show", demo_id("teal"), env=env).code == 1
    seen = run("show", demo_id("viridis"), env=env)
    assert "said       the user to claude-code: “图都用 viridis，别再给我 jet”\n" in seen.out
    listed = run("list", env=env).out
    assert {line.split()[2] for line in listed.splitlines()} == {"global", "thesis"}
    assert run("list", "--scope", "atlas", env=env).code == 1


@pytest.mark.parametrize(
    "args", [("--type", "decision", "--scope", "thesis"), ("--scope", "thesis", "--type", "decision")]
)
def test_a_projects_decisions_are_listed_newest_first(demo_memory, run, args):
    lines = run("list", *args).out.splitlines()
    assert [line[:7] for line in lines] == [demo_id("spdx-footnote")[:7], demo_id("test-set-final")[:7]]


def test_list_marks_what_no_longer_holds_and_shows_it_only_when_asked(demo_memory, run):
    assert demo_id("amber")[:7] not in run("list").out
    assert f"未验证的条目标成琥珀色  (superseded by {demo_id('teal')[:7]})" in run("list", "--all").out


def test_list_expiring_names_what_runs_out_within_a_fortnight(demo_memory, run):
    lines = run("list", "--expiring").out.splitlines()
    assert [line[:7] for line in lines] == [demo_id("chapter4-task")[:7]]
    assert "(until 20" in lines[0]


@pytest.mark.parametrize("args", [("--type", "opinion"), ("--scope", "nowhere")])
def test_a_type_or_scope_that_is_not_there_is_refused(demo_memory, run, args):
    ran = run("list", *args)
    assert ran.code == 1
    assert args[1] in ran.err


def test_an_empty_memory_lists_nothing_and_says_how_to_begin(memory, run):
    ran = run("list")
    assert (ran.code, ran.out, ran.err) == (0, "", 'no cards yet; git mem add "…" writes one\n')


def test_the_pieces_of_a_card_without_words_are_marked_unquoted(memory, run):
    stamp = "2026-11-09T09:00:00Z"
    card = memory.root / "cards" / "global" / "2026" / "11" / "09" / "2026-11-09-n3f5t8kwq1.md"
    card.parent.mkdir(parents=True)
    card.write_text(
        f"---\nid: n3f5t8kwq1\ntype: preference\nscope: global\ncreated: {stamp}\nauthor: you@example.com\nconclusion: Tea, not coffee\n---\n"
    )
    memory.git.run("add", "-A")
    memory.git.run("commit", "-qm", "by hand")
    assert open_memory(memory.root).tip != memory.tip
    assert (
        "unquoted   written by hand by you@example.com, without words to show for it\n"
        in run("show", "n3f5").out
    )
    assert run("list").out.endswith("Tea, not coffee  (unquoted)\n")

"""From conversations to cards with a reader in the model's place: what is written, what is not, and what comes next."""

from __future__ import annotations

import json
from dataclasses import replace

from gitmem import config, context
from gitmem.git.run import Git
from gitmem.learn import run as learning
from tests.learn.conftest import count
from tests.learn.reader import Fact, Reader
from tests.learn.told import CWD, NOW, Claude, Codex, Hermes, Pi

AMBER, TEAL = "未验证的条目标成琥珀色", "还是换成青色吧"
COLOURS = (
    Fact(AMBER, "未验证的条目标成琥珀色", also=("mark unverified entries in amber",)),
    Fact(TEAL, "未验证的条目标成青色", also=("mark unverified entries in teal",), replaces="琥珀色"),
)


def test_of_a_mind_that_was_changed_in_one_session_only_the_last_word_becomes_a_card(
    learned, written, shop, home, sound
):
    Claude().talk("列一下导出页", AMBER, "跑一下测试", TEAL).put(home)
    reader = Reader(COLOURS[1])
    result = learned(reader)
    assert list(written()) == ["未验证的条目标成青色"]
    card = written()["未验证的条目标成青色"]
    assert (card.type, card.scope, card.author, card.evidence[0].role) == (
        "convention",
        "shop",
        "claude-code",
        "user",
    )
    assert card.evidence[0].quote == TEAL
    assert card.also == ("mark unverified entries in teal",)
    assert [step.action for step in result.steps] == ["promote"]
    sound()


def test_both_words_of_one_answer_leave_the_later_one_live(learned, written, shop, home, run, sound):
    Claude().talk("列一下导出页", AMBER, "跑一下测试", TEAL).put(home)
    learned(Reader(*COLOURS))
    said = run("recall", "--project", "shop", "未验证的条目标成什么颜色").out
    assert "青色" in said and "琥珀" not in said
    sound()


def test_a_session_that_grew_supersedes_what_it_said_before_and_show_tells_both_words(
    learned, written, shop, home, run, sound
):
    told = Claude().talk("列一下导出页", AMBER, "跑一下测试")
    told.put(home)
    learned(Reader(*COLOURS))
    assert list(written()) == ["未验证的条目标成琥珀色"]
    told.talk(TEAL).put(home)
    result = learned(Reader(*COLOURS))
    assert [step.action for step in result.steps] == ["supersede"]
    amber, teal = written()["未验证的条目标成琥珀色"], written()["未验证的条目标成青色"]
    assert teal.supersedes == (amber.id,)
    said = run("recall", "--project", "shop", "未验证的条目标成什么颜色").out
    assert "青色" in said and "琥珀" not in said
    story = run("show", teal.id).out
    assert AMBER in story and TEAL in story
    sound()


def test_the_same_fact_from_other_hosts_confirms_the_card(learned, written, shop, home, sound):
    fact = COLOURS[1]
    Claude().talk("One", TEAL, "Three").put(home)
    learned(Reader(fact))
    card = written()[fact.conclusion]
    again = Fact("请把未验证的都标成青色", "未验证的标青色", says_again="青色")
    Codex(start=500).talk("One", again.quote, "Three").put(home)
    Pi(start=900).talk("One", "Two", TEAL).put(home)
    told = Hermes(home / ".hermes" / "state.db")
    told.session("h1", cwd=CWD)
    told.talk("h1", "One", again.quote, "Three")
    told.close()
    result = learned(Reader(again, fact))
    assert sorted(step.action for step in result.steps) == ["merge", "merge", "merge"]
    found = written()
    assert {one.corroborates for one in found.values() if one.corroborates} == {(card.id,)}
    assert {one.author for one in found.values() if one.corroborates} == {"codex", "pi", "hermes"}
    assert [one.conclusion for one in found.values() if one.conclusion] == [fact.conclusion]
    sound()


def test_a_further_run_asks_nobody_and_commits_nothing(learned, memory, shop, home):
    Claude().talk("One", TEAL, "Three").put(home)
    Codex(start=500).talk("Nothing", "to keep", "here").put(home)
    learned(Reader(*COLOURS))
    before = count(memory)
    reader = Reader(*COLOURS)
    result = learned(reader)
    assert (reader.orders, result.steps, count(memory)) == ([], [], before)


def test_what_an_earlier_session_of_the_batch_gave_is_corrected_by_a_later_one(
    learned, written, shop, home, run, sound
):
    Claude().talk("One", AMBER, "Three").put(home)
    Codex(start=5000).talk("One", TEAL, "Three").put(home)
    result = learned(Reader(*COLOURS))
    assert [step.action for step in result.steps] == ["promote", "supersede"]
    teal = written()["未验证的条目标成青色"]
    assert teal.supersedes == (written()["未验证的条目标成琥珀色"].id,)
    assert "琥珀" not in run("recall", "--project", "shop", "未验证的条目标成什么颜色").out
    sound()


def test_an_older_session_that_comes_late_corrects_nothing(learned, written, shop, home):
    Codex(start=5000).talk("One", TEAL, "Three").put(home)
    learned(Reader(COLOURS[1]))
    Claude().talk("One", AMBER, "Three").put(home)
    result = learned(Reader(Fact(AMBER, "未验证的条目标成琥珀色", replaces="青色")))
    assert [one.kind for _, one in result.dropped] == ["older"]
    assert list(written()) == ["未验证的条目标成青色"]


def test_a_request_to_forget_takes_the_card_back(learned, written, shop, home, run, sound):
    Claude().talk("One", TEAL, "Three").put(home)
    learned(Reader(COLOURS[1]))
    Codex(start=5000).talk("One", "forget that rule about teal please", "Three").put(home)
    result = learned(
        Reader(Fact("forget that rule about teal please", "the teal colour", forget=True, replaces="青色"))
    )
    assert [step.action for step in result.steps] == ["retract"]
    assert run("recall", "--project", "shop", "未验证的条目标成什么颜色").out == ""
    sound()


def test_a_request_to_forget_what_no_card_says_is_told_and_not_swallowed(learned, shop, home):
    Codex().talk("One", "forget that rule about tabs please", "Three").put(home)
    result = learned(Reader(Fact("forget that rule about tabs please", "the rule about tabs", forget=True)))
    assert [one.conclusion for _, one in result.unmatched] == ["the rule about tabs"]
    assert result.steps == []


def test_unfinished_work_is_recalled_on_a_progress_cue_and_superseded_by_the_next_session(
    learned, written, shop, home, run, sound
):
    report = "Done: run the migration"
    first = Fact(
        report,
        "Oven import: parser done, next step is the migration",
        type="task",
        role="assistant",
        detail="Branch `import`.",
    )
    Claude().talk("One", "Two", "run the migration").put(home)
    learned(Reader(first))
    said = run("recall", "--project", "shop", "上次做到哪了").out
    assert "next step is the migration" in said
    second = Fact(
        "Done: run the rollout",
        "Oven import: migration done, next step is the rollout",
        type="task",
        role="assistant",
        replaces="Oven import",
    )
    Codex(start=5000).talk("One", "Two", "run the rollout").put(home)
    assert [step.action for step in learned(Reader(second)).steps] == ["supersede"]
    said = run("recall", "--project", "shop", "where were we").out
    assert "next step is the rollout" in said and "next step is the migration" not in said
    sound()


def test_a_session_of_an_unknown_folder_waits_and_is_taken_once_the_project_is_there(
    learned, written, memory, home, run
):
    Claude().talk("One", TEAL, "always answer me in English please").put(home)
    here = Fact(TEAL, "未验证的条目标成青色", scope="here")
    wide = Fact(
        "always answer me in English please", "Always answer in English", type="preference", scope="global"
    )
    result = learned(Reader(here, wide))
    assert list(written()) == ["Always answer in English"]
    assert result.waiting == {CWD: 1}
    run("project", "add", "shop", "--path", CWD)
    reader = Reader(here, wide)
    learned(reader)
    assert set(written()) == {"Always answer in English", "未验证的条目标成青色"}
    assert written()["未验证的条目标成青色"].scope == "shop"
    assert [one.kind for one in reader.orders] == ["review"], "the conversation is not read twice"


def test_a_source_holds_the_quoted_turns_and_no_other_word(learned, memory, shop, home):
    Claude().talk("the lamp is broken", TEAL, "the kettle too").put(home)
    learned(Reader(COLOURS[1]))
    git = Git(memory.root, dict(config.from_process().vars))
    everything = git.run("cat-file", "--batch-all-objects", "--batch").out.decode("utf-8", "replace")
    assert TEAL in everything
    assert "lamp" not in everything and "kettle" not in everything


def test_a_grown_session_goes_on_in_a_second_source(learned, memory, shop, home):
    told = Claude().talk("列一下导出页", AMBER, "跑一下测试")
    told.put(home)
    learned(Reader(*COLOURS))
    told.talk(TEAL).put(home)
    learned(Reader(*COLOURS))
    git = Git(memory.root, dict(config.from_process().vars))
    names = [
        path.rsplit("/", 1)[1]
        for path in git.run("ls-tree", "-r", "--name-only", "HEAD", "sources").text().split()
    ]
    assert (len(names) == 2 and names[0].removesuffix("-p2.md") == names[1].removesuffix(".md")) or names[
        1
    ].endswith("-p2.md")


def test_the_commit_says_who_learned_by_which_prompts_and_model(learned, memory, shop, home):
    Claude().talk("One", TEAL, "Three").put(home)
    learned(Reader(COLOURS[1]))
    message = Git(memory.root, dict(config.from_process().vars)).run("log", "-1", "--format=%B").text()
    assert "Mem-Agent: learner" in message
    assert "Mem-Action: promote" in message
    assert "Mem-Model: reader-1" in message
    assert message.count("Mem-Prompt: ") == 2


def test_an_inherited_agent_does_not_write_for_the_learner(learned, memory, shop, home, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")
    Claude().talk("One", TEAL, "Three").put(home)
    learned(Reader(COLOURS[1]))
    message = Git(memory.root, dict(config.from_process().vars)).run("log", "-1", "--format=%B").text()
    assert "Mem-Agent: learner" in message


def test_a_long_conversation_is_asked_about_in_pieces_and_quotes_of_each_hold(
    learned, written, shop, home, sound
):
    long = "x " * 2900
    told = Claude().talk(*[f"Part {number}: {long}" for number in range(9)], TEAL)
    told.put(home)
    reader = Reader(COLOURS[1], Fact("Part 0: x x x x x x", "Part nought is about x", type="fact"))
    learned(reader)
    distil = [one for one in reader.orders if one.kind == "distil"]
    assert len(distil) > 1 and all(len(one.content) < 40_000 for one in distil)
    assert len(written()) == 2
    sound()


def test_an_answer_to_no_open_question_changes_nothing(memory, captured, shop, home):
    Claude().talk("One", TEAL, "Three").put(home)
    captured()
    made = context.build(config.from_process(), now=NOW)
    before = count(memory)
    result = learning.take_in(made, [("distil-000000000000", json.dumps({"facts": [], "forget": []}))])
    assert (result.unknown, count(memory)) == (1, before)
    assert len(learning.hand_out(made)) == 1


def test_orders_answered_by_hand_give_the_same_cards(memory, captured, written, shop, home, sound):
    Claude().talk("One", AMBER, "Three").put(home)
    Codex(start=5000).talk("One", TEAL, "Three").put(home)
    captured()
    reader = Reader(*COLOURS)
    for _ in range(4):
        made = context.build(config.from_process(), now=NOW)
        orders = learning.hand_out(made)
        if not orders:
            break
        learning.take_in(made, [(one.id, json.dumps(reader.answer(one))) for one in orders])
    teal = written()["未验证的条目标成青色"]
    assert teal.supersedes == (written()["未验证的条目标成琥珀色"].id,)
    sound()


def test_an_order_goes_only_to_who_may_read_its_scope(memory, captured, shop, home, run):
    Claude().talk("One", TEAL, "Three").put(home)
    captured()
    made = context.build(config.from_process(), now=NOW)
    narrow = replace(made, caller=replace(made.caller, agent="codex", read=("global",)))
    assert learning.hand_out(narrow) == []
    order = learning.hand_out(made)[0]
    assert learning.take_in(narrow, [(order.id, json.dumps({"facts": [], "forget": []}))]).unknown == 1


def test_undo_takes_back_all_that_a_run_learned(learned, written, shop, home, run, sound):
    Claude().talk("One", AMBER, "Three").put(home)
    learned(Reader(*COLOURS))
    Codex(start=5000).talk("One", TEAL, "Three").put(home)
    result = learned(Reader(*COLOURS))
    assert run("undo", result.written.commit[:7]).code == 0
    said = run("recall", "--project", "shop", "未验证的条目标成什么颜色").out
    assert "琥珀" in said and "青色" not in said
    sound()


def test_the_same_words_from_two_sessions_of_a_batch_are_one_card_and_a_confirmation(
    learned, written, shop, home, sound
):
    Claude().talk("One", TEAL, "Three").put(home)
    Codex(start=5000).talk("One", TEAL, "Three").put(home)
    result = learned(Reader(Fact(TEAL, "未验证的条目标成青色")))
    assert [step.action for step in result.steps] == ["promote", "merge"]
    sound()


def test_review_shows_what_was_said_before_and_next(learned, shop, home):
    Claude().talk("what does the export page show", TEAL, "yes, let's do that").put(home)
    reader = Reader(COLOURS[1])
    learned(reader)
    asked = next(one.content for one in reader.orders if one.kind == "review")
    assert "said before: (assistant) Done: what does the export page show" in asked
    assert "said next: (user) yes, let's do that" in asked


def test_undo_of_a_run_leaves_what_a_later_one_corrected_and_takes_the_rest_back(
    learned, written, shop, home, run, sound
):
    other = Fact("never migrate by hand, use make db", "Run migrations with `make db`")
    Claude().talk("One", AMBER, other.quote).put(home)
    first = learned(Reader(COLOURS[0], other))
    Codex(start=5000).talk("One", TEAL, "Three").put(home)
    learned(Reader(COLOURS[1]))
    done = run("undo", first.written.commit[:7])
    assert done.code == 0 and "replaced since" in done.err
    said = run("list").out
    assert "青色" in said and "make db" not in said
    sound()


def test_a_run_of_one_answer_with_both_words_is_undone_whole(learned, written, shop, home, run, sound):
    Claude().talk("One", AMBER, "Three").put(home)
    Codex(start=5000).talk("One", TEAL, "Three").put(home)
    result = learned(Reader(*COLOURS))
    assert run("undo", result.written.commit[:7]).code == 0
    assert "标成" not in run("list").out
    sound()

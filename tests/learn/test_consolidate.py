"""Cards that are one too many: what is proposed, what stands of it, and what a yes writes."""

from __future__ import annotations

import json
import sys

import pytest

from gitmem import config, context
from gitmem.learn import consolidate
from tests.cli.test_answers import faults

PNPM, SAME = "Use pnpm in the web project, never npm", "In the web project use pnpm and never npm"


@pytest.fixture
def cards(memory, run) -> dict[str, str]:
    run("project", "add", "web", "--path", "/srv/web")
    texts = (PNPM, SAME, "Deploys happen on Tuesdays")
    return {
        text: run("add", "--scope", "web", "--type", "convention", "--force", text).out.split()[0]
        for text in texts
    }


def asked(scope="web"):
    made = context.build(config.from_process())
    return made, consolidate.questions(made, [scope])


def number(question, card_id: str) -> int:
    return next(at for at, item in question.numbers.items() if item.id == card_id)


def test_only_cards_that_share_words_are_asked_about(cards):
    _, questions = asked()
    assert len(questions) == 1
    assert {item.id for item in questions[0].numbers.values()} == {cards[PNPM], cards[SAME]}
    assert cards[PNPM] not in questions[0].order.content, "a model sees small integers, no ids"


def test_a_yes_confirms_the_one_that_stays_and_takes_the_other_back(cards, run):
    made, (question,) = asked()
    answer = {
        "proposals": [
            {
                "action": "merge",
                "cards": [number(question, cards[SAME])],
                "keep": number(question, cards[PNPM]),
                "reason": "same",
            }
        ]
    }
    found = consolidate.proposals(answer, question)
    consolidate.apply(made, found)
    assert {one["conclusion"] for one in json.loads(run("list", "--json").out)["cards"]} == {
        PNPM,
        "Deploys happen on Tuesdays",
    }
    assert SAME in run("show", cards[PNPM]).out or "confirmed" in run("show", cards[PNPM]).out
    assert run("check", "--all").code == 0
    assert run("undo").code == 0
    assert len(json.loads(run("list", "--json").out)["cards"]) == 3


@pytest.mark.parametrize(
    "entry",
    [
        {"action": "merge", "cards": [9], "keep": 1},
        {"action": "merge", "cards": [1], "keep": 1},
        {"action": "merge", "cards": [1], "keep": 0},
        {"action": "retract", "cards": [1], "keep": 2},
        {"action": "merge", "cards": [], "keep": 1},
        {"action": "erase", "cards": [1], "keep": 0},
    ],
)
def test_a_proposal_that_names_nothing_or_the_wrong_thing_does_not_stand(cards, entry):
    _, (question,) = asked()
    assert consolidate.proposals({"proposals": [{**entry, "reason": "x"}]}, question) == []


def test_an_agent_proposes_and_does_not_write(cards, run, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")
    done = run("consolidate", "--apply")
    assert done.code == 1 and "for people" in done.err


def test_the_command_asks_a_program_and_shows_what_it_would_do(cards, run, memory, tmp_path):
    script = tmp_path / "reader.py"
    script.write_text(
        'import sys; sys.stdin.read(); print(\'{"proposals": [{"action": "merge", "cards": [2], "keep": 1, "reason": "the same"}]}\')'
    )
    memory.git.run("config", "mem.learnCommand", f"{sys.executable} {script}")
    done = run("consolidate")
    assert "same" in done.out and PNPM in done.out and SAME in done.out
    assert len(json.loads(run("list", "--json").out)["cards"]) == 3
    assert faults("consolidate", json.loads(run("consolidate", "--json").out)) == []
    assert run("consolidate", "--apply").code == 0
    assert len(json.loads(run("list", "--json").out)["cards"]) == 2
    assert run("consolidate").out == "nothing to do\n"


def test_a_reader_that_fails_is_no_nothing_to_do(cards, run, memory):
    memory.git.run("config", "mem.learnCommand", f"{sys.executable} -c 'raise SystemExit(3)'")
    done = run("consolidate")
    assert done.code == 1 and "nothing to do" not in done.out and "exit code 3" in done.err

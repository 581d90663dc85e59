"""No byte of another project, or of a card that no longer holds, reaches anybody who may not hear it.

Every card holds a word of its own in each of its texts; whatever is printed is searched for these words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.recall.world import NOW, PROFILES, Spec, World, card_id, make, profiles_file, register_folder, spec

PROJECTS = ("harbour", "orchard", "quarry", "attic")
SCOPES = (*PROJECTS, "cellar", "global", "personal")
TYPES = ("preference", "convention", "pitfall", "decision", "fact", "result")
ENGLISH = (
    "The {t} table of {s} is stored in one file per station", "Deploy {t} of {s} only after the {t} tests have passed", "Render {t} figures of {s} in the darker palette",
    "Never delete the {t} cache of {s} by hand", "Log in to the {t} server of {s} with a hardware key", "Ask before the {t} queue of {s} is emptied",
)  # fmt: skip
CHINESE = (
    "{s} 的 {t} 表按站点分区存储", "{s} 的 {t} 测试全过才部署", "{s} 的 {t} 图用深色配色", "{s} 的 {t} 缓存不要手动删", "登录 {s} 的 {t} 服务器要用硬件密钥", "清空 {s} 的 {t} 队列之前先问",
)  # fmt: skip
DEAD = ("superseded", "retracted", "expired", "not-yet", "fork")
TOKEN = re.compile(r"zq[a-z]+x[0-9]+")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose word it is. `alive`: the card holds now; `type`: as in the card."""

    scope: str
    alive: bool
    type: str


def cards_of() -> Iterator[tuple[Spec, Owner]]:
    number = 0

    def one(scope: str, kind: str, alive: bool = True, text: str | None = None, **more) -> tuple[Spec, Owner]:  # type: ignore[no-untyped-def]
        nonlocal number
        number += 1
        letters = "".join(chr(97 + int(digit)) for digit in str(number * 7919))
        token = f"zq{letters}x{number}"
        english, chinese = ENGLISH[number % len(ENGLISH)], CHINESE[(number // 2) % len(CHINESE)]
        first, second = (english, chinese) if number % 3 else (chinese, english)
        conclusion = (text or first).format(t=token, s=scope)
        made = spec(f"card-{token}", conclusion, scope=scope, type=kind, also=[second.format(t=token, s=scope)],
                    body=f"The reason is {token}: {english.format(t=token, s=scope)}.\n\n## Why\n\nBecause of {token}.", **more)  # fmt: skip
        return made, Owner(scope, alive, kind)

    for scope in SCOPES:
        here = scope != "cellar"
        for kind in TYPES:
            yield one(scope, kind, alive=here)
        if scope == "personal":
            yield one(scope, "habit")
        old, _ = given = one(scope, "decision", alive=False)
        yield given
        newer, _ = given = one(scope, "decision", alive=False, supersedes=[old.name], days_ago=8)
        yield given
        yield one(scope, "decision", alive=here, supersedes=[newer.name], days_ago=6)
        wrong, _ = given = one(scope, "fact", alive=False)
        yield given
        yield (
            spec(f"gone-{scope}", "it was wrong", scope=scope, retracts=[wrong.name], days_ago=1),
            Owner(scope, False, ""),
        )
        yield one(scope, "fact", alive=False, days_ago=90, expires="2026-11-19")
        yield one(scope, "result", alive=False, days_ago=300)
        yield one(scope, "fact", alive=False, valid_from="2026-11-21")
        yield one(scope, "task", alive=here, days_ago=1)
        yield one(scope, "task", alive=False, days_ago=20)
        yield one(scope, "rule", alive=here, importance=9)


def tokens_of(made: Spec) -> set[str]:
    return set(TOKEN.findall(made.conclusion))


@dataclass(slots=True)
class Walled:
    world: World
    owners: dict[str, Owner]
    folders: dict[str, Path]
    revision: str


@pytest.fixture(scope="module")
def walled(tmp_path_factory, _memory_template) -> Walled:
    place = tmp_path_factory.mktemp("walled")
    made = list(cards_of())
    owners = {token: owner for one, owner in made for token in tokens_of(one)}
    projects = {name: {"aliases": [f"the {name} app"]} for name in PROJECTS} | {
        "cellar": {"status": "archived"}
    }
    agents = {
        "narrow": "{profile: full, read: [global, harbour], write: [global], status: active}",
        "deaf": "{profile: working, read: [global], write: [global], status: active}",
        "keeper": "{profile: personal, read: [personal], write: [personal], status: active}",
        "worker": "{profile: working, status: active}",
    }
    files = {
        "registry/profiles.yaml": profiles_file(),
        "registry/agents.yaml": "".join(f"{name}: {entry}\n" for name, entry in agents.items()).encode(),
        **{
            f"briefs/{name}.md": f"Standing: the {name} brief, zqbrief{name}x0.\n".encode()
            for name in (*PROJECTS, "cellar")
        },
    }
    owners.update(
        {f"zqbrief{name}x0": Owner(name, name != "cellar", "rule") for name in (*PROJECTS, "cellar")}
    )
    world = make(place / "memory", _memory_template, [one for one, _ in made], projects, files)
    folders = {name: place / name for name in (*PROJECTS, "cellar")}
    for name, folder in folders.items():
        folder.mkdir()
        world.memory = register_folder(world.memory, name, folder)
    (place / "elsewhere").mkdir()
    folders[""] = place / "elsewhere"
    revision = world.memory.tip or ""
    # a card of today is not one of the past, and its retraction reaches back
    late = spec(
        "late", "The zqlatex1 table of harbour moved to the second floor", scope="harbour", days_ago=0
    )
    world.put(late)
    owners["zqlatex1"] = Owner("harbour", True, "preference")
    return Walled(world.built(), owners, folders, revision)


@pytest.fixture(scope="module")
def prompts(walled) -> list[str]:
    """Ordinary turns, turns about every project, and the very words of the cards."""
    asked = [
        "hello",
        "run the tests again",
        "继续",
        "部署一下",
        "how is the table stored",
        "表是怎么存储的",
        "where did we leave off with the queue",
        "上次做到哪了",
    ]
    for name in (*PROJECTS, "cellar"):
        asked += [
            f"how is the table of {name} stored",
            f"{name} 的缓存可以删吗",
            f"in the {name} app, which palette do figures use",
            f"as we decided for {name}, deploy it",
        ]
    asked += [
        f"what about {token}" if i % 2 else f"{token} 怎么处理" for i, token in enumerate(walled.owners)
    ]
    asked += [" ".join(list(walled.owners)[i::9]) for i in range(9)]
    return asked


def strangers(text: str, walled: Walled, scopes: set[str]) -> list[str]:
    """Words in a text that are of no live card of these scopes."""
    found = []
    for token in TOKEN.findall(text):
        owner = walled.owners[token]
        if not owner.alive or owner.scope not in scopes:
            found.append(f"{token} of {owner}")
    return found


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("here", ["harbour", "cellar", ""])
def test_no_prompt_draws_a_word_out_of_a_closed_scope_or_a_dead_card(walled, prompts, profile, here):
    """`cellar` is an archived project."""
    world, folder = walled.world, walled.folders[here]
    heard = {
        "full": {"global", *PROJECTS},
        "working": {"global", here or "global"},
        "personal": {"personal"},
    }[profile]
    bounds = world.registry.profiles[profile]
    loud = 0
    for prompt in prompts:
        text, answer = world.turn(prompt, profile, cwd=folder, explicit=True)
        assert not answer.trace.degraded
        assert strangers(text, walled, heard) == [], prompt
        assert len(text.encode()) <= bounds.max_bytes and len(answer.items) <= bounds.max_items
        assert len(text.encode()) == answer.trace.bytes
        if profile == "working":
            types = {
                walled.owners[token].type
                for token in TOKEN.findall(text)
                if walled.owners[token].scope == "global"
            }
            assert types <= {"preference", "convention", "pitfall"}, prompt
        assert not any(walled.owners[token].type == "rule" for token in TOKEN.findall(text)), prompt
        loud += bool(text)
    # a wall that nothing passes proves nothing
    assert loud >= {"full": 30, "working": 3, "personal": 3}[profile]


@pytest.mark.parametrize(
    ("agent", "heard"),
    [("narrow", {"global", "harbour"}), ("deaf", {"global"}), ("keeper", {"personal"}), ("worker", {"global", "orchard"})],
)  # fmt: skip
def test_an_agents_rights_hold_in_every_folder_and_for_every_prompt(walled, prompts, agent, heard):
    world = walled.world
    for prompt in prompts[:28] + prompts[28::3]:
        text, _ = world.turn(
            prompt, None, agent=agent, session="walls-0001", cwd=walled.folders["orchard"], explicit=True
        )
        assert strangers(text, walled, heard) == [], prompt
        for project in ("quarry", "cellar"):
            if prompt.startswith(("how is the table of", "what about")) and agent != "worker":
                text, _ = world.turn(
                    prompt, None, agent=agent, cwd=walled.folders["orchard"], project=project, explicit=True
                )
                assert strangers(text, walled, heard) == [], (prompt, project)


@pytest.mark.parametrize(
    ("agent", "heard"),
    [("narrow", {"global", "harbour"}), ("deaf", {"global"}), ("keeper", {"personal"}), ("worker", {"global", "orchard"})],
)  # fmt: skip
def test_search_list_brief_and_the_past_keep_to_an_agents_rights(walled, run, agent, heard):
    folder = walled.folders["orchard"]
    env = {"GIT_MEM_REPO": str(walled.world.memory.root), "GIT_MEM_AGENT": agent}
    readable = {"worker": {"global", *PROJECTS}}.get(agent, heard)
    for words in ("table of the station", "部署 测试 缓存", " ".join(list(walled.owners)[::7])):
        found = run("search", words, "-n", "60", cwd=folder, env=env)
        assert strangers_but_time(found.out, walled, heard) == [], words
        found = run("search", words, "-n", "60", "--json", cwd=folder, env=env)
        assert strangers_but_time(found.out.replace(words, ""), walled, heard) == [], words
        found = run("search", words, "-n", "60", "--everywhere", cwd=folder, env=env)
        assert strangers_but_time(found.out, walled, readable) == [], words
        found = run("recall", "--at", walled.revision, "--now", NOW.isoformat(), words, cwd=folder, env=env)
        assert strangers(found.out, walled, heard) == [], words
        assert "zqlatex1" not in found.out
    for extra in ((), ("--project", "quarry"), ("--project", "cellar")):
        brief = run("brief", *extra, cwd=folder, env=env)
        assert (
            strangers_but_time(brief.out, walled, heard | ({"quarry"} & readable if extra else set())) == []
        ), extra
    listed = run("list", "--json", cwd=folder, env=env)
    assert listed.code == 0, listed.err
    assert strangers_but_time(listed.out, walled, readable) == []
    listed = run("list", "--json", "--all", cwd=folder, env=env)
    assert [
        token
        for token in TOKEN.findall(listed.out)
        if walled.owners[token].scope not in {*readable, "cellar"}
    ] == []


def strangers_but_time(text: str, walled: Walled, scopes: set[str]) -> list[str]:
    """Words of other scopes, or of cards that no clock brings back to life."""
    return [
        token for token in TOKEN.findall(text)
        if walled.owners[token].scope not in scopes or (not walled.owners[token].alive and walled.owners[token].type == "decision")
    ]  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
def test_a_brief_holds_no_word_of_another_project_and_keeps_its_bytes(walled, profile):
    from gitmem.recall.brief import brief_text

    for here in (*PROJECTS, "cellar", None):
        text, cards = brief_text(walled.world.context(profile), here)
        heard = {"full": {"global", here}, "working": {"global", here}, "personal": {"personal"}}[profile]
        assert strangers(text, walled, {one for one in heard if one}) == []
        assert len(text.encode()) <= walled.world.registry.profiles[profile].brief_bytes
        assert len(set(cards)) == len(cards)


def test_a_retraction_of_today_reaches_back_into_the_past(walled, prompts, tmp_path, _memory_template):
    world = make(
        tmp_path / "past",
        _memory_template,
        [spec("secret", "The zqvault table of harbour is kept open", scope="harbour")],
        {"harbour": {}},
    )
    revision = world.memory.tip
    world.put(spec("taken", "said by mistake", scope="harbour", retracts=["secret"], days_ago=0)).built()
    from gitmem.recall.past import recall_at

    found = recall_at(
        world.context("full"),
        "the zqvault table of harbour",
        revision or "",
        True,
        cwd=tmp_path,
        project="harbour",
        previous="",
        lexical=True,
    )
    assert found.text == ""
    assert any(one.id == card_id("secret") and one.why == "retracted" for one in found.trace.candidates)


def test_json_answers_of_an_agent_name_no_card_of_a_closed_scope(walled, run):
    """The trace is part of an answer: what an agent may not hear is not among its candidates either."""
    env = {"GIT_MEM_REPO": str(walled.world.memory.root), "GIT_MEM_AGENT": "narrow"}
    for prompt in (
        "how is the table of quarry stored",
        "quarry 的缓存可以删吗",
        " ".join(list(walled.owners)[::5]),
    ):
        for extra in ((), ("--explain",)):
            found = run(
                "recall",
                prompt,
                "--json",
                "--session",
                "walls-json-1",
                *extra,
                cwd=walled.folders["orchard"],
                env=env,
            )
            answer = json.loads(found.out)
            answer["trace"]["prompt"] = ""
            text = json.dumps(answer, ensure_ascii=False)
            assert [
                token
                for token in TOKEN.findall(text)
                if walled.owners[token].scope not in ("global", "harbour")
            ] == []

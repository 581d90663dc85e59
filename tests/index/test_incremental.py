"""An index brought along commit by commit answers as one that is built at once."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.index import build, catalogue
from tests.recall.world import World, card_id, files_of, projects_file, spec

SUBJECTS = (
    "the station table",
    "the login token",
    "数据库迁移",
    "论文插图",
    "the uv environment",
    "提交信息",
    "the harbour camera",
    "缓存目录",
)
VERBS = (
    "is kept in one file per month",
    "expires after ten minutes",
    "由脚本每晚生成",
    "放在 data 目录",
    "must be checked by hand",
    "uses the darker palette",
    "不要手动删除",
    "runs in tmux",
)
PROMPTS = (
    "how is the station table kept", "when does the login token expire", "数据库迁移怎么跑", "论文插图放在哪里", "set up the uv environment", "用什么语言写提交信息", "the harbour camera",
    "缓存可以删吗", "run it again", "darker palette", "tmux", "files per month",
)  # fmt: skip


def heard(world: World) -> list[list[tuple[str, str]]]:
    """What every prompt gets, whole items in order, and what became of every candidate."""
    found = []
    for prompt in PROMPTS:
        for profile, here in (("full", None), ("full", "web"), ("working", "lab")):
            answer = world.ask(prompt, profile, here)
            assert not answer.trace.degraded
            found.append([(item.id, item.l0) for item in answer.items])
    return found


def fresh(world: World, place: Path) -> World:
    """The same commit with an index built at once."""
    shutil.copytree(world.memory.root, place, symlinks=True)
    shutil.rmtree(place / ".git" / "git-mem", ignore_errors=True)
    from gitmem import config
    from gitmem.git import locate

    memory = locate.open_at(place, config.from_process())
    assert memory is not None and memory.tip == world.memory.tip
    return World(memory, world.names).built()


@pytest.mark.parametrize("seed", range(4))
def test_any_history_gives_the_same_items_as_a_fresh_index(make, tmp_path, seed):
    random_ = random.Random(seed)
    world = make((), {"web": {}, "lab": {}})
    known: dict[str, dict[str, bytes | None]] = {}
    made: list = []
    for step in range(9):
        new: dict[str, bytes | None] = {}
        for number in range(random_.randrange(1, 7)):
            name = f"s{seed}-{step}-{number}"
            edges = {}
            older = [one for one in made if one.name in known]
            if older and random_.random() < 0.45:
                target = random_.choice(older)
                edges = {
                    random_.choice(("supersedes", "supersedes", "retracts", "corroborates")): [target.name]
                }
            scope = random_.choice(("global", "web", "lab"))
            if edges:
                scope = target.scope
            one = spec(name, f"{random_.choice(SUBJECTS)} {random_.choice(VERBS)}, {number}", scope=scope, type=target.type if edges else random_.choice(("fact", "convention", "preference")),
                       days_ago=30 - step, body=random_.choice(("", "Because it broke once.\n\n## Why\n\nThe station table again.")), **edges)  # fmt: skip
            known[name] = files_of(one)
            made.append(one)
            new.update(known[name])
        if step % 3 == 2:
            # by hand: a card edited, one dropped, one whose source is gone, one that is no card any more
            names = random_.sample(sorted(known), min(4, len(known)))
            for kind, name in zip(("edit", "drop", "source", "break"), names, strict=False):
                path = next(path for path in known[name] if path.startswith("cards/"))
                if kind == "edit" and b"conclusion: " in (known[name][path] or b""):
                    new[path] = (known[name][path] or b"").replace(b"\n---\n", b"\ntags: [edited]\n---\n", 1)
                elif kind == "drop":
                    new.update(dict.fromkeys(known.pop(name)))
                elif kind == "source":
                    new.update({other: None for other in known[name] if other.startswith("sources/")})
                elif kind == "break":
                    new[path] = b"no fence\n"
        if step == 6:
            new["registry/projects.yaml"] = projects_file({"web": {}, "lab": {"status": "archived"}})
        world.commit(new)
        world.names.update({card_id(one.name): one.name for one in made})
        if random_.random() < 0.8:
            world.built() if random_.random() < 0.5 else build.ensure(world.memory, world.registry)
    world.built()
    other = fresh(world, tmp_path / "fresh")
    a, b = catalogue.open_for_reading(world.memory.state), catalogue.open_for_reading(other.memory.state)
    assert a is not None and b is not None
    columns = "path, blob, id, scope, type, kind, l0, l1, unquoted, fault, registry_fault, worded"
    assert (
        a.db.execute(f"SELECT {columns} FROM cards ORDER BY path").fetchall()
        == b.db.execute(f"SELECT {columns} FROM cards ORDER BY path").fetchall()
    )
    a.close()
    b.close()
    assert heard(world) == heard(other)


def test_a_text_that_left_the_tree_is_neither_found_nor_counted(make, tmp_path):
    cards_ = [spec(f"c{i}", f"The zanzibar table of station {i}", scope="web") for i in range(12)]
    world = make(cards_, {"web": {}}).built()
    gone: dict[str, bytes | None] = {}
    for one in cards_[3:]:
        gone.update(dict.fromkeys(files_of(one)))
    world.commit(gone).built()
    answer = world.ask("zanzibar station", lexical=True)
    assert {item.id for item in answer.items} == {card_id(one.name) for one in cards_[:3]}
    assert {one.id for one in answer.trace.candidates} <= {card_id(one.name) for one in cards_[:3]}
    other = fresh(world, tmp_path / "fresh")
    relevance = [
        [(one.id, one.relevance, one.support) for one in w.ask("zanzibar station").trace.candidates]
        for w in (world, other)
    ]
    assert relevance[0] == relevance[1]


def test_an_edited_card_is_found_by_its_new_words_alone(make):
    one = spec("c", "The zanzibar table is kept in Lisbon")
    world = make([one]).built()
    path = next(path for path in files_of(one) if path.startswith("cards/"))
    changed = files_of(replace(one, conclusion="The harare table is kept in Porto"))
    world.commit(
        {
            path: changed[path],
            **{other: data for other, data in changed.items() if other.startswith("sources/")},
        }
    ).built()
    assert world.said("the harare table in Porto", lexical=True) == ["c"]
    assert not [one for one in world.ask("zanzibar Lisbon", lexical=True).trace.candidates if one.words_rank]


def test_a_source_that_comes_back_brings_its_card_back(make):
    one = spec("c", "The zanzibar table is kept in Lisbon")
    world = make([one]).built()
    source = next(path for path in files_of(one) if path.startswith("sources/"))
    world.commit({source: None}).built()
    assert world.said("the zanzibar table in Lisbon") == []
    world.commit({source: files_of(one)[source]}).built()
    assert world.said("the zanzibar table in Lisbon") == ["c"]


def test_going_back_to_an_old_commit_gives_its_answers(make):
    world = make([spec("a", "Mark unverified entries in amber")]).built()
    before = world.memory.tip
    world.put(spec("b", "Mark unverified entries in teal", supersedes=["a"], days_ago=2)).built()
    assert world.said("which colour marks unverified entries") == ["b"]
    world.memory.git.run("update-ref", world.memory.ref, before)
    from gitmem.git.locate import refreshed

    world.memory = refreshed(world.memory)
    assert world.said("which colour marks unverified entries") == ["a"]


def test_a_change_of_the_registry_alone_is_taken_in(make):
    world = make([spec("a", "Mark unverified entries in amber", scope="web")], {"web": {}}).built()
    world.commit({"registry/projects.yaml": projects_file({"lab": {}})})
    assert world.said("mark unverified entries in amber") == []
    world.commit({"registry/projects.yaml": projects_file({"web": {}})})
    assert world.said("mark unverified entries in amber") == ["a"]


def test_a_small_change_costs_what_it_is_and_not_what_is_there(make, monkeypatch):
    world = make(
        [spec(f"c{i}", f"The zanzibar table of station {i}", scope="web") for i in range(30)], {"web": {}}
    ).built()
    judged: list[str] = []
    from gitmem.checks import card as card_check

    real = card_check.judge
    monkeypatch.setattr(
        card_check, "judge", lambda path, *args, **more: judged.append(path) or real(path, *args, **more)
    )
    world.put(spec("new", "The harare table", scope="web", supersedes=["c3"], days_ago=1)).built()
    assert len(judged) == 1

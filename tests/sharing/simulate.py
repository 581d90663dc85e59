"""Two devices and a bare remote under random operations."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

WORDS = (
    "pnpm", "teal", "amber", "ovens", "viridis", "deploy", "rollback", "schema", "周会", "配色", "数据", "测试", "cache", "lint", "release", "celsius",
)  # fmt: skip
PROJECTS = ("web", "atlas", "shop")


class Side:
    """One device in a run. `made`: ids of the cards that it wrote."""

    def __init__(self, device, dice: random.Random, name: str):  # type: ignore[no-untyped-def]
        self.device, self.dice, self.name = device, dice, name
        self.made: list[str] = []
        self.stops = 0

    def live(self) -> list[dict]:  # type: ignore[type-arg]
        return json.loads(self.device.mem("list", "--json").out)["cards"]

    def text(self) -> str:
        return f"{self.name} says {' '.join(self.dice.sample(WORDS, 4))} {self.dice.randrange(10_000)}"

    def _write(self, *args: str) -> None:
        done = self.device.mem(*args)
        assert done.code in (0, 1), (args, done.err)
        if done.code == 0:
            self.made += [line for line in done.out.split("\n") if len(line) == 10]

    def add(self) -> None:
        self._write("add", self.text(), "--scope", "global", "--force")

    def _of_one(self, act: Callable[[str], None]) -> None:
        cards = self.live()
        if cards:
            act(self.dice.choice(cards)["id"])

    def supersede(self) -> None:
        self._of_one(lambda card: self._write("supersede", card, self.text()))

    def retract(self) -> None:
        self._of_one(lambda card: self._write("retract", card, "-m", "no longer"))

    def confirm(self) -> None:
        self._of_one(lambda card: self._write("confirm", card))

    def undo(self) -> None:
        self._write("undo")

    def archive(self) -> None:
        name = self.dice.choice(PROJECTS)
        self.device.mem("project", self.dice.choice(["archive", "unarchive"]), name)

    def registry(self) -> None:
        name = self.dice.choice(PROJECTS)
        self.device.mem(
            "project",
            "add",
            name,
            "--alias",
            f"{self.name}{self.dice.randrange(40)}",
            "--path",
            str(self.device.home / name),
        )

    def hand_edit(self) -> None:
        files = sorted((self.device.memory / "cards").rglob("*.md"))
        if not files:
            return
        file = self.dice.choice(files)
        text = file.read_text()
        if "retracts:" in text or "corroborates:" in text:
            return
        file.write_text(text.rstrip("\n") + f"\nNoted by {self.name} {self.dice.randrange(10_000)}.\n")
        self.device.git("commit", "-qam", "by hand", check=False)

    def brief(self) -> None:
        # a file of its own for each device: lines that both change are for a person to settle
        file = self.device.memory / "briefs" / f"{'web' if self.name == 'a' else 'atlas'}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text((file.read_text() if file.exists() else "") + f"{self.text()}\n\n")
        self.device.git("add", "briefs"), self.device.git("commit", "-qm", "brief", check=False)

    def sync(self) -> None:
        done = self.device.sync()
        if done.code == 1 and "cannot be merged by rule" in done.err:
            self.stops += 1
            self._settle()
            return
        assert done.code == 0, done.err + done.out

    def _settle(self) -> None:
        """What a person does: merge by hand, their own side where both changed the same lines."""
        git = self.device.git
        git("pull", "-q", "--no-rebase", "--no-edit", "-X", "ours", "origin", "main")

    def step(self, offline: bool) -> None:
        acts = [
            self.add, self.add, self.add, self.supersede, self.supersede, self.retract, self.confirm, self.undo, self.archive, self.registry,
            self.hand_edit, self.brief,
        ]  # fmt: skip
        if not offline:
            acts += [self.sync, self.sync]
        self.dice.choice(acts)()


def run(devices, seed: int, operations: int) -> dict[str, int]:  # type: ignore[no-untyped-def]
    """Do `operations` on each device in a random order, sync until nothing moves, and look at both.

    Raises:
        AssertionError: the devices differ, a card is lost, or something is broken.
    """
    dice = random.Random(seed)
    sides = [Side(one, dice, name) for one, name in zip(devices, ("a", "b"), strict=True)]
    for name in PROJECTS:
        sides[0].device.mem("project", "add", name, "--path", str(sides[0].device.home / name))
    for one in sides:
        one.sync()
    left = {0: operations, 1: operations}
    lonely = dice.choice([0, 1]) if seed % 2 else None
    while any(left.values()):
        at = dice.choice([one for one, count in left.items() if count])
        left[at] -= 1
        offline = at == lonely and operations // 4 <= left[at] < operations * 3 // 4
        sides[at].step(offline)
    for _ in range(3):
        for one in sides:
            one.sync()
    a, b = (one.device for one in sides)
    assert a.git("rev-parse", "HEAD^{tree}") == b.git("rev-parse", "HEAD^{tree}")
    assert [one["id"] for one in sides[0].live()] == [one["id"] for one in sides[1].live()]
    for prompt in ("what about teal and the ovens", "配色 数据", "deploy a release"):
        said = [one.mem("recall", "--lexical", prompt).out for one in (a, b)]
        assert said[0] == said[1]
    everything = a.git("ls-tree", "-r", "--name-only", "HEAD", "cards")
    lost = [card for one in sides for card in one.made if card not in everything]
    assert lost == [], lost
    for one in (a, b):
        assert one.git("fsck", "--no-dangling") == ""
        assert one.git("status", "--porcelain") == ""
        found = one.mem("check", "--all")
        assert found.code == 0, found.out + found.err
    return {
        "cards": everything.count("\n") + 1,
        "live": len(sides[0].live()),
        "stops": sum(one.stops for one in sides),
    }

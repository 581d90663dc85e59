"""Work orders as files: anybody, or any agent, writes an answer beside each."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from gitmem.config import git_env
from gitmem.errors import Refused, Usage
from gitmem.git.run import Git
from gitmem.learn.order import Order

ANSWER = ".answer.json"
MAX_BYTES = 1_000_000
_OURS = ("distil-", "review-", "consolidate-")


def write(orders: Sequence[Order], folder: Path, variables: dict[str, str]) -> list[Path]:
    """Write each order as `<id>.md`, readable by its owner alone; orders that are no longer open go.

    Raises:
        Refused: the folder is one whose files get committed, or cannot be written.
    """
    _not_committed(folder, variables)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        open_now = {order.id for order in orders}
        for old in folder.glob("*.md"):
            if old.stem.startswith(_OURS) and old.stem not in open_now:
                old.unlink()
                (folder / f"{old.stem}{ANSWER}").unlink(missing_ok=True)
        return [_write(order, folder) for order in orders]
    except OSError as error:
        raise Refused(f"cannot write work orders to `{folder}`: {error.strerror or error}") from None


def _write(order: Order, folder: Path) -> Path:
    file = folder / f"{order.id}.md"
    text = f"{order.text}\nWrite the answer to `{file.with_name(order.id + ANSWER)}`.\n"
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(text.encode("utf-8", "replace"))
    return file


def _not_committed(folder: Path, variables: dict[str, str]) -> None:
    """Words of conversations must not get into somebody's commit."""
    place = folder
    while not place.is_dir() and place != place.parent:
        place = place.parent
    git = Git(place, git_env(variables))
    if git.run("rev-parse", "--is-inside-work-tree", check=False).text() != "true":
        return
    if git.run("check-ignore", "-q", str(folder.absolute() / "order.md"), check=False).code == 0:
        return
    raise Refused(
        f"`{folder}` is in a git work tree, and work orders hold words of conversations",
        ["name a folder outside of it: git mem learn --delegate ~/orders"],
    )


def read(place: Path) -> list[tuple[str, str]]:
    """Answers, `(order id, text)`: of one file, or of every `*.answer.json` in a folder.

    Raises:
        Usage, Refused: there is none, or one that cannot be read.
    """
    if place.is_dir():
        files = sorted(place.glob(f"*{ANSWER}"))
        if not files:
            raise Refused(
                f"no answers in `{place}`", [f"an answer to `x.md` stands beside it in `x{ANSWER}`"]
            )
        return [_read(file) for file in files]
    if not place.exists():
        raise Usage(f"no file `{place}`")
    return [_read(place)]


def _read(file: Path) -> tuple[str, str]:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise Refused(f"`{file}` has more than {MAX_BYTES} bytes")
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"`{file}` is not UTF-8") from None
    except OSError as error:
        raise Refused(f"cannot read `{file}`: {error.strerror or error}") from None
    if not text.strip():
        raise Refused(
            f"`{file}` is empty", ["an order that holds nothing is answered as well: see its schema"]
        )
    if file.name.endswith(ANSWER):
        return file.name.removesuffix(ANSWER), text
    try:
        value = json.loads(text)
        return str(value["order"]), json.dumps(value["answer"], ensure_ascii=False)
    except (ValueError, KeyError, TypeError):
        raise Refused(
            f"cannot tell which order `{file}` answers",
            [
                f"name it after the order, `<order>{ANSWER}`",
                'or write {"order": "<order>", "answer": {…}} into it',
            ],
        ) from None

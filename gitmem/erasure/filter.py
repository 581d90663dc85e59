"""Rewrite every commit of the repository we stand in: `python -P -m gitmem.erasure.filter ORDER.json`.

A process of its own, in a scratch repository that borrows the memory's objects: git-filter-repo works on the
folder and the environment of its process, and what it does cannot be taken back. It reads no blob but those of
the memory's own folders, drops no commit, and maps every old commit to one new one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gitmem.erasure.order import Order


def main(argv: list[str]) -> int:
    import git_filter_repo as filter_repo

    order = Order.from_json(json.loads(Path(argv[0]).read_bytes()))
    # `--partial`: refs keep their names, nothing is fetched, packed or pruned; empty commits stay, so that work on
    # top of them (stashes, notes, detached heads) finds its place again
    options = filter_repo.FilteringOptions.parse_args(
        ["--force", "--partial", "--quiet", "--prune-empty=never", "--prune-degenerate=never"],
        error_on_empty=False,
    )
    known: dict[tuple[bytes, bytes], Any] = {}
    notes = [False]

    def file(path: bytes, mode: bytes, blob: bytes, value: Any) -> tuple[bytes | None, bytes, bytes]:
        name = path.decode("utf-8", "surrogateescape")
        if order.drops(name):
            return None, mode, blob
        if mode == b"160000" or not (notes[0] or order.concerns(name)):
            return path, mode, blob
        key = (b"" if notes[0] else path, blob)
        if key not in known:
            data = value.get_contents_by_identifier(blob)
            kept = order.rewritten("" if notes[0] else name, data) if data is not None else data
            known[key] = (
                blob if kept == data else None if kept is None else value.insert_file_with_contents(kept)
            )
        return (path if known[key] is not None else None), mode, known[key]

    def message(text: bytes) -> bytes:
        return order.words.cleaned(text)

    def refname(name: bytes) -> bytes:
        # asked for a commit before its files are
        notes[0] = name.startswith(b"refs/notes/")
        return name

    filter_repo.RepoFilter(
        options, message_callback=message, refname_callback=refname, file_info_callback=file
    ).run()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

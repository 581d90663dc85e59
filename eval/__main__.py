"""python -m eval: measure recall on a configuration, and show what was measured."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.config import ConfigError


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m eval", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="ask every system every probe, and write the report")
    run.add_argument("config", type=Path, metavar="CONFIG.yaml")
    run.add_argument(
        "--out", type=Path, metavar="DIR", help="where results go (default: eval-results/NAME here)"
    )
    run.add_argument(
        "--resume", action="store_true", help="keep what was answered by the same code, data and systems"
    )
    run.add_argument("--no-report", action="store_true", help="only ask")
    report = commands.add_parser("report", help="write report.html and report.json from results")
    report.add_argument("dir", type=Path, metavar="DIR")
    judge = commands.add_parser("judge", help="have the said cards judged blindly")
    judge.add_argument("dir", type=Path, metavar="DIR", help="a folder of results")
    judge.add_argument("--dataset", metavar="NAME", help="of this data set alone")
    judge.add_argument(
        "--probes", type=int, default=60, metavar="N", help="so many, drawn by the seed (default: 60)"
    )
    way = judge.add_mutually_exclusive_group(required=True)
    way.add_argument(
        "--delegate", type=Path, metavar="ORDERS", help="write work orders that any agent can answer"
    )
    way.add_argument("--answer", type=Path, metavar="ORDERS", help="read the answers to them")
    way.add_argument("--run", metavar="COMMAND", help="a command that reads an order and writes its answer")
    way.add_argument("--api", metavar="MODEL", help="a model of Anthropic's API; needs the extra `eval`")
    judge.add_argument(
        "--second", action="store_true", help="a second, independent labelling of a fifth of the probes"
    )
    given = parser.parse_args(argv)
    try:
        return COMMANDS[given.command](given)
    except (ConfigError, ValueError, OSError) as error:
        print(f"eval: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\neval: stopped; --resume goes on from here", file=sys.stderr)
        return 130


def _run(given: argparse.Namespace) -> int:
    from eval import config
    from eval.run import Teller, run

    # read once, when the embedder is loaded: a run embeds many cards and answers no person who waits
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))
    conf = config.read(given.config)
    out = given.out or Path("eval-results") / conf.name
    tell = Teller()
    if not run(conf, out, given.resume, tell) and not conf.measures:
        tell.line("nothing to ask: every data set was skipped")
        return 1
    if not given.no_report:
        _report(argparse.Namespace(dir=out))
    return 0


def _report(given: argparse.Namespace) -> int:
    from eval import report

    page = report.write(given.dir)
    print(page)
    return 0


def _judge(given: argparse.Namespace) -> int:
    from eval import judge

    print(
        judge.command(
            given.dir,
            given.dataset,
            given.probes,
            given.delegate,
            given.answer,
            given.run,
            given.api,
            given.second,
        )
    )
    return 0


COMMANDS = {"run": _run, "report": _report, "judge": _judge}

if __name__ == "__main__":
    sys.exit(main())

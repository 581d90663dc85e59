"""The one executable. What agents call on every prompt goes past the command line's machinery."""

from __future__ import annotations

import os
import sys


def main() -> None:
    args = sys.argv[1:]
    if args[:1] == ["hook"] and args[1:] and not any(arg.startswith("-") for arg in args):
        from gitmem.hosts.hook import main as hook

        # past python's clean-up: nothing is left open, and a thread may still be computing
        os._exit(hook(args[1:]))
    from gitmem.cli.main import run

    sys.exit(run(args))


if __name__ == "__main__":
    main()

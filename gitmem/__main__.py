"""The one executable. What agents call on every prompt goes past the command line's machinery."""

from __future__ import annotations

import sys


def main() -> None:
    args = sys.argv[1:]
    if args[:1] == ["hook"] and args[1:] and not args[1].startswith("-"):
        from gitmem.hosts.hook import main as hook

        sys.exit(hook(args[1:]))
    from gitmem.cli.main import run

    sys.exit(run(args))


if __name__ == "__main__":
    main()

"""The one executable. What agents call on every prompt goes past the command line's machinery."""

from __future__ import annotations

import os
import sys


def main() -> None:
    _speak_utf8()
    args = sys.argv[1:]
    if args[:1] == ["hook"] and args[1:] and not any(arg.startswith("-") for arg in args):
        from gitmem.hosts.hook import main as hook

        # past python's clean-up: nothing is left open, and a thread may still be computing
        os._exit(hook(args[1:]))
    from gitmem.cli.main import run

    sys.exit(run(args))


def _speak_utf8() -> None:
    """Start again where the locale and the environment make Python take text and file names for ASCII.

    What was typed, the names of files, and every program that is started are then UTF-8 alike.
    """
    if sys.getfilesystemencoding().lower().replace("-", "") == "utf8" or os.name == "nt":
        return
    try:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    except OSError:
        return  # then as well as it can be done


if __name__ == "__main__":
    main()

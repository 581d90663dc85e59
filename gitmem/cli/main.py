"""The command line: which commands there are, loaded when they are called, and the way out."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import click

from gitmem import __version__
from gitmem.cli import arguments, output
from gitmem.errors import MemError

EVERYDAY, OTHER, PLUMBING = "Everyday", "Others", "Plumbing"

# name -> (section, module, function, what it does)
COMMANDS: dict[str, tuple[str, str, str, str]] = {
    "init": (EVERYDAY, "setup", "init", "Make a memory"),
    "add": (EVERYDAY, "cards", "add", "Remember something"),
    "search": (EVERYDAY, "asking", "search", "Find cards by words and meaning"),
    "show": (EVERYDAY, "reading", "show", "Show one card, its words and its chain"),
    "recall": (EVERYDAY, "asking", "recall", "Print what an agent would hear about a prompt"),
    "connect": (EVERYDAY, "connecting", "connect", "Let an agent's host read and write the memory"),
    "learn": (EVERYDAY, "learning", "learn", "Grow the memory from conversations that ended"),
    "status": (EVERYDAY, "status", "status", "Say which memory this is and how it is"),
    "new": (OTHER, "cards", "new", "Write a card in your editor"),
    "edit": (OTHER, "cards", "edit", "Replace a card by an edited one"),
    "list": (OTHER, "reading", "list_cards", "List cards"),
    "brief": (OTHER, "asking", "brief", "Print what stands at the start of a session"),
    "why": (OTHER, "asking", "why", "Explain the last automatic turn"),
    "supersede": (OTHER, "cards", "supersede", "Replace cards by a new one"),
    "confirm": (OTHER, "cards", "confirm", "Say a card again: its lifetime starts anew"),
    "retract": (OTHER, "cards", "retract", "Take cards back"),
    "forget": (OTHER, "forgetting", "forget", "Erase cards for good, from history too"),
    "undo": (OTHER, "cards", "undo", "Take back the last write"),
    "import": (OTHER, "importing", "import_", "Take in what is already written elsewhere"),
    "project": (OTHER, "registry", "project", "Register, list and archive projects"),
    "agent": (OTHER, "registry", "agent", "Register, list and revoke agents"),
    "profile": (OTHER, "profiles", "profile", "Show what each kind of agent hears"),
    "disconnect": (OTHER, "connecting", "disconnect", "Take out what connect wrote"),
    "sync": (OTHER, "syncing", "sync", "Bring this memory and its git remote together"),
    "clone": (OTHER, "syncing", "clone", "Take a memory from another device"),
    "check": (OTHER, "checking", "check", "Check the memory, or what is about to be committed"),
    "doctor": (OTHER, "doctor", "doctor", "Find what is wrong, and the line that mends it"),
    "off": (OTHER, "switches", "off", "Switch recall off, here or for a while"),
    "log": (OTHER, "logbook", "log", "Show what was written and what was recalled"),
    "path": (OTHER, "status", "path", "Print where the memory is"),
    "completion": (OTHER, "helping", "completion", "Print shell completion"),
    "demo": (OTHER, "demo", "demo", "Show what it does, in a temporary folder"),
    "uninstall": (OTHER, "uninstalling", "uninstall", "Take git mem out of this computer; the memory stays"),
    "help": (OTHER, "helping", "help_", "Explain a topic or a command"),
    "capture": (PLUMBING, "capturing", "capture", "Take in conversations that ended, for learning"),
    "distil": (PLUMBING, "learning", "distil", "Have captured conversations read for facts"),
    "review": (PLUMBING, "learning", "review", "Have the facts judged, and commit what holds"),
    "inbox": (PLUMBING, "inbox", "inbox", "Show what learning has not finished, or dropped"),
    "consolidate": (PLUMBING, "consolidating", "consolidate", "Find cards that are one too many"),
    "index": (PLUMBING, "checking", "index", "Bring the index up to date"),
    "hook": (PLUMBING, "connecting", "hook", "Answer one event of a host"),
    "hooks": (PLUMBING, "checking", "hooks", "Install, inspect and run the memory's git hooks"),
    "mcp": (PLUMBING, "serving", "mcp", "Serve the memory to clients of the Model Context Protocol"),
}

# What people type first, and the command that is meant.
GUESSES = {
    "rm": "retract", "delete": "retract", "remove": "retract", "forget-it": "forget", "erase": "forget", "purge": "forget", "ls": "list", "get": "show", "cat": "show",
    "view": "show", "remember": "add", "save": "add", "store": "add", "find": "search", "query": "search", "ask": "search",
    "revert": "undo", "replace": "supersede", "correct": "supersede", "update": "supersede", "projects": "project", "agents": "agent",
    "profiles": "profile", "verify": "check", "lint": "check", "where": "path", "history": "log", "mute": "off", "explain": "why",
    "install": "connect", "setup": "init", "create": "init",
    "distill": "distil", "queue": "inbox", "pending": "inbox",
    "pull": "sync", "push": "sync", "fetch": "sync",
    "diagnose": "doctor", "health": "doctor", "serve": "mcp",
}  # fmt: skip


class Commands(click.Group):
    """Loads a command's module when the command is called, and lists them by section."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        entry = COMMANDS.get(name)
        if entry is None:
            return None
        module = importlib.import_module(f"gitmem.cli.{entry[1]}")
        command = getattr(module, entry[2])
        arguments.whole_texts(command, refuse=name not in arguments.READERS)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            meant = GUESSES.get(name) or _near(name)
            hint = f"did you mean `git mem {meant}`?" if meant else "`git mem -h` lists the commands"
            raise click.UsageError(f"no command `{name}`; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section in (EVERYDAY, OTHER, PLUMBING):
            rows = [(name, entry[3]) for name, entry in COMMANDS.items() if entry[0] == section]
            with formatter.section(section):
                formatter.write_dl(rows)


def _near(name: str) -> str | None:
    import difflib

    found = difflib.get_close_matches(name, [*COMMANDS, *GUESSES], 1, cutoff=0.7)
    return GUESSES.get(found[0], found[0]) if found else None


@click.group(
    "git-mem",
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Examples:\n\n\b\n  git mem init\n  git mem add "Use pnpm here, never npm"\n  git mem search package manager\n  git mem connect claude-code',
)
@click.option("--repo", metavar="DIR", help="Work with the memory in DIR")
@click.version_option(__version__, "-V", "--version", prog_name="git-mem", message="%(prog)s %(version)s")
@click.pass_context
def git_mem(ctx: click.Context, repo: str | None) -> None:
    """One memory for all your agents, kept as a plain Git repository."""
    ctx.obj = {"repo": repo}
    output.aim(repo)
    if ctx.invoked_subcommand is None:
        from gitmem.cli.status import bare

        bare(ctx)


def run(args: Sequence[str]) -> int:
    """Run one command line; the exit code. An index that proves damaged is thrown away, and the command run again."""
    _utf8()
    try:
        return _run(args)
    except Exception as error:
        from gitmem.index.build import is_damage

        if not is_damage(error) or not _index_discarded(args):
            raise
    output.say("note: the index was damaged; it is built anew")
    return _run(args)


def _index_discarded(args: Sequence[str]) -> bool:
    """Throw away the index of the memory that a command line means."""
    from gitmem import config
    from gitmem.git import locate
    from gitmem.index import build

    repo = next((after for before, after in pairwise(args) if before == "--repo"), None)
    try:
        build.discard(locate.find(config.from_process(), repo, accept_cwd=True))
    except (MemError, OSError):
        return False
    return True


def _run(args: Sequence[str]) -> int:
    output.aim(None)
    try:
        result = git_mem.main(
            args=list(args), prog_name="git mem", complete_var="_GIT_MEM_COMPLETE", standalone_mode=False
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as error:
        output.usage(error)
        return 2
    except click.ClickException as error:
        output.error(MemError(error.format_message()))
        return 1
    except MemError as error:
        output.error(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # whoever read us has enough; python must not complain at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        import errno

        hint = {
            errno.ENOSPC: "free some space, then try again",
            errno.EDQUOT: "free some space, or have the quota raised, then try again",
            errno.EROFS: "make the file system writable, or work with a memory elsewhere: git mem --repo DIR",
            errno.EACCES: "give yourself the right to write there, then try again",
            errno.EPERM: "give yourself the right to write there, then try again",
        }.get(error.errno or 0)
        if hint is not None:
            where = f" `{os.fsdecode(error.filename)}`" if isinstance(error.filename, (str, bytes)) else ""
            output.error(MemError(f"cannot write{where}: {(error.strerror or '').lower()}", [hint]))
            return 1
        raise


def _utf8() -> None:
    """Chinese comes out right whatever the locale says, and a name that is no text comes out somehow."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="backslashreplace")

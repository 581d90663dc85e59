"""status, log, path, completion, help: what this memory is, and how to go on."""

from __future__ import annotations

from typing import Any

import click

from gitmem import resources
from gitmem.authoring import history
from gitmem.authoring.history import Write
from gitmem.cli import output
from gitmem.cli.common import examples, home, json_option, open_context, project_here
from gitmem.cli.standing import ago, collect, listed
from gitmem.context import Context
from gitmem.errors import NoMemory, Usage
from gitmem.model import ids, when
from gitmem.model.layers import shorten

TOPICS = ("cards", "checks", "hosts", "privacy", "profiles")
_SHOWN = 5


@click.command(epilog=examples("git mem status", "git mem status --json"))
@json_option
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """Say which memory this is, whether it is sound, who is connected, and what is new since yesterday."""
    context = open_context(ctx)
    found = collect(context)
    if as_json:
        output.as_json(found)
    else:
        output.answer(status_text(context, found))


def bare(ctx: click.Context) -> None:
    """`git mem` alone: the status of the memory, or how to begin where there is none."""
    try:
        context = open_context(ctx)
    except NoMemory as none:
        output.answer(ctx.get_help() + "\n\nTo begin:\n\n  git mem init\n")
        output.say(f"note: {none.message}")
        return
    output.answer(status_text(context, collect(context)))


def status_text(context: Context, found: dict[str, Any]) -> str:
    at_home = context.env.home
    rows = [("memory", f"{home(found['memory'], at_home)} on `{found['branch']}`, {_count(found['live'], 'live card')} of {found['cards']}")]
    rows.append(("checks", _hooks(found["hooks"])))
    if found["invalid"]:
        rows.append(("", f"{_count(len(found['invalid']), 'card')} left out because of faults: git mem check --all"))
    rows.append(("index", _index(found["index"])))
    for number, one in enumerate(found["agents"]):
        rows.append(("agents" if number == 0 else "", f"{one['id']:<12} {one['profile']:<9} {_last(one, context)}"))
    if not found["agents"]:
        rows.append(("agents", "none yet: git mem connect"))
    active = [one["id"] for one in found["projects"] if one["status"] == "active"]
    archived = [one["id"] for one in found["projects"] if one["status"] != "active"]
    rows.append(("projects", (", ".join(active) or "none yet: git mem project add") + (f"; archived {', '.join(archived)}" if archived else "")))
    here = project_here(context)
    if here is not None and context.caller.reads(here):
        rows.append(("here", f"`{here}`"))
    rows.extend(("off" if number == 0 else "", line) for number, line in enumerate(off_lines(context, found["off"])))
    new = found["new"]
    rows.append(("new", f"{_count(len(new), 'card')} since yesterday" if new else "nothing since yesterday"))
    rows.extend(("", f"{ids.short(one['id'])}  {one['scope']:<10}  {one['conclusion']}") for one in new[:_SHOWN])
    if len(new) > _SHOWN:
        rows.append(("", f"and {len(new) - _SHOWN} more: git mem log"))
    return output.table(rows)


def off_lines(context: Context, off: dict[str, Any]) -> list[str]:
    """What is switched off, in words; empty: everything is on."""
    lines = []
    if off["environment"]:
        lines.append("everything, in this shell: GIT_MEM_OFF is set")
    if off["until"]:
        lines.append(f"everything until {when.parse(off['until']).astimezone():%Y-%m-%d %H:%M}: git mem off --end")
    if off["only"]:
        lines.append("everywhere but in " + listed(home(one, context.env.home) for one in off["only"]))
    if off["folders"]:
        lines.append("in " + listed(home(one, context.env.home) for one in off["folders"]))
    return lines


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _hooks(hooks: list[dict[str, Any]]) -> str:
    bad = [one for one in hooks if not one["ok"]]
    if not bad:
        return "commit hooks are in"
    if len(bad) == len(hooks) and all(one["state"] == "missing" for one in bad):
        return "commit hooks are missing: git mem hooks install"
    return "; ".join(f"{one['name']} {one['state']}" for one in bad) + ": git mem hooks status"


def _index(index: dict[str, Any]) -> str:
    if index["embedder"] == "none":
        what = f"{index['words']} of {index['cards']} cards by words"
        return what + (f"; the embedder `{index['wanted']}` is not installed" if index["wanted"] not in ("none", "") else "")
    whole = index["words"] == index["cards"] == index["vectors"]
    if whole:
        return f"up to date, {_count(index['cards'], 'card')} ({index['embedder']}, offline)"
    return f"{index['words']} by words and {index['vectors']} with vectors of {index['cards']} cards ({index['embedder']}): git mem index"


def _last(agent: dict[str, Any], context: Context) -> str:
    if agent["status"] != "active":
        return agent["status"]
    if agent["answered"]:
        return f"answered {ago(agent['answered'], context.now)}"
    return f"asked {ago(agent['asked'], context.now)}, not answered yet" if agent["asked"] else "never asked on this computer"


@click.command(epilog=examples("git mem log", "git mem log -n 50 --json", "git mem log --recalls"))
@click.option("-n", "number", type=click.IntRange(1), default=20, metavar="N", help="How many, newest first (20)")
@click.option("--recalls", is_flag=True, help="What was recalled on this computer, instead of what was written")
@json_option
@click.pass_context
def log(ctx: click.Context, number: int, recalls: bool, as_json: bool) -> None:
    """Show what was written to the memory, by whom; or what was recalled from it."""
    context = open_context(ctx)
    if recalls:
        entries = _recalls(context)[:number]
        if as_json:
            output.as_json({"recalls": entries})
        else:
            output.answer(output.table([_recall_row(one) for one in entries]))
            if not entries:
                output.say("nothing was recalled on this computer yet")
        return
    found = [one for one in history.writes(context.memory, number if context.caller.person else 20 * number) if _readable(context, one)][:number]
    if as_json:
        output.as_json({"writes": [_write_json(one) for one in found]})
    else:
        output.answer(output.table([_write_row(one) for one in found]))
        if not found:
            output.say("nothing was written yet")


def _readable(context: Context, one: Write) -> bool:
    """Agents see the writes of their scopes; a subject quotes its card."""
    if context.caller.person:
        return True
    return all(context.caller.reads(scope) for scope in one.scopes) and (bool(one.scopes) or one.action == "registry")


def _write_row(one: Write) -> tuple[str, ...]:
    cards = ids.short(one.cards[0]) if one.cards else ""
    more = f" +{len(one.cards) - 1}" if len(one.cards) > 1 else ""
    said = one.subject.split(": ", 1)[1] if one.subject.startswith(("mem(", "mem: ")) else one.subject
    return one.commit[:7], _minute(one.at), one.action, ", ".join(one.scopes), one.agent or "you", cards + more, said


def _write_json(one: Write) -> dict[str, Any]:
    return {
        "commit": one.commit,
        "at": when.stamp(when.parse(one.at)),
        "action": one.action,
        "scopes": list(one.scopes),
        "cards": list(one.cards),
        "files": list(one.other_files),
        "agent": one.agent,
        "email": one.email,
        "session": one.session,
        "subject": one.subject,
    }


def _recalls(context: Context) -> list[dict[str, Any]]:
    """Entries of the local log, newest first, each with every field; agents see their own."""
    from gitmem.recall.log import entries

    fields: dict[str, Any] = {
        "at": "", "event": "recall", "agent": None, "profile": None, "project": None, "session": None, "automatic": False,
        "fired": None, "trigger": None, "said": [], "best": None, "bytes": None, "degraded": [], "ms": None, "prompt": "",
    }  # fmt: skip
    found = [{key: entry.get(key, usual) for key, usual in fields.items()} for entry in entries(context.memory.state) if entry.get("prompt") is not None]
    if not context.caller.person:
        found = [one for one in found if one["agent"] == context.caller.name]
    return found[::-1]


def _recall_row(one: dict[str, Any]) -> tuple[str, ...]:
    said = ", ".join(ids.short(str(card)) for card in one["said"])
    fate = said or (one["trigger"] if one["fired"] is False else "nothing said") or ""
    return _minute(one["at"]), one["event"], one["agent"] or "you", one["project"] or "", fate, shorten(" ".join(str(one["prompt"]).split()), 80)


def _minute(at: str) -> str:
    try:
        return f"{when.parse(at).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return at


@click.command(epilog=examples("git mem path", 'cd "$(git mem path)"'))
@click.pass_context
def path(ctx: click.Context) -> None:
    """Print the folder of the memory."""
    output.answer(f"{open_context(ctx).memory.root}\n")


@click.command(
    epilog=examples(
        "git mem completion bash >> ~/.bashrc",
        "git mem completion zsh >> ~/.zshrc",
        "git mem completion fish > ~/.config/fish/completions/git-mem.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what completes `git mem` and `git-mem` in SHELL; append it to the shell's start-up file."""
    from click.shell_completion import get_completion_class

    from gitmem.cli.main import git_mem

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(git_mem, {}, "git-mem", "_GIT_MEM_COMPLETE").source()
    output.answer(script.strip("\n") + "\n\n" + resources.read_text(f"templates/completion/git-mem.{shell}"))


@click.command("help", epilog=examples("git mem help privacy", "git mem help add", "git mem help project add"))
@click.argument("words", nargs=-1, metavar="[TOPIC|COMMAND]")
@click.pass_context
def help_(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Explain a topic (cards, checks, hosts, privacy, profiles) or a command."""
    top = ctx.find_root()
    if not words:
        output.answer(f"{top.get_help()}\n\nTopics: {', '.join(TOPICS)}. To read one: git mem help {TOPICS[0]}\n")
        return
    if len(words) == 1 and words[0] in TOPICS:
        output.answer(resources.read_text(f"templates/help/{words[0]}.txt"))
        return
    here = top
    for word in words:
        command = here.command.get_command(here, word) if isinstance(here.command, click.Group) else None
        if command is None:
            raise Usage(f"no topic or command `{' '.join(words)}`", [f"topics are {', '.join(TOPICS)}", "git mem -h"])
        here = click.Context(command, info_name=word, parent=here)
    output.answer(here.get_help() + "\n")

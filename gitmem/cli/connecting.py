"""connect, disconnect, and the help of hook."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

import click

from gitmem import config
from gitmem.cli import output
from gitmem.cli.common import examples, home, open_context
from gitmem.config import Env
from gitmem.context import Context
from gitmem.errors import NoMemory, Refused, Usage
from gitmem.hosts import connect as core
from gitmem.hosts import examine, protocol
from gitmem.hosts.connect import Connected, Disconnected, Found
from gitmem.hosts.examine import Trial
from gitmem.hosts.hook import LIMIT_S
from gitmem.hosts.protocol import Finding
from gitmem.learn import background
from gitmem.learn.ways import choose
from gitmem.model.registry import Profile

_COLUMN = 13
_TRIGGERS = {
    "every_turn": "every turn",
    "first_turn": "first turn",
    "project_change": "change of project",
    "cue": "“as I usually do”",
}


@click.command(
    epilog=examples(
        "git mem connect",
        "git mem connect claude-code codex",
        "git mem connect claude-code --profile full --read global,projects,personal",
        "git mem connect --check",
    )
)
@click.argument("hosts", nargs=-1, metavar="[HOST...]")
@click.option("--profile", metavar="NAME", help="What it hears: full, working (default) or personal")
@click.option(
    "--read",
    "read",
    multiple=True,
    metavar="SCOPE,...",
    help="What it may read: global, personal, projects, all or project ids",
)
@click.option(
    "--learn/--no-learn",
    "learn",
    default=None,
    help="Learn from ended sessions in the background, or only capture them",
)
@click.option("--check", "check_", is_flag=True, help="Find what keeps a connection from working")
@click.option("--status", is_flag=True, help="Say which hosts are connected, write nothing")
@click.pass_context
def connect(
    ctx: click.Context,
    hosts: tuple[str, ...],
    profile: str | None,
    read: tuple[str, ...],
    learn: bool | None,
    check_: bool,
    status: bool,
) -> int:
    """Let the agents of HOST hear this memory and write to it: its hooks and what it should know, in its own settings.

    Without HOST: which hosts are on this computer, and whether they are connected.
    """
    if check_ and status:
        raise Usage("choose one of --check and --status")
    context = open_context(ctx)
    if check_:
        return _check(context, hosts or _connected(context))
    if status or not hosts:
        if profile or read or learn is not None:
            raise Usage("connect needs the host", ["git mem connect claude-code"])
        return _list(context, hosts or tuple(core.HOSTS))
    core.connectable(hosts)
    rights = [scope.strip() for text in read for scope in text.split(",") if scope.strip()]
    done = [core.connect(context, host, profile, rights) for host in dict.fromkeys(hosts)]
    output.answer("".join(_connected_text(context, one) for one in done) + _after(context, done))
    _learning(context, learn)
    return 0


@click.command(epilog=examples("git mem disconnect claude-code"))
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...")
@click.pass_context
def disconnect(ctx: click.Context, hosts: tuple[str, ...]) -> None:
    """Take out of a host's settings what connect wrote, and nothing else. Cards stay."""
    core.connectable(hosts)
    try:
        context: Context | None = open_context(ctx)
    except NoMemory:
        context = None
    env = config.from_process()
    if not env.person:
        raise Refused("disconnecting is for people", ["run it in a terminal of your own"])
    for host in dict.fromkeys(hosts):
        output.answer(disconnected_text(core.disconnect(context, env, host), env))


@click.command(epilog=examples("git mem hook claude-code < event.json"))
@click.argument("host", metavar="HOST")
def hook(host: str) -> None:
    """Answer one event of a host: its JSON on standard input, the answer on standard output.

    Hosts call this; `git mem connect` tells them to. It exits 0 whatever happens, within 1.5 seconds, and prints
    nothing when there is nothing to say or something went wrong; `git mem log` says what.
    """
    raise Usage("hook takes a host and no options", [f"git mem hook {host}"])


def _connected_text(context: Context, one: Connected) -> str:
    profile = context.registry.profiles[one.agent.profile]
    wrote = ", ".join(
        home(path, context.env.home) + (f" ({what})" if what else "") for path, what in one.wrote
    )
    lines = [
        _line(one.host, f"profile `{profile.name}`: {_when(profile)}"),
        _line("  stood" if one.already else "  wrote", wrote),
    ]
    if not examine.reachable(context):
        lines.append(
            _line(
                "  you",
                "put the folder of `git-mem` on the PATH that the host is started with; `git mem` is not found",
            )
        )
    elif (words := examine.looks_elsewhere(context)) is not None:
        lines.append(
            _line(
                "  you", f"once: git config --global mem.repo {quote(str(context.memory.root))}   ({words})"
            )
        )
    else:
        lines.append(
            _line(
                "  tried",
                "a sample prompt through the real hook: "
                + _tried(examine.trial(context, one.host))
                + ("; Codex itself still waits for your trust" if one.host == "codex" and one.you else ""),
            )
        )
    if one.fresh:
        lines.append(
            _line("  note", f"{home(one.fresh, context.env.home)} was not there yet: written anyway")
        )
    lines += [_line("  you", words) for words in one.you]
    return "".join(lines)


def _tried(found: Trial) -> str:
    if found.problem or not found.reached:
        return f"it failed, {found.problem or 'it did not reach this memory'}; git mem connect --check"
    pace = (
        "well inside its limit" if found.seconds < LIMIT_S / 2 else f"in {found.seconds:.1f} of {LIMIT_S} s"
    )
    if found.answered:
        return f"answered, {pace}"
    return f"it ran, {pace}, and had nothing to say" + (
        ": there is no card for it yet" if found.empty else ""
    )


def _when(profile: Profile) -> str:
    words = [_TRIGGERS[name] for name in profile.trigger]
    if len(words) < 3:
        return " or ".join(words)
    return ", ".join(words[:-1]) + ", or " + words[-1]


def _after(context: Context, done: Sequence[Connected]) -> str:
    """What it costs, what is read, how to keep something out, how to leave."""
    doses: dict[tuple[int, int], list[str]] = {}
    for one in done:
        profile = context.registry.profiles[one.agent.profile]
        doses.setdefault((profile.brief_bytes, profile.max_bytes), []).append(one.host)
    costs = [
        _line(
            "costs",
            (f"{', '.join(hosts)}: " if len(doses) > 1 else "")
            + f"the brief once a session (at most {brief} bytes); at most {most} bytes on a prompt it answers, none on the others",
        )
        for (brief, most), hosts in doses.items()
    ]
    return "".join(
        (
            *costs,
            _line(
                "reads",
                "what you typed and what was answered, from sessions that ended or were idle for 30 minutes; nothing leaves this computer until you say yes to learning",
            ),
            _line("keep out", "a folder: git mem off --here    one session: GIT_MEM_OFF=1"),
            _line("see it work", "git mem why, after your next prompt"),
            _line("leave", "git mem disconnect " + " ".join(one.host for one in done)),
        )
    )


def _learning(context: Context, wanted: bool | None) -> None:
    """Ask once whether to learn in the background; without a terminal only an option decides."""
    reader = choose.describe(context)
    if wanted is None:
        agreed = background.agreed(context.memory)
        if agreed is not None:
            words = f"on: {reader or 'nobody reads yet'}" if agreed else "off"
            output.answer(
                _line("learning", f"{words}; git mem connect HOST --{'no-' if agreed else ''}learn")
            )
            return
        if not context.env.terminal or not context.caller.person:
            output.answer(
                _line(
                    "learning", "not yet: git mem connect HOST --learn; until then sessions are only captured"
                )
            )
            return
        output.say(
            f"\nLearn from ended sessions in the background? {reader or 'Nobody reads yet; see below.'}"
        )
        output.say("Sent are the words you typed and the final answers, secrets masked: git mem help privacy")
        wanted = click.confirm("learn?", default=False, err=True)
    context.memory.git.run("config", background.SETTING, "true" if wanted else "false")
    if not wanted:
        output.answer(_line("learning", "off: sessions are only captured, on this computer"))
        return
    output.answer(_line("learning", f"on: {reader or 'nobody reads yet'}"))
    if reader is None:
        for hint in choose.hints():
            output.say(f"hint: {hint}")


def disconnected_text(one: Disconnected, env: Env) -> str:
    if not (one.removed or one.left or one.revoked or one.kept_for_others):
        return _line(one.host, "was not connected, nothing to take out")
    agent = f"; agent `{one.host}` revoked, its cards stay" if one.revoked else ""
    text = _line(one.host, "disconnected" + agent)
    if one.removed:
        text += _line(
            "  took out",
            ", ".join(home(path, env.home) + (f" ({what})" if what else "") for path, what in one.removed),
        )
    if one.left:
        text += _line(
            "  left", ", ".join(home(path, env.home) for path in one.left) + ", changed since we wrote it"
        )
    if one.kept_for_others:
        text += _line(
            "  left", f"agent `{one.host}`, as other computers may use it; git mem agent revoke {one.host}"
        )
    return text


def _list(context: Context, hosts: Sequence[str]) -> int:
    rows = []
    for host in hosts:
        if host not in core.HOSTS:
            core.connectable([host])
        found = core.found(context, context.env, host)
        if words := _state(context, found):
            rows.append(_line(host, words))
    output.answer("".join(rows))
    if not rows:
        output.say("no host found on this computer; git mem connect claude-code connects one all the same")
    return 0


def _state(context: Context, found: Found) -> str:
    place = home(found.folder, context.env.home) if found.folder else ""
    if found.host not in core.CONNECTABLE:
        return f"found in {place}, cannot be connected yet" if found.folder else ""
    if found.problem:
        return found.problem
    if found.connected:
        return f"connected as `{found.agent}`; git mem connect --check"
    if found.hooks:
        return f"half connected: {found.hooks} hooks in {place}; git mem connect {found.host}"
    return (
        f"{'found in ' + place if found.folder else 'not found'}, not connected; git mem connect {found.host}"
    )


def _connected(context: Context) -> tuple[str, ...]:
    return (
        tuple(host for host in core.CONNECTABLE if context.memory.setting(core.key(host))) or core.CONNECTABLE
    )


def _check(context: Context, hosts: Sequence[str]) -> int:
    core.connectable(hosts)
    wrong = 0
    for host in hosts:
        findings = examine.check(context, host)
        wrong += sum(one.level == protocol.FIX for one in findings)
        output.answer("".join(_finding_text(context, host, one) for one in findings))
    return 1 if wrong else 0


def _finding_text(context: Context, host: str, one: Finding) -> str:
    def short(text: str) -> str:
        return text.replace(f"{context.env.home}/", "~/") if context.env.home else text

    text = f"{one.level:<6}{host}  {one.what:<{_COLUMN}}{short(one.words)}\n"
    return text + (" " * (8 + len(host) + _COLUMN) + short(one.fix) + "\n" if one.fix else "")


def _line(name: str, words: str) -> str:
    return f"{name:<{_COLUMN}}{words}\n"

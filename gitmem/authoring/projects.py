"""Projects and agents in the registry; folder paths and tokens on this computer."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from pathlib import Path

from gitmem import identity
from gitmem.authoring import registry_edit
from gitmem.authoring.commit import Change, commit
from gitmem.context import Context
from gitmem.errors import Refused
from gitmem.git.locate import Memory
from gitmem.git.run import Git
from gitmem.git.write import Written
from gitmem.model.card import RESERVED_SCOPES
from gitmem.model.registry import Agent, Project
from gitmem.whereabouts import folders as registered_folders
from gitmem.whereabouts import normal_remote

_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")


def project_id(name: str) -> str:
    """A project id from a name: lower case, other characters to `-`; empty when nothing is left."""
    return re.sub(r"-+", "-", re.sub(r"[^a-z0-9]+", "-", name.lower())).strip("-")[:64].strip("-")


def add_project(
    context: Context,
    project: str | None,
    name: str | None = None,
    aliases: Sequence[str] = (),
    paths: Sequence[Path] = (),
    remotes: Sequence[str] = (),
) -> tuple[Project, Written | None, list[Path]]:
    """Register a project, or add to a registered one. Without an id: the repository we stand in.

    Returns:
        The project, the commit (None when the registry already said so), the folders noted on this computer.
    """
    _people_only(context, "register a project")
    # a folder that is named is meant, and not the repository one happens to stand in
    place = paths[0].expanduser() if paths else context.env.cwd
    here = surroundings(place, context.memory) if place.is_dir() else None
    own_folder, own_remotes = here if here else (None, [])
    owner = _owner(context, paths[0].expanduser().absolute() if paths else own_folder)
    if project is None and owner is not None:
        project = owner
    if project is None:
        if own_folder is None and not paths:
            if place.is_dir() and inside(context.memory, place):
                raise Refused(
                    "this is the memory itself, and no project", ["git mem project add ID --path DIR"]
                )
            raise Refused("this folder is no git repository", ["git mem project add ID --path DIR"])
        project = _unused_id(project_id((own_folder or place).name), own_remotes, context)
    if not _ID.match(project) or project in RESERVED_SCOPES:
        raise Refused(
            f"`{project}` is no project id",
            [
                f"git mem project add {project_id(project) or 'ID'}",
                "ids are lower-case letters, digits and `-`; "
                + ", ".join(sorted(RESERVED_SCOPES))
                + " are taken",
            ],
        )
    folders = [path.expanduser().absolute() for path in paths] or ([own_folder] if own_folder else [])
    for folder in folders:
        other = _owner(context, folder)
        if other is not None and other != project:
            raise Refused(
                f"`{folder}` belongs to project `{other}`",
                [
                    f"git mem project add {other} --alias {project}",
                    f"git mem project add {project} --path DIR, with another folder",
                ],
            )
    found = [normal_remote(remote) for remote in remotes] or own_remotes[:1]
    taken = {
        remote: one.id
        for one in context.registry.projects.values()
        for remote in one.remotes
        if one.id != project
    }
    for remote in found:
        if remote in taken:
            raise Refused(
                f"the remote `{remote}` belongs to project `{taken[remote]}`",
                [f"git mem project add {taken[remote]} --path DIR"],
            )
    made: list[Project] = []

    def make(now: Context) -> Change | None:
        before = now.registry.projects.get(project)
        entry = Project(
            project,
            name or (before.name if before else project),
            tuple(dict.fromkeys([*(before.aliases if before else ()), *aliases])),
            tuple(dict.fromkeys([*(before.remotes if before else ()), *found])),
            before.status if before else "active",
        )
        made[:] = [entry]
        if entry == before:
            return None
        return _entry_change(now, "projects", project, _project_entry(entry), f"mem: project {project}")

    done = commit(context, make)
    for folder in folders:
        note_folder(context.memory, project, folder)
    return made[0], done[0] if done else None, folders


def set_status(context: Context, project: str, status: str) -> Written | None:
    """Archive a project, or take it out of the archive."""
    _people_only(context, f"change project `{project}`")
    before = context.registry.projects.get(project)
    if before is None:
        raise Refused(f"no project `{project}`", ["git mem project list"])

    def make(now: Context) -> Change | None:
        entry = now.registry.projects[project]
        if entry.status == status:
            return None
        changed = Project(entry.id, entry.name, entry.aliases, entry.remotes, status)
        return _entry_change(
            now, "projects", project, _project_entry(changed), f"mem: project {project} is {status}"
        )

    done = commit(context, make)
    return done[0] if done else None


def add_agent(
    context: Context,
    name: str,
    profile: str,
    read: Sequence[str] = (),
    write: Sequence[str] = (),
    renew: bool = True,
) -> tuple[Agent, str | None, Written | None]:
    """Register an agent; its token is returned once, and its hash kept. None: the old token stays."""
    _people_only(context, "register an agent")
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,40}", name) or name == "learner":
        raise Refused(
            f"`{name}` is no agent id", ["ids are lower-case letters, digits and `-`; `learner` is built in"]
        )
    if profile not in context.registry.profiles:
        raise Refused(
            f"no profile `{profile}`", [f"profiles are {', '.join(sorted(context.registry.profiles))}"]
        )
    for right in (*read, *write):
        if right not in ("global", "personal", "projects", "all") and right not in context.registry.projects:
            raise Refused(
                f"no scope `{right}`", ["scopes are global, personal, projects, all, or a project id"]
            )
    made: list[Agent] = []
    token: list[str] = []

    def make(now: Context) -> Change | None:
        before = now.registry.agents.get(name)
        keep = before is not None and before.token_sha256 and not renew
        if not keep and not token:
            token.append(f"gmt_{secrets.token_urlsafe(24)}")
        entry = Agent(
            name,
            profile,
            before.token_sha256 if keep and before else identity.hashed(token[0]),
            tuple(read) or (before.read if before else ("global", "projects")),
            tuple(write) or (before.write if before else ("global", "projects")),
            "active",
        )
        made[:] = [entry]
        if entry == before:
            return None
        return _entry_change(now, "agents", name, _agent_entry(entry), f"mem: agent {name}")

    done = commit(context, make)
    if token:
        keep_token(context.memory, name, token[0])
    return made[0], token[0] if token else None, done[0] if done else None


def revoke_agent(context: Context, name: str) -> Written | None:
    """An agent that may no longer read or write; its cards stay."""
    _people_only(context, "revoke an agent")
    if name not in context.registry.agents:
        raise Refused(f"no agent `{name}`", ["git mem agent list"])

    def make(now: Context) -> Change | None:
        entry = now.registry.agents[name]
        if entry.status == "revoked":
            return None
        changed = Agent(entry.id, entry.profile, entry.token_sha256, entry.read, entry.write, "revoked")
        return _entry_change(now, "agents", name, _agent_entry(changed), f"mem: agent {name} revoked")

    done = commit(context, make)
    (context.memory.state / "tokens" / name).unlink(missing_ok=True)
    return done[0] if done else None


def note_folder(memory: Memory, project: str, folder: Path) -> None:
    """Remember on this computer where a project lives."""
    key = f"mem.project.{project}.path"
    if str(folder) not in memory.config.get(key, []):
        memory.git.run("config", "--local", "--add", key, str(folder))


def keep_token(memory: Memory, name: str, token: str) -> None:
    """Keep an agent's token for hooks of this computer, readable by this user alone."""
    import os

    folder = memory.state / "tokens"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(token + "\n")


def registry_text(memory: Memory, name: str) -> str:
    found = memory.git.run("cat-file", "blob", f"{memory.tip}:registry/{name}.yaml", check=False)
    return found.out.decode("utf-8") if found.code == 0 else ""


def _entry_change(context: Context, file: str, name: str, entry: dict, subject: str) -> Change:
    text = registry_edit.put(registry_text(context.memory, file), name, entry)
    return Change({f"registry/{file}.yaml": text.encode()}, subject, "registry")


def _project_entry(project: Project) -> dict:
    entry: dict = {"name": project.name}
    if project.aliases:
        entry["aliases"] = project.aliases
    if project.remotes:
        entry["remotes"] = project.remotes
    entry["status"] = project.status
    return entry


def _agent_entry(agent: Agent) -> dict:
    entry: dict = {"profile": agent.profile}
    if agent.token_sha256:
        entry["token_sha256"] = agent.token_sha256
    return {**entry, "read": agent.read, "write": agent.write, "status": agent.status}


def surroundings(cwd: Path, memory: Memory) -> tuple[Path, list[str]] | None:
    """The top of the repository we stand in (its main work tree) and its remotes; not the memory itself."""
    git = Git(cwd, memory.git.env)
    found = git.run("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", check=False)
    if found.code != 0:
        return None
    top, common = (Path(line) for line in found.text().split("\n"))
    if common == memory.common_dir:
        return None
    listed = git.run("config", "-z", "--get-regexp", r"^remote\..*\.url$", check=False).out.decode(
        "utf-8", "surrogateescape"
    )
    pairs = sorted(
        (entry.partition("\n")[::2] for entry in listed.split("\0") if entry),
        key=lambda pair: pair[0] != "remote.origin.url",
    )
    main = common.parent if common.name == ".git" else top
    return main, [normal_remote(url) for _, url in pairs]


def inside(memory: Memory, place: Path) -> bool:
    """Whether a folder is the memory's own, in any of its work trees."""
    found = Git(place, memory.git.env).run(
        "rev-parse", "--path-format=absolute", "--git-common-dir", check=False
    )
    return found.code == 0 and Path(found.text()) == memory.common_dir


def _owner(context: Context, folder: Path | None) -> str | None:
    """The project that exactly this folder is registered for on this computer."""
    if folder is None:
        return None
    for name, places in registered_folders(context.memory).items():
        if name in context.registry.projects and any(
            Path(place).expanduser().resolve() == folder.resolve() for place in places
        ):
            return name
    return None


def _unused_id(base: str, remotes: Sequence[str], context: Context) -> str:
    base = base or "project"
    if base in RESERVED_SCOPES:
        base = f"{base}-project"
    known = context.registry.projects.get(base)
    if known is None or not remotes or not known.remotes or set(remotes) & set(known.remotes):
        return base
    owner = project_id(remotes[0].rsplit("/", 2)[-2]) if remotes[0].count("/") >= 2 else "2"
    return f"{base}-{owner}"


def _people_only(context: Context, what: str) -> None:
    if not context.caller.person:
        raise Refused(f"`{context.caller.name}` may not {what}: that is for people")

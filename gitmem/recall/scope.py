"""Stage 2: which cards may be heard at all, by profile, project and rights."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.identity import Caller
from gitmem.model.registry import Registry
from gitmem.record import record


@record()
class Scope:
    """`names`: the scopes that are heard. `global_types`: of global cards these types only; None: all.

    `raised`: a project whose cards rank higher because the prompt names it.
    """

    names: tuple[str, ...]
    project: str | None
    global_types: tuple[str, ...] | None
    raised: str | None
    words: str

    def holds(self, scope: str, type_: str | None) -> bool:
        if scope not in self.names:
            return False
        return scope != "global" or self.global_types is None or type_ in self.global_types


def current_project(
    project_from: Sequence[str], explicit: str | None, from_cwd: str | None, from_prompt: str | None
) -> tuple[str | None, str]:
    """The project of a turn and where it was read from. `--project` wins."""
    if explicit:
        return explicit, "--project"
    for source in project_from:
        found = {"cwd": from_cwd, "prompt": from_prompt}[source]
        if found:
            return found, {"cwd": "this folder", "prompt": "the prompt"}[source]
    return None, ""


def resolve(
    caller: Caller, registry: Registry, project: str | None, origin: str, from_prompt: str | None
) -> Scope:
    """What this caller hears in this project."""
    profile = caller.profile
    names: list[str] = []
    words: list[str] = []
    if "projects" in profile.scopes:
        if profile.projects == "all":
            active = [p.id for p in registry.projects.values() if p.active and caller.reads(p.id)]
            names.extend(active)
            words.append(
                f"all {len(active)} projects"
                if len(active) > 1
                else "the one project"
                if active
                else "no project yet"
            )
        elif project and caller.reads(project) and project in registry.projects:
            names.append(project)
            words.append(f"`{project}` from {origin}")
        else:
            words.append("no project here")
    if "global" in profile.scopes and caller.reads("global"):
        names.append("global")
        words.append("of global: " + ", ".join(profile.global_types) if profile.global_types else "global")
    # somebody who hears projects hears `personal` only when that was asked for; `all` alone does not ask for it
    if ("personal" in profile.scopes and caller.reads("personal")) or "personal" in caller.read:
        names.append("personal")
        words.append("personal")
    raised = project if profile.projects == "all" and project in names else None
    if raised is None and profile.projects == "all" and from_prompt in names:
        raised = from_prompt
    return Scope(tuple(names), project, profile.global_types, raised, "; ".join(words))

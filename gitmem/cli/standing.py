"""How the memory stands: one value for `status`, in the words of programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from gitmem import autosync
from gitmem.authoring.commit import cards_now
from gitmem.context import Context
from gitmem.erasure.unfinished import unfinished
from gitmem.hooks import place
from gitmem.index import build
from gitmem.index.catalogue import Catalogue
from gitmem.learn import background
from gitmem.learn.standing import standing
from gitmem.learn.ways import choose
from gitmem.model import live, when
from gitmem.recall import log, story, switches
from gitmem.sharing import sync

_NEW = timedelta(days=1)


def collect(context: Context) -> dict[str, Any]:
    """What `schemas/answers/status.json` describes. An agent sees the numbers of its own scopes."""
    memory, registry = context.memory, context.registry
    catalogue = cards_now(context)
    try:
        cards = _cards(context, catalogue)
        covered = build.coverage(catalogue, build.embedder_name(memory, registry))
        invalid = [one for one in story.broken(catalogue, "") if context.caller.reads(one.path.split("/")[1])]
    finally:
        catalogue.close()
    hooks = [
        {"name": one.name, "state": one.state, "ok": one.ok, "detail": one.detail}
        for one in place.states(memory)
    ]
    return {
        "memory": str(memory.root),
        "branch": memory.branch,
        "commit": memory.tip,
        "caller": context.caller.name,
        **cards,
        "invalid": [{"path": one.path, "line": one.line, "message": one.message} for one in invalid],
        "hooks": hooks,
        "index": {
            "embedder": covered.embedder,
            "wanted": memory.setting("mem.embedder") or registry.memory.embedder,
            "cards": covered.cards,
            "words": covered.worded,
            "vectors": covered.embedded,
        },
        "agents": agents(context),
        "projects": [
            {"id": one.id, "name": one.name, "status": one.status}
            for one in registry.projects.values()
            if context.caller.reads(one.id)
        ],
        "learning": learning(context),
        "sync": syncing(context),
        "unfinished": [
            {"code": one.code, "what": f"{one.area} {one.words}", "finish": one.mend}
            for one in unfinished(context)
        ],
        "off": switched_off(context),
    }


def _cards(context: Context, catalogue: Catalogue) -> dict[str, Any]:
    registry, now = context.registry, context.now
    total, alive = 0, 0
    fresh: list[dict[str, Any]] = []
    for item in catalogue.items("kind = 'card'", (), "created DESC, id"):
        if not context.caller.reads(item.scope):
            continue
        total += 1
        if not live.status(catalogue, item.id, registry, now).live:
            continue
        alive += 1
        if now - when.parse(item.created) <= _NEW:
            fresh.append(
                {
                    "id": item.id,
                    "type": item.type,
                    "scope": item.scope,
                    "conclusion": item.l0,
                    "recorded": item.created,
                    "author": item.author,
                }
            )
    return {"cards": total, "live": alive, "new": fresh}


def agents(context: Context) -> list[dict[str, Any]]:
    """Agents with their profiles and, from this computer's log, when they last asked and were last answered.

    Of an agent that a host is connected as, only what the host's hook asked counts, as for `doctor`: a person may ask
    in its name by hand.
    """
    hooked = {
        found[-1]
        for key, found in context.memory.config.items()
        if key.startswith("mem.host.") and key.endswith(".agent") and found
    }
    asked: dict[str, str] = {}
    answered: dict[str, str] = {}
    for entry in log.entries(context.memory.state):
        name, at = entry.get("agent"), entry.get("at")
        if isinstance(name, str) and isinstance(at, str) and (name not in hooked or entry.get("automatic")):
            asked[name] = at
            if entry.get("said"):
                answered[name] = at
    return [
        {
            "id": one.id,
            "profile": one.profile,
            "status": one.status,
            "asked": asked.get(one.id),
            "answered": answered.get(one.id),
        }
        for one in context.agents()
    ]


def learning(context: Context) -> dict[str, Any]:
    found = standing(context.memory.state)
    return {
        "agreed": background.agreed(context.memory),
        "reader": choose.describe(context),
        "waiting": found.waiting,
        "last": found.last,
        "stopped": found.stopped,
    }


def syncing(context: Context) -> dict[str, Any] | None:
    found = sync.standing(context.memory)
    return None if found is None else {**asdict(found), "always": autosync.on(context.memory)}


def switched_off(context: Context) -> dict[str, Any]:
    found = switches.load(context.memory.state)
    return {
        "environment": context.env.off,
        "until": found.until if _ahead(found.until, context.now) else None,
        "folders": list(found.folders),
        "only": list(found.only),
        "here": "GIT_MEM_OFF is set" if context.env.off else found.off(context.env.cwd, context.now),
    }


def _ahead(until: str | None, now: datetime) -> bool:
    try:
        return until is not None and now < datetime.fromisoformat(until)
    except ValueError:
        return False


def ago(at: str, now: datetime) -> str:
    """`4 minutes ago`"""
    seconds = max(0, int((now - when.parse(at)).total_seconds()))
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = seconds // size
            return f"{number} {word}{'s' if number != 1 else ''} ago"
    return "just now"


def listed(names: Iterable[str]) -> str:
    """`a, b and c`"""
    *head, last = list(names) or [""]
    return f"{', '.join(head)} and {last}" if head else last

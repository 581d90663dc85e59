"""Our hooks among the others in Claude Code's settings: what they look like and how they are known.

In: parsed settings. Out: where our hooks stand, and what the settings say without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gitmem.hosts.json_read import Document, Node

COMMAND = "git mem hook claude-code"
MATCHER = "startup|resume|clear|compact"
TIMEOUTS_S = {"SessionStart": 5, "UserPromptSubmit": 5, "SessionEnd": 2}

# `git mem` or `git-mem` with any path before it, inside quotes, behind `env X=1`, before `|| true`, …
_OURS = re.compile(
    r"""(?:^|[\s"'/\\;&|(])"""
    r"""(?:git(?:\.exe)?["']?(?:\s+-[cC]\s+\S+)*\s+mem|git-mem(?:\.exe)?["']?)"""
    r"""\s+hook\s+claude-code(?![\w.-])"""
)
_ONLY_SAYS_IT = re.compile(r"(?:(?:^|[;&|(\n])\s*(?:echo|printf|:)\s[^;&|(\n]*|(?:^|\s)#[^\n]*)$")


def group(event: str) -> dict[str, Any]:
    hook = {"type": "command", "command": COMMAND, "timeout": TIMEOUTS_S[event]}
    return {"matcher": MATCHER, "hooks": [hook]} if event == "SessionStart" else {"hooks": [hook]}


def runs_us(hook: Node) -> bool:
    command, args = hook.get("command"), hook.get("args")
    if command is None or not isinstance(command.scalar, str):
        return False
    words = [command.scalar, *(str(item.node.scalar) for item in (args.items if args else ()))]
    line = " ".join(words)
    return any(not _ONLY_SAYS_IT.search(line[: m.start() + 1]) for m in _OURS.finditer(line))


def runs_in(event: Node | None) -> bool:
    groups = [item.node.get("hooks") for item in event.items] if event else []
    return any(runs_us(item.node) for hooks in groups if hooks for item in hooks.items)


def our_places(doc: Document) -> Iterator[tuple[int, ...]]:
    """Where our hooks stand, as item positions from the root, also under a key that a second one hides."""
    for h, hooks in _named(doc.root, "hooks"):
        for e, event in enumerate(hooks.items):
            for g, group in enumerate(event.node.items):
                for k, inner in _named(group.node, "hooks"):
                    yield from ((h, e, g, k, i) for i, hook in enumerate(inner.items) if runs_us(hook.node))


def _named(node: Node, key: str) -> list[tuple[int, Node]]:
    return [(i, item.node) for i, item in enumerate(node.items) if item.key == key]


def others(root: Node) -> Any:
    """The settings' plain values without our hooks and without empty groups, events and `hooks`."""
    settings, hooks = root.value, root.get("hooks")
    if hooks is None or hooks.kind != "object":
        return settings
    events = {event: _other_groups(hooks.get(event)) for event in hooks.value}  # type: ignore[arg-type]
    kept = {event: groups for event, groups in events.items() if groups != []}
    return {**settings, "hooks": kept} if kept else {k: v for k, v in settings.items() if k != "hooks"}


def _other_groups(event: Node) -> Any:
    if event.kind != "array":
        return event.value
    groups = []
    for item in event.items:
        hooks = item.node.get("hooks")
        if hooks is None or hooks.kind != "array":
            groups.append(item.node.value)
        elif left := [hook.node.value for hook in hooks.items if not runs_us(hook.node)]:
            groups.append({**item.node.value, "hooks": left})
        elif set(item.node.value) - {"matcher", "hooks"}:
            groups.append({**item.node.value, "hooks": []})
    return groups

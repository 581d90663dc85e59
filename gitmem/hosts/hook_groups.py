"""Our hooks among the others in a host's JSON settings: what they look like and how they are known.

Claude Code and Codex share the form: `hooks`, then events, then groups with an optional `matcher`, then hooks.

In: parsed settings and a `Spec`. Out: where our hooks stand, and what the settings say without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gitmem.hosts.json_read import Document, Node

# Behind a shell word that only shows what follows, or in a comment.
_ONLY_SAYS_IT = re.compile(r"(?:(?:^|[;&|(\n])\s*(?:echo|printf|:)\s[^;&|(\n]*|(?:^|\s)#[^\n]*)$")


@dataclass(frozen=True)
class Spec:
    """What we write for a host. `timeouts_s`: event -> seconds; `matchers`: event -> matcher, where there is one."""

    host: str
    timeouts_s: Mapping[str, int]
    matchers: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        return f"git mem hook {self.host}"

    def group(self, event: str) -> dict[str, Any]:
        hook = {"type": "command", "command": self.command, "timeout": self.timeouts_s[event]}
        matcher = {"matcher": self.matchers[event]} if event in self.matchers else {}
        return {**matcher, "hooks": [hook]}

    def runs_us(self, hook: Node) -> bool:
        command, args = hook.get("command"), hook.get("args")
        if command is None or not isinstance(command.scalar, str):
            return False
        words = [command.scalar, *(str(item.node.scalar) for item in (args.items if args else ()))]
        return says_us(self.host, " ".join(words))

    def runs_in(self, event: Node | None) -> bool:
        groups = [item.node.get("hooks") for item in event.items] if event else []
        return any(self.runs_us(item.node) for hooks in groups if hooks for item in hooks.items)

    def our_places(self, doc: Document) -> Iterator[tuple[int, ...]]:
        """Where our hooks stand, as item positions from the root, also under a key that a second one hides."""
        for h, hooks in _named(doc.root, "hooks"):
            for e, event in enumerate(hooks.items):
                for g, group in enumerate(event.node.items):
                    for k, inner in _named(group.node, "hooks"):
                        ours = (i for i, hook in enumerate(inner.items) if self.runs_us(hook.node))
                        yield from ((h, e, g, k, i) for i in ours)

    def others(self, root: Node) -> Any:
        """The settings' plain values without our hooks and without empty groups, events and `hooks`."""
        settings, hooks = root.value, root.get("hooks")
        if hooks is None or hooks.kind != "object":
            return settings
        events = {event: self._other_groups(hooks.get(event)) for event in hooks.value}  # type: ignore[arg-type]
        kept = {event: groups for event, groups in events.items() if groups != []}
        return {**settings, "hooks": kept} if kept else {k: v for k, v in settings.items() if k != "hooks"}

    def _other_groups(self, event: Node) -> Any:
        if event.kind != "array":
            return event.value
        groups = []
        for item in event.items:
            hooks = item.node.get("hooks")
            if hooks is None or hooks.kind != "array":
                groups.append(item.node.value)
            elif left := [hook.node.value for hook in hooks.items if not self.runs_us(hook.node)]:
                groups.append({**item.node.value, "hooks": left})
            elif set(item.node.value) - {"matcher", "hooks"}:
                groups.append({**item.node.value, "hooks": []})
        return groups


def says_us(host: str, line: str) -> bool:
    """Whether a command line runs `git mem hook HOST`.

    `git mem` or `git-mem` with any path before it, inside quotes, behind `env X=1`, before `|| true`, ...
    """
    ours = re.compile(
        r"""(?:^|[\s"'/\\;&|(])"""
        r"""(?:git(?:\.exe)?["']?(?:\s+-[cC]\s+\S+)*\s+mem|git-mem(?:\.exe)?["']?)"""
        rf"""\s+hook\s+{re.escape(host)}(?![\w.-])"""
    )
    return any(not _ONLY_SAYS_IT.search(line[: match.start() + 1]) for match in ours.finditer(line))


def _named(node: Node, key: str) -> list[tuple[int, Node]]:
    return [(i, item.node) for i, item in enumerate(node.items) if item.key == key]

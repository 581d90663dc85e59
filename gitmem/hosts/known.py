"""The hosts that can be connected, by name. Light: a host's modules are imported when it is asked for.

A host is two modules: `gitmem.hosts.<module>` holds `HOST`, which satisfies `gitmem.hosts.protocol.Host`;
`gitmem.hosts.<module>_events` holds `answer(event, env, call)` for its hook events, and loads nothing heavy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.hosts.protocol import Host

MODULES = {"claude-code": "claude_code", "codex": "codex", "hermes": "hermes", "pi": "pi"}
# Hosts that somebody may use and that cannot be connected yet -> the folder in HOME that shows it.
WAITING = {"openclaw": ".openclaw"}


def host(name: str) -> Host:
    """The host's way to be connected.

    Raises:
        KeyError: no such host.
    """
    return import_module(f"gitmem.hosts.{MODULES[name]}").HOST


def answer(name: str) -> Callable[..., None]:
    """What answers the host's hook events: `answer(event, env, call)`.

    Raises:
        KeyError: no such host.
    """
    return import_module(f"gitmem.hosts.{MODULES[name]}_events").answer

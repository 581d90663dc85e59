"""What a command works with: the memory, its registry, who calls, and the time. Built once, passed on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from gitmem import identity
from gitmem.config import Env
from gitmem.errors import Refused
from gitmem.git import locate
from gitmem.git.locate import Memory
from gitmem.identity import Caller
from gitmem.model.registry import Agent, Registry
from gitmem.record import changed, record
from gitmem.registry import load


def _random_bits(count: int) -> int:
    import secrets

    return secrets.randbits(count)


@record()
class Context:
    """`now` is aware, in the local zone."""

    env: Env
    memory: Memory
    registry: Registry
    caller: Caller
    now: datetime
    random_bits: Callable[[int], int] = _random_bits

    def with_memory(self, memory: Memory) -> Context:
        """The same call, on the memory as it is now."""
        if memory.tip == self.memory.tip:
            return self
        registry = (
            self.registry if memory.registry_tree == self.memory.registry_tree else load.current(memory)
        )
        return changed(self, memory=memory, registry=registry)

    def agents(self) -> list[Agent]:
        """The agents that the caller may know of: an entry names scopes, so an agent sees its own alone."""
        return [
            one for one in self.registry.agents.values() if self.caller.person or one.id == self.caller.agent
        ]

    def utc(self) -> datetime:
        return self.now.astimezone(UTC)


def build(
    env: Env,
    repo: str | None = None,
    agent: str | None = None,
    profile: str | None = None,
    now: datetime | None = None,
) -> Context:
    """Find the memory and the caller.

    Raises:
        NoMemory, Refused: there is no memory; the identity does not hold.
    """
    memory = locate.find(env, repo)
    if (memory.state / "owed.json").exists():
        # a writer was killed before a work tree had its files
        from gitmem.git import write

        write.settle(memory)
    registry = load.current(memory)
    caller = identity.resolve(env, registry, memory, agent, profile)
    return Context(env, memory, registry, caller, now or datetime.now().astimezone())


def author_email(memory: Memory) -> str:
    """The e-mail git would put into a commit here.

    Raises:
        Refused: git does not know who we are.
    """
    # a name that git makes up from the computer's would stand in every card for ever
    explicit = () if memory.git.env.get("EMAIL") else ("-c", "user.useConfigOnly=true")
    found = memory.git.run(*explicit, "var", "GIT_AUTHOR_IDENT", check=False)
    import re

    match = re.search(r"<([^>]+)>", found.text())
    if found.code != 0 or not match:
        raise Refused(
            "git does not know who you are",
            ['git config --global user.name "Your Name"', "git config --global user.email you@example.com"],
        )
    return match[1]

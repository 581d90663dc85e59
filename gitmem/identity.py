"""Who asks: a person, a registered agent with its token, or a host that shows itself without an identity."""

from __future__ import annotations

from gitmem.config import Env
from gitmem.errors import Refused
from gitmem.git.locate import Memory
from gitmem.model.registry import Agent, Profile, Registry, covers
from gitmem.record import record

_NOBODY = Agent("", "working")


@record()
class Caller:
    """`agent` None: a person, or (with `host`) a host without identity. `read`/`write`: rights as in agents.yaml."""

    agent: str | None
    host: str | None
    profile: Profile
    read: tuple[str, ...]
    write: tuple[str, ...]

    @property
    def person(self) -> bool:
        return self.agent is None and self.host is None

    @property
    def name(self) -> str:
        return self.agent or self.host or "you"

    def reads(self, scope: str) -> bool:
        return covers(self.read, scope)

    def reads_file(self, path: str) -> bool:
        """Whether a file of the memory speaks of what the caller may read; a registry file names everything."""
        parts = path.removesuffix(".md").split("/")
        if parts[0] in ("cards", "sources", "briefs"):
            return len(parts) > 1 and self.reads(parts[1])
        return parts[0] != "registry" or "all" in self.read

    def writes(self, scope: str) -> bool:
        return covers(self.write, scope)


def resolve(
    env: Env,
    registry: Registry,
    memory: Memory | None = None,
    agent: str | None = None,
    profile: str | None = None,
) -> Caller:
    """The caller, from the environment and from `--agent` and `--profile`.

    Raises:
        Refused: an unknown or revoked agent, a wrong or missing token, a profile wider than the agent's own.
    """
    named = agent or env.agent
    if named is None and env.host is not None:
        # `connect` recorded which agent this host is; a host that nobody connected gets the smallest dose
        named = memory.setting(f"mem.host.{env.host}.agent") if memory else None
        if named is None or named not in registry.agents:
            return Caller(
                None, env.host, _profile(registry, profile or "working"), _NOBODY.read, _NOBODY.write
            )
        return _agent(registry, named, profile, None)
    if named is None:
        return Caller(None, None, _profile(registry, profile or "full"), ("all",), ("all",))
    if agent is not None and env.agent is None and env.host is None:
        # a person looks through an agent's eyes
        return _agent(registry, named, profile, None)
    if agent is not None and agent != env.agent:
        # whoever is somebody already becomes another one by that one's token alone
        entry = registry.agents.get(agent)
        if not env.token or (entry is not None and not entry.token_sha256):
            who = f"GIT_MEM_AGENT says `{env.agent}`" if env.agent else f"this is `{env.host}`"
            raise Refused(
                f"`--agent {agent}` needs the token of `{agent}`, and {who}",
                [f"unset GIT_MEM_AGENT, or set GIT_MEM_TOKEN to the token of `{agent}`"],
            )
    return _agent(registry, named, profile, env.token or "")


def _agent(registry: Registry, name: str, profile: str | None, token: str | None) -> Caller:
    entry = registry.agents.get(name)
    if entry is None or entry.status != "active":
        raise Refused(
            f"no active agent `{name}`", [f"git mem agent add {name} --profile working", "git mem agent list"]
        )
    if token is not None and entry.token_sha256 and not _is_token(token, entry.token_sha256):
        raise Refused(
            f"GIT_MEM_TOKEN is not the token of `{name}`"
            if token
            else f"GIT_MEM_TOKEN is missing for `{name}`",
            [f"git mem agent add {name} --renew prints a new one"],
        )
    own = _profile(registry, entry.profile)
    if profile is not None and profile != entry.profile:
        own = narrowed(own, _profile(registry, profile))
    return Caller(name, None, own, entry.read, entry.write)


def narrowed(own: Profile, asked: Profile) -> Profile:
    """`asked`, if no field of it is wider than `own`.

    Raises:
        Refused: it is wider.
    """
    wider = [
        name
        for name, is_wider in (
            ("scopes", not set(asked.scopes) <= set(own.scopes)),
            ("projects", asked.projects == "all" and own.projects != "all"),
            ("level", asked.level == "l0+l1" and own.level == "l0"),
            ("max_items", asked.max_items > own.max_items),
            ("max_bytes", asked.max_bytes > own.max_bytes),
            ("threshold", asked.threshold < own.threshold),
            ("threshold_cross", asked.threshold_cross < own.threshold_cross),
            ("support", asked.support < own.support),
            ("global_types", not _types_within(asked, own)),
            ("trigger", own.gated and not set(asked.trigger) <= set(own.trigger)),
        )
        if is_wider
    ]
    if wider:
        raise Refused(
            f"profile `{asked.name}` is wider than `{own.name}` in {', '.join(wider)}",
            ["`--profile` only narrows an agent's own"],
        )
    return asked


def _types_within(asked: Profile, own: Profile) -> bool:
    """Whether the global types of `asked` are among those of `own`; None stands for all types."""
    if own.global_types is None or "global" not in asked.scopes:
        return True
    return asked.global_types is not None and set(asked.global_types) <= set(own.global_types)


def _profile(registry: Registry, name: str) -> Profile:
    found = registry.profiles.get(name)
    if found is None:
        raise Refused(
            f"no profile `{name}`",
            [f"profiles are {', '.join(sorted(registry.profiles)) or 'missing: git mem check --all'}"],
        )
    return found


def _is_token(token: str, token_sha256: str) -> bool:
    import hmac

    return hmac.compare_digest(hashed(token), token_sha256)


def hashed(token: str) -> str:
    # late: OpenSSL takes milliseconds to load, and a hook has no token to compare
    import hashlib

    return hashlib.sha256(token.encode()).hexdigest()

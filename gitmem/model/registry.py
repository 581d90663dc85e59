"""The registry as values: settings, projects, profiles, agents, types, and what was forgotten."""

from __future__ import annotations

from typing import Any

from gitmem.record import fresh, record

PEOPLE = "people"
LEARNER = "learner"
KNOWN_HOSTS = frozenset(
    {
        "claude-code",
        "codex",
        "hermes",
        "pi",
        "openclaw",
        "cursor",
        "copilot",
        "gemini",
        "import",
        "git-mem",
        "mcp",
    }
)


@record()
class Project:
    """`remotes` are normalised: `host/owner/name`."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()
    status: str = "active"

    @property
    def active(self) -> bool:
        return self.status == "active"


@record()
class Profile:
    """What one kind of agent gets to hear. Bytes count every byte printed, wrapper included.

    `also`: `sub_agents` and `scripts` (runs that a program started), which hear nothing otherwise.
    """

    name: str
    trigger: tuple[str, ...]
    scopes: tuple[str, ...]
    projects: str
    project_from: tuple[str, ...]
    global_types: tuple[str, ...] | None
    level: str
    max_items: int
    max_bytes: int
    threshold: float
    threshold_cross: float
    support: float
    brief_bytes: int
    also: tuple[str, ...] = ()

    @property
    def gated(self) -> bool:
        """Whether some turns pass unanswered before anything is looked up."""
        return "every_turn" not in self.trigger


@record()
class Agent:
    """`read`, `write`: rights as `covers` reads them."""

    id: str
    profile: str
    token_sha256: str = ""
    read: tuple[str, ...] = ("global", "projects")
    write: tuple[str, ...] = ("global", "projects")
    status: str = "active"

    def reads(self, scope: str) -> bool:
        return covers(self.read, scope)

    def writes(self, scope: str) -> bool:
        return covers(self.write, scope)


def covers(rights: tuple[str, ...], scope: str) -> bool:
    """Whether rights (`global`, `personal`, `projects`, `all`, project ids) reach a scope."""
    if "all" in rights or scope in rights:
        return True
    return scope not in ("global", "personal") and "projects" in rights


@record()
class TypeRule:
    """`lifetime_days` None: no end. `recalled`: similarity | progress | brief."""

    name: str
    kind: str
    lifetime_days: int | None
    writers: str
    recalled: str
    scopes: str = "any"


@record()
class Memory:
    """registry/memory.yaml"""

    format: int
    embedder: str
    retention_days: int = 30
    checks: dict[str, int] = fresh(dict)
    learn: dict[str, Any] = fresh(dict)


# A hash of less than this says little of a text and would meet honest ones ("yes, do that").
MIN_HASHED_UNITS = 16


@record()
class Tombstones:
    """What was forgotten, without a word of it (`registry/forgotten.yaml`).

    Args:
        cards: ids. An edge to one is right: it counts as present and dead.
        turns: (host, session, turn) of what was said.
        keys: under each, 64 hexadecimal digits, `hashes` may have been made. Devices that forget apart have each
            their own, and a merge is the union of all lists.
        hashes: HMAC-SHA-256 of folded texts: conclusions, other wordings, quotes, whole turns.
    """

    cards: frozenset[str] = frozenset()
    turns: frozenset[tuple[str, str, int]] = frozenset()
    keys: tuple[str, ...] = ()
    hashes: frozenset[str] = frozenset()

    def __or__(self, other: Tombstones) -> Tombstones:
        return Tombstones(
            self.cards | other.cards,
            self.turns | other.turns,
            tuple(dict.fromkeys((*self.keys, *other.keys))),
            self.hashes | other.hashes,
        )

    def knows(self, text: str) -> bool:
        """Whether this very text, up to the fold of quotes, was forgotten."""
        return bool(self.hashes) and any(keyed_hash(key, text) in self.hashes for key in self.keys)


def keyed_hash(key: str, text: str) -> str | None:
    """The hash of a text under a key of 64 hexadecimal digits; None for a text too short to have one."""
    from gitmem.model import fold

    if fold.units(text) < MIN_HASHED_UNITS:
        return None
    # late: only who writes or captures has something to compare, and OpenSSL takes milliseconds to load
    import hmac

    folded = fold.fold(text.strip()).text.encode("utf-8", "surrogatepass")
    return hmac.new(bytes.fromhex(key), folded, "sha256").hexdigest()


@record()
class Registry:
    """All registry files of one commit. `known_authors` also holds agents of the past."""

    memory: Memory
    projects: dict[str, Project]
    profiles: dict[str, Profile]
    agents: dict[str, Agent]
    types: dict[str, TypeRule]
    tombstones: Tombstones = Tombstones()
    known_authors: frozenset[str] = frozenset()

    @property
    def forgotten(self) -> frozenset[str]:
        """Ids of cards that count as present and dead."""
        return self.tombstones.cards

    def archived(self, scope: str) -> bool:
        project = self.projects.get(scope)
        return project is not None and not project.active

    def is_scope(self, scope: str) -> bool:
        return scope in ("global", "personal") or scope in self.projects

    def known_author(self, author: str) -> bool:
        """An e-mail, a host's name, the learner, or an agent that was ever registered."""
        return (
            "@" in author
            or author in KNOWN_HOSTS
            or author == LEARNER
            or author in self.agents
            or author in self.known_authors
        )


# Ceilings that no registry can lift.
MAX_ITEMS = 20
MAX_BYTES = 8000
MAX_BRIEF_BYTES = 8000


def build(files: dict[str, Any], known_authors: frozenset[str] = frozenset()) -> Registry:
    """A registry from the typed content of its files (`memory`, `projects`, …), ceilings applied."""
    memory = files["memory"]
    profiles = {}
    for name, entry in files.get("profiles", {}).items():
        profiles[name] = Profile(
            name=name,
            trigger=tuple(entry["trigger"]),
            scopes=tuple(entry["scopes"]),
            projects=entry["projects"],
            project_from=tuple(entry["project_from"]),
            global_types=tuple(entry["global_types"]) if "global_types" in entry else None,
            level=entry["level"],
            max_items=min(entry["max_items"], MAX_ITEMS),
            max_bytes=min(entry["max_bytes"], MAX_BYTES),
            threshold=entry["threshold"],
            threshold_cross=entry.get("threshold_cross", 1.0),
            support=entry.get("support", 0.0),
            brief_bytes=min(entry["brief_bytes"], MAX_BRIEF_BYTES),
            also=tuple(entry.get("also", ())),
        )
    projects = {
        name: Project(
            name,
            entry.get("name", name),
            tuple(entry.get("aliases", ())),
            tuple(entry.get("remotes", ())),
            entry.get("status", "active"),
        )
        for name, entry in files.get("projects", {}).items()
    }
    agents = {
        name: Agent(
            name,
            entry["profile"],
            entry.get("token_sha256", ""),
            tuple(entry.get("read", ("global", "projects"))),
            tuple(entry.get("write", ("global", "projects"))),
            entry.get("status", "active"),
        )
        for name, entry in files.get("agents", {}).items()
    }
    types = {
        name: TypeRule(
            name,
            entry["kind"],
            None if entry["lifetime_days"] == "none" else entry["lifetime_days"],
            entry["writers"],
            entry["recalled"],
            entry.get("scopes", "any"),
        )
        for name, entry in files.get("types", {}).items()
    }
    return Registry(
        memory=Memory(
            memory["format"],
            memory["embedder"],
            memory.get("retention_days", 30),
            dict(memory.get("checks", {})),
            dict(memory.get("learn", {})),
        ),
        projects=projects,
        profiles=profiles,
        agents=agents,
        types=types,
        tombstones=tombstones(files.get("forgotten", {})),
        known_authors=known_authors,
    )


def tombstones(entry: dict[str, Any]) -> Tombstones:
    """The typed content of `registry/forgotten.yaml` as a value."""
    return Tombstones(
        frozenset(entry.get("cards", ())),
        frozenset((turn["host"], turn["session"], turn["turn"]) for turn in entry.get("turns", ())),
        tuple(entry.get("keys", ())),
        frozenset(entry.get("hashes", ())),
    )

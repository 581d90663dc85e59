"""A run as a YAML file says it. Paths are relative to the file; `${NAME}` stands for a variable of the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_KEYS = {"name", "title", "seed", "now", "bootstraps", "datasets", "systems", "measures", "need_weight"}
_PATHS = ("path", "cards", "memory", "pairs", "around")


class ConfigError(Exception):
    """The file does not say what to run."""


class Unset(Exception):
    """A path stands on a variable that is not set: the part is skipped, and said to be."""


@dataclass(frozen=True, slots=True)
class Config:
    """What to run.

    Args:
        seed: of the bootstrap, of card ids and of shuffles.
        now: the time at which the memory is asked, aware.
        datasets, measures: as `eval.datasets.load` and `eval.measures` read them.
        need_weight: what share of the score to which thresholds are tuned is that of the turns that need memory, 0 to 1.
    """

    name: str
    title: str
    seed: int
    now: datetime
    bootstraps: int
    datasets: tuple[Mapping[str, Any], ...]
    systems: tuple[str, ...]
    measures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    need_weight: float = 0.5
    folder: Path = Path(".")


def read(file: Path) -> Config:
    """The configuration in a file.

    Raises:
        ConfigError: it is none.
    """
    import yaml

    try:
        value = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ConfigError(f"`{file}` cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f"`{file}` is no mapping")
    if unknown := sorted(set(value) - _KEYS):
        raise ConfigError(f"`{file}` has the unknown key `{unknown[0]}`; keys are {', '.join(sorted(_KEYS))}")
    if not value.get("datasets") and not value.get("measures"):
        raise ConfigError(f"`{file}` names no `datasets`")
    now = value.get("now")
    if isinstance(now, str):
        now = datetime.fromisoformat(now)
    moment = now if isinstance(now, datetime) else datetime.now(UTC)
    return Config(
        name=str(value.get("name") or file.stem),
        title=str(value.get("title") or value.get("name") or file.stem),
        seed=int(value.get("seed", 20260601)),
        now=moment if moment.tzinfo else moment.replace(tzinfo=UTC),
        bootstraps=int(value.get("bootstraps", 2000)),
        datasets=tuple(value.get("datasets") or ()),
        systems=tuple(value.get("systems") or ()),
        measures=dict(value.get("measures") or {}),
        need_weight=float(value.get("need_weight", 0.5)),
        folder=file.resolve().parent,
    )


def place(text: str, folder: Path) -> Path:
    """A path of the configuration, variables filled in.

    Raises:
        Unset: a variable is not set.
    """

    def filled(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if not found:
            raise Unset(f"{match[1]} is not set")
        return found

    path = Path(_VARIABLE.sub(filled, text)).expanduser()
    return path if path.is_absolute() else folder / path


def filled(options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Options with their paths made whole, nested ones included.

    Raises:
        Unset: a variable is not set.
    """
    out: dict[str, Any] = {}
    for key, value in options.items():
        if isinstance(value, Mapping):
            out[key] = filled(value, folder)
        elif isinstance(value, list):
            out[key] = [filled(one, folder) if isinstance(one, Mapping) else one for one in value]
        elif key in _PATHS and isinstance(value, str):
            out[key] = place(value, folder)
        else:
            out[key] = value
    return out

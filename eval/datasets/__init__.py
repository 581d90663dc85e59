"""Data sets by kind. Each loader takes the options of the configuration and gives one `Dataset`.

A kind whose path is not set is skipped by whoever runs, with a line that says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from eval.data import Dataset
from eval.datasets import corrections, decisions, files, history, locomo, longmemeval

LOADERS: dict[str, Callable[..., Dataset]] = {
    "files": files.load,
    "decisions": decisions.load,
    "corrections": corrections.load,
    "locomo": locomo.load,
    "longmemeval": longmemeval.load,
    "history": history.load,
}


def load(options: Mapping[str, Any], now: datetime) -> Dataset:
    """The data set that the options describe; more probes from `also` files of prompts are added.

    Raises:
        ValueError: no such kind, or the file is not of it.
        OSError: the file cannot be read.
    """
    given = dict(options)
    kind = given.pop("kind", "files")
    name = given.pop("name", kind)
    prompts = given.pop("prompts", ())
    given.pop("systems", None)
    if kind not in LOADERS:
        raise ValueError(f"no data set of kind `{kind}`; kinds are {', '.join(sorted(LOADERS))}")
    takes = inspect.signature(LOADERS[kind]).parameters
    if unknown := sorted(set(given) - set(takes)):
        raise ValueError(
            f"a data set of kind `{kind}` has no option `{unknown[0]}`; options are {', '.join(sorted(set(takes) - {'now'}))}"
        )
    found = LOADERS[kind](name=name, now=now, **given)
    extra = [probe for one in prompts for probe in files.prompts(**one)]
    probes = (*found.probes, *extra)
    if len({one.id for one in probes}) != len(probes):
        raise ValueError(f"the data set `{name}` has two probes of one id")
    return replace(found, probes=probes)

"""What was killed before its end: one answer for `status`, `doctor`, readers and whoever goes on with it."""

from __future__ import annotations

from dataclasses import dataclass

from gitmem.context import Context
from gitmem.erasure import accept, erase, journal
from gitmem.git.locate import refreshed
from gitmem.model import ids


@dataclass(frozen=True, slots=True)
class Unfinished:
    """One run.

    Args:
        code: stable name, for programs. `area`: what a person calls it.
        words: how far it came. `mend`: the command that goes on with it.
        owed: something is still to be done; else it had not begun, and its mark alone is left.
    """

    code: str
    area: str
    words: str
    mend: str
    owed: bool = True


def unfinished(context: Context) -> list[Unfinished]:
    """All there is; looking changes nothing."""
    memory = context.memory
    found = []
    if journal.is_open(memory.state):
        begun = journal.read(memory.state)
        if begun is not None and erase.are_committed(refreshed(memory), begun[1]):
            found.append(
                Unfinished(
                    "forget-open",
                    "forgetting",
                    "was interrupted and is not finished",
                    "git mem forget --continue",
                )
            )
        else:
            asked = [ids.short(one) for one in sorted(begun[1])] if begun else []
            still = (
                f", {', '.join(asked[:3])} {'is' if len(asked) == 1 else 'are'} still there" if asked else ""
            )
            found.append(
                Unfinished(
                    "forget-not-begun",
                    "forgetting",
                    f"was interrupted before anything was erased{still}",
                    f"git mem forget {' '.join(asked)}" if asked else "git mem forget --continue",
                    owed=False,
                )
            )
    if accept.was_killed(context):
        found.append(
            Unfinished(
                "accept-open",
                "sync",
                "taking a rewritten branch was interrupted, cards of this computer may be missing until it is finished",
                "git mem sync --accept-rewrite",
            )
        )
    return found

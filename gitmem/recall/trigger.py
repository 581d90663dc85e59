"""Stage 1, before anything heavy is loaded: does this turn ask for memory at all?"""

from __future__ import annotations

from gitmem.model.registry import Profile
from gitmem.recall import cues
from gitmem.recall.session import Session
from gitmem.record import record


@record()
class Decision:
    """`progress`: the prompt asks for the state of unfinished work."""

    fired: bool
    reason: str
    progress: bool = False


def decide(
    prompt: str, profile: Profile, session: Session, project: str | None, *, in_session: bool, explicit: bool
) -> Decision:
    """Whether a turn is looked at.

    Args:
        session: the state before this turn.
        project: the project the turn is in.
        in_session: the call named its session. Without one, an agent's call counts as a later turn.
        explicit: a person typed the call; it is never held back.
    """
    progress = cues.progress(prompt)
    if not prompt.strip():
        return Decision(False, "an empty prompt")
    if explicit:
        return Decision(True, "explicit call", bool(progress))
    if "every_turn" in profile.trigger:
        return Decision(True, "every turn", bool(progress))
    if in_session and session.turns == 0 and "first_turn" in profile.trigger:
        return Decision(True, "first turn", bool(progress))
    if (
        in_session
        and "project_change" in profile.trigger
        and project
        and session.project
        and project != session.project
    ):
        return Decision(True, f"change of project from `{session.project}` to `{project}`", bool(progress))
    if "cue" in profile.trigger and (phrase := progress or cues.memory(prompt)):
        return Decision(True, f"cue “{phrase}”", bool(progress))
    return Decision(False, "a later turn without a cue")

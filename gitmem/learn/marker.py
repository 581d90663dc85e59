"""The line by which the learner's own sessions are known again.

Every prompt and every work order of the learner carries it. A session that holds it anywhere, in a tool's output too,
was about learning itself: cards and words of other conversations stand in it, and learning from them would make the
memory feed on itself.
"""

from __future__ import annotations

# In two parts, so that a session in which somebody reads this file is none of the learner's. ASCII without quotes or
# backslashes: it stands the same inside JSON.
LEARNER_MARK = "git-mem learner order " + "7d1c3f9e, not a conversation"
_BYTES = LEARNER_MARK.encode()


def holds(data: bytes | str) -> bool:
    """Whether the mark stands in a text or in the raw bytes of a record."""
    return (_BYTES if isinstance(data, bytes) else LEARNER_MARK) in data  # type: ignore[operator]

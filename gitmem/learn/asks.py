"""Words that ask for something to be forgotten. Only with them may learning take a card back."""

from __future__ import annotations

import re

from gitmem.model import fold

_ASKS = re.compile(
    r"\b(forget|unlearn|un-?remember|stop (remembering|using|doing|saying)|no longer|not any ?more|any ?more|drop (that|the|this|it|my)|"
    r"(remove|delete|erase|discard|scrap|cancel|retract|withdraw|clear) |do not (remember|keep|use|do|follow)|don'?t (remember|keep|use|do|follow|need)|"
    r"ignore (that|the|my|what)|never ?mind|obsolete|outdated|does ?n[o']t (apply|hold)|take (that|it) back|scratch that|is (wrong|not true|false))"
    r"|忘(掉|了|记)|别(再)?(记|用|管)|不(要|用|必|需要)(再)?(记|管|用|守|按|遵)?|不再|删(掉|除|了)|去掉|撤(销|回|掉)|作废|取消|清除|抹掉|不算数|不对|过时|废(弃|除|掉)|没有了",
    re.IGNORECASE,
)


def to_forget(quote: str) -> bool:
    """Whether a person's words ask that something no longer be held."""
    return _ASKS.search(fold.fold(quote).text) is not None

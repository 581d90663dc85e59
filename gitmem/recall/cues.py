"""Phrases that point at memory, at unfinished work, or ask not to be remembered. Literal, no regular expressions.

A phrase counts where it stands as whole words (English) or anywhere (Chinese); one that ends in a dot only at the
end of a clause; none inside quotation marks or code. Phrases of ordinary work ("run it before the commit",
"as usual, tests fail") are left out on purpose: a cue opens the memory.
"""

from __future__ import annotations

import unicodedata

MEMORY = (
    "as i usually do", "the way i like", "the way i usually", "the way we usually", "like i always", "as we always do", "as we agreed",
    "as agreed before", "we agreed on", "we agreed that", "we agreed to", "we decided", "did we decide", "did we agree", "our decision on",
    "our decision about", "what did i say", "what i said before", "i told you before", "i told you last time", "i already told you",
    "i've told you", "remember when we", "remember when i", "do you remember", "remember that i", "as you remember", "you should remember",
    "check memory.", "check your memory", "git mem", "what we did last time", "last time we used", "last time we decided", "last time we agreed",
    "last time we chose", "last time we did", "last time we talked", "last time we discussed", "last week we decided", "last week we agreed",
    "last week we discussed", "we previously decided", "we previously agreed", "we previously discussed", "we previously used",
    "previously we decided", "previously we agreed", "we discussed before", "we talked about before", "my usual", "our usual",
    "my preference for", "my preference on", "my preference about", "my preference is", "my preference.", "my preferences for",
    "my preferences on", "my preferences about", "my preferences.", "my preferences are", "my conventions", "our conventions",
    "our convention for", "our convention on", "our convention about", "our convention is", "our convention.", "the usual way", "like last time",
    "same as last time", "as last time.", "as i prefer", "how do i usually", "how do we usually", "what do i usually", "what do we usually",
    "do i prefer", "my preferred", "our preferred", "by our rules", "as in my other projects",
    "像往常一样", "像以前一样", "像上次一样", "和上次一样", "跟上次一样", "同上次", "照旧.", "老规矩", "按惯例", "按我的习惯", "我的习惯",
    "按我习惯", "我一般都", "我一般用", "我一般会", "我一般怎么", "我一般是", "我通常", "我习惯", "我偏好", "我的偏好", "我喜欢的方式", "我喜欢的风格",
    "我喜欢的写法", "我喜欢的做法", "我喜欢的格式", "我喜欢的配色", "我们之前", "我之前说", "之前说过", "上次说的", "上次说过", "上次我们", "以前说过",
    "我说过", "我跟你说过", "我告诉过你", "还记得", "你记得", "记不记得", "我们约定", "约定好", "我们决定", "之前决定", "当时决定", "怎么决定的",
    "按约定", "照约定", "按我们的约定", "一贯的做法", "惯用的做法", "按平时", "跟平时一样", "和平时一样", "和以前一样", "跟以前一样", "我一直用",
    "我们一直用",
)  # fmt: skip

PROGRESS = (
    "is it done.", "is it done yet", "is that done.", "is that done yet", "is it finished.", "is it finished yet", "has it finished.",
    "did it finish.", "where were we", "where did we leave off", "where did i leave off", "where we left off", "what's the status.",
    "what is the status.", "what's the status of", "what is the status of", "how far did we get", "how far along", "what's left to do",
    "what is left to do", "what remains to be done", "pick up where we", "pick up where i", "continue where we", "continue where i",
    "resume where we", "resume where i", "what was i working on", "what were we working on", "what was i doing", "what were we doing",
    "what's next on", "any progress on", "any progress with", "any progress.",
    "跑完了吗", "跑完没", "做完了吗", "做完没", "完成了吗", "完成没", "好了没有", "搞定了吗", "上次做到", "做到哪了", "做到哪儿了", "进行到哪", "进展如何",
    "进展怎么样", "进度如何", "进度怎么样", "到哪一步了", "到哪步了", "做到哪一步", "还剩什么", "还差什么", "接着上次", "接着昨天", "继续昨天", "继续上次的", "接上次", "上次在做什么",
    "我们在做什么来着", "之前在做什么",
)  # fmt: skip

OFF_THE_RECORD = (
    "off the record", "don't remember this", "do not remember this", "don't save this to memory", "do not save this to memory",
    "don't save this in memory", "do not save this in memory", "keep this out of memory", "不要记.", "别记.", "不要记住", "别记住", "不要记录.",
    "别记录.", "不要记录这", "别记录这", "不要记下来", "别记下来", "不要记进", "别记进",
)  # fmt: skip
# "I don't remember this function" asks for nothing.
_SAYS_OF_ONESELF = ("i", "we", "you", "they")

_SEARCHED_CHARS = 4000
_QUOTED_CHARS = 200
_PAIRS = (("“", "”"), ("「", "」"), ("『", "』"), ("«", "»"))
_AFTER_CLAUSE = frozenset(".,;:!?()[]…。、，；：！？）】~～—\n")


def memory(prompt: str) -> str | None:
    """The phrase by which a prompt points at memory."""
    return _first(prompt, MEMORY)


def progress(prompt: str) -> str | None:
    """The phrase by which a prompt asks for the state of unfinished work."""
    return _first(prompt, PROGRESS)


def off_the_record(prompt: str) -> str | None:
    """The phrase by which a prompt asks that nothing of the conversation be kept."""
    return _first(prompt, OFF_THE_RECORD, _SAYS_OF_ONESELF)


def _first(prompt: str, phrases: tuple[str, ...], not_after: tuple[str, ...] = ()) -> str | None:
    text = _plain(prompt[:_SEARCHED_CHARS])
    for phrase in phrases:
        words = phrase.rstrip(".")
        at = text.find(words)
        while at >= 0:
            end = at + len(words)
            fits = (not words[0].isascii() or _whole(text, at, end)) and (
                words == phrase or _ends_clause(text, end)
            )
            if fits and not _quoted(text, at, end) and text[:at].rstrip().rpartition(" ")[2] not in not_after:
                return words
            at = text.find(words, at + 1)
    return None


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("‘", "'")
    return " ".join(folded.split())


def _whole(text: str, start: int, end: int) -> bool:
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    return not (_letter(before) or (_letter(after) and text[end - 1].isalnum()))


def _letter(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char in "_-/")


def _ends_clause(text: str, end: int) -> bool:
    rest = text[end : end + 2].lstrip()
    return not rest or rest[0] in _AFTER_CLAUSE or rest[0] in "了吧啊哦"


def _quoted(text: str, start: int, end: int) -> bool:
    """Whether a place lies between quotation marks or inside code."""
    before, after = text[max(0, start - _QUOTED_CHARS) : start], text[end : end + _QUOTED_CHARS]
    if text.count("`", 0, start) % 2 and "`" in text[end:]:
        return True
    if before.count('"') % 2 and '"' in after:
        return True
    if any(before.rfind(left) > before.rfind(right) and right in after for left, right in _PAIRS):
        return True
    # an apostrophe opens a quotation after a space and closes it before one
    opened = max(
        before.rfind(" '"), before.rfind("('"), 0 if before.startswith("'") and start <= _QUOTED_CHARS else -1
    )
    return opened >= 0 and not any(f"'{mark}" in before[opened + 2 :] for mark in " ,.)") and "'" in after

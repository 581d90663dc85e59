"""Phrases that point at memory, at unfinished work, or ask not to be remembered. Literal, no regular expressions.

A phrase counts where it stands as whole words (English) or anywhere (Chinese). Phrases of ordinary work
("run it before the commit", "as usual, tests fail") are left out on purpose: a cue opens the memory.
"""

from __future__ import annotations

import unicodedata

MEMORY = (
    "as i usually do", "as i usually", "the way i like", "the way i usually", "like i always", "as we always do", "as we agreed",
    "as agreed before", "we agreed on", "we agreed that", "we decided", "did we decide", "what did we decide", "our decision on",
    "what did i say", "what i said before", "i told you before", "i told you last time", "i already told you", "i've told you",
    "remember when", "do you remember", "remember that i", "as you remember", "you should remember", "from memory", "check memory",
    "check your memory", "git mem", "last time we", "last time i", "last week we", "previously we", "we previously", "we discussed before",
    "my usual", "my preference", "my preferences", "my convention", "our convention", "our usual", "the usual way", "like last time",
    "same as last time", "as before, ", "as i prefer", "how do i usually", "how do we usually", "what do i usually", "what do we usually",
    "do i prefer", "my preferred", "our preferred", "by our rules", "per our conventions", "as in my other projects",
    "像往常一样", "像以前一样", "像上次一样", "和上次一样", "跟上次一样", "同上次", "照旧", "老规矩", "按老规矩", "按惯例", "按我的习惯", "我的习惯",
    "按我习惯", "我一般", "我通常", "我习惯", "我偏好", "我的偏好", "我喜欢的", "我们之前", "我之前说", "之前说过", "上次说", "上次我们", "上次我",
    "以前说过", "我说过", "我跟你说过", "我告诉过你", "还记得", "你记得", "记不记得", "我们约定", "约定好", "我们决定", "之前决定", "当时决定", "怎么决定的",
    "按约定", "照约定", "按我们的约定", "一贯的做法", "惯用", "按平时", "跟平时一样", "和平时一样", "和以前一样", "跟以前一样", "我一直用", "我们一直用",
)  # fmt: skip

PROGRESS = (
    "is it done", "is that done", "is it finished", "has it finished", "did it finish", "where were we", "where did we leave off",
    "where did i leave off", "where we left off", "what's the status", "what is the status", "status of the", "how far did we get",
    "how far along", "what's left to do", "what is left to do", "what remains to be done", "pick up where", "continue where", "resume where",
    "what was i working on", "what were we working on", "what was i doing", "what were we doing", "what's next on", "any progress",
    "跑完了吗", "跑完没", "做完了吗", "做完没", "完成了吗", "完成没", "好了没有", "搞定了吗", "上次做到哪", "上次做到", "做到哪了", "进行到哪", "进展如何", "进展怎么样",
    "进度如何", "进度怎么样", "到哪一步", "到哪步", "还剩什么", "还差什么", "接着上次", "继续上次", "接上次", "上次在做什么", "我们在做什么来着", "之前在做什么",
)  # fmt: skip

OFF_THE_RECORD = (
    "off the record", "don't remember this", "do not remember this", "don't save this to memory", "do not save this to memory",
    "keep this out of memory", "不要记", "别记", "不要记住", "别记住", "不要记录这", "别记录这",
)  # fmt: skip


def memory(prompt: str) -> str | None:
    """The phrase by which a prompt points at memory."""
    return _first(prompt, MEMORY)


def progress(prompt: str) -> str | None:
    """The phrase by which a prompt asks for the state of unfinished work."""
    return _first(prompt, PROGRESS)


def off_the_record(prompt: str) -> str | None:
    return _first(prompt, OFF_THE_RECORD)


def _first(prompt: str, phrases: tuple[str, ...]) -> str | None:
    text = _plain(prompt[:4000])
    for phrase in phrases:
        at = text.find(phrase)
        while at >= 0:
            if not phrase[0].isascii() or _whole(text, at, at + len(phrase)):
                return phrase.strip(" ,")
            at = text.find(phrase, at + 1)
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

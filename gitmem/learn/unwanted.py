"""The six kinds that are never memory, by their words: what a model let through all the same.

Every pattern stands for a way of saying things, not for a subject. They are narrow on purpose: what they miss a model
judges again in review; what they hit wrongly is lost. A person's "always", "never", "from now on" lifts all of them
but incidents and repair logs.
"""

from __future__ import annotations

import re

GENERAL, INCIDENT, REPAIR = "general knowledge", "incident", "repair log"
SNAPSHOT, DOCUMENT, ONE_OFF = "version snapshot", "record of a document", "one-off"
KINDS = {
    "general_knowledge": GENERAL, "incident": INCIDENT, "repair_log": REPAIR,
    "version_snapshot": SNAPSHOT, "document_record": DOCUMENT, "one_off": ONE_OFF,
    "duplicate": "said already", "unsupported": "words do not carry it",
}  # fmt: skip

_I = re.IGNORECASE
_LASTING = re.compile(
    r"\b(always|never|from now on|in future|going forward|every ?time|everywhere|whenever|by default|must|should|prefer|"
    r"rather than|instead of|needs?|requires?|required|allowed|forbidden|do not|don't|we (use|decided|agreed|want)|convention|policy|rule|standard)\b"
    r"|以后|今后|一律|总是|永远|不要|别用|别再|都用|都要|每次|凡是|默认|必须|应该|规定|约定|规范|统一|只能|只用|优先|宁可|决定|改用|偏好|喜欢|习惯",
    _I,
)
_CLOCK = re.compile(
    r"\b([01]?\d|2[0-3]):[0-5]\d\b|\b\d{1,2} ?(am|pm)\b|[上下]午\s*\d{1,2}\s*点|凌晨\s*\d{1,2}\s*点", _I
)
_LATELY = re.compile(
    r"\b(yesterday|last night|this morning|this afternoon|earlier today|tonight|on (mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|昨[天晚日]|今[早晨天晚]|刚才|前天|上周[一二三四五六日]",
    _I,
)
_MISHAP = re.compile(
    r"\b(fail(ed|ing|s)?|crash(ed)?|went down|was down|outage|rolled back|restored|timed out|broke|alert(ed)?|paged|recovered|"
    r"restarted|hung|oom|incident|deployed)\b|挂了|宕机|崩溃|回滚|报警|告警|恢复|失败|超时|重启|故障|上线",
    _I,
)
_MENDED = re.compile(
    r"\b(fixed|solved|resolved|helped|cured|works|worked|passes|passed|went away|disappeared|succeeded|is gone|green)\b"
    r"[^.;]{0,60}\b(by|after|once|when|with)\b[^.;]{0,40}\b(re-?install|remov|delet|restart|clear|kill|re-?run|runn?ing|upgrad|downgrad|purg|reset|reboot|rebuild|chmod|export)"
    r"|\b(re-?install|remov|delet|restart|clear|kill|re-?ran|re-?runn|ran|purg|reset|reboot|rebuil[dt])\w*\b[^.;]{0,80}\b(fixed|solved|resolved|helped|cured|"
    r"worked|made it (work|pass)|went away|did the trick|got it (working|green))\b"
    r"|(重装|重启|重新(安装|运行|编译|拉取|生成)|删(除|掉)|清(理|空|掉)|升级|降级|杀掉|执行|运行|跑)[^。；]{0,40}(就好了|后好了|之后好了|恢复正常|就正常|解决了|就通过|问题消失|搞定)"
    r"|\b(ran|run|tried)\b[^.;]{1,60}\bthen\b[^.;]{1,60}\b(then|finally|and it)\b",
    _I,
)
_NOW = re.compile(
    r"\b(currently|at the moment|right now|as of (now|today|this|\d)|so far|at present|latest (commit|tag|release|version) is|now (at|on|has|have))\b|目前|当前|现在(是|有|共|的)|截至|至今",
    _I,
)
_COUNTED = re.compile(
    r"\b(has|have|there are|contains|totals?|counts?|passes|passed|shows?)\b[^.;]{0,20}\b\d[\d,.]*\s*(tests?|files?|lines?|commits?|warnings?|errors?|issues?|cards?|items?|stars?|%|percent)"
    r"|\bversion (is|was|now) v?\d|\b(is|was|are|now) (at|on) (commit |version |revision )?v?\d+\.\d+|\bis at (commit |revision )?[0-9a-f]{7,40}\b|版本(是|为|号)\s*v?\d"
    r"|(有|共|通过了?)\s*\d+\s*(个|条|行|项)?(测试|文件|提交|警告|错误|用例)",
    _I,
)
_WROTE = re.compile(
    r"^\W*(i |we |the (agent|assistant) |it )?(have |has |had )?(just |now )?(wrote|written|drafted|updated|revised|renamed|translated|reviewed|proofread|polished|finished|completed|added|"
    r"created|expanded|shortened|merged|pushed|committed|opened|sent|edited|moved)\b[^.;]{0,60}"
    r"\b(section|chapter|paragraph|abstract|introduction|readme|document(ation)?|docs?|paper|manuscript|report|slides?|changelog|draft|figure|table|appendix|pr|pull request|email|letter|file|page)s?\b"
    r"|\b(section|chapter|readme|document(ation)?|paper|report|slides?|changelog|draft|abstract|manuscript)\b[^.;]{0,30}\b(has been|have been|was|were|is now|is) (written|updated|revised|"
    r"renamed|translated|reviewed|finished|completed|added|expanded|merged|committed|sent|done)\b"
    r"|(第.{1,4}[章节]|摘要|引言|文档|论文|报告|幻灯片?|初稿|附录|说明|README|变更日志)[^。；]{0,20}(已|改好|写好|写完|完成|更新了|润色|翻译完|定稿|交了|发出)"
    r"|(已|刚)(经)?(写|改|更新|完成|翻译|润色|提交|新增|补充)[^。；]{0,20}(章|节|摘要|引言|文档|论文|报告|幻灯|初稿|附录|README)",
    _I,
)
_STEP = re.compile(
    r"^\W*(ok(ay)?|yes|sure|great|now|then|and|also|please|pls|can you|could you|let'?s|lets|go ahead and|just|next)?[\s,]*"
    r"(can you |could you |please |let'?s |also |now )*"
    r"(rename|shorten|rewrite|rephrase|move|fix|re-?run|run|translate|reformat|revert|undo|check|show|explain|commit|push|merge|rebase|continue|retry|try|open|look at|format|"
    r"summari[sz]e|make|change|update|delete|remove|add)\b[^.;]{0,50}\b(this|that|these|those|it|them|the (above|second|first|third|last|next|other|following))\b"
    r"(?! (repo(sitory)?|project|code ?base|machine|computer|team|lab|thesis|company|organi[sz]ation)\b)"
    r"|^\W*(ok(ay)?|yes|now|also|let'?s)?[\s,]*fix \d+( too)?\b|^\W*(commit|push|continue|go on|run the tests|rerun|merge it|ship it)\b[^.;]{0,30}$"
    r"|(把|将)?(这|那)(个|段|里|句|些|张|篇|行|一[段句个张])[^。；]{0,20}(缩短|改成|改名|翻译|润色|重写|删掉|移到|放大|改大|改小|加粗|重跑|调一下|改一下)"
    r"|(缩短|翻译|润色|重写|重跑|改一下|调一下|跑一下|提交一下|再试一次|继续吧?)(这|那|一下|它|。|$)|把它(改|删|移|放)",
    _I,
)
_DEFINES = re.compile(
    r"\b(is|are) (an?|the) \w+|\b(is|are) (used (to|for)|called|known as|immutable|mutable|case[- ]sensitive|asynchronous|synchronous|written in|part of)\b"
    r"|\b(stands for|means|refers to|stores?|keeps?|consists of|returns?|allows?|supports?|provides?)\b"
    r"|是一种|是一个|是指|指的是|的缩写|用于|用来|可以用|属于|的意思是|是(可|不可|线程|异步|同步|面向)",
    _I,
)
# Something of one's own: then it is no general knowledge.
_OWN = re.compile(
    r"`|[\w-]+[/\\][\w.-]+|\w+_\w+|(?-i:\b[a-z]+[A-Z]\w*)|\b\w+\.(py|ts|js|go|rs|md|toml|ya?ml|json|sh|c|h|java|rb|tex|csv|db)\b|--\w|\d"
    r"|\b(we|our|ours|us|my|mine|i|this (repo|repository|project|code ?base|team|lab|thesis|machine|server)|here|the (team|customer|client|user)s?)\b"
    r"|我们?|咱|本(项目|仓库|机|地|组)|这(个|边)?(项目|仓库|台|里)|团队|客户|实验室|导师|老板",
    _I,
)


def kind(conclusion: str, quote: str, type_: str, role: str, names: frozenset[str]) -> str | None:
    """Which unwanted kind a fact is of, or None.

    Args:
        names: lower-case names of projects: whatever names one is about something of one's own.
    """
    both = f"{conclusion}\n{quote}"
    lasting = role == "user" and bool(_LASTING.search(both))
    if type_ != "task":
        if (_CLOCK.search(both) or _LATELY.search(both)) and _MISHAP.search(both):
            return INCIDENT
        if _MENDED.search(conclusion) or (_MENDED.search(quote) and not lasting):
            return REPAIR
    if lasting or type_ in ("task", "habit"):
        return None
    if _WROTE.search(conclusion):
        return DOCUMENT
    if (_NOW.search(conclusion) and re.search(r"\d", conclusion)) or (
        _COUNTED.search(conclusion) and type_ in ("fact", "result", "convention", "pitfall")
    ):
        return SNAPSHOT
    if _STEP.search(quote) and type_ in ("preference", "convention", "fact", "pitfall"):
        return ONE_OFF
    if _STEP.search(conclusion):
        return ONE_OFF
    about_own = _OWN.search(both) or any(name in both.casefold() for name in names)
    if type_ in ("fact", "pitfall", "result") and not about_own and _DEFINES.search(conclusion):
        return GENERAL
    return None

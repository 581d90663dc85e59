"""What the safety check looks for: tables only, no scanning and no compiling.

Every rule carries literal cues; `safety` compiles a rule's expression only when a cue stands in the text, so an
ordinary card compiles almost nothing. All expressions are free of nested repetition and bounded where they span
words, so that the time they take grows with the length of the text.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """One phrase addressed to a model.

    view: which folded form `regex` reads: `words` (lower case, one space between words, ` . ` at sentence
        ends), `zh` (simplified Chinese, no white space, `,` for mild punctuation, `。` at sentence ends), or
        `lines` (compatibility-folded lower-case lines, punctuation kept).
    cues: the text must contain one of them before `regex` is tried.
    unless: read on the sentence before the match; a hit means the phrase describes or forbids: no finding.
    soften: read on the sentence around the match; a hit turns the error into a warning.
    """

    name: str
    view: str
    cues: tuple[str, ...]
    regex: str
    severity: str = "error"
    unless: str = ""
    soften: str = ""


# -- English, view `words` ---------------------------------------------------------------------------------

_FILL = r"(?:(?:all|any|every|everything|of|the|these|those|my|your|other|such) ){0,4}"
_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|past|former)"
_STRONG = r"(?:instructions?|prompts?|directives?|guardrails?|programming|guidelines?)"
_NOT = r"(?:do not|dont|never|must not|mustnt|should not|shouldnt)(?: ever)?"
_USER = r"(?:the|your|our) (?:user|human|operator|owner)"
# What an agent would hide about its own doing; a named piece of data ("the raw error code") is no such thing.
_SECRET_TAIL = (
    r"(?: \.| ?$| anything\b| (?:about|of) (?:this|that|it|these|those|what you|your)\b| (?:that )?(?:you|we)\b"
    r"| (?:that )?this (?:happened|instruction|message|note|memory|card)\b| what you\b| how you\b| why\b"
    r"| (?:and|but|just|simply|or) )"
)
_DESCRIBED = (
    r"(?:\b(?:not|never|dont|doesnt|didnt|cannot|cant|wont|shouldnt|mustnt|avoid|they|nobody)"
    r"|\b(?:it|agent|model|llm|assistant|claude|gpt|codex|compiler|linker|parser|\w+s)"
    r" (?:will|would|may|might|can|could|often|sometimes|tends? to|usually|do not|does not)) $"
)
_CONDITION = r"\b(?:until|unless|before|without|if|when|while)\b"

ENGLISH: tuple[Rule, ...] = (
    Rule(
        "ignore-instructions",
        "words",
        ("ignore ", "disregard ", "forget ", "bypass ", "override ", "attention to", "follow"),
        r"\b(?:(?:ignore|disregard|forget|bypass|pay no attention to|do not follow|dont follow|stop following) "
        rf"(?:{_FILL}(?:{_BEFORE}|system|developer|original|initial)(?: (?:{_BEFORE}|system|and|or)){{0,3}} {_STRONG}\b"
        rf"|{_FILL}{_STRONG} (?:above|before this|so far|you (?:were|have been|got) given|given (?:above|before|to you))\b"
        r"|(?:all |any |of ){0,2}your (?:\w+ )?(?:instructions|guidelines|guardrails|rules|programming|training|directives)\b"
        r"|all (?:of )?(?:the |my )?(?:instructions|directives|guardrails)\b"
        r"(?! (?:in|inside|found|from|contained|embedded|that (?:come|appear|are|stand)|within)\b))"
        r"|(?:ignore|disregard|forget) (?:all (?:of )?)?(?:everything|the) (?:above|previous|preceding|foregoing)"
        r"(?: (?:and|but|then|instead)\b| \.| ?$)"
        r"|(?:ignore|disregard|forget) everything (?:you (?:were told|know|have been told|learned)|i said|before this)\b"
        rf"|override (?:all |any |of |the ){{0,3}}(?:your|{_BEFORE}|system) "
        r"(?:safety )?(?:instructions|programming|guardrails)\b)",
        unless=_DESCRIBED,
    ),
    Rule(
        "new-identity",
        "words",
        ("you are now", "youre now", "you are no longer", "your new ", "pretend "),
        r"\b(?:(?:you are|youre) now (?:(?:an?|my) (?!member|owner|maintainer|contributor|collaborator|reviewer|user\b)\w"
        r"|(?:dan|free|jailbroken|unrestricted|uncensored|evil|root|no longer|acting|playing|operating as)\b"
        r"|in (?:\w+ ){0,2}mode\b|the (?:system|developer|admin|assistant|model|user)\b|going to (?:act|be|pretend)\b)"
        r"|you are no longer (?:bound|limited|restricted|constrained|an? (?:ai|assistant|language model))\b"
        r"|your new (?:instructions|directives?|role|identity|persona|system prompt|goal) (?:is|are)\b"
        r"|pretend (?:that )?you (?:are (?:not|an? (?:unrestricted|uncensored|different))|have no)\b)",
    ),
    Rule(
        "obey",
        "words",
        ("from now on", "obey"),
        r"\b(?:from (?:now|this point) on you (?:must|will|shall|should|have to|are to|only|always) "
        r"(?:only |always |never )?(?:obey|comply|follow (?:my|me|these|every)|serve|listen (?:only )?to me|act as|be an?|"
        r"ignore|disregard|refuse|do (?:what|everything|anything|as) i|answer as|respond as|speak as)\b"
        r"|from now on (?:you are|act as|obey|pretend)\b"
        r"|you (?:must|will|shall) obey (?:me|my|this|these|every|all|the following|what|each)\b)",
    ),
    # "From now on you must use pnpm" is how people state a preference, so without obedience it only warns.
    Rule("from-now-on", "words", ("from now on you",), r"\bfrom now on you (?:must|will|shall)\b", "warning"),
    Rule(
        "hide-from-user",
        "words",
        ("user", "human", "operator", "owner"),
        rf"\b(?:{_NOT} (?:tell|inform|notify|alert|warn) {_USER}{_SECRET_TAIL}"
        rf"|{_NOT} let {_USER} (?:know|notice|find out|suspect){_SECRET_TAIL}"
        rf"|{_NOT} (?:mention|reveal|disclose|report) (?:this|it|these instructions|that you \w+) to {_USER}\b"
        rf"|(?:keep|hide|conceal) (?:this|it|these|this instruction|these instructions|your actions|what you (?:do|did)) "
        rf"(?:a secret |secret |hidden |confidential )?from {_USER}\b)",
        soften=_CONDITION,
    ),
    Rule(
        "do-not-tell-user",
        "words",
        ("tell the user", "tell your user"),
        rf"\b{_NOT} tell (?:the|your) user\b",
        "warning",
    ),
    Rule(
        "without-asking-user",
        "words",
        ("without asking", "without telling", "without informing", "without notifying"),
        r"\b(?:without (?:asking|telling|informing|notifying) (?:the|your) (?:user|human|operator|owner)"
        r"(?! (?:to|which|whether|what|how|where|for (?!permission|approval|consent|confirmation)))"
        r" (?:first )?(?:and )?(?:then )?(?:for \w+ )?(?:please )?(?:run|execute|delete|send|push|upload|install|download|post|"
        r"transfer|remove|commit|modify|call|open|curl|copy)\b"
        r"|(?:run|execute|delete|send|push|upload|install|download|post|transfer|remove|copy|do(?! not)) (?:[\w.]+ ){0,8}?"
        r"without (?:asking|telling|informing|notifying) (?:the|your) (?:user|human|operator|owner)\b"
        r"(?! (?:to|which|whether|what|how|where|for (?!permission|approval|consent|confirmation))))",
        unless=r"\b(?:never|not|dont|cannot|cant|wont|mustnt|shouldnt|nothing|no|avoid|forbidden|refuse to)\b",
        soften=r"\b(?:can|may|could|might|allowed)\b",
    ),
    Rule(
        "reveal-prompt",
        "words",
        ("prompt", "instructions", "above"),
        r"\b(?:(?:reveal|print|show|output|repeat|leak|expose|dump|disclose|display|write out|tell me|give me|return|send) "
        r"(?:me |us |out )?(?:all |of ){0,2}your (?:(?:full|entire|exact|hidden|initial|original|secret|own|complete|verbatim) ){0,3}"
        r"(?:(?:system|developer) )?(?:prompts?|instructions)\b"
        r"|repeat (?:all |everything |the )(?:words |text |of the text )?above\b)",
        unless=_DESCRIBED,
    ),
    Rule(
        "reveal-prompt",
        "words",
        ("system prompt", "developer prompt"),
        r"\b(?:reveal|leak|disclose|repeat) the (?:\w+ )?(?:system|developer) prompt\b",
        "warning",
        unless=_DESCRIBED,
    ),
)

# -- Chinese, view `zh` ------------------------------------------------------------------------------------

_ZH_NO = r"(?:不要|不能|不可|不得|请勿|切勿|禁止|严禁|防止|避免|别|不会|会|可能|常常?|不应|不该)(?:再|去|让.{1,4})?,?$"
_ZH_STRONG = r"(?:系统提示词?|系统指令|指令(?!集|缓存|周期|计数|流)|指示(?!灯|器)|提示词|提示(?!信息|文案|框|音|符|语)|prompts?\b|instructions?\b)"
_ZH_WEAK = r"(?:规则|要求|限制|设定|命令|约束|准则)(?!输出|行|历史|结果|参数|文件)"
_ZH_WHEN = r"(?:之前|以前|以上|上面|上述|前面|先前|此前|原来|原有|原先|前述)"
_ZH_ALL = r"(?:所有|全部|一切|任何)"
_ZH_USER = r"(?:用户|使用者|主人|人类|操作员)"
_ZH_DO = r"(?:执行|运行|删除|发送|上传|推送|安装|下载|提交|修改|转账)"

CHINESE: tuple[Rule, ...] = (
    Rule(
        "zh-ignore-instructions",
        "zh",
        ("忽略", "无视", "忘记", "忘掉", "抛弃", "理会", "遵守", "遵循"),
        r"(?:忽略|无视|忘记|忘掉|抛弃|不要理会|不用理会|不必理会|不要遵守|不再遵守|不要遵循|不再遵循)(?:掉|了)?,?"
        rf"(?:(?:你|我|他们)?(?:收到|得到|被给)?(?:的)?{_ZH_WHEN}(?:给|收到|说|下达)?(?:你|我)?的?,?{_ZH_ALL}?的?,?(?:系统)?{_ZH_STRONG}"
        rf"|{_ZH_ALL}的?,?{_ZH_WHEN}?(?:给|收到)?(?:你)?的?,?(?:系统)?{_ZH_STRONG}"
        rf"|{_ZH_WHEN}的?,?{_ZH_ALL}的?{_ZH_WEAK}|{_ZH_ALL}的?{_ZH_WHEN}的?{_ZH_WEAK}"
        rf"|你的?(?:{_ZH_ALL}|系统|原有|安全)?的?(?:{_ZH_STRONG}|{_ZH_WEAK})|系统提示词|系统指令|开发者指令"
        rf"|(?:以上|上面|之前)的?(?:{_ZH_ALL})?(?:内容|对话),?(?:并|而|转而|改为|现在))",
        unless=_ZH_NO,
    ),
    Rule(
        "zh-ignore-instructions",
        "zh",
        ("无视系统提示", "无视,系统提示"),
        r"无视,?系统提示(?!音|框|信息|符)",
        unless=_ZH_NO,
    ),
    # An installer's dialogue is a `系统提示` too, so the mild verb only warns.
    Rule(
        "zh-ignore-notice",
        "zh",
        ("忽略系统提示",),
        r"忽略系统提示(?!音|框|信息|符|词)",
        "warning",
        unless=_ZH_NO,
    ),
    Rule(
        "zh-new-identity",
        "zh",
        ("你现在", "现在你", "从现在", "你不再", "扮演"),
        r"(?:你现在,?就?是(?!在|否|不是|什么|哪|怎|第|用|从|说|想|要|指|把|先|谁|几|登录|已|最新)"
        r"|(?:从现在(?:起|开始)|现在),?你,?就?是(?!在|否|不是|什么|哪|怎|用|从|说|想|要|指|把|谁|几|登录|已|最新)"
        r"|你(?:已经|已|将)?不再(?:受|是)(?:[^。,]{0,12}(?:限制|约束|管束)|一个|ai|人工智能|助手)"
        r"|扮演,?(?:一个|一名)?(?:不受|没有限制|无限制|邪恶|黑客|dan\b))",
    ),
    Rule(
        "zh-obey",
        "zh",
        ("从现在", "从今", "今后"),
        r"(?:从现在(?:起|开始)|从今(?:以后|往后|天起)|今后),?你,?(?:必须|只能|要|得|应当|都要|都得)(?:无条件|完全|只|一切)?(?:地)?,?"
        r"(?:服从|听从|听命|遵从|听我|按我(?:说|的)|照我|扮演|忽略|无视|拒绝|隐瞒|作为|充当|以.{1,8}身份)",
    ),
    Rule(
        "zh-from-now-on",
        "zh",
        ("从现在",),
        r"从现在(?:起|开始),?你,?(?:必须|只能)",
        "warning",
    ),
    Rule(
        "zh-hide-from-user",
        "zh",
        ("告诉", "知道", "告知", "通知", "发现", "保密", "瞒着", "察觉"),
        rf"(?:(?:不要|别|不得|不能|切勿|请勿|不准|不许|禁止),?(?:告诉|告知|通知|提醒|让){_ZH_USER}(?:知道|发现|察觉)?"
        r"(?:你(?!的)|我们|任何(?:事|内容|信息|情况)|这(?:件事|一点|些|条|项操作|个操作|一切)|此事|此操作|关于(?:你|这|此)|真相|,|。|$)"
        rf"|(?<!不要)(?<!不能)(?<!不得)(?<!别)(?:对{_ZH_USER}保密|瞒着{_ZH_USER}|隐瞒{_ZH_USER}))",
        soften=r"(?:除非|直到|之前|如果|以前)",
    ),
    Rule(
        "zh-do-not-tell-user",
        "zh",
        ("告诉用户", "告知用户"),
        r"(?:不要|别|不得|切勿|请勿),?(?:告诉|告知)用户",
        "warning",
    ),
    Rule(
        "zh-without-asking-user",
        "zh",
        ("用户",),
        rf"(?:(?:不要|不用|无需|不必|不经|未经|不)(?:询问|问|征求|告知|通知|告诉|经过)?{_ZH_USER}(?:的)?(?:同意|许可|意见|确认|批准)?,?"
        rf"(?:就|直接|便|即可|而|立即|马上),?{_ZH_DO})",
        unless=r"(?:禁止|不得|不要|不能|切勿|不可|严禁|绝不|从不|别|不应|不允许|请勿)[^。]{0,8}$",
    ),
    Rule(
        "zh-reveal-prompt",
        "zh",
        ("提示词", "系统提示", "系统指令", "初始指令", "prompt"),
        r"(?:输出|打印|显示|泄露|透露|告诉我|展示|复述|重复|说出|公开|给出|返回|发给我)(?:一下|出)?,?(?:全部|完整|所有)?(?:的)?你的?"
        r"(?:完整|全部|初始|隐藏|原始|的){0,3}(?:系统提示词?|系统指令|提示词|初始指令|systemprompt|prompt)",
        unless=_ZH_NO,
    ),
)

# -- forged turns and tags, view `lines` -------------------------------------------------------------------

FORGED: tuple[Rule, ...] = (
    # A dot, path or word before `<system>` is a placeholder such as `packages.<system>.default`.
    Rule(
        "role-tag",
        "lines",
        ("system", "assistant", "memory-context", "memory_context", "_of_turn"),
        r"<\s{0,3}/?\s{0,3}(?:memory[-_]context|system[-_]reminder)\b"
        r"|(?<![\w.#/=:-])<\s{0,3}(?:system|assistant|system[-_]prompt)(?:\s[^<>\n]{0,80})?\s{0,3}/?>(?![.\w/])"
        r"|<\s{0,3}/\s{0,3}(?:system|assistant|system[-_]prompt)\s{0,3}>|<(?:start|end)_of_turn>",
    ),
    Rule(
        "chat-token",
        "lines",
        ("<|", "inst]", "<sys>>", "</sys>>", "| >"),
        r"<\|\s?(?:im_start|im_end|im_sep|system|user|assistant|begin_of_text|start_header_id|end_header_id|eot_id)\s?\|>"
        r"|\[\s{0,3}/?\s{0,3}inst\s{0,3}\]|<<\s?/?sys\s?>>",
    ),
    Rule("end-token", "lines", ("<|end",), r"<\|endof(?:text|prompt)\|>", "warning"),
    # A glossary bullet or `assistant: claude` is honest; a line of speech in another's name is not.
    Rule(
        "forged-turn",
        "lines",
        ("assistant", "system", "human", "助手", "系统", "ai"),
        r"(?m)^ {0,3}(?:#{1,6} |> ){0,2}(?:(?:assistant|ai assistant|human) ?: ?\S+ +\S+ +\S"
        r"|(?:assistant|助手) ?: ?[一-鿿,]{4}|(?:#+ )?(?:system|系统(?:提示|消息)?) ?(?:message|prompt)? ?: ?[^\n]{0,80}?"
        r"(?:\byou (?:are|must|will|should)\b|你(?:是|必须|现在|要|应)))",
    ),
)

RULES: tuple[Rule, ...] = ENGLISH + CHINESE + FORGED

# -- commands that carry credentials away, view `lines` -----------------------------------------------------

# Public keys and sample files are no credentials.
CREDENTIAL_FILE = (
    r"(?:~/|\$home/|/root/|/home/[\w.-]{1,32}/|%userprofile%\\)?(?<![\w.])\.ssh(?![\w.-])(?!/(?:config|known_hosts|[\w.-]{1,40}\.pub)\b)"
    r"|(?<![\w.])id_(?:rsa|ed25519|ecdsa|dsa)(?![\w-])(?!\.pub)"
    r"|(?<![\w.])\.env(?![\w-])(?!\.(?:example|sample|template|dist|defaults?)\b)"
    r"|\.aws/credentials|(?<![\w.])\.(?:netrc|pypirc|git-credentials|pgpass)\b|\.kube/config\b|\.docker/config\.json"
    r"|/etc/(?:shadow|passwd)\b|/proc/self/environ|\.gnupg\b|application_default_credentials\.json|\.credentials\.json"
)
CREDENTIAL_CUES = (
    ".ssh",
    "id_",
    ".env",
    "credentials",
    ".netrc",
    ".pypirc",
    ".pgpass",
    "/etc/",
    ".kube/",
    ".docker/",
    "/proc/",
    ".gnupg",
)
SENDER = r"(?<![\w.-])(?:curl|wget|nc|ncat|netcat|socat|telnet|xh|httpie|invoke-webrequest|invoke-restmethod|iwr)(?![\w.-])"
SENDER_CUES = ("curl", "wget", "nc ", "ncat", "netcat", "socat", "telnet", "xh ", "httpie", "invoke-", "iwr")
COPIER = r"(?<![\w.-])(?:scp|rsync|sftp|ssh|rclone)(?![\w.-])"
COPIER_CUES = ("scp", "rsync", "sftp", "ssh", "rclone")
ENV_DUMP = r"(?:^|[\s`(;&])(?:env|printenv|export -p|set)\s*$"
# Options that name a key to use, not a file to send.
USES_KEY = (
    r"(?<!\S)(?:-i|-e|-k|--key|--cert|--cacert|--netrc-file|--identity|-o\s?\"?identityfile)[ =]\s?\"?\S+"
)
UPLOAD = r"(?<!\S)(?:-d|-f|-t|--data[\w-]*|--form[\w-]*|--upload-file|--json|--post-file|--post-data|--body-file|-infile|-body)(?=[ =@\"'\w~/.])"
LOCAL_HOST = r"(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|host\.docker\.internal)"
HTTP_CALL = r"(?:requests\.(?:post|put)|urlopen|fetch|axios\.(?:post|put)|httpx\.(?:post|put))\("
SEND_WORDS = (
    r"(?<![\w-])(?:send|upload|post|exfiltrate|transmit|forward|leak|e?mail)s? [^\n]{0,60}?"
    r"(?:%s|environment variables|\benv vars\b|private keys?|ssh keys?)[^\n]{0,40}? (?:to|at) (?:the |this |my )?(?:\w+ ){0,2}[<`'\"(]?(?:https?|ftp|wss?)://"
)
ZH_SEND_WORDS = (
    r"(?:把|将)[^\n。]{0,30}?(?:%s|环境变量|私钥|凭证|凭据)[^\n。]{0,20}?"
    r"(?:发送|上传|提交|推送|转发|回传|外传|post|发|传) ?(?:到|至|给|往|去) ?[^\n。]{0,12}?(?:https?://|ftp://|wss?://|webhook|外部|\d{1,3}(?:\.\d{1,3}){3})"
)

# -- secrets, view: the text with width folded and invisible characters removed, case kept ------------------

_EDGE = r"(?<![A-Za-z0-9_-])"
# name -> (cues, expression). Read with re.ASCII, so that a Chinese character beside a token is an edge.
TOKENS: dict[str, tuple[tuple[str, ...], str]] = {
    "aws-access-key": (("AKIA", "ASIA"), r"(?<![A-Za-z0-9])A(?:KI|SI)A[A-Z2-7]{16}(?![A-Za-z0-9])"),
    "github-token": (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _EDGE + r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})",
    ),
    "gitlab-token": (
        ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"),
        _EDGE + r"gl(?:pat|dt|rt|ptt|cbt)-[\w-]{20,200}",
    ),
    "slack-token": (
        ("xox", "xapp-"),
        _EDGE + r"(?:xox[abeoprs]-[A-Za-z0-9-]{16,250}|xapp-\d-[A-Za-z0-9-]{16,250})",
    ),
    "slack-webhook": (
        ("hooks.slack.com/services/",),
        r"hooks\.slack\.com/services/T\w{6,16}/B\w{6,16}/\w{16,40}",
    ),
    "google-api-key": (("AIza",), _EDGE + r"AIza[\w-]{35}(?![\w-])"),
    "google-oauth-secret": (("GOCSPX-", "ya29."), _EDGE + r"(?:GOCSPX-[\w-]{24,40}|ya29\.[\w-]{20,400})"),
    "stripe-key": (
        ("k_live_", "k_test_", "whsec_"),
        _EDGE + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9+/]{24,100})",
    ),
    "anthropic-key": (("sk-ant-",), _EDGE + r"sk-ant-[\w-]{20,250}"),
    "openai-key": (
        ("sk-",),
        _EDGE + r"sk-(?!ant-)(?:(?:proj|svcacct|admin|or-v1)-[\w-]{20,250}|[A-Za-z0-9]{32,250})",
    ),
    "npm-token": (("npm_",), _EDGE + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    "pypi-token": (("pypi-",), _EDGE + r"pypi-AgE[\w-]{16,500}"),
    "huggingface-token": (("hf_",), _EDGE + r"hf_[A-Za-z0-9]{30,60}(?![A-Za-z0-9])"),
    "jwt": (("eyJ",), _EDGE + r"eyJ[\w-]{10,4000}\.eyJ[\w-]{10,8000}\.[\w-]{16,4000}"),
}
PRIVATE_KEY = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
URL_PASSWORD = r"://([^\s/@:\"'<>`]{0,64}):([^\s/@\"'<>`]{3,200})@([\w.-]{0,100})"
# Bare `token`, `secret` and `key` have many honest meanings, so their values must be longer.
ASSIGNED_CUES = (
    "passw",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "api",
    "access",
    "credential",
    "private",
    "bearer",
)
ASSIGNED = (
    r"(?i)(?P<key>password|passwd|passphrase|pwd|api[_ -]?key|secret[_ -]?access[_ -]?key|access[_ -]?key|secret[_ -]?key|"
    r"auth[_ -]?token|access[_ -]?token|client[_ -]?secret|private[_ -]?key|secret|token|credentials?|bearer)"
    r"(?:_[a-z0-9]{1,12})?[\"'`*]{0,3}"
    r"(?P<said>\s{0,4}(?::=|=>|[:=])\s{0,4}|[ \t]{1,4}(?:is|was)[ \t]{1,4}|\s{0,2}(?:就?是|为|為|改成了?|设为)\s{0,2}|[ \t]{1,2})"
    r"[\"'`]{0,2}(?P<value>[!-&(-+\--_a-z{-~]{6,200})"
)
ANNOUNCED = ("is", "was", "是", "就是", "为", "為", "改成", "改成了", "设为")
# `login pass Winter2026`: without a colon only behind a word that says whose it is.
LOGIN = r"(?i)(?<![\w-])(?:login|logon|wifi|wi-fi|vpn|ssh|root|admin) pass(?:word|wd)?[ \t]{1,2}[\"'`]{0,2}(?P<value>[!-&(-+\--_a-z{-~]{8,64})"
LOGIN_CUES = (" pass",)
USER_OPTION = r"(?<!\S)(?:-u|--user|--proxy-user)[ =][\"']?[\w.@-]{1,64}:(?P<value>[^\s:\"'`<>]{4,100})"
USER_OPTION_CUES = ("-u ", "--user", "--proxy-user")
PIN = r"(?<![\w-])(?:PIN|(?:[Mm]y|[Tt]he) pin)(?: code)?(?: is| was|[ \t]?[:=])[ \t]?(?P<value>\d{4,8})(?![\w.-])"
CARD_NUMBER = r"(?<![\w.-])(?:\d{4}[ -]){3}\d{1,7}(?![\w.-])|(?<=card )\d{13,19}(?![\w.-])|(?<=card number )\d{13,19}(?![\w.-])|(?<=卡号)[是为：: ]{0,2}\d{13,19}(?!\d)"
# What ids look like that are no secret: a commit, a digest.
HEX = r"(?:[0-9a-f]{7,64}|[0-9A-F]{7,64})$"
STRICT_KEYS = ("secret", "token", "credential", "credentials", "bearer")
ZH_ASSIGNED_CUES = ("密码", "口令", "密钥", "令牌", "密碼", "金鑰")
ZH_ASSIGNED = r"(?P<key>密码|密碼|口令|密钥|金鑰|令牌)(?:就?是|为|為|改成了?|设为|用)?\s{0,3}[:=]?\s{0,3}[\"'`“「]{0,2}(?P<value>[!-&(-+\--_a-z{-~]{6,200})"
PLACEHOLDER = (
    r"(?i)\$\{|\$\(|\{\{|^\$[A-Z_]|^%\w+%?$|[<>]|\.\.\.|\*\*|xxx|example|changeme|change-me|placeholder|redacted|dummy|your[-_]|"
    r"^your|^my[-_]|environ|process\.env|getenv|secrets\.|vault|^\[|^[a-z-]{1,24}\]|^\(|^/|^\./|^~/|^@|://|^\{|^[a-z_][\w.]*\(|^env[:.]|^-|\|$|^\w+\[|^&"
)
# In a token whose prefix cannot be mistaken: a sample is spelled out or repeats itself, and `xxx` may stand in a real one.
SAMPLE = r"(?i)example|your[-_]|placeholder|redacted|changeme|dummy|\.\.\.|\*\*|(.)\1{9}"
# Names of algorithms, encodings and formats that follow `password:` or `密码是` in honest prose.
ALGORITHM = (
    r"(?i)^(?:argon2\w*|bcrypt\w*|scrypt\w*|pbkdf2\w*|sha-?\d[\w/-]*|md[45]|hmac[\w-]*|[hrep]s\d{3}|e[dc]\d+\w*|x25519|"
    r"rsa-?\d*|aes[\w-]*|oauth-?\d?[\w.]*|base\d+\w*|utf-?8|totp|uuid\w*|p-?256|pkcs\d*[\w#]*|x509|jwt|k8s[\w-]*)$"
)

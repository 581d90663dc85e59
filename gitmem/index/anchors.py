"""Sentences that carry no memory. How near a prompt lies to the nearest of them is its baseline."""

from __future__ import annotations

TEXTS = (
    "Fix the failing test and run it again.",
    "Please rename this function and update its callers.",
    "Write this to a file.",
    "What does this error mean?",
    "Commit and push the changes.",
    "Add a button to the page.",
    "Summarise the document in three sentences.",
    "The meeting is on Tuesday at ten.",
    "The server listens on port 8080.",
    "Keep the settings file in the home folder.",
    "Use the library for parsing dates.",
    "The user prefers short answers.",
    "Paper figures are drawn with a script.",
    "A list of species and places.",
    "继续",
    "帮我看看为什么报错",
    "把这个函数拆成两个",
    "运行测试",
    "写一个脚本处理数据",
    "数据库每晚备份一次",
    "这个项目的文档放在 docs 目录",
    "颜色改成蓝色",
    "一个关于天气的句子",
    "旅行计划和酒店预订",
)
# The baseline is the mean of so many nearest anchors.
NEAREST = 5
# Raised when these texts change: kept anchor vectors are made anew. What depends on `centres.PAIRS` are the vectors of all
# cards, too: when those change, `place.FORMAT` is raised.
VERSION = 2

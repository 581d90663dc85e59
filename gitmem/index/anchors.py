"""Sentences that carry no memory. How near a prompt lies to the nearest of them is its baseline.

Their vectors stand in one file, behind the means of the languages (`languages`): all that a prompt is measured by. It is made once
for an embedder; that of the bundled one comes with the program, as embedding 150 sentences takes seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem import resources
from gitmem.index import languages

if TYPE_CHECKING:
    from gitmem.index.embed import Embedder

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
# Raised when these texts or the pairs of `languages` change: what is kept of them is made anew.
VERSION = 2
ROWS = languages.ROWS + len(TEXTS)


def made(model: Embedder) -> bytes:
    """The file's bytes for an embedder: float32, `ROWS` vectors one after the other."""
    return languages.of(model).tobytes() + model.passages(TEXTS).tobytes()


def ready(name: str) -> bytes | None:
    """The file that comes with the program; None: this embedder has none. `python -m tests.write_anchors` makes it."""
    file = resources.path(f"templates/embedders/{name}.f32")
    return file.read_bytes() if name.isalnum() and file.is_file() else None

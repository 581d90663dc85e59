"""Comparing texts of two languages: the direction in which the languages lie apart is taken off first.

A multilingual embedder puts the texts of one language close together, whatever they say: an English question lies nearer
to any English card than to the Chinese card that answers it. Within one language its cosine is good as it is. Across two,
the middle of both languages is subtracted from a vector, and of the rest the part along the line between them is taken
off: what is left is what the text says. The middles come from the sentences below, the same in both languages, and never
from the cards: a memory of one card is measured as one of ten thousand.

Source: language means as in Libovický, Rosa, Fraser, Findings of EMNLP 2020, doi:10.18653/v1/2020.findings-emnlp.150;
what it changes here, and what else was tried, stands in docs/evaluation.md.
"""

from __future__ import annotations

import array
import math
import re
from collections.abc import Sequence
from itertools import chain
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gitmem.index.embed import Embedder

# Requests and statements of many fields, said in both languages. With fewer the means follow what the sentences are about.
PAIRS = (
    ("Fix the failing test and run it again", "修好失败的测试再跑一遍"),
    ("What does this error mean", "这个报错是什么意思"),
    ("Write a short reply to this message", "给这条消息写个简短的回复"),
    ("Rename the function and update its callers", "把这个函数改名，调用的地方也改"),
    ("Summarise the document in three sentences", "用三句话概括这份文档"),
    ("How long does the whole run take", "整个跑一遍要多久"),
    ("Plan a trip for the long weekend", "安排一下长周末的旅行"),
    ("Which version should we install", "我们该装哪个版本"),
    ("Draw the results of the experiment as a chart", "把实验结果画成图"),
    ("Set up a new project from the template", "用模板新建一个项目"),
    ("Move the meeting to another day", "把会议改到另一天"),
    ("Check whether the numbers in the table add up", "检查表里的数字加起来对不对"),
    ("Where is the configuration stored", "配置存在哪里"),
    ("Translate the last paragraph", "翻译最后一段"),
    ("Deploy the service to the server tonight", "今晚把服务部署到服务器上"),
    ("Who is responsible for the invoices", "发票由谁负责"),
    ("The server listens on port 8080", "服务器监听 8080 端口"),
    ("Answers should be short and without apologies", "回答要简短，不要道歉"),
    ("Every table has a column with the day it was changed", "每张表都有一列记录修改的日期"),
    ("The archive is copied to another building each night", "归档每晚复制到另一栋楼"),
    ("Photos are kept by year and by place", "照片按年份和地点存放"),
    ("The first model was too slow, so the smaller one is used", "第一个模型太慢，所以用小的那个"),
    ("Names of files are written in lower case", "文件名一律小写"),
    ("Guests are met at the north gate", "客人在北门接"),
    ("Do not merge before a second person has read the change", "第二个人看过之前不要合并"),
    ("The chapter on methods comes before the one on results", "方法一章排在结果之前"),
    ("Samples are weighed twice and the mean is noted", "样品称两次，记平均值"),
    ("The library fails on empty input, so check it first", "这个库遇到空输入会出错，要先检查"),
    ("Prices are shown with tax", "价格含税显示"),
    ("She prefers trains to flights", "她喜欢坐火车，不喜欢坐飞机"),
    ("Temperatures are given in kelvin", "温度用开尔文表示"),
    ("The contract ends in the autumn and is not renewed", "合同秋天到期，不再续签"),
)
ENGLISH, CHINESE = (tuple(pair[i] for pair in PAIRS) for i in (0, 1))
# Rows of the file: cards and prompts are embedded differently by some models, each in two languages, English first.
ROWS = 4
_HAN = re.compile("[\u3400-\u9fff]+")


class Between(NamedTuple):
    """What a prompt's vector is compared with cards of another language by.

    A card's vector d, of unit length, lies from it at the cosine `(aim · d - shift) / |what is left of d|`; `middle` and `line` say
    what that is. `line` has the length 1. `along` is `middle · line`, `square` is `middle · middle`.
    """

    aim: array.array
    shift: float
    middle: array.array
    line: array.array
    along: float
    square: float

    def rows(self) -> tuple[array.array, array.array, array.array]:
        """What `cosine` wants the dot products with."""
        return self.aim, self.middle, self.line

    def cosine(self, aim: float, middle: float, line: float) -> float:
        """The cosine across languages, from the dot products of a card's vector with `aim`, `middle` and `line`."""
        along = line - self.along
        left = 1.0 - 2.0 * middle + self.square - along * along
        return (aim - self.shift) / math.sqrt(left) if left > 1e-6 else 0.0


def chinese_share(text: str) -> float:
    """How much of a text is Chinese, 0 to 1: its Han characters against them and its other words."""
    if text.isascii():
        return 0.0
    rest = _HAN.sub(" ", text)
    han = sum(map(len, _HAN.findall(text)))
    others = len(rest.split())
    if not han:
        return 0.0
    return han / (han + others)


def of(model: Embedder) -> array.array:
    """The means of an embedder, `ROWS` rows: English and Chinese cards, English and Chinese prompts."""
    found = array.array("f")
    for texts in (ENGLISH, CHINESE):
        found.extend(_mean(model.passages(texts), model.dim))
    for texts in (ENGLISH, CHINESE):
        found.extend(_mean(array.array("f", chain.from_iterable(map(model.query, texts))), model.dim))
    return found


def between(query: Sequence[float], means: array.array) -> Between:
    """
    Args:
        query: a prompt's vector of unit length. means: `ROWS` rows of as many numbers, one after the other.
    """
    dim = len(query)
    cards, prompts = (
        _apart(means[i * dim : (i + 1) * dim], means[(i + 1) * dim : (i + 2) * dim]) for i in (0, 2)
    )
    aim = _without([q - m for q, m in zip(query, prompts[0], strict=True)], prompts[1])
    length = math.sqrt(dot(aim, aim)) or 1.0
    aim = _without([x / length for x in aim], cards[1])
    return Between(
        array.array("f", aim), dot(aim, cards[0]), array.array("f", cards[0]), array.array("f", cards[1]),
        dot(*cards), dot(cards[0], cards[0]),
    )  # fmt: skip


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(map(mul, a, b))


def _mean(values: array.array, dim: int) -> array.array:
    """The mean of rows, which is shorter than they are."""
    count = len(values) // dim
    return array.array("f", (math.fsum(values[i::dim]) / count for i in range(dim)))


def _apart(english: Sequence[float], chinese: Sequence[float]) -> tuple[list[float], list[float]]:
    """The middle of two means, and the line between them, of length 1."""
    middle = [(e + c) / 2 for e, c in zip(english, chinese, strict=True)]
    line = [c - e for e, c in zip(english, chinese, strict=True)]
    length = math.sqrt(dot(line, line)) or 1.0
    return middle, [x / length for x in line]


def _without(vector: Sequence[float], line: Sequence[float]) -> list[float]:
    """A vector without its part along a line."""
    along = dot(vector, line)
    return [v - along * x for v, x in zip(vector, line, strict=True)]

"""Where the texts of a language lie: what all of them share is taken off before two vectors are compared.

A multilingual embedder puts the texts of one language close together, whatever they say: an English question then lies
nearer to any English card than to the Chinese card that answers it, and a question with one Chinese word near the Chinese
ones. So the mean of each language is subtracted from a vector, and what is left is what the text says. The means come
from the sentences below, the same in both languages, and never from the cards: a memory of one card is measured as one of
ten thousand, and the same card has the same vector in both.

Source: mean-centring of each language's space as in Libovický, Rosa, Fraser, Findings of EMNLP 2020,
doi:10.18653/v1/2020.findings-emnlp.150; what it changes here stands in docs/evaluation.md.
"""

from __future__ import annotations

import array
import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

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
# Rows of the file: cards and prompts are embedded differently by some models, each in two languages.
PASSAGE, QUERY = 0, 2
ROWS = 4


def chinese_share(text: str) -> float:
    """How much of a text is Chinese, 0 to 1: its Han characters against them and its other words."""
    han = sum("\u3400" <= char <= "\u9fff" for char in text)
    if not han:
        return 0.0
    others = len("".join(" " if "\u3400" <= char <= "\u9fff" else char for char in text).split())
    return han / (han + others)


def of(model: Embedder) -> array.array:
    """The means of an embedder: `ROWS` rows, English before Chinese."""
    found = array.array("f")
    for texts in (ENGLISH, CHINESE):
        found.extend(_mean(model.passages(texts), model.dim))
    for texts in (ENGLISH, CHINESE):
        found.extend(_mean(array.array("f", chain.from_iterable(map(model.query, texts))), model.dim))
    return found


def centred_passages(model: Embedder, centres: array.array, texts: Sequence[str]) -> array.array:
    """Centred vectors of cards, one after the other."""
    dim, values = model.dim, model.passages(texts)
    found = array.array("f")
    for number, text in enumerate(texts):
        found.extend(centred(values[number * dim : (number + 1) * dim], centres, PASSAGE, text))
    return found


def _mean(values: array.array, dim: int) -> array.array:
    """The mean of rows, which is shorter than they are."""
    count = len(values) // dim
    return array.array("f", (math.fsum(values[i::dim]) / count for i in range(dim)))


def centred(vector: Sequence[float], centres: array.array, kind: int, text: str) -> array.array:
    """A vector of `text` without what texts of its languages share, of unit length again.

    Args:
        centres: `ROWS` means, one after the other. kind: `PASSAGE` or `QUERY`.
    """
    dim = len(vector)
    share = chinese_share(text)
    english = centres[kind * dim : (kind + 1) * dim]
    if share:
        chinese = centres[(kind + 1) * dim : (kind + 2) * dim]
        centre: Sequence[float] = [
            (1.0 - share) * e + share * c for e, c in zip(english, chinese, strict=True)
        ]
    else:
        centre = english
    left = [v - c for v, c in zip(vector, centre, strict=True)]
    length = math.sqrt(sum(x * x for x in left)) or 1.0
    return array.array("f", (x / length for x in left))

"""Days as people write them in records. Text in, `YYYY-MM-DD` out, or nothing: a day is never guessed."""

from __future__ import annotations

import re
from datetime import date

_MONTHS = {
    name: i
    for i, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_YEAR_FIRST = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?[-\s/.]+([A-Za-z]{3,9})\.?,?[-\s/.]+(\d{4})")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")


def day(text: str) -> str | None:
    """The first day that a text names: `2018-11-29`, `13-Jun-2000`, `June 13, 2000`, `2018年11月29日`, or a time on one.

    `03/04/2020` is two days, so it is none.
    """
    if match := _YEAR_FIRST.search(text):
        return _made(int(match[1]), int(match[2]), int(match[3]))
    if match := _DAY_FIRST.search(text):
        return _made(int(match[3]), _MONTHS.get(match[2][:3].lower(), 0), int(match[1]))
    if match := _MONTH_FIRST.search(text):
        return _made(int(match[3]), _MONTHS.get(match[1][:3].lower(), 0), int(match[2]))
    return None


def _made(year: int, month: int, day_: int) -> str | None:
    try:
        return date(year, month, day_).isoformat()
    except ValueError:
        return None

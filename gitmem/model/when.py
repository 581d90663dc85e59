"""Times in cards: UTC, RFC 3339, as text in files and as aware datetimes in code."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


def parse(text: str) -> datetime:
    """Read an RFC 3339 time, or a bare date as its first moment in UTC.

    Raises:
        ValueError: neither.
    """
    if _DATE.match(text):
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"no time zone in {text!r}")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text!r} is outside the years 1 to 9999") from error


def end_of(text: str) -> datetime:
    """When an `expires` value has passed: a bare date lasts through that day."""
    moment = parse(text)
    return later(moment, 1) if _DATE.match(text) else moment


def later(moment: datetime, days: int) -> datetime:
    """`days` after `moment`; the last moment there is where the calendar ends before."""
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def stamp(moment: datetime) -> str:
    """`2026-10-03T09:12:44Z`"""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(text: str) -> date:
    return parse(text).date()

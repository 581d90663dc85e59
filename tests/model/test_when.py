from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.model import when

MOMENTS = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))


def test_a_bare_date_is_its_first_moment_in_utc():
    assert when.parse("2026-10-03") == datetime(2026, 10, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["2026-10-03T09:12:44Z", "2026-10-03T11:12:44+02:00", "2026-10-03T04:12:44-05:00"]
)
def test_a_time_is_read_as_utc(text):
    moment = when.parse(text)
    assert moment == datetime(2026, 10, 3, 9, 12, 44, tzinfo=UTC)
    assert moment.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "never", "2026-02-30", "2026-10-03T09:12:44", "2026-10-03T25:00:00Z", "2026-10", "0000-01-01", "2026-10-03\n", "٢٠٢٦-١٠-٠٣", "0001-01-01T00:00:00+05:00"],
)  # fmt: skip
def test_what_is_no_time_is_a_value_error(text):
    with pytest.raises(ValueError):
        when.parse(text)


def test_a_bare_date_lasts_through_its_day_and_a_time_does_not():
    assert when.end_of("2026-10-03") == datetime(2026, 10, 4, tzinfo=UTC)
    assert when.end_of("2026-10-03T09:12:44Z") == datetime(2026, 10, 3, 9, 12, 44, tzinfo=UTC)


def test_the_last_day_of_the_calendar_has_an_end():
    assert when.end_of("9999-12-31") > when.parse("9999-12-31")
    assert when.later(when.parse("9999-12-01"), 36500) > when.parse("9999-12-31")


@given(MOMENTS)
def test_a_stamp_reads_back_to_the_second(moment):
    assert when.parse(when.stamp(moment)) == moment.replace(microsecond=0)


@given(MOMENTS, st.integers(-12, 12))
def test_a_stamp_is_in_utc_wherever_the_clock_stands(moment, hours):
    try:
        local = moment.astimezone(timezone(timedelta(hours=hours)))
    except OverflowError:
        return
    assert when.stamp(local) == when.stamp(moment)


def test_a_day_is_the_day_in_utc():
    assert when.day("2026-10-03T23:30:00-05:00") == date(2026, 10, 4)

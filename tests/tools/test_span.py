from __future__ import annotations

import pytest

from quire.tools.asking import SettingError
from quire.tools.span import END, START, Point, Span, Where, read_duration, read_moment, read_span

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("start", START, END),
        ("end", END, END),
        ("-10", Point(Where.FROM_END, 10), END),
        ("100:200", Point(Where.OFFSET, 100), Point(Where.OFFSET, 200)),
        ("100:", Point(Where.OFFSET, 100), END),
        (":200", START, Point(Where.OFFSET, 200)),
        ("start:end", START, END),
        ("-10:-5", Point(Where.FROM_END, 10), Point(Where.FROM_END, 5)),
        ("@1600000000000", Point(Where.TIME, 1_600_000_000_000), END),
        ("@-90s", Point(Where.TIME, NOW - 90_000), END),
        ("@-2h:@-15m", Point(Where.TIME, NOW - 7_200_000), Point(Where.TIME, NOW - 900_000)),
        ("@2020-09-13T12:26:40", Point(Where.TIME, 1_600_000_000_000), END),
        ("@2020-09-13T14:26:40+02:00", Point(Where.TIME, 1_600_000_000_000), END),
        ("@2020-09-13T12:26:40:end", Point(Where.TIME, 1_600_000_000_000), END),
        ("@2020-09-13:100", Point(Where.TIME, 1_599_955_200_000), Point(Where.OFFSET, 100)),
    ],
)
def test_a_span_is_what_its_text_says(text: str, begin: Point, end: Point) -> None:
    assert read_span(text, now_ms=NOW) == Span(begin, end)


@pytest.mark.parametrize("text", ["200:100", "-5:-10", "@-1h:@-2h", "end:-1"])
def test_a_span_that_ends_before_it_begins_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="ends before it begins"):
        read_span(text, now_ms=NOW)


@pytest.mark.parametrize("text", ["", "x", "1:2:3", "--1", "@", "@yesterday", "1-2", "@2020-13-01"])
def test_what_is_no_span_is_refused_with_examples_or_the_reason(text: str) -> None:
    with pytest.raises(SettingError):
        read_span(text, now_ms=NOW)


def test_a_moment_is_a_date_a_number_or_so_long_ago() -> None:
    assert read_moment("2020-09-13T12:26:40", now_ms=NOW) == 1_600_000_000_000
    assert read_moment("-1h", now_ms=NOW) == NOW - 3_600_000
    with pytest.raises(SettingError, match="is not a moment"):
        read_moment("soon", now_ms=NOW)


@pytest.mark.parametrize(("text", "ms"), [("90s", 90_000), ("1h30m", 5_400_000), ("250ms", 250)])
def test_a_duration_is_the_sum_of_its_parts(text: str, ms: int) -> None:
    assert read_duration(text) == ms


@pytest.mark.parametrize("text", ["", "5", "h", "-1h", "1h 30m", "PT1H"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="is not a duration"):
        read_duration(text)

"""Which part of a log is meant, as it is typed: `start`, `-10`, `100:200`, `@2026-01-31T12:00`, `@-1h:end`.

    FROM         from there to what is the end now
    FROM:TO      TO is not included
    :TO  FROM:   from the start, to the end

FROM and TO are `start`, `end`, an offset, `-N` (N records before the end, in each partition), or a moment: `@` and
milliseconds since 1970, an ISO date (UTC where it names no zone), or `-90s`, `-15m`, `-2h`, `-7d` before now.

Not here   asking the brokers for the offsets (tools/consume).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple

from quire.tools.asking import SettingError

_AGO = re.compile(r"-(\d+)(ms|s|m|h|d)")
_PART = re.compile(r"(\d+)(ms|s|m|h|d)")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_NUMBER = re.compile(r"-?\d+")


class Where(Enum):
    """What the number of a point counts."""

    OFFSET = "offset"
    FROM_END = "records before the end"
    TIME = "milliseconds since 1970"


class Point(NamedTuple):
    """One end of a span."""

    where: Where
    number: int


START = Point(Where.OFFSET, 0)
END = Point(Where.FROM_END, 0)


class Span(NamedTuple):
    """From a point to another; the offset START means wherever the log begins."""

    begin: Point
    end: Point


def read_span(text: str, *, now_ms: int) -> Span:
    """The span that was typed; SettingError says what it should look like."""
    whole = _point(text, now_ms)
    if whole is not None:
        return Span(whole, END)
    for place in reversed([at for at, letter in enumerate(text) if letter == ":"]):
        first, last = text[:place], text[place + 1 :]  # a moment may have colons of its own
        begin = _point(first, now_ms) if first else START
        end = _point(last, now_ms) if last else END
        if begin is not None and end is not None:
            if begin.where is end.where and _order(begin) > _order(end):
                raise SettingError(f"{text!r} ends before it begins")
            return Span(begin, end)
    raise SettingError(
        f"{text!r} is not a range: try start, end, -10, 100:200, @-1h or @2026-01-31T12:00"
    )


def _order(point: Point) -> int:
    return -point.number if point.where is Where.FROM_END else point.number


def read_moment(text: str, *, now_ms: int) -> int:
    """Milliseconds since 1970 of a moment as it is typed, without the `@`."""
    found = _moment(text, now_ms)
    if found is None:
        raise SettingError(f"{text!r} is not a moment: try 2026-01-31T12:00, -1h or 1700000000000")
    return found


def read_duration(text: str) -> int:
    """Milliseconds of `90s`, `15m`, `1h30m`, `7d`."""
    if _DURATION.fullmatch(text) is None:
        raise SettingError(f"{text!r} is not a duration: try 90s, 15m, 1h30m or 7d")
    return sum(int(count) * _UNIT_MS[unit] for count, unit in _PART.findall(text))


def _point(text: str, now_ms: int) -> Point | None:
    if text == "start":
        return START
    if text == "end":
        return END
    if text.startswith("@"):
        moment = _moment(text[1:], now_ms)
        return None if moment is None else Point(Where.TIME, moment)
    if _NUMBER.fullmatch(text) is None:
        return None
    number = int(text)
    return Point(Where.FROM_END, -number) if text.startswith("-") else Point(Where.OFFSET, number)


def _moment(text: str, now_ms: int) -> int | None:
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return now_ms - int(ago[1]) * _UNIT_MS[ago[2]]
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)

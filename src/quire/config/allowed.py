"""What a setting allows beyond its type: bounds, choices and forms, each with its words.

Not here   rules between two settings (checks), types (values).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from quire.config.values import Value


class Allowed(Protocol):
    """A rule for one value."""

    @property
    def text(self) -> str:
        """What is allowed, to stand after "must be" and in the reference."""
        ...

    def admits(self, value: Value) -> bool: ...


class Between:
    """A number from `low` to `high`, either of which may be open."""

    __slots__ = ("high", "low")

    def __init__(self, low: float | None, high: float | None) -> None:
        self.low = low
        self.high = high

    @property
    def text(self) -> str:
        if self.low is None:
            return f"at most {self.high}"
        return f"at least {self.low}" if self.high is None else f"from {self.low} to {self.high}"

    def admits(self, value: Value) -> bool:
        if not isinstance(value, int | float):
            return False
        # Written so that NaN, which is on neither side of anything, passes as it does in Kafka.
        return not (
            (self.low is not None and value < self.low)
            or (self.high is not None and value > self.high)
        )


class OneOf:
    """One of some words; `any_case` where upper and lower case do not matter."""

    __slots__ = ("any_case", "words")

    def __init__(self, words: tuple[str, ...], *, any_case: bool = False) -> None:
        self.words = words
        self.any_case = any_case

    @property
    def text(self) -> str:
        return f"one of {', '.join(self.words)}" + (" in any case" if self.any_case else "")

    def admits(self, value: Value) -> bool:
        if self.any_case:
            return str(value).upper() in [word.upper() for word in self.words]
        return value in self.words


class Items:
    """A list without blank items, of some words only where `words` are given."""

    __slots__ = ("may_be_empty", "words")

    def __init__(self, words: tuple[str, ...] = (), *, may_be_empty: bool = False) -> None:
        self.words = words
        self.may_be_empty = may_be_empty

    @property
    def text(self) -> str:
        of = f" of {', '.join(self.words)}" if self.words else ""
        return f"a list{of}, without blank items" + ("" if self.may_be_empty else ", not empty")

    def admits(self, value: Value) -> bool:
        if not isinstance(value, tuple) or (not value and not self.may_be_empty):
            return False
        return all(item and (not self.words or item in self.words) for item in value)


class Form:
    """A value of a form that a function knows and a sentence describes."""

    __slots__ = ("_admits", "text")

    def __init__(self, text: str, admits: Callable[[Value], bool]) -> None:
        self.text = text
        self._admits = admits

    def admits(self, value: Value) -> bool:
        return self._admits(value)


_REPLICA = r"[0-9]+:[0-9]+"
_VOTER = r"[0-9]+@.+:[0-9]+"
_DURATION = (
    r"(?i)by_duration:\+?P(?=.)(\+?\d+D)?(T(?=.)(\+?\d+H)?(\+?\d+M)?(\+?\d+([.,]\d{0,9})?S)?)?"
)
_HOST = r"(.*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:[0-9]+"


def _items(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


NOT_BLANK = Form("a text that is not empty", lambda value: str(value) != "")
HOST_AND_PORT = Form(
    "host:port, or empty",
    lambda value: value == "" or bool(re.fullmatch(r"(\[[^\]]+\]|[^:]*):[0-9]{1,5}", str(value))),
)
GZIP_LEVEL = Form("from 1 to 9, or -1", lambda value: value in (-1, *range(1, 10)))
THROTTLED = Form(
    "* alone, or a list of partition:broker pairs",
    lambda value: value == ("*",) or all(re.fullmatch(_REPLICA, item) for item in _items(value)),
)
VOTERS = Form(
    "a list of id@host:port",
    lambda value: all(re.fullmatch(_VOTER, item) for item in _items(value)),
)
SERVERS = Form(
    "a list of host:port", lambda value: all(re.fullmatch(_HOST, item) for item in _items(value))
)
OFFSET_RESET = Form(
    "latest, earliest, or by_duration: and an ISO 8601 duration that is not negative",
    lambda value: value in ("latest", "earliest") or bool(re.fullmatch(_DURATION, str(value))),
)

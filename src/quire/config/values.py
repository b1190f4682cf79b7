"""The kinds of values that settings have, read from text as Apache Kafka reads it, and written.

Invariants
  I1  parse(kind, format(kind, value)) == value for every value that parse can give.
  I2  What Java's parsers refuse is refused: underscores, hexadecimal integers, `inf`, overflow.
Not here   bounds and choices (allowed), which setting is meant (setting).
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import IntEnum
from typing import TypeAlias

from quire.errors import ErrorCode, QuireError

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | None
"""What a setting can be; a list is a tuple, None is a setting without a value."""

MAX_SHORT = 2**15 - 1
MAX_INT = 2**31 - 1
MAX_LONG = 2**63 - 1
MAX_DOUBLE = 1.7976931348623157e308


class ConfigError(QuireError):
    """A value or a change that cannot be: of which setting, what was given, what is allowed."""

    def __init__(
        self,
        message: str,
        *,
        setting: str | None = None,
        code: ErrorCode = ErrorCode.INVALID_CONFIG,
    ) -> None:
        self.message = message
        self.setting = setting
        self.code = code
        super().__init__(message)

    def answered_with(self, code: ErrorCode) -> ConfigError:
        """The same, answered with another code."""
        return ConfigError(self.message, setting=self.setting, code=code)


class Kind(IntEnum):
    """The type of a setting; the number is DescribeConfigs' code for it."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9

    @property
    def sensitive(self) -> bool:
        """A secret; and so is what nobody declared, for it might be one."""
        return self in (Kind.PASSWORD, Kind.UNKNOWN)


WORDS = {
    Kind.BOOLEAN: "true or false",
    Kind.INT: "a whole number of 32 bits",
    Kind.SHORT: "a whole number of 16 bits",
    Kind.LONG: "a whole number of 64 bits",
    Kind.DOUBLE: "a number",
}

_BLANKS = "".join(map(chr, range(33)))
_MOST = {Kind.SHORT: MAX_SHORT, Kind.INT: MAX_INT, Kind.LONG: MAX_LONG}
_WHOLE = r"[+-]?\d+"
_DECIMAL = r"([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)[fFdD]?"
_HEXADECIMAL = r"([+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?"
_NAMED = {"NaN": "nan", "Infinity": "inf"}
_COMMA = r"[ \t\n\x0b\f\r]*,[ \t\n\x0b\f\r]*"
_LONGEST_NUMBER = 400


def parse(kind: Kind, text: str) -> Value:
    """The value of a text; ValueError says what would have been allowed."""
    trimmed = text.strip(_BLANKS)
    if kind is Kind.BOOLEAN:
        if trimmed.lower() not in ("true", "false"):
            raise ValueError(WORDS[kind])
        return trimmed.lower() == "true"
    if kind in _MOST:
        if len(trimmed) > _LONGEST_NUMBER or not re.fullmatch(_WHOLE, trimmed):
            raise ValueError(WORDS[kind])
        number = int(trimmed)
        if not -_MOST[kind] - 1 <= number <= _MOST[kind]:
            raise ValueError(WORDS[kind])
        return number
    if kind is Kind.DOUBLE:
        return _parse_double(trimmed)
    if kind is Kind.LIST:
        return tuple(re.split(_COMMA, trimmed)) if trimmed else ()
    return trimmed


def format_value(kind: Kind, value: Value) -> str | None:
    """The text of a value, as Apache Kafka shows it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    if kind is Kind.DOUBLE:
        return _format_double(float(value))
    return str(value)


def _parse_double(text: str) -> float:
    sign, unsigned = (text[:1], text[1:]) if text[:1] in ("+", "-") else ("", text)
    if unsigned in _NAMED:
        return float(sign + _NAMED[unsigned])
    if match := re.fullmatch(_DECIMAL, text):
        return float(match[1])
    if match := re.fullmatch(_HEXADECIMAL, text):
        try:
            return float.fromhex(match[1])
        except OverflowError:
            return float(sign + "inf")
    raise ValueError(WORDS[Kind.DOUBLE])


def _format_double(value: float) -> str:
    """Java's form: plain from 0.001 to below ten million, otherwise d.dddE±n."""
    if value != value:  # noqa: PLR0124 -- the one value that is not itself
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, scale = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(scale, int)
    first, *rest = map(str, digits)
    return f"{'-' * sign}{first}.{''.join(rest) or '0'}E{scale + len(rest)}"

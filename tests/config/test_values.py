from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.config.values import (
    MAX_INT,
    MAX_LONG,
    MAX_SHORT,
    ConfigError,
    Kind,
    Value,
    format_value,
    parse,
)
from quire.errors import ErrorCode


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Kind.BOOLEAN, " TRUE ", True),
        (Kind.BOOLEAN, "false", False),
        (Kind.INT, " 12 ", 12),
        (Kind.INT, "+5", 5),
        (Kind.INT, "\u0661", 1),
        (Kind.SHORT, "-32768", -32768),
        (Kind.LONG, "9223372036854775807", MAX_LONG),
        (Kind.DOUBLE, "1e3", 1000.0),
        (Kind.DOUBLE, "0.5f", 0.5),
        (Kind.DOUBLE, ".5", 0.5),
        (Kind.DOUBLE, "5.", 5.0),
        (Kind.DOUBLE, "0x1p3", 8.0),
        (Kind.DOUBLE, "-Infinity", -math.inf),
        (Kind.DOUBLE, "1e400", math.inf),
        (Kind.DOUBLE, "-0x1p9999", -math.inf),
        (Kind.STRING, " x y ", "x y"),
        (Kind.PASSWORD, " secret ", "secret"),
        (Kind.LIST, " ", ()),
        (Kind.LIST, " a , b ,c ", ("a", "b", "c")),
        (Kind.LIST, "a,,b", ("a", "", "b")),
        (Kind.LIST, "a,", ("a", "")),
    ],
)
def test_a_text_is_read_as_kafka_reads_it(kind: Kind, text: str, value: Value) -> None:
    assert parse(kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.BOOLEAN, "yes"),
        (Kind.BOOLEAN, "1"),
        (Kind.BOOLEAN, ""),
        (Kind.INT, ""),
        (Kind.INT, "1_000"),
        (Kind.INT, "0x1F"),
        (Kind.INT, "- 5"),
        (Kind.INT, "1.5"),
        (Kind.INT, str(MAX_INT + 1)),
        (Kind.INT, "9" * 100_000),
        (Kind.SHORT, str(MAX_SHORT + 1)),
        (Kind.LONG, str(MAX_LONG + 1)),
        (Kind.LONG, "1L"),
        (Kind.DOUBLE, "inf"),
        (Kind.DOUBLE, "1_0.5"),
        (Kind.DOUBLE, "0x1F"),
        (Kind.DOUBLE, "\u0661"),
    ],
)
def test_what_kafka_refuses_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(ValueError, match=r"number|true or false"):
        parse(kind, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1.0, "1.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (0.001, "0.001"),
        (1e-4, "1.0E-4"),
        (-1e-4, "-1.0E-4"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (2147483647.0, "2.147483647E9"),
        (-2147483647.0, "-2.147483647E9"),
        (1e16, "1.0E16"),
        (123456.789, "123456.789"),
        (0.0, "0.0"),
        (5.960464477539063e-08, "5.960464477539063E-8"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_a_double_is_written_as_java_writes_it(value: float, text: str) -> None:
    assert format_value(Kind.DOUBLE, value) == text


words = st.text(
    st.characters(codec="ascii", exclude_characters=", \t\n\x0b\f\r"), min_size=1
).filter(lambda text: all(character > " " for character in text))
values = st.one_of(
    st.tuples(st.just(Kind.BOOLEAN), st.booleans()),
    st.tuples(st.just(Kind.INT), st.integers(-MAX_INT - 1, MAX_INT)),
    st.tuples(st.just(Kind.LONG), st.integers(-MAX_LONG - 1, MAX_LONG)),
    st.tuples(st.just(Kind.DOUBLE), st.floats(allow_nan=False)),
    st.tuples(st.just(Kind.LIST), st.lists(words, max_size=4).map(tuple)),
    st.tuples(st.just(Kind.STRING), words),
)


@given(pair=values)
def test_what_is_written_reads_back(pair: tuple[Kind, Value]) -> None:
    kind, value = pair
    text = format_value(kind, value)
    assert text is not None
    assert parse(kind, text) == value


@given(kind=st.sampled_from(list(Kind)), text=st.text(max_size=30))
def test_any_text_is_a_value_or_a_value_error(kind: Kind, text: str) -> None:
    try:
        value = parse(kind, text)
    except ValueError:
        return
    assert format_value(kind, value) is not None


def test_no_value_has_no_text() -> None:
    assert format_value(Kind.LONG, None) is None


def test_secrets_and_unknown_settings_are_sensitive() -> None:
    assert [kind for kind in Kind if kind.sensitive] == [Kind.UNKNOWN, Kind.PASSWORD]


def test_an_error_can_be_answered_with_another_code() -> None:
    error = ConfigError("x is 1, but must be 2", setting="x")
    assert error.code is ErrorCode.INVALID_CONFIG
    other = error.answered_with(ErrorCode.INVALID_REQUEST)
    assert (other.message, other.setting) == (error.message, "x")
    assert other.code is ErrorCode.INVALID_REQUEST

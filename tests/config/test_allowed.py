from __future__ import annotations

import math

import pytest

from quire.config.allowed import (
    GZIP_LEVEL,
    HOST_AND_PORT,
    NOT_BLANK,
    OFFSET_RESET,
    SERVERS,
    THROTTLED,
    VOTERS,
    Allowed,
    Between,
    Items,
    OneOf,
)
from quire.config.values import Value


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (Between(1, None), [1, 2**40], [0, -5, "1"]),
        (Between(None, 9), [9, -9], [10]),
        (Between(0, 1), [0, 0.5, 1, math.nan], [1.5, -0.1]),
        (OneOf(("none", "all")), ["none"], ["NONE", ""]),
        (OneOf(("NONE", "ALL"), any_case=True), ["none", "All"], ["some"]),
        (Items(), [("a", "b")], [(), ("a", "")]),
        (Items(may_be_empty=True), [(), ("a",)], [("",)]),
        (Items(("a", "b"), may_be_empty=True), [(), ("b", "a")], [("c",)]),
        (GZIP_LEVEL, [-1, 1, 9], [0, 10, -2]),
        (NOT_BLANK, ["x"], [""]),
        (THROTTLED, [("*",), ("0:1", "1:2"), ()], [("x",), ("0:1", "*"), ("0:",)]),
        (VOTERS, [(), ("1@localhost:9093",)], [("garbage",), ("1@localhost",)]),
        (SERVERS, [(), ("a:1", "[::1]:2")], [("garbage",), ("a:",)]),
        (HOST_AND_PORT, ["", ":0", "localhost:9644", "[::1]:1"], ["9644", "a:b", "::1:1", "h:"]),
        (
            OFFSET_RESET,
            ["latest", "earliest", "by_duration:PT1H", "by_duration:P1DT2.5S"],
            ["LATEST", "by_duration:", "by_duration:P", "by_duration:PT", "by_duration:PT-1H"],
        ),
    ],
)
def test_a_rule_admits_what_it_says(rule: Allowed, good: list[Value], bad: list[Value]) -> None:
    assert [value for value in good if not rule.admits(value)] == []
    assert [value for value in bad if rule.admits(value)] == []
    assert rule.text


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Between(1, None), "at least 1"),
        (Between(None, 9), "at most 9"),
        (Between(0, 1), "from 0 to 1"),
        (OneOf(("a", "b")), "one of a, b"),
        (OneOf(("A",), any_case=True), "one of A in any case"),
        (Items(("a",)), "a list of a, without blank items, not empty"),
    ],
)
def test_a_rule_says_itself_in_words(rule: Allowed, text: str) -> None:
    assert rule.text == text

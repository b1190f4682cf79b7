from __future__ import annotations

import pytest

from quire.groups.consumer_patterns import compiled, matching

TOPICS = ("orders", "orders.eu", "orders-us", "returns", "__consumer_offsets")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("orders", ("orders",)),
        ("orders.*", ("orders", "orders-us", "orders.eu")),
        (r"orders\.[a-z]{2}", ("orders.eu",)),
        ("orders|returns", ("orders", "returns")),
        ("^ord.*s$", ("orders", "orders-us")),
        ("[[:alpha:]]+", ("orders", "returns")),
        ("(?:r|x)e(?P<rest>.*)", ("returns",)),
        ("(?<rest>re.*)", ("returns",)),
        (r"\Aorders\z", ("orders",)),
        (r"[\w.]+?", ("__consumer_offsets", "orders", "orders.eu", "returns")),
        ("order", ()),
    ],
)
def test_a_pattern_means_the_topics_whose_whole_name_it_matches(
    pattern: str, expected: tuple[str, ...]
) -> None:
    assert matching(pattern, TOPICS) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        "(a", "[a", "*", "a**", "a{2}{3}", r"(a)\1", "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "(?P=a)",
        "(?P<a>x)(?P=a)", "(?>a)", "a*+", "a?+", "a++", "a{2}+", "(?#x)", "(a)(?(1)b|c)", "a{1001}",
        "a\\",
    ],
)  # fmt: skip
def test_what_re2_has_not_is_no_pattern(pattern: str) -> None:
    assert compiled(pattern) is None
    assert matching(pattern, TOPICS) == ()


@pytest.mark.parametrize("pattern", ["[(?=]+", r"\(\?=", "[*+]+", r"a\*+", "a|b", "a{2,3}", ".+?"])
def test_signs_that_only_look_like_it_are_fine(pattern: str) -> None:
    assert compiled(pattern) is not None

from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.broker.config_changes import (
    broker_refusal,
    named_twice,
    nameless_value,
    own_number_refusal,
    unknown_type,
)
from quire.errors import ErrorCode
from quire.metadata.image import ConfigResource


def test_what_is_named_twice() -> None:
    a, b = ConfigResource(2, "a"), ConfigResource(4, "a")
    assert named_twice([a, b, a]) == {a}


def test_requests_that_make_no_sense() -> None:
    assert nameless_value("x").code is ErrorCode.INVALID_REQUEST
    assert unknown_type(3).code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("name", "is_own"), [("1", True), ("+1", True), ("2", False), ("x", False)]
)
def test_a_broker_answers_for_itself(name: str, is_own: bool) -> None:
    assert (own_number_refusal(Scene().broker, name) is None) is is_own


@pytest.mark.parametrize(
    ("name", "texts", "code"),
    [
        ("1", {"num.io.threads": "9"}, None),
        ("1", {"no.such": "1"}, None),
        ("1", {"num.io.threads": "x"}, ErrorCode.INVALID_REQUEST),
        ("1", {"num.io.threads": "99999"}, ErrorCode.INVALID_REQUEST),
        ("1", {"node.id": "9"}, ErrorCode.INVALID_REQUEST),
        ("2", {"num.io.threads": "9"}, ErrorCode.INVALID_REQUEST),
        ("1", {"min.insync.replicas": "2"}, ErrorCode.INVALID_CONFIG),
        ("", {"min.insync.replicas": "2"}, None),
        ("", {}, ErrorCode.INVALID_CONFIG),
        ("", {"min.insync.replicas": "1", "listeners": "A://:1"}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_changes_of_brokers(name: str, texts: dict[str, str], code: ErrorCode | None) -> None:
    refusal = broker_refusal(Scene().broker, name, lambda _current: texts)
    assert (refusal.code if refusal else None) == code

from __future__ import annotations

import pytest
from tests.broker.test_quotas import STATIC

from quire.broker.config_rules import SettingsRules
from quire.config.layers import BrokerLayers
from quire.errors import ErrorCode
from quire.metadata.image import BROKER, CLIENT_METRICS, GROUP, TOPIC, ConfigResource


def rules(**static: str) -> SettingsRules:
    more = {name.replace("_", "."): text for name, text in static.items()}
    return SettingsRules(lambda: BrokerLayers({**STATIC, **more}))


@pytest.mark.parametrize(
    ("kind", "key", "value", "code"),
    [
        (TOPIC, "retention.ms", "1000", None),
        (TOPIC, "retention.ms", "soon", ErrorCode.INVALID_CONFIG),
        (TOPIC, "no.such", "1", ErrorCode.INVALID_CONFIG),
        (GROUP, "consumer.session.timeout.ms", "50000", None),
        (GROUP, "consumer.session.timeout.ms", "1", ErrorCode.INVALID_CONFIG),
        (CLIENT_METRICS, "interval.ms", "1000", None),
        (CLIENT_METRICS, "interval.ms", "1", ErrorCode.INVALID_REQUEST),
        (BROKER, "num.io.threads", "x", None),
    ],
)
def test_what_is_judged_and_how(kind: int, key: str, value: str, code: ErrorCode | None) -> None:
    refusal = rules().refusal(ConfigResource(kind, "a"), {}, {key: value})
    assert (refusal.code if refusal else None) == code
    assert refusal is None or key in str(refusal.message)


def test_lists_have_defaults_and_nothing_else_has() -> None:
    assert rules().list_default(TOPIC, "cleanup.policy") == ["delete"]
    assert rules().list_default(TOPIC, "leader.replication.throttled.replicas") == []
    assert rules().list_default(TOPIC, "retention.ms") is None
    assert rules().list_default(TOPIC, "no.such") is None
    assert rules().list_default(BROKER, "cordoned.log.dirs") == []


def test_a_new_topic_is_described_with_what_it_inherits() -> None:
    found = {
        one.name: one
        for one in rules(log_segment_bytes="2000000").describe_topic({"retention.ms": "5"})
    }
    assert (found["retention.ms"].value, found["retention.ms"].config_source) == ("5", 1)
    assert (found["segment.bytes"].value, found["segment.bytes"].config_source) == ("2000000", 4)
    assert (found["cleanup.policy"].value, found["cleanup.policy"].config_source) == ("delete", 5)
    assert not any(one.read_only or one.is_sensitive for one in found.values())

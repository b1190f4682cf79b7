from __future__ import annotations

import dataclasses

from quire.config.layers import BrokerLayers
from quire.config.topic import log_values
from quire.storage.settings import LogSettings


def test_a_log_gets_every_value_of_its_view(layers: BrokerLayers) -> None:
    values = log_values(layers.topic(), layers.settings)
    assert set(values) == {field.name for field in dataclasses.fields(LogSettings)}
    assert LogSettings(**values) == LogSettings()


def test_a_log_obeys_its_topic(layers: BrokerLayers) -> None:
    topic = layers.topic(
        {"segment.bytes": "2000000", "cleanup.policy": "compact", "internal.segment.bytes": "100"}
    )
    assert (topic.segment_bytes, topic.cleanup_policy_compact) == (2_000_000, True)
    settings = LogSettings(**log_values(topic, layers.settings))
    assert (settings.segment_bytes, settings.cleanup_policy_delete) == (100, False)


def test_an_empty_policy_keeps_everything(layers: BrokerLayers) -> None:
    topic = layers.topic({"cleanup.policy": ""})
    assert not topic.cleanup_policy_compact
    assert not topic.cleanup_policy_delete

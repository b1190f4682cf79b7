from __future__ import annotations

import click
import pytest

from quire.metadata.image import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC
from quire.tools.config.entity import Entity, EntityType


@pytest.mark.parametrize(
    ("text", "entity", "node_id"),
    [
        ("topic:orders", Entity(TOPIC, "orders"), None),
        ("broker:3", Entity(BROKER, "3"), 3),
        ("logger:3", Entity(BROKER_LOGGER, "3"), 3),
        ("brokers", Entity(BROKER, ""), None),
        ("group:g:1", Entity(GROUP, "g:1"), None),
        ("client-metrics:m", Entity(CLIENT_METRICS, "m"), None),
    ],
)
def test_what_is_typed_names_a_resource_and_the_broker_to_ask(text, entity, node_id) -> None:
    found = EntityType().convert(text, None, None)
    assert found == entity
    assert str(found) == text
    assert found.node_id == node_id


@pytest.mark.parametrize("text", ["orders", "topic:", "topik:orders", "broker:one"])
def test_what_names_nothing_is_refused(text) -> None:
    with pytest.raises(click.BadParameter):
        EntityType().convert(text, None, None)

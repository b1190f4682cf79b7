from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.list_config_resources import ListConfigResourcesRequest


@pytest.fixture
def scene() -> Scene:
    found = Scene(brokers=2)
    found.topic("t")
    found.world.set(32, "g", "consumer.session.timeout.ms", "50000")
    found.world.set(16, "m", "interval.ms", "1000")
    found.catch_up()
    return found


@pytest.mark.parametrize(
    ("types", "names"),
    [
        ([], {(2, "t"), (4, "1"), (4, "2"), (8, "1"), (8, "2"), (16, "m"), (32, "g")}),
        ([2, 32], {(2, "t"), (32, "g")}),
        ([4, 4], {(4, "1"), (4, "2")}),
    ],
)
def test_names_of_some_types(scene: Scene, types: list[int], names: set[tuple[int, str]]) -> None:
    response = scene.ask(ListConfigResourcesRequest(resource_types=types))
    found = [(one.resource_type, one.resource_name) for one in response.config_resources]
    assert len(found) == len(names)
    assert set(found) == names


def test_the_first_version_knows_subscriptions_only(scene: Scene) -> None:
    response = scene.ask(ListConfigResourcesRequest(), 0)
    assert [one.resource_name for one in response.config_resources] == ["m"]


def test_a_type_that_cannot_be_listed(scene: Scene) -> None:
    response = scene.ask(ListConfigResourcesRequest(resource_types=[2, 3]))
    assert (response.error_code, response.config_resources) == (ErrorCode.UNSUPPORTED_VERSION, [])

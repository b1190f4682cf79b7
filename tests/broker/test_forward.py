from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.broker.scene import BY_CONTROLLER, Scene

from quire.broker.call import Client
from quire.broker.forward import forward
from quire.errors import ErrorCode
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import update_features as features


def create(timeout_ms: int = 60_000) -> creating.CreateTopicsRequest:
    topic = creating.CreatableTopic(
        name="a", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    return creating.CreateTopicsRequest(topics=[topic], timeout_ms=timeout_ms)


def asked(scene: Scene, request: Any, version: int, client: Client | None = None) -> Any:
    call = scene.call(request, version) if client is None else scene.call(request, version, client)
    return asyncio.run(forward(scene.broker, call))


def test_while_there_is_no_controller_a_request_waits() -> None:
    scene = Scene()
    scene.link.away = 2
    assert asked(scene, create(), 7).topics[0].error_code == ErrorCode.NONE


def test_nobody_waits_for_ever() -> None:
    scene = Scene(request_timeout_ms="120")
    scene.link.away = 1000
    assert asked(scene, create(), 7).topics[0].error_code == ErrorCode.REQUEST_TIMED_OUT


def test_on_a_controllers_listener_it_is_this_one_or_nobody() -> None:
    scene = Scene()
    scene.link.away = 1
    response = asked(scene, create(), 7, BY_CONTROLLER)
    assert response.topics[0].error_code == ErrorCode.NOT_CONTROLLER


@pytest.mark.parametrize("timeout_ms", [0, -7])
def test_without_time_left_nobody_is_asked_but_for_kinds_that_ignore_it(timeout_ms: int) -> None:
    scene = Scene()
    before = len(scene.link.asked)
    response = asked(scene, create(timeout_ms), 7)
    assert response.topics[0].error_code == ErrorCode.REQUEST_TIMED_OUT
    assert len(scene.link.asked) == before
    request = features.UpdateFeaturesRequest(timeout_ms=timeout_ms, feature_updates=[])
    assert asked(scene, request, 1).error_code != ErrorCode.REQUEST_TIMED_OUT

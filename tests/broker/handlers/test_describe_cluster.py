from __future__ import annotations

from typing import Any

import pytest
from tests.broker.scene import ALICE, BY_CONTROLLER, Scene
from tests.controller.world import incarnation

from quire.broker.permitted import CLUSTER_OPERATIONS, UNSAID
from quire.errors import ErrorCode
from quire.metadata.features import FEATURES
from quire.protocol.messages import controller_registration as registrations
from quire.protocol.messages.describe_cluster import DescribeClusterRequest


def asked(**more: Any) -> DescribeClusterRequest:
    more.setdefault("include_cluster_authorized_operations", False)
    return DescribeClusterRequest(**more)


@pytest.mark.parametrize("version", range(3))
def test_brokers_are_told(version: int) -> None:
    response = Scene(brokers=2).ask(asked(), version)
    assert response.error_code == ErrorCode.NONE
    assert [(one.broker_id, one.port, one.is_fenced) for one in response.brokers] == [
        (1, 9093, False), (2, 9094, False),
    ]  # fmt: skip
    assert response.cluster_authorized_operations == UNSAID
    assert response.controller_id in (1, 2)


def test_operations_are_told_to_who_asks() -> None:
    response = Scene().ask(asked(include_cluster_authorized_operations=True))
    assert response.cluster_authorized_operations == CLUSTER_OPERATIONS


def test_fenced_brokers_are_told_when_they_are_asked_for() -> None:
    scene = Scene(brokers=2)
    scene.world.lose(2)
    scene.catch_up()
    assert [one.broker_id for one in scene.ask(asked()).brokers] == [1]
    told = scene.ask(asked(include_fenced_brokers=True)).brokers
    assert [(one.broker_id, one.is_fenced) for one in told] == [(1, False), (2, True)]


def test_version_0_knows_no_kinds_and_is_an_invalid_request_to_a_controller() -> None:
    response = Scene().ask(asked(), 0, client=BY_CONTROLLER)
    assert response.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("kind", "by_controller", "code"),
    [
        (2, False, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (1, True, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (0, False, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
        (3, True, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
    ],
)
def test_the_other_kind_is_refused(kind: int, by_controller: bool, code: ErrorCode) -> None:
    client = BY_CONTROLLER if by_controller else ALICE
    response = Scene().ask(asked(endpoint_type=kind), client=client)
    assert response.error_code == code
    assert response.brokers == []
    assert response.error_message


def test_controllers_are_told_on_their_listener() -> None:
    scene = Scene()
    request = registrations.ControllerRegistrationRequest(
        controller_id=1,
        incarnation_id=incarnation(50),
        zk_migration_ready=False,
        listeners=[
            registrations.Listener(name="CONTROLLER", host="c1", port=9093, security_protocol=0)
        ],
        features=[
            registrations.Feature(
                name=one.name, min_supported_version=one.lowest, max_supported_version=one.highest
            )
            for one in FEATURES
        ],
    )
    assert scene.ask(request, client=BY_CONTROLLER).error_code == ErrorCode.NONE
    response = scene.ask(asked(endpoint_type=2), client=BY_CONTROLLER)
    assert [(one.broker_id, one.host, one.port) for one in response.brokers] == [(1, "c1", 9093)]
    assert (response.controller_id, response.endpoint_type) == (1, 2)

"""DescribeCluster: the nodes of the kind that the listener belongs to, with their addresses on it.

Asked on a broker's listener it tells of brokers, on a controller's of controllers; asked for the other kind it refuses.

Versions   1 says which kind is wanted · 2 brokers that are fenced too, when they are asked for
Not here   permission (dispatch).
See        KIP-700, KIP-919, KIP-1073
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.forward import comes_by_controller
from quire.broker.nodes import NOBODY, Node, alive_nodes, endpoint_of, some_broker
from quire.broker.permitted import CLUSTER_OPERATIONS, UNSAID
from quire.errors import ErrorCode
from quire.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

ENDPOINT_TYPES_SINCE: Final = 1


class EndpointType(IntEnum):
    """Which nodes are meant."""

    BROKER = 1
    CONTROLLER = 2


def handle(broker: Broker, call: Call) -> DescribeClusterResponse:
    """Answer; see the module."""
    request: DescribeClusterRequest = call.request
    by_controller = comes_by_controller(broker, call)
    here = EndpointType.CONTROLLER if by_controller else EndpointType.BROKER
    if request.endpoint_type != here:
        return _refused(request.endpoint_type, here, call.version)
    nodes: Iterable[Node]
    if by_controller:
        nodes, controller_id = _controllers(broker, call), broker.quorum.leader_id
    else:
        nodes = alive_nodes(
            broker.image, call.client.listener, with_fenced=request.include_fenced_brokers
        ).values()
        controller_id = some_broker(broker.image, broker.entropy)
    asks = request.include_cluster_authorized_operations
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        endpoint_type=here,
        cluster_id=broker.cluster_id,
        controller_id=controller_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=one.broker_id,
                host=one.host,
                port=one.port,
                rack=one.rack,
                is_fenced=one.is_fenced,
            )
            for one in nodes
        ],
        cluster_authorized_operations=CLUSTER_OPERATIONS if asks else UNSAID,
    )


def _controllers(broker: Broker, call: Call) -> list[Node]:
    found = []
    for controller in broker.image.controllers.values():
        endpoint = endpoint_of(controller.endpoints, call.client.listener)
        if endpoint is not None:
            found.append(
                Node(controller.controller_id, endpoint.host, endpoint.port, None, is_fenced=False)
            )
    return found


def _refused(asked: int, here: EndpointType, version: int) -> DescribeClusterResponse:
    known = asked in list(EndpointType)
    code = ErrorCode.MISMATCHED_ENDPOINT_TYPE if known else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=code if version >= ENDPOINT_TYPES_SINCE else ErrorCode.INVALID_REQUEST,
        error_message=f"this listener tells of {here.name.lower()}s only"
        if known
        else f"{asked} is no kind of endpoint",
        cluster_id="",
        controller_id=NOBODY,
        brokers=[],
    )

"""ListConfigResources: the names of what has settings, or may have some.

Topics and brokers are all that there are; groups and subscriptions to client metrics those that somebody configured.
An empty list of types asks for all types.

Versions   0 subscriptions only · 1 any type; one that cannot be listed refuses the request: UNSUPPORTED_VERSION
See        KIP-714, KIP-1142
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.metadata.image import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC, Image
from quire.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

TYPES: Final = (GROUP, CLIENT_METRICS, BROKER_LOGGER, BROKER, TOPIC)


def handle(broker: Broker, call: Call) -> ListConfigResourcesResponse:
    """Answer; see the module."""
    request: ListConfigResourcesRequest = call.request
    if call.version == 0:
        wanted: list[int] = [CLIENT_METRICS]
    else:
        wanted = list(dict.fromkeys(request.resource_types)) or list(TYPES)
    if not set(wanted) <= set(TYPES):
        return ListConfigResourcesResponse(
            throttle_time_ms=0, error_code=ErrorCode.UNSUPPORTED_VERSION, config_resources=[]
        )
    return ListConfigResourcesResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in wanted
            for name in _names(broker.image, kind)
        ],
    )


def _names(image: Image, kind: int) -> list[str]:
    if kind == TOPIC:
        return list(image.topics)
    if kind in (BROKER, BROKER_LOGGER):
        return [str(broker_id) for broker_id in image.brokers]
    return [one.name for one in image.configs if one.resource_type == kind]

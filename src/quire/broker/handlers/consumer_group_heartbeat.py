"""ConsumerGroupHeartbeat: join a consumer group, stay in it, change what is read, leave.

Versions   1 patterns; member ids are made by clients
Not here   groups (quire.groups).
See        KIP-848, KIP-1082
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call, Progress
from quire.broker.group_requests import pass_on
from quire.errors import ErrorCode
from quire.metadata.features import GROUP_VERSION
from quire.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

PROTOCOL: Final = "consumer"


def handle(broker: Broker, call: Call) -> Progress | ConsumerGroupHeartbeatResponse:
    """Pass on, where the protocol is spoken; see the module."""
    if not is_spoken(broker):
        return _refuse(ErrorCode.UNSUPPORTED_VERSION)
    return pass_on(broker, call, call.request.group_id, _refuse)


def is_spoken(broker: Broker) -> bool:
    """Whether consumer groups are switched on: by the broker's settings, and by the cluster's level."""
    spoken = broker.layers.settings.group_coordinator_rebalance_protocols
    return PROTOCOL in spoken and broker.image.features.get(GROUP_VERSION, 0) > 0


def _refuse(code: ErrorCode) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(
        throttle_time_ms=0, error_code=code, member_epoch=0, heartbeat_interval_ms=0
    )

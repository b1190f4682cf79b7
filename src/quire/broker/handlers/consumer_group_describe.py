"""ConsumerGroupDescribe: the state and the members of consumer groups.

Versions   1 of each member, which protocol it speaks
Not here   groups (quire.groups).
See        KIP-848, KIP-1099
"""

from __future__ import annotations

from functools import partial

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, take_apart
from quire.broker.handlers.consumer_group_heartbeat import is_spoken
from quire.broker.handlers.describe_groups import GROUP_OPERATIONS
from quire.errors import ErrorCode
from quire.groups.consumer_describing import DescribeConsumerGroup, undescribed
from quire.protocol.messages import consumer_group_describe as describing


def handle(broker: Broker, call: Call) -> object:
    """Ask each group's coordinator; see the module."""
    request: describing.ConsumerGroupDescribeRequest = call.request
    if not is_spoken(broker):
        code = ErrorCode.UNSUPPORTED_VERSION
        return describing.ConsumerGroupDescribeResponse(
            throttle_time_ms=0, groups=[undescribed(one, code) for one in request.group_ids]
        )
    groups = broker.groups
    parts = [
        Part(groups.partition_for(one), DescribeConsumerGroup(one), partial(undescribed, one))
        for one in request.group_ids
    ]

    def finish(found: list[describing.DescribedGroup]) -> describing.ConsumerGroupDescribeResponse:
        if request.include_authorized_operations:
            for one in found:
                if one.error_code == ErrorCode.NONE:
                    one.authorized_operations = GROUP_OPERATIONS
        return describing.ConsumerGroupDescribeResponse(throttle_time_ms=0, groups=found)

    return take_apart(broker, call, parts, finish)

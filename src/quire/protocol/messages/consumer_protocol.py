"""What classic consumers put into the group protocol's opaque bytes."""

from __future__ import annotations

from quire.protocol.schema import NEVER, Int32, field, message, structure


@structure
class ConsumerProtocolAssignmentTopicPartition:
    topic: str
    partitions: list[Int32]


@message(kind="data", versions=(0, 3), flexible=NEVER)
class ConsumerProtocolAssignment:
    """What a classic consumer got."""

    assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition]
    user_data: bytes | None = field(default=None)


@structure
class ConsumerProtocolSubscriptionTopicPartition:
    topic: str
    partitions: list[Int32]


@message(kind="data", versions=(0, 3), flexible=NEVER)
class ConsumerProtocolSubscription:
    """What a classic consumer wants. v1 owned partitions (KIP-429) · v2 generation (KIP-792) ·
    v3 rack (KIP-881).
    """

    topics: list[str]
    user_data: bytes | None = field(default=None)
    owned_partitions: list[ConsumerProtocolSubscriptionTopicPartition] = field(
        since=1, default=[], ignorable=True
    )
    generation_id: Int32 = field(since=2, default=-1, ignorable=True)
    rack_id: str | None = field(since=3, default=None, ignorable=True)

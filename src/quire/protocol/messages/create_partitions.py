"""CreatePartitions (key 37)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, field, message, structure


@structure
class CreatePartitionsAssignment:
    broker_ids: list[Int32]


@structure
class CreatePartitionsTopic:
    name: str
    count: Int32
    assignments: list[CreatePartitionsAssignment] | None


@message(key=37, versions=(0, 3), flexible=2)
class CreatePartitionsRequest:
    """Give topics more partitions (KIP-195). v3 quota on mutations (KIP-599)."""

    topics: list[CreatePartitionsTopic]
    timeout_ms: Int32
    validate_only: Bool


@structure
class CreatePartitionsTopicResult:
    name: str
    error_code: Int16
    error_message: str | None = field(default=None)


@message(key=37, versions=(0, 3), flexible=2)
class CreatePartitionsResponse:
    """What became of each topic."""

    throttle_time_ms: Int32
    results: list[CreatePartitionsTopicResult]

"""DeleteShareGroupOffsets (key 92)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Uuid, field, message, structure


@structure
class DeleteShareGroupOffsetsRequestTopic:
    topic_name: str


@message(key=92, versions=(0, 0), flexible=0)
class DeleteShareGroupOffsetsRequest:
    """Forget topics of a share group (KIP-932)."""

    group_id: str
    topics: list[DeleteShareGroupOffsetsRequestTopic]


@structure
class DeleteShareGroupOffsetsResponseTopic:
    topic_name: str
    topic_id: Uuid
    error_code: Int16
    error_message: str | None = field(default=None)


@message(key=92, versions=(0, 0), flexible=0)
class DeleteShareGroupOffsetsResponse:
    """What became of each topic."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    responses: list[DeleteShareGroupOffsetsResponseTopic]

"""DeleteTopics (key 20)."""

from __future__ import annotations

from quire.protocol.schema import ZERO_UUID, Int16, Int32, Uuid, field, message, structure


@structure
class DeleteTopicState:
    name: str | None = field(default=None)
    topic_id: Uuid


@message(key=20, versions=(1, 6), flexible=4)
class DeleteTopicsRequest:
    """Remove topics by name; since v6 by id also (KIP-516)."""

    topics: list[DeleteTopicState] = field(since=6, default=[])
    topic_names: list[str] = field(until=5, default=[], ignorable=True)
    timeout_ms: Int32


@structure
class DeletableTopicResult:
    name: str | None = field(nullable_since=6)
    topic_id: Uuid = field(since=6, default=ZERO_UUID, ignorable=True)
    error_code: Int16
    error_message: str | None = field(since=5, default=None, ignorable=True)


@message(key=20, versions=(1, 6), flexible=4)
class DeleteTopicsResponse:
    """What became of each deletion. v5 error message · v6 topic id."""

    throttle_time_ms: Int32
    responses: list[DeletableTopicResult]

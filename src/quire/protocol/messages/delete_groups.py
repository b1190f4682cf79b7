"""DeleteGroups (key 42)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, message, structure


@message(key=42, versions=(0, 2), flexible=2)
class DeleteGroupsRequest:
    """Remove empty groups (KIP-229)."""

    groups_names: list[str]


@structure
class DeletableGroupResult:
    group_id: str
    error_code: Int16


@message(key=42, versions=(0, 2), flexible=2)
class DeleteGroupsResponse:
    """An error code for each group."""

    throttle_time_ms: Int32
    results: list[DeletableGroupResult]

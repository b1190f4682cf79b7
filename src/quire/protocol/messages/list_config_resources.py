"""ListConfigResources (key 74)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, field, message, structure


@message(key=74, versions=(0, 1), flexible=0)
class ListConfigResourcesRequest:
    """Names of things that have settings (KIP-714); v1 of any type (KIP-1142)."""

    resource_types: list[Int8] = field(since=1, default=[])


@structure
class ConfigResource:
    resource_name: str
    resource_type: Int8 = field(since=1, default=16, ignorable=True)


@message(key=74, versions=(0, 1), flexible=0)
class ListConfigResourcesResponse:
    """The names. v1 with types."""

    throttle_time_ms: Int32
    error_code: Int16
    config_resources: list[ConfigResource]

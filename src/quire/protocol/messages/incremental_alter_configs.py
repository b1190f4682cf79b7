"""IncrementalAlterConfigs (key 44)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, message, structure


@structure
class AlterableConfig:
    name: str
    config_operation: Int8
    value: str | None


@structure
class AlterConfigsResource:
    resource_type: Int8
    resource_name: str
    configs: list[AlterableConfig]


@message(key=44, versions=(0, 1), flexible=1)
class IncrementalAlterConfigsRequest:
    """Set, delete, append to, subtract from settings (KIP-339)."""

    resources: list[AlterConfigsResource]
    validate_only: Bool


@structure
class AlterConfigsResourceResponse:
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str


@message(key=44, versions=(0, 1), flexible=1)
class IncrementalAlterConfigsResponse:
    """What became of each resource."""

    throttle_time_ms: Int32
    responses: list[AlterConfigsResourceResponse]

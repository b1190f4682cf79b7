"""AlterConfigs (key 33)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, message, structure


@structure
class AlterableConfig:
    name: str
    value: str | None


@structure
class AlterConfigsResource:
    resource_type: Int8
    resource_name: str
    configs: list[AlterableConfig]


@message(key=33, versions=(0, 2), flexible=2)
class AlterConfigsRequest:
    """Replace all the settings of a resource (superseded by IncrementalAlterConfigs)."""

    resources: list[AlterConfigsResource]
    validate_only: Bool


@structure
class AlterConfigsResourceResponse:
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str


@message(key=33, versions=(0, 2), flexible=2)
class AlterConfigsResponse:
    """What became of each resource."""

    throttle_time_ms: Int32
    responses: list[AlterConfigsResourceResponse]

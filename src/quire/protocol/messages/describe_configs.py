"""DescribeConfigs (key 32)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, field, message, structure


@structure
class DescribeConfigsResource:
    resource_type: Int8
    resource_name: str
    configuration_keys: list[str] | None


@message(key=32, versions=(1, 4), flexible=4)
class DescribeConfigsRequest:
    """Read settings. v1 synonyms (KIP-226) · v3 documentation (KIP-569)."""

    resources: list[DescribeConfigsResource]
    include_synonyms: Bool = field(default=False)
    include_documentation: Bool = field(since=3, default=False)


@structure
class DescribeConfigsSynonym:
    name: str
    value: str | None
    source: Int8


@structure
class DescribeConfigsResourceResult:
    name: str
    value: str | None
    read_only: Bool
    config_source: Int8 = field(default=-1)
    is_sensitive: Bool
    synonyms: list[DescribeConfigsSynonym]
    config_type: Int8 = field(since=3, default=0, ignorable=True)
    documentation: str | None = field(since=3, default="", ignorable=True)


@structure
class DescribeConfigsResult:
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str
    configs: list[DescribeConfigsResourceResult]


@message(key=32, versions=(1, 4), flexible=4)
class DescribeConfigsResponse:
    """Settings, where they come from, what they mean. v1 synonyms · v3 type and documentation."""

    throttle_time_ms: Int32
    results: list[DescribeConfigsResult]

"""DescribeClientQuotas (key 48)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Float64, Int8, Int16, Int32, message, structure


@structure
class ComponentData:
    entity_type: str
    match_type: Int8
    match: str | None


@message(key=48, versions=(0, 1), flexible=1)
class DescribeClientQuotasRequest:
    """Find quotas by entity (KIP-546)."""

    components: list[ComponentData]
    strict: Bool


@structure
class EntityData:
    entity_type: str
    entity_name: str | None


@structure
class ValueData:
    key: str
    value: Float64


@structure
class EntryData:
    entity: list[EntityData]
    values: list[ValueData]


@message(key=48, versions=(0, 1), flexible=1)
class DescribeClientQuotasResponse:
    """Entities and their quota values."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    entries: list[EntryData] | None

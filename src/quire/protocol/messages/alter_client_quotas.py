"""AlterClientQuotas (key 49)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Float64, Int16, Int32, message, structure


@structure
class AlterClientQuotasRequestEntityData:
    entity_type: str
    entity_name: str | None


@structure
class OpData:
    key: str
    value: Float64
    remove: Bool


@structure
class AlterClientQuotasRequestEntryData:
    entity: list[AlterClientQuotasRequestEntityData]
    ops: list[OpData]


@message(key=49, versions=(0, 1), flexible=1)
class AlterClientQuotasRequest:
    """Set or remove quota values (KIP-546)."""

    entries: list[AlterClientQuotasRequestEntryData]
    validate_only: Bool


@structure
class AlterClientQuotasResponseEntityData:
    entity_type: str
    entity_name: str | None


@structure
class AlterClientQuotasResponseEntryData:
    error_code: Int16
    error_message: str | None
    entity: list[AlterClientQuotasResponseEntityData]


@message(key=49, versions=(0, 1), flexible=1)
class AlterClientQuotasResponse:
    """What became of each entity."""

    throttle_time_ms: Int32
    entries: list[AlterClientQuotasResponseEntryData]

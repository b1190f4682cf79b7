"""ControllerRegistration (key 70)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, UInt16, Uuid, message, structure


@structure
class Listener:
    name: str
    host: str
    port: UInt16
    security_protocol: Int16


@structure
class Feature:
    name: str
    min_supported_version: Int16
    max_supported_version: Int16


@message(key=70, versions=(0, 0), flexible=0)
class ControllerRegistrationRequest:
    """A controller tells the active one what it supports (KIP-919)."""

    controller_id: Int32
    incarnation_id: Uuid
    zk_migration_ready: Bool
    listeners: list[Listener]
    features: list[Feature]


@message(key=70, versions=(0, 0), flexible=0)
class ControllerRegistrationResponse:
    """Whether it was noted."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None

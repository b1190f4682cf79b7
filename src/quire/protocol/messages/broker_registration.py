"""BrokerRegistration (key 62)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Int64, UInt16, Uuid, field, message, structure


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


@message(key=62, versions=(0, 4), flexible=0)
class BrokerRegistrationRequest:
    """A broker starts and asks to join (KIP-631). v2 log directories (KIP-858) · v3 previous
    epoch (KIP-966) · v4 cordoned directories (KIP-1066).
    """

    broker_id: Int32
    cluster_id: str
    incarnation_id: Uuid
    listeners: list[Listener]
    features: list[Feature]
    rack: str | None
    is_migrating_zk_broker: Bool = field(since=1, default=False)
    log_dirs: list[Uuid] = field(since=2, default=[], ignorable=True)
    previous_broker_epoch: Int64 = field(since=3, default=-1, ignorable=True)


@message(key=62, versions=(0, 4), flexible=0)
class BrokerRegistrationResponse:
    """The broker's epoch."""

    throttle_time_ms: Int32
    error_code: Int16
    broker_epoch: Int64 = field(default=-1)

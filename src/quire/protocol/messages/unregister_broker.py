"""UnregisterBroker (key 64)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, message


@message(key=64, versions=(0, 0), flexible=0)
class UnregisterBrokerRequest:
    """Remove a broker that will not return (KIP-631)."""

    broker_id: Int32


@message(key=64, versions=(0, 0), flexible=0)
class UnregisterBrokerResponse:
    """Whether it was removed."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None

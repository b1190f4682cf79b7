"""ExpireDelegationToken (key 40)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, message


@message(key=40, versions=(1, 2), flexible=2)
class ExpireDelegationTokenRequest:
    """Shorten a token's life, or end it (KIP-48)."""

    hmac: bytes
    expiry_time_period_ms: Int64


@message(key=40, versions=(1, 2), flexible=2)
class ExpireDelegationTokenResponse:
    """The new time of expiry."""

    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32

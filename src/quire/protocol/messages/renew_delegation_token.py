"""RenewDelegationToken (key 39)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, message


@message(key=39, versions=(1, 2), flexible=2)
class RenewDelegationTokenRequest:
    """Prolong a token (KIP-48)."""

    hmac: bytes
    renew_period_ms: Int64


@message(key=39, versions=(1, 2), flexible=2)
class RenewDelegationTokenResponse:
    """The new time of expiry."""

    error_code: Int16
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32

"""CreateDelegationToken (key 38)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, field, message, structure


@structure
class CreatableRenewers:
    principal_type: str
    principal_name: str


@message(key=38, versions=(1, 3), flexible=2)
class CreateDelegationTokenRequest:
    """Make a delegation token (KIP-48). v3 for another owner (KIP-373)."""

    owner_principal_type: str | None = field(since=3, default="")
    owner_principal_name: str | None = field(since=3, default="")
    renewers: list[CreatableRenewers]
    max_lifetime_ms: Int64


@message(key=38, versions=(1, 3), flexible=2)
class CreateDelegationTokenResponse:
    """The token, its times and its secret. v3 requester."""

    error_code: Int16
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = field(since=3, default="")
    token_requester_principal_name: str = field(since=3, default="")
    issue_timestamp_ms: Int64
    expiry_timestamp_ms: Int64
    max_timestamp_ms: Int64
    token_id: str
    hmac: bytes
    throttle_time_ms: Int32

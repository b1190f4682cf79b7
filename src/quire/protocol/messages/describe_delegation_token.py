"""DescribeDelegationToken (key 41)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, field, message, structure


@structure
class DescribeDelegationTokenOwner:
    principal_type: str
    principal_name: str


@message(key=41, versions=(1, 3), flexible=2)
class DescribeDelegationTokenRequest:
    """Tokens of the owners named, or all (KIP-48)."""

    owners: list[DescribeDelegationTokenOwner] | None


@structure
class DescribedDelegationTokenRenewer:
    principal_type: str
    principal_name: str


@structure
class DescribedDelegationToken:
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = field(since=3, default="")
    token_requester_principal_name: str = field(since=3, default="")
    issue_timestamp: Int64
    expiry_timestamp: Int64
    max_timestamp: Int64
    token_id: str
    hmac: bytes
    renewers: list[DescribedDelegationTokenRenewer]


@message(key=41, versions=(1, 3), flexible=2)
class DescribeDelegationTokenResponse:
    """The tokens. v3 requester (KIP-373)."""

    error_code: Int16
    tokens: list[DescribedDelegationToken]
    throttle_time_ms: Int32

"""SaslAuthenticate (key 36)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int64, field, message


@message(key=36, versions=(0, 2), flexible=2)
class SaslAuthenticateRequest:
    """One token of the SASL exchange (KIP-152)."""

    auth_bytes: bytes


@message(key=36, versions=(0, 2), flexible=2)
class SaslAuthenticateResponse:
    """The server's token. v1 lifetime of the session (KIP-368)."""

    error_code: Int16
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: Int64 = field(since=1, default=0, ignorable=True)

"""SaslHandshake (key 17)."""

from __future__ import annotations

from quire.protocol.schema import NEVER, Int16, message


@message(key=17, versions=(0, 1), flexible=NEVER)
class SaslHandshakeRequest:
    """Choose a mechanism. v1 wraps the tokens in SaslAuthenticate (KIP-152)."""

    mechanism: str


@message(key=17, versions=(0, 1), flexible=NEVER)
class SaslHandshakeResponse:
    """The mechanisms on offer."""

    error_code: Int16
    mechanisms: list[str]

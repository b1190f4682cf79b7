"""SaslAuthenticate: one token of an exchange.

Comes here only where it makes no sense: on a listener without SASL, or once the client is known. ILLEGAL_SASL_STATE.

Versions   1 how long the session lives · 2 flexible
Not here   the exchange itself, which goes before any handler.
See        KIP-152, KIP-368
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.protocol.messages.sasl_authenticate import SaslAuthenticateResponse


def handle(_broker: Broker, _call: Call) -> SaslAuthenticateResponse:
    """Refuse."""
    return SaslAuthenticateResponse(
        error_code=ErrorCode.ILLEGAL_SASL_STATE,
        error_message="nothing is authenticated on this connection, or not any more",
        auth_bytes=b"",
    )

"""SaslHandshake: which mechanism a client authenticates by.

Comes here only where it makes no sense: on a listener without SASL, or once the client is known. ILLEGAL_SASL_STATE.

Versions   1 tokens then travel in SaslAuthenticate
Not here   the exchange itself, which goes before any handler.
See        KIP-43, KIP-152
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.protocol.messages.sasl_handshake import SaslHandshakeResponse


def handle(_broker: Broker, _call: Call) -> SaslHandshakeResponse:
    """Refuse."""
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=[])

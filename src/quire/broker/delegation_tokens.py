"""Whether a client may ask for delegation tokens at all.

Only over a connection that says who asks; and only where tokens are made, which needs delegation.token.secret.key.
Quire makes none yet: whoever gets so far is told that they are switched off.

See        KIP-48
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import ANONYMOUS, Call
from quire.config.broker.endpoints import protocol_map
from quire.errors import ErrorCode


def token_refusal(broker: Broker, call: Call) -> ErrorCode:
    """Why there is no token for who asks."""
    protocol = protocol_map(broker.layers.settings).get(call.client.listener, "PLAINTEXT")
    is_nobody = protocol == "SSL" and call.client.principal == ANONYMOUS
    if protocol == "PLAINTEXT" or is_nobody:
        return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    return ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED

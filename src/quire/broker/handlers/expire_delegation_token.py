"""ExpireDelegationToken: a token's time ends, now or at a given time. Refused: see delegation_tokens.

Versions   2 flexible
See        KIP-48
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.delegation_tokens import token_refusal
from quire.protocol.messages.expire_delegation_token import ExpireDelegationTokenResponse

NEVER = -1


def handle(broker: Broker, call: Call) -> ExpireDelegationTokenResponse:
    """Refuse."""
    return ExpireDelegationTokenResponse(
        error_code=token_refusal(broker, call), expiry_timestamp_ms=NEVER, throttle_time_ms=0
    )

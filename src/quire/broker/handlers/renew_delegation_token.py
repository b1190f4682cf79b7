"""RenewDelegationToken: a token's time is prolonged. Refused: see delegation_tokens.

Versions   2 flexible
See        KIP-48
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.delegation_tokens import token_refusal
from quire.protocol.messages.renew_delegation_token import RenewDelegationTokenResponse

NEVER = -1


def handle(broker: Broker, call: Call) -> RenewDelegationTokenResponse:
    """Refuse."""
    return RenewDelegationTokenResponse(
        error_code=token_refusal(broker, call), expiry_timestamp_ms=NEVER, throttle_time_ms=0
    )

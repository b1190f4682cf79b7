"""DescribeDelegationToken: the tokens of some owners, or all. Refused: see delegation_tokens.

Versions   2 flexible · 3 who asked for a token
See        KIP-48, KIP-373
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.delegation_tokens import token_refusal
from quire.protocol.messages.describe_delegation_token import DescribeDelegationTokenResponse


def handle(broker: Broker, call: Call) -> DescribeDelegationTokenResponse:
    """Refuse."""
    return DescribeDelegationTokenResponse(
        error_code=token_refusal(broker, call), tokens=[], throttle_time_ms=0
    )

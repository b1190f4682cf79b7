"""CreateDelegationToken: a token that its owner may give away in place of a password. Refused: see delegation_tokens.

Versions   2 flexible · 3 for another owner
See        KIP-48, KIP-373
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.delegation_tokens import token_refusal
from quire.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

REQUESTER_SINCE = 3
NEVER = -1


def handle(broker: Broker, call: Call) -> CreateDelegationTokenResponse:
    """Refuse, and say for whom."""
    request: CreateDelegationTokenRequest = call.request
    kind, _, name = call.client.principal.partition(":")
    knows_requester = call.version >= REQUESTER_SINCE
    for_another = bool(request.owner_principal_name)
    return CreateDelegationTokenResponse(
        error_code=token_refusal(broker, call),
        principal_type=(request.owner_principal_type or "") if for_another else kind,
        principal_name=(request.owner_principal_name or "") if for_another else name,
        token_requester_principal_type=kind if knows_requester else "",
        token_requester_principal_name=name if knows_requester else "",
        issue_timestamp_ms=NEVER,
        expiry_timestamp_ms=NEVER,
        max_timestamp_ms=NEVER,
        token_id="",
        hmac=b"",
        throttle_time_ms=0,
    )

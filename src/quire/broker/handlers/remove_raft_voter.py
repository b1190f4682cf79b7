"""RemoveRaftVoter: a node votes on the metadata log no more. Asked of the quorum's leader.

Versions   0
Not here   committing (raft).
See        KIP-853
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.protocol.messages.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from quire.protocol.schema import ZERO_UUID


async def handle(broker: Broker, call: Call) -> RemoveRaftVoterResponse:
    """Answer; see the module."""
    request: RemoveRaftVoterRequest = call.request
    refusal = _refusal(broker, request)
    if refusal is not None:
        return _answer(*refusal)
    outcome = await broker.quorum.remove_voter(request.voter_id, request.voter_directory_id)
    return _answer(outcome.code, outcome.message)


def _refusal(broker: Broker, request: RemoveRaftVoterRequest) -> tuple[ErrorCode, str] | None:
    if request.cluster_id not in (None, broker.cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID, f"this is cluster {broker.cluster_id}"
    if broker.quorum.status() is None:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_LEADER_OR_FOLLOWER.text
    if request.voter_id < 0 or request.voter_directory_id == ZERO_UUID:
        return ErrorCode.INVALID_REQUEST, "a voter has an id from 0 and a directory id"
    return None


def _answer(code: ErrorCode, message: str | None) -> RemoveRaftVoterResponse:
    return RemoveRaftVoterResponse(throttle_time_ms=0, error_code=code, error_message=message)

"""AddRaftVoter: one more node votes on the metadata log. Asked of the quorum's leader.

Versions   1 may be answered as soon as the change stands in the leader's log
Not here   catching up, committing (raft).
See        KIP-853
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from quire.protocol.schema import ZERO_UUID
from quire.raft.voters import Voter, VoterEndpoint


async def handle(broker: Broker, call: Call) -> AddRaftVoterResponse:
    """Answer; see the module."""
    request: AddRaftVoterRequest = call.request
    refusal = _refusal(broker, request)
    if refusal is not None:
        return _answer(*refusal)
    voter = Voter(
        request.voter_id,
        request.voter_directory_id,
        tuple(VoterEndpoint(one.name, one.host, one.port) for one in request.listeners),
    )
    outcome = await broker.quorum.add_voter(
        voter, timeout_ms=request.timeout_ms, until_committed=request.ack_when_committed
    )
    return _answer(outcome.code, outcome.message)


def _refusal(broker: Broker, request: AddRaftVoterRequest) -> tuple[ErrorCode, str] | None:
    if request.cluster_id not in (None, broker.cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID, f"this is cluster {broker.cluster_id}"
    if broker.quorum.status() is None:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_LEADER_OR_FOLLOWER.text
    if request.voter_id < 0 or request.voter_directory_id == ZERO_UUID:
        return ErrorCode.INVALID_REQUEST, "a voter needs an id from 0 and a directory id"
    listener = broker.quorum.listener
    if listener not in [one.name for one in request.listeners]:
        return ErrorCode.INVALID_REQUEST, f"a voter needs an address on listener {listener}"
    return None


def _answer(code: ErrorCode, message: str | None) -> AddRaftVoterResponse:
    return AddRaftVoterResponse(throttle_time_ms=0, error_code=code, error_message=message)

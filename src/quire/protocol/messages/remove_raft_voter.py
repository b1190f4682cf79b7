"""RemoveRaftVoter (key 81)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Uuid, message


@message(key=81, versions=(0, 0), flexible=0)
class RemoveRaftVoterRequest:
    """Take a voter out of the quorum (KIP-853)."""

    cluster_id: str | None
    voter_id: Int32
    voter_directory_id: Uuid


@message(key=81, versions=(0, 0), flexible=0)
class RemoveRaftVoterResponse:
    """Whether the voter was removed."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None

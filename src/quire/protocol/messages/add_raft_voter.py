"""AddRaftVoter (key 80)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, UInt16, Uuid, field, message, structure


@structure
class Listener:
    name: str
    host: str
    port: UInt16


@message(key=80, versions=(0, 1), flexible=0)
class AddRaftVoterRequest:
    """Add a voter to the quorum (KIP-853). v1 when to answer."""

    cluster_id: str | None
    timeout_ms: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    ack_when_committed: Bool = field(since=1, default=True)


@message(key=80, versions=(0, 1), flexible=0)
class AddRaftVoterResponse:
    """Whether the voter was added."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None

"""UpdateRaftVoter (key 82)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, UInt16, Uuid, field, message, structure


@structure
class Listener:
    name: str
    host: str
    port: UInt16


@structure
class KRaftVersionFeature:
    min_supported_version: Int16
    max_supported_version: Int16


@message(key=82, versions=(0, 0), flexible=0)
class UpdateRaftVoterRequest:
    """A voter tells its endpoints and versions (KIP-853)."""

    cluster_id: str | None
    current_leader_epoch: Int32
    voter_id: Int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    k_raft_version_feature: KRaftVersionFeature


@structure
class CurrentLeader:
    leader_id: Int32 = field(default=-1)
    leader_epoch: Int32 = field(default=-1)
    host: str = field(default="")
    port: Int32 = field(default=0)


@message(key=82, versions=(0, 0), flexible=0)
class UpdateRaftVoterResponse:
    """Whether they were noted, and who leads."""

    throttle_time_ms: Int32
    error_code: Int16
    current_leader: CurrentLeader = field(tag=0, default=CurrentLeader)

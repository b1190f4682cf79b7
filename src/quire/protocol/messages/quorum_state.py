"""The content of the quorum-state file."""

from __future__ import annotations

from quire.protocol.schema import ZERO_UUID, Int32, Int64, Uuid, field, message, structure


@structure
class Voter:
    voter_id: Int32


@message(kind="data", versions=(0, 1), flexible=0)
class QuorumStateData:
    """The quorum-state file: whom we voted for and who leads. v1 directory id (KIP-853)."""

    cluster_id: str = field(until=0, default="")
    leader_id: Int32 = field(default=-1)
    leader_epoch: Int32 = field(default=-1)
    voted_id: Int32 = field(default=-1)
    voted_directory_id: Uuid = field(since=1, default=ZERO_UUID)
    applied_offset: Int64 = field(until=0, default=0)
    current_voters: list[Voter] | None = field(until=0, default=[])

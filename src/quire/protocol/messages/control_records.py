"""The keys and values of control batches: markers, quorum and snapshot records."""

from __future__ import annotations

from quire.protocol.schema import (
    NEVER,
    ZERO_UUID,
    Int16,
    Int32,
    Int64,
    UInt16,
    Uuid,
    field,
    message,
    structure,
)


@message(kind="data", versions=(0, 0), flexible=NEVER)
class ControlRecordTypeSchema:
    """The key of a control record."""

    type: Int16


@message(kind="data", versions=(0, 0), flexible=NEVER)
class EndTxnMarker:
    """The value of a commit or abort marker."""

    coordinator_epoch: Int32


@structure
class LeaderChangeMessageVoter:
    voter_id: Int32
    voter_directory_id: Uuid = field(since=1, default=ZERO_UUID)


@message(kind="data", versions=(0, 1), flexible=0)
class LeaderChangeMessage:
    """A new quorum leader's first record (KIP-595). v1 directory ids (KIP-853)."""

    version: Int16
    leader_id: Int32
    voters: list[LeaderChangeMessageVoter]
    granting_voters: list[LeaderChangeMessageVoter]


@message(kind="data", versions=(0, 0), flexible=0)
class SnapshotHeaderRecord:
    """The first record of a snapshot (KIP-630)."""

    version: Int16
    last_contained_log_timestamp: Int64


@message(kind="data", versions=(0, 0), flexible=0)
class SnapshotFooterRecord:
    """The last record of a snapshot (KIP-630)."""

    version: Int16


@message(kind="data", versions=(0, 0), flexible=0)
class KRaftVersionRecord:
    """The kraft.version in force from here on (KIP-853)."""

    version: Int16
    k_raft_version: Int16


@structure
class Endpoint:
    name: str
    host: str
    port: UInt16


@structure
class KRaftVersionFeature:
    min_supported_version: Int16
    max_supported_version: Int16


@structure
class VotersRecordVoter:
    voter_id: Int32
    voter_directory_id: Uuid
    endpoints: list[Endpoint]
    k_raft_version_feature: KRaftVersionFeature


@message(kind="data", versions=(0, 0), flexible=0)
class VotersRecord:
    """The voters in force from here on (KIP-853)."""

    version: Int16
    voters: list[VotersRecordVoter]

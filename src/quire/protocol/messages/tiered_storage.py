"""The records of the remote log metadata topic (KIP-405)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int32, Int64, Uuid, field, message, structure


@structure
class RemoteLogSegmentMetadataRecordTopicIdPartitionEntry:
    name: str
    id: Uuid
    partition: Int32


@structure
class RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry:
    topic_id_partition: RemoteLogSegmentMetadataRecordTopicIdPartitionEntry
    id: Uuid


@structure
class RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry:
    leader_epoch: Int32
    offset: Int64


@message(key=0, kind="metadata", versions=(0, 0), flexible=0)
class RemoteLogSegmentMetadataRecord:
    """A segment was copied to remote storage, or is being (KIP-405)."""

    remote_log_segment_id: RemoteLogSegmentMetadataRecordRemoteLogSegmentIdEntry
    start_offset: Int64
    end_offset: Int64
    broker_id: Int32
    max_timestamp_ms: Int64
    event_timestamp_ms: Int64
    segment_leader_epochs: list[RemoteLogSegmentMetadataRecordSegmentLeaderEpochEntry]
    segment_size_in_bytes: Int32
    custom_metadata: bytes | None = field(default=None)
    remote_log_segment_state: Int8
    txn_index_empty: Bool = field(tag=0, default=False)


@structure
class RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry:
    leader_epoch: Int32
    offset: Int64


@message(key=3, kind="metadata", versions=(0, 0), flexible=0)
class RemoteLogSegmentMetadataSnapshotRecord:
    """A remote segment, as the cache of one partition keeps it (KIP-405)."""

    segment_id: Uuid
    start_offset: Int64
    end_offset: Int64
    broker_id: Int32
    max_timestamp_ms: Int64
    event_timestamp_ms: Int64
    segment_leader_epochs: list[RemoteLogSegmentMetadataSnapshotRecordSegmentLeaderEpochEntry]
    segment_size_in_bytes: Int32
    custom_metadata: bytes | None = field(default=None)
    remote_log_segment_state: Int8
    txn_index_empty: Bool = field(tag=0, default=False)


@structure
class RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry:
    name: str
    id: Uuid
    partition: Int32


@structure
class RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry:
    topic_id_partition: RemoteLogSegmentMetadataUpdateRecordTopicIdPartitionEntry
    id: Uuid


@message(key=1, kind="metadata", versions=(0, 0), flexible=0)
class RemoteLogSegmentMetadataUpdateRecord:
    """A remote segment changed its state (KIP-405)."""

    remote_log_segment_id: RemoteLogSegmentMetadataUpdateRecordRemoteLogSegmentIdEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    custom_metadata: bytes | None = field(default=None)
    remote_log_segment_state: Int8


@structure
class RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry:
    name: str
    id: Uuid
    partition: Int32


@message(key=2, kind="metadata", versions=(0, 0), flexible=0)
class RemotePartitionDeleteMetadataRecord:
    """A partition's remote data is being deleted (KIP-405)."""

    topic_id_partition: RemotePartitionDeleteMetadataRecordTopicIdPartitionEntry
    broker_id: Int32
    event_timestamp_ms: Int64
    remote_partition_delete_state: Int8

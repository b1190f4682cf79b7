"""Keys and values of `__share_group_state` (KIP-932)."""

from __future__ import annotations

from quire.protocol.schema import NEVER, Int8, Int16, Int32, Int64, Uuid, field, message, structure


@message(key=0, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ShareSnapshotKey:
    """Key of a full share state."""

    group_id: str
    topic_id: Uuid
    partition: Int32


@structure
class ShareSnapshotValueStateBatch:
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


@message(key=0, kind="coordinator-value", versions=(0, 0), flexible=0)
class ShareSnapshotValue:
    """A share partition's full state."""

    snapshot_epoch: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(tag=0, default=-1)
    create_timestamp: Int64
    write_timestamp: Int64
    state_batches: list[ShareSnapshotValueStateBatch]


@message(key=1, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ShareUpdateKey:
    """Key of a change to a share state."""

    group_id: str
    topic_id: Uuid
    partition: Int32


@structure
class ShareUpdateValueStateBatch:
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


@message(key=1, kind="coordinator-value", versions=(0, 0), flexible=0)
class ShareUpdateValue:
    """A change to a share partition's state."""

    snapshot_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(tag=0, default=-1)
    state_batches: list[ShareUpdateValueStateBatch]

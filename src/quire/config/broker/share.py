"""Share groups and the coordinator of their state (KIP-932)."""

from __future__ import annotations

from quire.config.setting import (
    CLUSTER,
    HIGH,
    HOUR,
    KIB,
    LOW,
    MEDIUM,
    MIB,
    MINUTE,
    SECOND,
    Settings,
    integer,
    short,
    string,
    string_list,
)


class ShareSection(Settings):
    """Share groups and the coordinator of their state (KIP-932)."""

    # fmt: off
    group_share_session_timeout_ms = integer(45 * SECOND, at_least=1,
        doc="How long a share member lives without a heartbeat (KIP-932).")
    group_share_min_session_timeout_ms = integer(45 * SECOND, at_least=1,
        doc="The least that group.share.session.timeout.ms may be.")
    group_share_max_session_timeout_ms = integer(MINUTE, at_least=1,
        doc="The most that group.share.session.timeout.ms may be.")
    group_share_heartbeat_interval_ms = integer(5 * SECOND, at_least=1,
        doc="How often a share member sends a heartbeat.")
    group_share_min_heartbeat_interval_ms = integer(5 * SECOND, at_least=1,
        doc="The least that group.share.heartbeat.interval.ms may be.")
    group_share_max_heartbeat_interval_ms = integer(15 * SECOND, at_least=1,
        doc="The most that group.share.heartbeat.interval.ms may be.")
    group_share_assignment_interval_ms = integer(SECOND, MEDIUM, CLUSTER, at_least=0,
        doc="The least time between two assignments of a share group.")
    group_share_min_assignment_interval_ms = integer(0, at_least=0,
        doc="The least that group.share.assignment.interval.ms may be.")
    group_share_max_assignment_interval_ms = integer(15 * SECOND, at_least=0,
        doc="The most that group.share.assignment.interval.ms may be.")
    group_share_record_lock_duration_ms = integer(30 * SECOND, at_least=SECOND, at_most=HOUR,
        doc="How long a record is lent to a share member.")
    group_share_min_record_lock_duration_ms = integer(
        15 * SECOND, at_least=SECOND, at_most=30 * SECOND,
        doc="The least that group.share.record.lock.duration.ms may be.")
    group_share_max_record_lock_duration_ms = integer(MINUTE, at_least=30 * SECOND, at_most=HOUR,
        doc="The most that group.share.record.lock.duration.ms may be.")
    group_share_delivery_count_limit = integer(5, at_least=2, at_most=10,
        doc="How often a record is delivered before it is given up.")
    group_share_min_delivery_count_limit = integer(2, at_least=2, at_most=5,
        doc="The least that a share group may set its delivery limit to.")
    group_share_max_delivery_count_limit = integer(10, at_least=5, at_most=25,
        doc="The most that a share group may set its delivery limit to.")
    group_share_partition_max_record_locks = integer(2_000, at_least=100, at_most=10_000,
        doc="Records of one partition that may be lent at the same time.")
    group_share_min_partition_max_record_locks = integer(100, at_least=100, at_most=2_000,
        doc="The least that a share group may set its locks to.")
    group_share_max_partition_max_record_locks = integer(4_000, at_least=2_000, at_most=10_000,
        doc="The most that a share group may set its locks to.")
    group_share_max_size = integer(200, at_least=1, at_most=1_000,
        doc="Members that a share group may have.")
    group_share_max_share_sessions = integer(2_000, at_least=1,
        doc="Share sessions that a broker remembers.")
    group_share_assignors = string_list(("simple",),
        doc="The assignors of share groups; only the first one is used.")
    group_share_initialize_retry_interval_ms = integer(30 * SECOND, LOW, at_least=1, internal=True,
        doc="How often the initialisation of share state is tried again.")
    group_share_persister_class_name = string(
        "org.apache.kafka.server.share.persister.DefaultStatePersister", internal=True,
        doc="What keeps the state of share groups.")
    share_coordinator_state_topic_num_partitions = integer(50, HIGH, at_least=1,
        doc="Partitions of the topic of share state; not to be changed later.")
    share_coordinator_state_topic_replication_factor = short(3, HIGH, at_least=1,
        doc="Replicas of the topic of share state.")
    share_coordinator_state_topic_min_isr = short(2, HIGH, at_least=1,
        doc="Replicas that must be in sync for the topic of share state.")
    share_coordinator_state_topic_segment_bytes = integer(100 * MIB, HIGH, at_least=1,
        doc="Segment size of the topic of share state.")
    share_coordinator_state_topic_compression_codec = integer(0, HIGH,
        doc="The codec of share state: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.")
    share_coordinator_state_topic_prune_interval_ms = integer(
        5 * MINUTE, LOW, at_least=1, internal=True,
        doc="How often share state that is no longer needed is cut off.")
    share_coordinator_snapshot_update_records_per_snapshot = integer(500, at_least=0, at_most=500,
        doc="Updates of share state between two whole ones.")
    share_coordinator_cold_partition_snapshot_interval_ms = integer(
        5 * MINUTE, LOW, at_least=1, internal=True,
        doc="How often share state that rests is written whole.")
    share_coordinator_load_buffer_size = integer(5 * MIB, HIGH, at_least=1,
        doc="Bytes read at a time when share state is loaded.")
    share_coordinator_write_timeout_ms = integer(5 * SECOND, HIGH, at_least=1,
        doc="How long a write of share state waits for its replicas.")
    share_coordinator_append_linger_ms = integer(-1, at_least=-1,
        doc="How long the share coordinator gathers writes; -1 adapts to the load.")
    share_coordinator_cached_buffer_max_bytes = integer(
        1_048_588, MEDIUM, CLUSTER, at_least=512 * KIB,
        doc="The largest buffer that the share coordinator keeps for its next writes.")
    share_coordinator_threads = integer(1, at_least=1,
        doc="Threads that Apache Kafka runs its share coordinators on.")
    share_fetch_purgatory_purge_interval_requests = integer(1_000,
        doc="Finished waiters before the share-fetch purgatory is swept.")
    # fmt: on

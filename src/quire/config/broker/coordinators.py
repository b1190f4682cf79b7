"""Committed offsets, consumer and streams groups, transactions."""

from __future__ import annotations

from quire.config.setting import (
    CLUSTER,
    DAY,
    HIGH,
    HOUR,
    KIB,
    LOW,
    MEDIUM,
    MIB,
    MINUTE,
    OFF,
    ON,
    SECOND,
    Settings,
    boolean,
    integer,
    long,
    short,
    string,
    string_list,
)
from quire.config.values import MAX_INT


class CoordinatorsSection(Settings):
    """Committed offsets, consumer and streams groups, transactions."""

    # fmt: off
    offsets_topic_num_partitions = integer(50, HIGH, at_least=1,
        doc="Partitions of the topic of committed offsets; not to be changed later.")
    offsets_topic_replication_factor = short(3, HIGH, at_least=1,
        doc="Replicas of the topic of committed offsets.")
    offsets_topic_segment_bytes = integer(100 * MIB, HIGH, at_least=1,
        doc="Segment size of the topic of committed offsets.")
    offsets_topic_compression_codec = integer(0, HIGH,
        doc="The codec of committed offsets: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.")
    offsets_load_buffer_size = integer(5 * MIB, HIGH, at_least=1,
        doc="Bytes read at a time when committed offsets are loaded.")
    offsets_commit_timeout_ms = integer(5 * SECOND, HIGH, at_least=1,
        doc="How long a commit waits for the replicas of its topic.")
    offsets_retention_minutes = integer(10_080, HIGH, at_least=1,
        doc="How long an offset outlives its group or its subscription.")
    offsets_retention_check_interval_ms = long(10 * MINUTE, HIGH, at_least=1,
        doc="How often expired offsets are looked for.")
    offset_metadata_max_bytes = integer(4 * KIB, HIGH,
        doc="The longest text that may be committed with an offset.")
    group_coordinator_rebalance_protocols = string_list(
        ("classic", "consumer", "streams"), one_of=("consumer", "classic", "share", "streams"),
        doc="The group protocols that are spoken; classic cannot be left out.")
    group_coordinator_threads = integer(4, HIGH, at_least=1,
        doc="Threads that Apache Kafka runs its group coordinators on.")
    group_coordinator_background_threads = integer(2, HIGH, at_least=1,
        doc="Threads for the slow work of group coordinators.")
    group_coordinator_append_linger_ms = integer(-1, at_least=-1,
        doc="How long a coordinator gathers writes; -1 adapts to the load.")
    group_coordinator_cached_buffer_max_bytes = integer(
        1_048_588, MEDIUM, CLUSTER, at_least=512 * KIB,
        doc="The largest buffer that a coordinator keeps for its next writes.")
    group_min_session_timeout_ms = integer(6 * SECOND,
        doc="The shortest session timeout that a classic member may ask for.")
    group_max_session_timeout_ms = integer(30 * MINUTE,
        doc="The longest session timeout that a classic member may ask for.")
    group_initial_rebalance_delay_ms = integer(3 * SECOND,
        doc="How long the first rebalance of an empty classic group waits for more members.")
    group_max_size = integer(MAX_INT, at_least=1,
        doc="Members that a classic group may have.")
    group_consumer_session_timeout_ms = integer(45 * SECOND, at_least=1,
        doc="How long a consumer lives in its group without a heartbeat (KIP-848).")
    group_consumer_min_session_timeout_ms = integer(45 * SECOND, at_least=1,
        doc="The least that group.consumer.session.timeout.ms may be.")
    group_consumer_max_session_timeout_ms = integer(MINUTE, at_least=1,
        doc="The most that group.consumer.session.timeout.ms may be.")
    group_consumer_heartbeat_interval_ms = integer(5 * SECOND, at_least=1,
        doc="How often a consumer sends a heartbeat.")
    group_consumer_min_heartbeat_interval_ms = integer(5 * SECOND, at_least=1,
        doc="The least that group.consumer.heartbeat.interval.ms may be.")
    group_consumer_max_heartbeat_interval_ms = integer(15 * SECOND, at_least=1,
        doc="The most that group.consumer.heartbeat.interval.ms may be.")
    group_consumer_assignment_interval_ms = integer(SECOND, MEDIUM, CLUSTER, at_least=0,
        doc="The least time between two assignments of a consumer group.")
    group_consumer_min_assignment_interval_ms = integer(0, at_least=0,
        doc="The least that group.consumer.assignment.interval.ms may be.")
    group_consumer_max_assignment_interval_ms = integer(15 * SECOND, at_least=0,
        doc="The most that group.consumer.assignment.interval.ms may be.")
    group_consumer_max_size = integer(MAX_INT, at_least=1,
        doc="Members that a consumer group may have.")
    group_consumer_assignors = string_list(("uniform", "range"),
        doc="The assignors of consumer groups; the first one is the default.")
    group_consumer_migration_policy = string(
        "bidirectional", one_of=("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"),
        any_case=True,
        doc="Whether groups may change between the classic and the new protocol.")
    group_consumer_regex_refresh_interval_ms = integer(
        10 * MINUTE, at_least=10 * SECOND, internal=True,
        doc="How often subscriptions by pattern are evaluated anew.")
    group_streams_session_timeout_ms = integer(45 * SECOND, at_least=1,
        doc="How long a streams member lives without a heartbeat (KIP-1071).")
    group_streams_min_session_timeout_ms = integer(45 * SECOND, at_least=1,
        doc="The least that group.streams.session.timeout.ms may be.")
    group_streams_max_session_timeout_ms = integer(MINUTE, at_least=1,
        doc="The most that group.streams.session.timeout.ms may be.")
    group_streams_heartbeat_interval_ms = integer(5 * SECOND, at_least=1,
        doc="How often a streams member sends a heartbeat.")
    group_streams_min_heartbeat_interval_ms = integer(5 * SECOND, at_least=1,
        doc="The least that group.streams.heartbeat.interval.ms may be.")
    group_streams_max_heartbeat_interval_ms = integer(15 * SECOND, at_least=1,
        doc="The most that group.streams.heartbeat.interval.ms may be.")
    group_streams_assignment_interval_ms = integer(SECOND, MEDIUM, CLUSTER, at_least=0,
        doc="The least time between two assignments of a streams group.")
    group_streams_min_assignment_interval_ms = integer(0, at_least=0,
        doc="The least that group.streams.assignment.interval.ms may be.")
    group_streams_max_assignment_interval_ms = integer(15 * SECOND, at_least=0,
        doc="The most that group.streams.assignment.interval.ms may be.")
    group_streams_max_size = integer(MAX_INT, at_least=1,
        doc="Members that a streams group may have.")
    group_streams_num_standby_replicas = integer(0, at_least=0,
        doc="Standby copies of each stateful task.")
    group_streams_max_standby_replicas = integer(2, at_least=0,
        doc="The most that the standby copies of a group may be.")
    group_streams_initial_rebalance_delay_ms = integer(3 * SECOND, at_least=0,
        doc="How long the first assignment of a streams group waits for more members.")
    transaction_state_log_num_partitions = integer(50, HIGH, at_least=1,
        doc="Partitions of the topic of transactions; not to be changed later.")
    transaction_state_log_replication_factor = short(3, HIGH, at_least=1,
        doc="Replicas of the topic of transactions.")
    transaction_state_log_min_isr = integer(2, HIGH, at_least=1,
        doc="Replicas that must be in sync for the topic of transactions.")
    transaction_state_log_segment_bytes = integer(100 * MIB, HIGH, at_least=1,
        doc="Segment size of the topic of transactions.")
    transaction_state_log_load_buffer_size = integer(5 * MIB, HIGH, at_least=1,
        doc="Bytes read at a time when transactions are loaded.")
    transaction_max_timeout_ms = integer(15 * MINUTE, HIGH, at_least=1,
        doc="The longest timeout that a transaction may ask for.")
    transaction_abort_timed_out_transaction_cleanup_interval_ms = integer(
        10 * SECOND, LOW, at_least=1,
        doc="How often transactions that ran out of time are aborted.")
    transaction_remove_expired_transaction_cleanup_interval_ms = integer(HOUR, LOW, at_least=1,
        doc="How often expired transactional ids are removed.")
    transaction_partition_verification_enable = boolean(ON, LOW, CLUSTER,
        doc="Ask the coordinator before a partition takes a transaction's first record.")
    transaction_two_phase_commit_enable = boolean(OFF, LOW,
        doc="Allow transactions that an outside coordinator decides (KIP-939).")
    transactional_id_expiration_ms = integer(7 * DAY, HIGH, at_least=1,
        doc="How long an idle transactional id is remembered.")
    add_partitions_to_txn_retry_backoff_ms = integer(20, HIGH, at_least=1,
        doc="The first rest before partitions are added to a transaction again.")
    add_partitions_to_txn_retry_backoff_max_ms = integer(100, HIGH, at_least=0,
        doc="The longest rest before partitions are added to a transaction again.")
    # fmt: on

"""Followers, the in-sync set, and who may lead."""

from __future__ import annotations

from quire.config.setting import (
    CLUSTER,
    HIGH,
    KIB,
    MIB,
    MINUTE,
    OFF,
    ON,
    SECOND,
    Settings,
    boolean,
    integer,
    long,
    string,
)


class ReplicationSection(Settings):
    """Followers, the in-sync set, and who may lead."""

    # fmt: off
    min_insync_replicas = integer(1, HIGH, CLUSTER, at_least=1,
        doc="Replicas that must be in sync for acks=all to succeed.")
    unclean_leader_election_enable = boolean(OFF, HIGH, CLUSTER,
        doc="Let a replica lead that is not in sync, and lose what it lacks.")
    unclean_leader_election_interval_ms = long(5 * MINUTE, at_least=1, internal=True,
        doc="How often partitions without a leader are looked at for an unclean one.")
    auto_leader_rebalance_enable = boolean(ON, HIGH,
        doc="Move leadership back to the preferred replicas from time to time.")
    leader_imbalance_check_interval_seconds = long(300, HIGH, at_least=1,
        doc="How often the balance of leaderships is looked at.")
    num_replica_fetchers = integer(1, HIGH, CLUSTER, at_least=1,
        doc="Fetchers per leader that a follower copies with.")
    replica_fetch_min_bytes = integer(1, HIGH,
        doc="Bytes that a follower's fetch waits for.")
    replica_fetch_max_bytes = integer(MIB, at_least=0,
        doc="Bytes per partition that a follower asks for; the first batch comes whole.")
    replica_fetch_response_max_bytes = integer(10 * MIB, at_least=0,
        doc="Bytes that a follower asks for in one fetch.")
    replica_fetch_wait_max_ms = integer(500, HIGH,
        doc="How long a follower's fetch waits; less than replica.lag.time.max.ms.")
    replica_fetch_backoff_ms = integer(SECOND, at_least=0,
        doc="How long a follower rests after a failed fetch.")
    replica_lag_time_max_ms = long(30 * SECOND, HIGH,
        doc="A follower that has not caught up for so long leaves the in-sync set.")
    replica_high_watermark_checkpoint_interval_ms = long(5 * SECOND, HIGH,
        doc="How often the high watermarks are written down.")
    replica_socket_timeout_ms = integer(30 * SECOND, HIGH,
        doc="How long a follower's request waits for the network.")
    replica_socket_receive_buffer_bytes = integer(64 * KIB, HIGH,
        doc="The receive buffer of a follower's socket.")
    replica_selector_class = string(None,
        doc="What picks the replica that a consumer reads from.")
    num_replica_alter_log_dirs_threads = integer(None, HIGH,
        doc="Threads that move replicas between directories; unset means one per directory.")
    controller_socket_timeout_ms = integer(30 * SECOND,
        doc="How long a request of the controller waits for the network.")
    # fmt: on

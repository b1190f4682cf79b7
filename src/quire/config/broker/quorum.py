"""The quorum of controllers and its metadata log."""

from __future__ import annotations

from quire.config.allowed import SERVERS, VOTERS
from quire.config.setting import (
    DAY,
    GIB,
    HIGH,
    HOUR,
    LOW,
    MIB,
    MINUTE,
    OFF,
    SECOND,
    Settings,
    boolean,
    integer,
    long,
    string,
    string_list,
)


class QuorumSection(Settings):
    """The quorum of controllers and its metadata log."""

    # fmt: off
    controller_quorum_voters = string_list((), HIGH, form=VOTERS,
        doc="The voters of a static quorum: id@host:port, separated by commas.")
    controller_quorum_bootstrap_servers = string_list((), HIGH, form=SERVERS,
        doc="Where to find the quorum: host:port, separated by commas.")
    controller_quorum_election_timeout_ms = integer(SECOND, HIGH, at_least=0,
        doc="How long a voter waits for a leader before it stands for election.")
    controller_quorum_election_backoff_max_ms = integer(SECOND, HIGH, at_least=0,
        doc="The longest rest between two elections that nobody won.")
    controller_quorum_fetch_timeout_ms = integer(2 * SECOND, HIGH, at_least=0,
        doc="How long a follower fetches in vain before it looks for a new leader.")
    controller_quorum_request_timeout_ms = integer(2 * SECOND, at_least=0,
        doc="How long a request of the quorum waits for its answer.")
    controller_quorum_retry_backoff_ms = integer(20, LOW, at_least=0,
        doc="How long a request of the quorum waits before it is sent again.")
    controller_quorum_append_linger_ms = integer(25, at_least=0,
        doc="How long the leader gathers records before it writes them.")
    controller_quorum_fetch_max_bytes = integer(MIB, LOW, at_least=1,
        doc="Bytes that a fetch of the metadata log asks for.")
    controller_quorum_fetch_snapshot_max_bytes = integer(MIB, LOW, at_least=1,
        doc="Bytes that a fetch of a snapshot asks for.")
    controller_quorum_auto_join_enable = boolean(OFF, LOW,
        doc="Let a controller that is not a voter become one by itself.")
    controller_performance_always_log_threshold_ms = long(2 * SECOND, at_least=0, internal=True,
        doc="Events of the controller that took longer are always logged.")
    controller_performance_sample_period_ms = long(MINUTE, at_least=100, internal=True,
        doc="How often the slowest events of the controller are logged.")
    metadata_log_dir = string(None, HIGH,
        doc="The directory of the metadata log; unset means the first of log.dirs.")
    metadata_log_segment_bytes = integer(GIB, HIGH, at_least=8 * MIB,
        doc="The size at which a segment of the metadata log is closed.")
    internal_metadata_log_segment_bytes = integer(None, LOW, internal=True,
        doc="The same for tests, without its lower bound.")
    metadata_log_segment_ms = long(7 * DAY, HIGH,
        doc="The age at which a segment of the metadata log is closed.")
    metadata_log_max_record_bytes_between_snapshots = long(20 * MIB, HIGH, at_least=1,
        doc="Bytes of metadata records after which a snapshot is made.")
    metadata_log_max_snapshot_interval_ms = long(HOUR, HIGH, at_least=0,
        doc="The longest time between two snapshots of the metadata; 0 means no such limit.")
    metadata_max_retention_bytes = long(100 * MIB, HIGH,
        doc="How large the metadata log and its snapshots may grow together.")
    metadata_max_retention_ms = long(7 * DAY, HIGH,
        doc="How long the metadata log and its snapshots are kept.")
    metadata_max_idle_interval_ms = integer(500, LOW, at_least=0,
        doc="How often the leader writes a no-op record; 0 means never.")
    internal_metadata_max_batch_size_in_bytes = integer(8 * MIB, LOW, internal=True,
        doc="The largest batch of the metadata log.")
    internal_metadata_delete_delay_millis = long(MINUTE, LOW, internal=True,
        doc="How long a deleted file of the metadata log still lies on the disk.")
    # fmt: on

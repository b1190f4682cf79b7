"""Remote storage of old segments (KIP-405): declared, known to clients, not built here."""

from __future__ import annotations

from quire.config.allowed import NOT_BLANK
from quire.config.setting import (
    CLUSTER,
    GIB,
    LOW,
    MEDIUM,
    MINUTE,
    OFF,
    SECOND,
    Settings,
    boolean,
    double,
    integer,
    long,
    string,
)
from quire.config.values import MAX_LONG


class TieredSection(Settings):
    """Remote storage of old segments (KIP-405): declared, known to clients, not built here."""

    # fmt: off
    remote_log_storage_system_enable = boolean(OFF,
        doc="Move old segments to remote storage, for the topics that ask for it.")
    remote_log_storage_manager_class_name = string(None, form=NOT_BLANK,
        doc="What stores the remote segments.")
    remote_log_storage_manager_class_path = string(None,
        doc="Where that class is found.")
    remote_log_storage_manager_impl_prefix = string("rsm.config.", form=NOT_BLANK,
        doc="The prefix of the settings that are handed to it.")
    remote_log_metadata_manager_class_name = string(
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        form=NOT_BLANK,
        doc="What remembers which segments are remote.")
    remote_log_metadata_manager_class_path = string(None,
        doc="Where that class is found.")
    remote_log_metadata_manager_impl_prefix = string("rlmm.config.", form=NOT_BLANK,
        doc="The prefix of the settings that are handed to it.")
    remote_log_metadata_manager_listener_name = string(None, form=NOT_BLANK,
        doc="The listener over which it reaches the brokers.")
    remote_log_metadata_custom_metadata_max_bytes = integer(128, LOW, at_least=0,
        doc="The most that a plug-in may store with a remote segment.")
    remote_log_index_file_cache_total_size_bytes = long(GIB, LOW, CLUSTER, at_least=1,
        doc="Room for indexes of remote segments on the local disk.")
    remote_log_index_file_cache_ttl_ms = long(15 * MINUTE, LOW, at_least=-1, internal=True,
        doc="How long an unused index of a remote segment stays; -1 means for ever.")
    remote_log_manager_thread_pool_size = integer(2, at_least=1,
        doc="Threads that plan the work on remote segments.")
    remote_log_manager_copier_thread_pool_size = integer(10, MEDIUM, CLUSTER, at_least=1,
        doc="Threads that copy segments away.")
    remote_log_manager_expiration_thread_pool_size = integer(10, MEDIUM, CLUSTER, at_least=1,
        doc="Threads that delete expired remote segments.")
    remote_log_manager_follower_thread_pool_size = integer(2, MEDIUM, CLUSTER, at_least=1,
        doc="Threads that follow the remote state of led partitions.")
    remote_log_manager_task_interval_ms = long(30 * SECOND, LOW, at_least=1,
        doc="How often segments are looked at for copying and deleting.")
    remote_log_manager_task_retry_backoff_ms = long(500, LOW, at_least=1, internal=True,
        doc="The first rest after such a task failed.")
    remote_log_manager_task_retry_backoff_max_ms = long(
        30 * SECOND, LOW, at_least=1, internal=True,
        doc="The longest rest after such a task failed.")
    remote_log_manager_task_retry_jitter = double(0.2, LOW, at_least=0, at_most=0.5, internal=True,
        doc="How much such a rest varies by chance.")
    remote_log_manager_copy_max_bytes_per_second = long(MAX_LONG, MEDIUM, CLUSTER, at_least=1,
        doc="Bytes per second that are copied to remote storage.")
    remote_log_manager_copy_quota_window_num = integer(11, at_least=1,
        doc="Samples that copying is measured over.")
    remote_log_manager_copy_quota_window_size_seconds = integer(1, at_least=1,
        doc="Length of a sample of copying.")
    remote_log_manager_fetch_max_bytes_per_second = long(MAX_LONG, MEDIUM, CLUSTER, at_least=1,
        doc="Bytes per second that are fetched from remote storage.")
    remote_log_manager_fetch_quota_window_num = integer(11, at_least=1,
        doc="Samples that remote fetching is measured over.")
    remote_log_manager_fetch_quota_window_size_seconds = integer(1, at_least=1,
        doc="Length of a sample of remote fetching.")
    remote_log_reader_threads = integer(10, MEDIUM, CLUSTER, at_least=1,
        doc="Threads that read from remote storage.")
    remote_log_reader_max_pending_tasks = integer(100, at_least=1,
        doc="Reads from remote storage that may wait.")
    remote_fetch_max_wait_ms = integer(500, MEDIUM, CLUSTER, at_least=1,
        doc="How long a fetch waits for remote storage.")
    remote_list_offsets_request_timeout_ms = long(30 * SECOND, MEDIUM, CLUSTER, at_least=1,
        doc="How long a search by time waits for remote storage.")
    log_local_retention_ms = long(-2, MEDIUM, CLUSTER, at_least=-2,
        doc="How long a tiered log stays on the local disk; -2 means log.retention.ms.")
    log_local_retention_bytes = long(-2, MEDIUM, CLUSTER, at_least=-2,
        doc="How much of a tiered log stays on the local disk; -2 means log.retention.bytes.")
    follower_fetch_last_tiered_offset_enable = boolean(OFF, MEDIUM, CLUSTER,
        doc="Let a new follower begin where the remote part ends.")
    # fmt: on

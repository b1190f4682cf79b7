"""How logs are kept where the topic says nothing: directories, segments, retention."""

from __future__ import annotations

from quire.config.allowed import GZIP_LEVEL
from quire.config.setting import (
    BROKER,
    CLUSTER,
    DAY,
    GIB,
    HIGH,
    HOUR,
    KIB,
    LOW,
    MEDIUM,
    MIB,
    MINUTE,
    OFF,
    SECOND,
    Settings,
    Synonym,
    boolean,
    integer,
    long,
    string,
    string_list,
)
from quire.config.values import MAX_LONG

RETENTION = (
    Synonym("log.retention.ms"),
    Synonym("log.retention.minutes", MINUTE),
    Synonym("log.retention.hours", HOUR),
)
ROLL = (Synonym("log.roll.ms"), Synonym("log.roll.hours", HOUR))
JITTER = (Synonym("log.roll.jitter.ms"), Synonym("log.roll.jitter.hours", HOUR))
FLUSH = (Synonym("log.flush.interval.ms"), Synonym("log.flush.scheduler.interval.ms"))


class LogSection(Settings):
    """How logs are kept where the topic says nothing: directories, segments, retention."""

    # fmt: off
    log_dir = string_list(("/tmp/kafka-logs",), HIGH,  # noqa: S108 -- Kafka's default
        doc="The directory of the logs, where log.dirs is not set.")
    log_dirs = string_list(None, HIGH,
        doc="The directories of the logs, separated by commas; unset means log.dir.")
    cordoned_log_dirs = string_list((), MEDIUM, BROKER, may_be_empty=True,
        doc="Directories that get no new replicas; * means all of them.")
    log_dir_failure_timeout_ms = long(30 * SECOND, LOW, at_least=1,
        doc="How long a broker may fail to report a lost directory before it stops.")
    log_initial_task_delay_ms = long(30 * SECOND, LOW, at_least=0, internal=True,
        doc="How long after start the first round of log upkeep begins.")
    log_segment_bytes = integer(GIB, HIGH, CLUSTER, at_least=MIB,
        doc="The size at which the active segment is closed and a new one begun.")
    log_roll_ms = long(None, HIGH, CLUSTER, synonyms=ROLL,
        doc="The age at which a new segment is begun; unset means log.roll.hours.")
    log_roll_hours = integer(168, HIGH, at_least=1, synonyms=ROLL,
        doc="The age in hours at which a new segment is begun.")
    log_roll_jitter_ms = long(None, HIGH, CLUSTER, synonyms=JITTER,
        doc="How much earlier than its age a segment may be closed, by chance.")
    log_roll_jitter_hours = integer(0, HIGH, at_least=0, synonyms=JITTER,
        doc="The same in hours, where log.roll.jitter.ms is not set.")
    log_retention_ms = long(None, HIGH, CLUSTER, synonyms=RETENTION,
        doc="How long a log keeps its records; -1 means for ever; unset means minutes, then hours.")
    log_retention_minutes = integer(None, HIGH, synonyms=RETENTION,
        doc="How long a log keeps its records, where log.retention.ms is not set.")
    log_retention_hours = integer(168, HIGH, synonyms=RETENTION,
        doc="How long a log keeps its records, where neither ms nor minutes are set.")
    log_retention_bytes = long(-1, HIGH, CLUSTER,
        doc="How large a partition may grow before old segments go; -1 means no limit.")
    log_retention_check_interval_ms = long(5 * MINUTE, at_least=1,
        doc="How often logs are looked at for segments to delete.")
    log_segment_delete_delay_ms = long(MINUTE, HIGH, CLUSTER, at_least=0,
        doc="How long a deleted file still lies on the disk.")
    log_cleanup_policy = string_list(
        ("delete",), MEDIUM, CLUSTER, one_of=("compact", "delete"), may_be_empty=True,
        doc="What happens to old records: delete, compact, both, or nothing when empty.")
    log_index_size_max_bytes = integer(10 * MIB, MEDIUM, CLUSTER, at_least=4,
        doc="The largest size of an offset or time index.")
    log_index_interval_bytes = integer(4 * KIB, MEDIUM, CLUSTER, at_least=0,
        doc="Bytes of log between two entries of the offset index.")
    log_preallocate = boolean(OFF, MEDIUM, CLUSTER,
        doc="Reserve the room of a whole segment when it is made.")
    log_flush_interval_messages = long(MAX_LONG, HIGH, CLUSTER, at_least=1,
        doc="Records after which a log is flushed to the disk.")
    log_flush_interval_ms = long(None, HIGH, CLUSTER, synonyms=FLUSH,
        doc="The longest time that a record stays unflushed; unset means the scheduler's interval.")
    log_flush_scheduler_interval_ms = long(MAX_LONG, HIGH,
        doc="How often logs are looked at for what must be flushed.")
    log_flush_offset_checkpoint_interval_ms = integer(MINUTE, HIGH, at_least=0,
        doc="How often the recovery points are written down.")
    log_flush_start_offset_checkpoint_interval_ms = integer(MINUTE, HIGH, at_least=0,
        doc="How often the log start offsets are written down.")
    log_message_timestamp_type = string(
        "CreateTime", MEDIUM, CLUSTER, one_of=("CreateTime", "LogAppendTime"),
        doc="Whose time a record carries: its producer's or that of its append.")
    log_message_timestamp_before_max_ms = long(MAX_LONG, MEDIUM, CLUSTER, at_least=0,
        doc="How far in the past a producer's timestamp may lie.")
    log_message_timestamp_after_max_ms = long(HOUR, MEDIUM, CLUSTER, at_least=0,
        doc="How far in the future a producer's timestamp may lie.")
    message_max_bytes = integer(1_048_588, HIGH, CLUSTER, at_least=0,
        doc="The largest record batch that is taken, after compression.")
    compression_type = string(
        "producer", HIGH, CLUSTER,
        one_of=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        doc="How batches are stored; producer keeps what was sent.")
    compression_gzip_level = integer(-1, MEDIUM, CLUSTER, form=GZIP_LEVEL,
        doc="The level of gzip, where the broker compresses; -1 is the library's own.")
    compression_lz4_level = integer(9, MEDIUM, CLUSTER, at_least=1, at_most=17,
        doc="The level of lz4, where the broker compresses.")
    compression_zstd_level = integer(3, MEDIUM, CLUSTER, at_least=-131_072, at_most=22,
        doc="The level of zstd, where the broker compresses.")
    num_recovery_threads_per_data_dir = integer(2, HIGH, CLUSTER, at_least=1,
        doc="Threads per directory for loading at start and flushing at shutdown.")
    producer_id_expiration_ms = integer(DAY, LOW, CLUSTER, at_least=1,
        doc="How long an idle producer id is remembered.")
    producer_id_expiration_check_interval_ms = integer(10 * MINUTE, LOW, at_least=1, internal=True,
        doc="How often idle producer ids are looked for.")
    # fmt: on

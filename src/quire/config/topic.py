"""The settings of a topic; a broker setting stands in for what a topic does not say.

Not here   which broker setting counts (layers), what a log does with all this (storage.settings).
"""

from __future__ import annotations

from typing import Any

from quire.config.allowed import GZIP_LEVEL, THROTTLED
from quire.config.broker import BrokerSettings
from quire.config.broker.log import RETENTION
from quire.config.setting import (
    DAY,
    GIB,
    HOUR,
    KIB,
    MIB,
    MINUTE,
    OFF,
    Settings,
    Synonym,
    boolean,
    double,
    integer,
    long,
    string,
    string_list,
)
from quire.config.values import MAX_LONG


class TopicSettings(Settings):
    """The settings of a topic; a broker setting stands in for what a topic does not say."""

    # fmt: off
    segment_bytes = integer(GIB, at_least=MIB, synonyms=(Synonym("log.segment.bytes"),),
        doc="The size at which the active segment is closed and a new one begun.")
    segment_ms = long(
        7 * DAY, at_least=1, synonyms=(Synonym("log.roll.ms"), Synonym("log.roll.hours", HOUR)),
        doc="The age at which a new segment is begun, full or not.")
    segment_jitter_ms = long(
        0, at_least=0,
        synonyms=(Synonym("log.roll.jitter.ms"), Synonym("log.roll.jitter.hours", HOUR)),
        doc="How much earlier than its age a segment may be closed, by chance.")
    segment_index_bytes = integer(
        10 * MIB, at_least=4, synonyms=(Synonym("log.index.size.max.bytes"),),
        doc="The largest size of an offset or time index.")
    internal_segment_bytes = integer(None, internal=True,
        doc="The size of a segment for tests, without its lower bound.")
    flush_messages = long(MAX_LONG, at_least=1, synonyms=(Synonym("log.flush.interval.messages"),),
        doc="Records after which the log is flushed to the disk.")
    flush_ms = long(
        MAX_LONG, at_least=0,
        synonyms=(Synonym("log.flush.interval.ms"), Synonym("log.flush.scheduler.interval.ms")),
        doc="The longest time that a record stays unflushed.")
    retention_bytes = long(-1, synonyms=(Synonym("log.retention.bytes"),),
        doc="How large a partition may grow before old segments go; -1 means no limit.")
    retention_ms = long(7 * DAY, at_least=-1, synonyms=RETENTION,
        doc="How long records are kept; -1 means for ever.")
    max_message_bytes = integer(1_048_588, at_least=0, synonyms=(Synonym("message.max.bytes"),),
        doc="The largest record batch that is taken, after compression.")
    index_interval_bytes = integer(
        4 * KIB, at_least=0, synonyms=(Synonym("log.index.interval.bytes"),),
        doc="Bytes of log between two entries of the offset index.")
    delete_retention_ms = long(
        DAY, at_least=0, synonyms=(Synonym("log.cleaner.delete.retention.ms"),),
        doc="How long tombstones and markers stay in a compacted log.")
    min_compaction_lag_ms = long(
        0, at_least=0, synonyms=(Synonym("log.cleaner.min.compaction.lag.ms"),),
        doc="How long a record stays uncompacted at least.")
    max_compaction_lag_ms = long(
        MAX_LONG, at_least=1, synonyms=(Synonym("log.cleaner.max.compaction.lag.ms"),),
        doc="How long a record stays uncompacted at most.")
    file_delete_delay_ms = long(
        MINUTE, at_least=0, synonyms=(Synonym("log.segment.delete.delay.ms"),),
        doc="How long a deleted file still lies on the disk.")
    min_cleanable_dirty_ratio = double(
        0.5, at_least=0, at_most=1, synonyms=(Synonym("log.cleaner.min.cleanable.ratio"),),
        doc="The part of the log that must be dirty before it is cleaned.")
    cleanup_policy = string_list(
        ("delete",), one_of=("compact", "delete"), may_be_empty=True,
        synonyms=(Synonym("log.cleanup.policy"),),
        doc="What happens to old records: delete, compact, both, or nothing when empty.")
    unclean_leader_election_enable = boolean(
        OFF, synonyms=(Synonym("unclean.leader.election.enable"),),
        doc="Let a replica lead that is not in sync, and lose what it lacks.")
    min_insync_replicas = integer(1, at_least=1, synonyms=(Synonym("min.insync.replicas"),),
        doc="Replicas that must be in sync for acks=all to succeed.")
    compression_type = string(
        "producer", one_of=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        synonyms=(Synonym("compression.type"),),
        doc="How batches are stored; producer keeps what was sent.")
    compression_gzip_level = integer(
        -1, form=GZIP_LEVEL, synonyms=(Synonym("compression.gzip.level"),),
        doc="The level of gzip, where the broker compresses; -1 is the library's own.")
    compression_lz4_level = integer(
        9, at_least=1, at_most=17, synonyms=(Synonym("compression.lz4.level"),),
        doc="The level of lz4, where the broker compresses.")
    compression_zstd_level = integer(
        3, at_least=-131_072, at_most=22, synonyms=(Synonym("compression.zstd.level"),),
        doc="The level of zstd, where the broker compresses.")
    preallocate = boolean(OFF, synonyms=(Synonym("log.preallocate"),),
        doc="Reserve the room of a whole segment when it is made.")
    message_timestamp_type = string(
        "CreateTime", one_of=("CreateTime", "LogAppendTime"),
        synonyms=(Synonym("log.message.timestamp.type"),),
        doc="Whose time a record carries: its producer's or that of its append.")
    message_timestamp_before_max_ms = long(
        MAX_LONG, at_least=0, synonyms=(Synonym("log.message.timestamp.before.max.ms"),),
        doc="How far in the past a producer's timestamp may lie.")
    message_timestamp_after_max_ms = long(
        HOUR, at_least=0, synonyms=(Synonym("log.message.timestamp.after.max.ms"),),
        doc="How far in the future a producer's timestamp may lie.")
    leader_replication_throttled_replicas = string_list((), form=THROTTLED,
        doc="Replicas that are throttled at their leader: partition:broker pairs, or *.")
    follower_replication_throttled_replicas = string_list((), form=THROTTLED,
        doc="Replicas that are throttled at the follower: partition:broker pairs, or *.")
    remote_storage_enable = boolean(OFF,
        doc="Move old segments of this topic to remote storage.")
    local_retention_ms = long(-2, at_least=-2, synonyms=(Synonym("log.local.retention.ms"),),
        doc="How long a tiered log stays on the local disk; -2 means retention.ms.")
    local_retention_bytes = long(-2, at_least=-2, synonyms=(Synonym("log.local.retention.bytes"),),
        doc="How much of a tiered log stays on the local disk; -2 means retention.bytes.")
    remote_log_copy_disable = boolean(OFF,
        doc="Keep what is remote, but copy nothing more.")
    remote_log_delete_on_disable = boolean(OFF,
        doc="Delete what is remote when remote storage is switched off.")
    # fmt: on

    @property
    def cleanup_policy_delete(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def cleanup_policy_compact(self) -> bool:
        return "compact" in self.cleanup_policy


FROM_TOPIC = (
    "segment_bytes", "segment_ms", "segment_jitter_ms", "segment_index_bytes",
    "index_interval_bytes", "retention_ms", "retention_bytes", "cleanup_policy_delete",
    "cleanup_policy_compact", "min_cleanable_dirty_ratio", "min_compaction_lag_ms",
    "max_compaction_lag_ms", "delete_retention_ms", "file_delete_delay_ms", "flush_messages",
    "flush_ms", "preallocate", "max_message_bytes",
)  # fmt: skip


def log_values(topic: TopicSettings, broker: BrokerSettings) -> dict[str, Any]:
    """What the files of one log obey, under the names of the view that storage takes."""
    values = {name: getattr(topic, name) for name in FROM_TOPIC}
    if topic.internal_segment_bytes is not None:
        values["segment_bytes"] = topic.internal_segment_bytes
    values["producer_id_expiration_ms"] = broker.producer_id_expiration_ms
    values["fsync_before_ack"] = broker.quire_log_fsync_before_ack
    return values

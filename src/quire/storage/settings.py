"""How one log is kept: the part of a topic's configuration that its files obey.

Names are Kafka's topic settings with `_` for `.`, defaults are those of Apache Kafka 4.3; the room
that owns the configuration builds this view and hands it in, again whenever a setting changes.

Not here   parsing, bounds and documentation of the settings; what is checked before an append.
"""

from __future__ import annotations

from dataclasses import dataclass

NEVER = 2**63 - 1
"""The value with which Kafka switches a limit off where -1 is not its way."""

UNLIMITED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """One log's settings. `cleanup.policy` is two flags; neither means: keep all for ever."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 604_800_000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    retention_ms: int = 604_800_000
    retention_bytes: int = UNLIMITED
    cleanup_policy_delete: bool = True
    cleanup_policy_compact: bool = False
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = NEVER
    delete_retention_ms: int = 86_400_000
    file_delete_delay_ms: int = 60_000
    flush_messages: int = NEVER
    flush_ms: int = NEVER
    preallocate: bool = False
    max_message_bytes: int = 1_048_588
    producer_id_expiration_ms: int = 86_400_000
    fsync_before_ack: bool = False
    """Ours alone: acknowledge an append only once it is flushed (storage.flush.GroupCommit)."""

    @property
    def most_segment_ms(self) -> int:
        """How old the active segment may get: the cleaner must see its records in time (KIP-354)."""
        if self.cleanup_policy_compact:
            return min(self.segment_ms, self.max_compaction_lag_ms)
        return self.segment_ms

"""One partition as this broker holds it: its log, its role, and the rules of its topic.

Invariants
  I1  `leader` is there exactly while the controller's last word is that this broker leads, in `leader_epoch`.
  I2  A replica that is gone (deleted, moved away, its disk failed) never comes back: another object takes its place.
  I3  The high watermark of the log is never above the leader's.
Not here   which replicas there are (replicas), what followers fetch (the cluster's replica fetcher).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias, cast

from quire.broker.metrics import TopicFigures
from quire.config.topic import TopicSettings
from quire.errors import ErrorCode
from quire.metadata.image import NO_LEADER
from quire.records.compression import Compression
from quire.records.validate import Admission, BatchRules, TimestampType
from quire.replication.leader import Leader
from quire.storage.flush import GroupCommit
from quire.storage.log import Log
from quire.storage.log_dir import HostedLog
from quire.storage.settings import LogSettings
from quire.types import TopicPartition

TellDurable: TypeAlias = Callable[[bool], None]
"""Told once whether what was appended is on the disk."""

OK: Final = ErrorCode.NONE
NO_EPOCH: Final = -1


class Replica:
    """See the module. Everything that is not underlined may be read by anybody; replicas writes it."""

    __slots__ = (
        "admission",
        "commits",
        "compression",
        "compression_level",
        "figures",
        "flushing",
        "gone",
        "hosted",
        "leader",
        "leader_epoch",
        "leader_id",
        "log",
        "rules",
        "settings",
        "timestamp_type",
        "topic_id",
        "topic_partition",
    )

    def __init__(self, hosted: HostedLog, topic_id: bytes, figures: TopicFigures) -> None:
        self.topic_partition: TopicPartition = hosted.topic_partition
        self.topic_id = topic_id
        self.hosted = hosted
        self.log = cast("Log", hosted.log)
        self.figures = figures
        """Those of its topic."""
        self.leader: Leader | None = None
        self.leader_id = NO_LEADER
        self.leader_epoch = NO_EPOCH
        self.gone: ErrorCode | None = None
        """Why nothing is served any more (I2): the answer to whoever still waits."""
        self.settings: TopicSettings
        self.rules: BatchRules
        """What the topic demands of a batch, for `records.validate`."""
        self.admission: Admission | None = None
        """The short way through the rules, where the topic stores what comes as it comes."""
        self.timestamp_type = TimestampType.CREATE_TIME
        self.compression: Compression | None = None
        """What batches are stored in; None: as their producers sent them."""
        self.compression_level: int | None = None
        self.commits: GroupCommit[TellDurable] = GroupCommit()
        self.flushing: asyncio.Future[None] | None = None

    def __repr__(self) -> str:
        return (
            f"Replica({self.topic_partition}, epoch {self.leader_epoch}, {self.log.log_end_offset})"
        )

    def configure(self, settings: TopicSettings, log_settings: LogSettings) -> None:
        """The topic's settings are these from now on."""
        self.settings = settings
        self.timestamp_type = (
            TimestampType.LOG_APPEND_TIME
            if settings.message_timestamp_type == "LogAppendTime"
            else TimestampType.CREATE_TIME
        )
        self.rules = {
            "max_bytes": settings.max_message_bytes,
            "before_max_ms": settings.message_timestamp_before_max_ms,
            "after_max_ms": settings.message_timestamp_after_max_ms,
        }
        if settings.cleanup_policy_compact:
            self.rules["compacted"] = True
        if self.timestamp_type is TimestampType.LOG_APPEND_TIME:
            self.rules["timestamp_type"] = self.timestamp_type
        self.compression, self.compression_level = _stored_as(settings)
        self.admission = None
        if self.compression is None and self.timestamp_type is TimestampType.CREATE_TIME:
            self.admission = Admission(
                settings.max_message_bytes,
                settings.message_timestamp_before_max_ms,
                settings.message_timestamp_after_max_ms,
                settings.cleanup_policy_compact,
            )
        self.log.configure(log_settings)

    def check_leader(self, epoch: int) -> ErrorCode:
        """Whether a request with this current leader epoch may be served here by the leader."""
        if self.gone is not None:
            return self.gone
        if self.leader is None:
            return self._epoch_of_a_follower(epoch)
        return self.leader.check_epoch(epoch)

    def check_replica(self, epoch: int) -> ErrorCode:
        """The same, where a follower would do as well."""
        if self.gone is not None:
            return self.gone
        if epoch in (NO_EPOCH, self.leader_epoch):
            return OK
        return self._epoch_of_a_follower(epoch)

    def _epoch_of_a_follower(self, epoch: int) -> ErrorCode:
        if epoch in (NO_EPOCH, self.leader_epoch):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if epoch < self.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH

    def check(self) -> None:
        """Assert the invariants."""
        if self.leader is not None:
            assert self.leader.leader_epoch == self.leader_epoch  # I1
            assert self.log.high_watermark <= max(  # I3
                self.leader.high_watermark, self.log.log_start_offset
            )
            self.leader.check()
        self.log.check()


def _stored_as(settings: TopicSettings) -> tuple[Compression | None, int | None]:
    """The codec that batches of a topic are stored in, and its level."""
    name = settings.compression_type
    if name == "producer":
        return None, None
    if name == "uncompressed":
        return Compression.NONE, None
    levels = {
        "gzip": settings.compression_gzip_level,
        "lz4": settings.compression_lz4_level,
        "zstd": settings.compression_zstd_level,
    }
    return Compression[name.upper()], levels.get(name)

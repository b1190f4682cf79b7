"""Snapshots of the metadata: made when the log has grown or time has passed, and thrown away with what they cover.

A snapshot is written from the committed image, in the background; then the log begins a new segment. Old ones go, and
with them the segments that the oldest one left covers, when log and snapshots together are too large or too old.

Invariants
  I1  A snapshot is made of what is flushed in our own log, never in the middle of a metadata transaction.
  I2  The newest snapshot stays, and the log from the oldest one on.
Not here   files and their names (snapshot_files), what is in them (metadata.snapshot, raft.snapshots).
See        docs/formats/metadata-log.md, KIP-630
"""

from __future__ import annotations

from quire.config.broker import BrokerSettings
from quire.metadata.records import encode_value
from quire.metadata.snapshot import snapshot_records
from quire.node.feed import Feed
from quire.node.metadata_log import MetadataLog
from quire.node.quorum import Quorum
from quire.node.world import World
from quire.raft.snapshots import SnapshotId, build


class Snapshots:
    """See the module. `look` is to be called from time to time, one call after the other."""

    def __init__(
        self, world: World, log: MetadataLog, feed: Feed, quorum: Quorum, settings: BrokerSettings
    ) -> None:
        self._world = world
        self._log = log
        self._feed = feed
        self._quorum = quorum
        self._settings = settings
        self._made_ms = world.clock.monotonic_ms()

    async def look(self) -> None:
        """Make a snapshot if one is due, and remove what is not needed any more."""
        if self._is_due():
            await self.make()
        await self.clean()

    async def make(self) -> None:
        """A snapshot of what is committed now, unless there is one already."""
        feed, image = self._feed, self._feed.image
        which = SnapshotId(image.offset + 1, image.quorum_epoch)
        if feed.in_transaction or which.end_offset > self._quorum.flushed_offset:  # I1
            return
        newest = self._log.latest_snapshot
        if newest is not None and newest.end_offset >= which.end_offset:
            return
        controls, timestamp = self._quorum.controls, feed.last_timestamp
        covered = feed.bytes_since_snapshot
        now_ms = self._world.clock.wall_ms()

        def write() -> int:
            batches = list(
                build(
                    (encode_value(record) for record in snapshot_records(image)),
                    epoch=which.epoch,
                    last_contained_log_timestamp=timestamp,
                    now_ms=now_ms,
                    controls=controls,
                )
            )
            self._log.snapshots.write(which, batches)
            return sum(map(len, batches))

        size = await self._world.background.run(write)
        self._log.snapshots.add(which)
        feed.bytes_since_snapshot -= covered
        self._made_ms = self._world.clock.monotonic_ms()
        self._log.roll()
        self._world.journal.say(
            "metadata", which.file_name, "snapshot made", records_bytes=covered, bytes=size
        )

    async def clean(self) -> None:
        """Let go what the settings do not keep (I2)."""
        going = self._superfluous()
        if going:
            await self._world.background.run(lambda: self._log.snapshots.delete(going))
            self._log.snapshots.forget(going)
            self._world.journal.say("metadata", "snapshots", "removed", count=len(going))
        if self._log.snapshots.known:
            oldest = self._log.snapshots.known[0]
            self._log.remove_below(oldest.end_offset, high_watermark=self._quorum.high_watermark)
        for deletion in self._log.deletions_due():
            await self._world.background.run(deletion.run)

    def _is_due(self) -> bool:
        settings, feed = self._settings, self._feed
        if feed.bytes_since_snapshot == 0:
            return False
        if feed.bytes_since_snapshot >= settings.metadata_log_max_record_bytes_between_snapshots:
            return True
        interval_ms = settings.metadata_log_max_snapshot_interval_ms
        return 0 < interval_ms <= self._world.clock.monotonic_ms() - self._made_ms

    def _superfluous(self) -> list[SnapshotId]:
        """The oldest ones, as far as size or age call for it."""
        settings = self._settings
        kept = self._log.snapshots.known
        sizes = {one: self._log.snapshots.size_of(one) for one in kept}
        most_bytes, most_ms = (
            settings.metadata_max_retention_bytes,
            settings.metadata_max_retention_ms,
        )
        now_ms = self._world.clock.wall_ms()
        going: list[SnapshotId] = []
        for one in kept[:-1]:
            size = sum(sizes[each] for each in kept if each not in going)
            size += _bytes_from(self._log, one.end_offset)
            is_large = most_bytes >= 0 and size > most_bytes
            is_old = most_ms >= 0 and now_ms - self._log.snapshots.modified_ms_of(one) > most_ms
            if not (is_large or is_old):
                break
            going.append(one)
        return going


def _bytes_from(log: MetadataLog, offset: int) -> int:
    """The bytes of all segments from the one with `offset` on."""
    segments = log.log.segments
    return sum(one.size for one in segments[segments.index_for(offset) :])

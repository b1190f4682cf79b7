"""The metadata log on one node's disk: batches of records, and quorum-state.

It is an ordinary log (`storage.log`) in a directory of its own, with snapshots beside the segments. What was appended
lately is kept decoded until its reader has taken it: in a node that leads, nothing is read back from the disk.

Invariants
  I1  Every offset of the log is in exactly one `Batch`; control batches carry no messages.
  I2  No segment goes that is not covered by a snapshot.
  I3  After a crash the log ends with a whole batch; what was flushed is there.
  I4  What a snapshot covers was flushed in the log before the snapshot was written: only the segments from the newest
      snapshot on are looked through after a stop, and a new one begins with each snapshot.
Not here   what is committed (quorum), what the records mean (metadata), the snapshots' files (snapshot_files).
See        docs/formats/metadata-log.md, KIP-595, KIP-630
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quire.errors import CorruptFileError, StorageError
from quire.metadata.records import Message, MetadataRecord, decode_value, encode_value
from quire.node.snapshot_files import SnapshotFiles
from quire.node.world import World
from quire.ports.disk import Disk
from quire.protocol.compiler import codec
from quire.protocol.messages.control_records import LeaderChangeMessage, LeaderChangeMessageVoter
from quire.raft import quorum_state
from quire.raft.quorum_state import QuorumState, QuorumStateError
from quire.raft.snapshots import (
    BOOTSTRAP,
    NO_CONTROLS,
    Controls,
    SnapshotId,
    control_values,
    read_controls,
)
from quire.records.batch import decode_records, encode_pairs, iterate_headers
from quire.records.control import ControlType, encode_control_batch
from quire.storage import flush, retention
from quire.storage.append import AppendInfo
from quire.storage.deletion import Deletion
from quire.storage.directory_names import METADATA_TOPIC
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.lookup import OutOfRange
from quire.storage.partition_metadata import read_topic_id, write_topic_id
from quire.storage.settings import LogSettings
from quire.storage.small_files import make_directory, read_file, replace_file

TOPIC_ID = bytes(15) + b"\x01"
READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch of the log, decoded."""

    base_offset: int
    last_offset: int
    epoch: int
    timestamp: int
    size: int
    messages: tuple[Message, ...] = ()
    controls: Controls = NO_CONTROLS


class MetadataLog:
    """See the module. Made by `open`."""

    def __init__(self, world: World, directory: str, log: Log, snapshots: SnapshotFiles) -> None:
        self._disk: Disk = world.disk
        self._clock = world.clock
        self.directory = directory
        self.log = log
        self._recent: deque[Batch] = deque()
        self.snapshots = snapshots
        self.controls_in_log = NO_CONTROLS
        """What the log and its snapshots say of the quorum, without what formatting left."""

    @classmethod
    def open(cls, world: World, parent: str, settings: LogSettings) -> MetadataLog:
        """Open the log in its directory under `parent`, making it when it is not there. Blocks."""
        disk = world.disk
        directory = f"{parent}/{METADATA_TOPIC}-0"
        make_directory(disk, directory)
        snapshots = SnapshotFiles.open(disk, directory)
        _check_topic_id(disk, directory)
        known = snapshots.known
        log = Log.open(
            disk,
            directory,
            settings,
            now_ms=world.clock.wall_ms(),
            last_stop=LastStop(recovery_point=known[-1].end_offset if known else 0),  # I4
            draw_below=world.entropy.below,
        )
        newest = snapshots.newest
        if newest is not None and log.log_end_offset < newest.end_offset:
            log.truncate_fully_and_start_at(newest.end_offset, now_ms=world.clock.wall_ms())
        return cls(world, directory, log, snapshots)

    # --- what is in it ------------------------------------------------------------------------

    @property
    def end_offset(self) -> int:
        return self.log.log_end_offset

    @property
    def last_epoch(self) -> int:
        """The epoch of the last batch, or of the snapshot below it; 0 in an empty log."""
        newest = self.latest_snapshot
        return max(self.log.leader_epochs.latest_epoch, newest.epoch if newest else 0, 0)

    @property
    def latest_snapshot(self) -> SnapshotId | None:
        return self.snapshots.newest

    def controls(self) -> Controls:
        """What formatting, the newest snapshot and the log behind it say of the quorum. Blocks."""
        formatted = NO_CONTROLS
        if BOOTSTRAP in self.snapshots.known:
            formatted = self.snapshots.read(BOOTSTRAP).controls
        newest = self.latest_snapshot
        found = NO_CONTROLS if newest is None else self.snapshots.read(newest).controls
        first = self.log.log_start_offset if newest is None else newest.end_offset
        for content in self._read(max(first, self.log.log_start_offset), self.end_offset):
            for position, header in iterate_headers(content):
                if header.is_control:
                    found = found.then(read_controls(decode_records(content, position, header)))
        self.controls_in_log = found
        return formatted.then(found)

    def batches(self, from_offset: int, to_offset: int) -> Iterator[Batch]:
        """The batches between the two offsets, in order."""
        if self._recent and self._recent[0].base_offset <= from_offset:
            for batch in list(self._recent):
                if from_offset <= batch.base_offset < to_offset:
                    yield batch
            return
        for content in self._read(from_offset, to_offset):
            for position, header in iterate_headers(content):
                records = decode_records(content, position, header)
                yield Batch(
                    header.base_offset,
                    header.base_offset + header.last_offset_delta,
                    header.partition_leader_epoch,
                    header.max_timestamp,
                    header.size,
                    ()
                    if header.is_control
                    else tuple(decode_value(record.value or b"").message for record in records),
                    read_controls(records) if header.is_control else NO_CONTROLS,
                )

    def taken(self, end_offset: int) -> None:
        """The reader has everything below `end_offset`; it need not be kept decoded."""
        while self._recent and self._recent[0].last_offset < end_offset:
            self._recent.popleft()

    # --- growing it ---------------------------------------------------------------------------

    def append(self, records: Sequence[MetadataRecord], *, epoch: int) -> Batch:
        """Append one batch of metadata records, as the leader of `epoch`."""
        pairs = [(None, encode_value(record)) for record in records]
        now_ms = self._clock.wall_ms()
        messages = tuple(record.message for record in records)
        return self._append(encode_pairs(pairs, now_ms), epoch, now_ms, messages, NO_CONTROLS)

    def append_controls(
        self, values: list[tuple[ControlType, bytes]], controls: Controls, *, epoch: int
    ) -> Batch:
        """Append one control batch; `controls` is what it says of the quorum."""
        now_ms = self._clock.wall_ms()
        buffer = encode_control_batch(values, now_ms)
        self.controls_in_log = self.controls_in_log.then(controls)
        return self._append(buffer, epoch, now_ms, (), controls)

    def begin_flush(self) -> flush.FlushPlan:
        """A plan to make durable what is there now; to be ended by `finish_flush` or `fail_flush`."""
        return flush.begin(self.log, now_ms=self._clock.wall_ms())

    def finish_flush(self, plan: flush.FlushPlan) -> None:
        flush.finish(self.log, plan)

    def fail_flush(self, error: OSError) -> None:
        flush.fail(self.log, error)

    # --- files beside it ----------------------------------------------------------------------

    def roll(self) -> None:
        """Begin a new segment, for a snapshot covers what is in the old ones (I4)."""
        self.log.roll(now_ms=self._clock.wall_ms())

    def remove_below(self, offset: int, *, high_watermark: int) -> None:
        """Let whole segments below `offset`, which a snapshot covers (I2), go. Blocks for a moment."""
        now_ms = self._clock.wall_ms()
        self.log.update_high_watermark(high_watermark)
        if offset > self.log.log_start_offset:
            self.log.advance_log_start_offset(offset, now_ms=now_ms)
        else:
            retention.remove_below_log_start(self.log, now_ms=now_ms)

    def deletions_due(self) -> list[Deletion]:
        """Files to unlink in the background."""
        return self.log.deletions.due(self._clock.wall_ms())

    def read_quorum_state(self) -> QuorumState:
        """What is remembered of votes; nothing when the file is not there or cannot be read."""
        try:
            return quorum_state.decode(
                read_file(self._disk, f"{self.directory}/{quorum_state.FILE_NAME}")
            )
        except (FileNotFoundError, QuorumStateError):
            return QuorumState()

    def write_quorum_state(self, content: bytes) -> None:
        """Remember it, durably. Blocks; may run anywhere."""
        replace_file(self._disk, f"{self.directory}/{quorum_state.FILE_NAME}", content)

    def close(self) -> None:
        """Flush everything and close. Blocks."""
        self.log.update_high_watermark(self.end_offset)
        self.log.close(now_ms=self._clock.wall_ms())

    def _read(self, from_offset: int, to_offset: int) -> Iterator[bytes]:
        """The bytes of the log, whole batches at a time."""
        while from_offset < to_offset:
            found = self.log.read(from_offset, max_bytes=READ_BYTES, upper_bound_offset=to_offset)
            if isinstance(found, OutOfRange):
                raise StorageError(
                    f"{self.directory} has offsets {found.log_start_offset} to"
                    f" {found.log_end_offset}, but {from_offset} is needed"
                )
            content = found.records.read()
            yield content
            for _position, header in iterate_headers(content):
                from_offset = header.next_offset

    def _append(
        self,
        buffer: bytearray,
        epoch: int,
        now_ms: int,
        messages: tuple[Message, ...],
        controls: Controls,
    ) -> Batch:
        info = self.log.append(buffer, leader_epoch=epoch, now_ms=now_ms, from_client=False)
        assert isinstance(info, AppendInfo), "a batch without a producer id is never refused"
        batch = Batch(
            info.first_offset,
            info.last_offset,
            epoch,
            now_ms,
            len(buffer),
            messages,
            controls,
        )
        self._recent.append(batch)
        return batch


def _check_topic_id(disk: Disk, directory: str) -> None:
    try:
        found = read_topic_id(disk, directory)
    except CorruptFileError:
        found = None
    if found is None:
        write_topic_id(disk, directory, TOPIC_ID)
    elif found != TOPIC_ID:
        raise StorageError(f"{directory} is not a metadata log: its topic id is another's")


def epoch_start(
    leader_id: int, voter_ids: Sequence[int], granting: Sequence[int], controls: Controls
) -> list[tuple[ControlType, bytes]]:
    """The control records with which a leader begins its epoch."""
    change = LeaderChangeMessage(
        version=0,
        leader_id=leader_id,
        voters=[LeaderChangeMessageVoter(voter_id=one) for one in voter_ids],
        granting_voters=[LeaderChangeMessageVoter(voter_id=one) for one in granting],
    )
    first = (ControlType.LEADER_CHANGE, codec(LeaderChangeMessage, 0).encode(change))
    return [first, *control_values(controls)]

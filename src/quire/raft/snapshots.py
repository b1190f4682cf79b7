"""Snapshots of the metadata log as bytes: what their files are called, and what stands in them.

A file is batches with offsets counted from 0: a control batch (header; kraft.version and voters where the quorum keeps
them in the log), data batches, a control batch (footer). bootstrap.checkpoint has the same form.

Invariants
  I1  What was built reads back as the same values, voters and level.
  I2  Whatever bytes come in, `read` gives a snapshot that is whole or raises SnapshotError.
Not here   which values (metadata.snapshot), when and where (node.metadata_log).
See        docs/formats/metadata-log.md, KIP-630, KIP-853
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeVar

from quire.errors import CorruptBatchError, ProtocolError, QuireError
from quire.protocol.compiler import codec
from quire.protocol.messages import control_records as control
from quire.raft.voters import VoterSet
from quire.records.batch import (
    BatchHeader,
    Record,
    check_crc,
    decode_records,
    encode_pairs,
    iterate_headers,
)
from quire.records.control import ControlType, encode_control_batch, read_control_type

T = TypeVar("T")

SUFFIX: Final = ".checkpoint"
PART: Final = ".part"
DELETED: Final = ".deleted"
BATCH_BYTES: Final = 1 << 20
"""Values are gathered up to here; Kafka takes batches of up to 8 MiB."""

_OFFSET_DIGITS: Final = 20
_EPOCH_DIGITS: Final = 10


class SnapshotError(QuireError):
    """A snapshot that cannot be used."""


class SnapshotId(NamedTuple):
    """Where a snapshot ends: the offset after its last record, and that record's epoch."""

    end_offset: int
    epoch: int

    @property
    def file_name(self) -> str:
        return f"{self.end_offset:020d}-{self.epoch:010d}{SUFFIX}"


BOOTSTRAP: Final = SnapshotId(0, 0)
"""The snapshot that formatting leaves, with the first voters and nothing else."""


def snapshot_id(file_name: str) -> SnapshotId | None:
    """What a file name stands for; None when it is no finished snapshot's."""
    stem = file_name.removesuffix(SUFFIX)
    offset, dash, epoch = stem.partition("-")
    if stem == file_name or not dash or not (stem.isascii() and (offset + epoch).isdigit()):
        return None
    if len(offset) != _OFFSET_DIGITS or len(epoch) != _EPOCH_DIGITS:
        return None
    return SnapshotId(int(offset), int(epoch))


class Controls(NamedTuple):
    """What control records say about the quorum; None where none said anything."""

    kraft_version: int | None = None
    voters: VoterSet | None = None

    def then(self, later: Controls) -> Controls:
        """What holds after these and later ones."""
        return Controls(
            self.kraft_version if later.kraft_version is None else later.kraft_version,
            self.voters if later.voters is None else later.voters,
        )


NO_CONTROLS: Final = Controls()


class Snapshot(NamedTuple):
    """A snapshot read back."""

    last_contained_log_timestamp: int
    controls: Controls
    values: list[bytes]


def control_values(controls: Controls) -> list[tuple[ControlType, bytes]]:
    """The control records that say so."""
    found: list[tuple[ControlType, bytes]] = []
    if controls.kraft_version is not None:
        level = control.KRaftVersionRecord(version=0, k_raft_version=controls.kraft_version)
        found.append((ControlType.KRAFT_VERSION, _encode(level)))
    if controls.voters is not None:
        found.append((ControlType.KRAFT_VOTERS, _encode(controls.voters.record())))
    return found


def read_controls(records: Iterable[Record]) -> Controls:
    """What the records of a control batch say about the quorum; others among them say nothing."""
    kraft_version: int | None = None
    voters: VoterSet | None = None
    for record in records:
        kind = read_control_type(record)
        if kind is ControlType.KRAFT_VERSION:
            level = _decode(control.KRaftVersionRecord, record)
            kraft_version = level.k_raft_version
        elif kind is ControlType.KRAFT_VOTERS:
            voters = VoterSet.of_record(_decode(control.VotersRecord, record))
    return Controls(kraft_version, voters)


def build(
    values: Iterable[bytes],
    *,
    epoch: int,
    last_contained_log_timestamp: int,
    now_ms: int,
    controls: Controls = NO_CONTROLS,
) -> Iterator[bytearray]:
    """The batches of a snapshot, in order."""
    header = control.SnapshotHeaderRecord(
        version=0, last_contained_log_timestamp=last_contained_log_timestamp
    )
    first = [(ControlType.SNAPSHOT_HEADER, _encode(header)), *control_values(controls)]
    yield encode_control_batch(first, now_ms, base_offset=0, partition_leader_epoch=epoch)
    offset = len(first)
    for chunk in _chunks(values):
        yield encode_pairs(
            [(None, value) for value in chunk],
            now_ms,
            base_offset=offset,
            partition_leader_epoch=epoch,
        )
        offset += len(chunk)
    footer = [(ControlType.SNAPSHOT_FOOTER, _encode(control.SnapshotFooterRecord(version=0)))]
    yield encode_control_batch(footer, now_ms, base_offset=offset, partition_leader_epoch=epoch)


def read(content: bytes | memoryview) -> Snapshot:
    """A whole snapshot (I2)."""
    header: control.SnapshotHeaderRecord | None = None
    controls = NO_CONTROLS
    values: list[bytes] = []
    is_finished = False
    try:
        for records, batch in _batches(content):
            if is_finished:
                raise SnapshotError("a snapshot goes on behind its footer")
            if not batch.is_control:
                values += [bytes(record.value or b"") for record in records]
                continue
            controls = controls.then(read_controls(records))
            for record in records:
                kind = read_control_type(record)
                if kind is ControlType.SNAPSHOT_HEADER:
                    header = _decode(control.SnapshotHeaderRecord, record)
                is_finished = is_finished or kind is ControlType.SNAPSHOT_FOOTER
            if header is None:
                raise SnapshotError("a snapshot does not begin with its header")
    except (CorruptBatchError, ProtocolError) as failure:
        raise SnapshotError(f"a snapshot is broken: {failure}") from failure
    if header is None or not is_finished:
        raise SnapshotError("a snapshot ends before its footer")
    return Snapshot(header.last_contained_log_timestamp, controls, values)


def _batches(content: bytes | memoryview) -> Iterator[tuple[list[Record], BatchHeader]]:
    for position, header in iterate_headers(content):
        if not check_crc(content, position, header):
            message = f"the batch at offset {header.base_offset} has a wrong checksum"
            raise CorruptBatchError(message, position=position)
        yield decode_records(content, position, header), header


def _chunks(values: Iterable[bytes]) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for value in values:
        if chunk and size + len(value) > BATCH_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(value)
        size += len(value)
    if chunk:
        yield chunk


def _encode(message: object) -> bytes:
    return bytes(codec(type(message), 0).encode(message))


def _decode(cls: type[T], record: Record) -> T:
    if record.value is None:
        raise CorruptBatchError(f"the control record at offset {record.offset} has no value")
    return codec(cls, 0).decode_all(record.value, 0)

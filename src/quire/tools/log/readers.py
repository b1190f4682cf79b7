"""Facts out of the files of a log directory, whichever system wrote them. Nothing is ever written.

Invariants
  I1  A file is walked in bounded pieces; a segment of any size takes little memory.
  I2  Broken bytes become `fault` facts with file and position; what can still be read is still shown.
Not here   what records of internal topics mean (decoders), whether indexes agree with their log (checks).
See        docs/formats.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from struct import Struct

from quire.errors import CorruptBatchError, CorruptFileError, QuireError
from quire.ports.disk import Disk
from quire.records.batch import BatchHeader, check_crc, decode_batch
from quire.records.compression import Compression
from quire.storage import offset_index, scan, time_index, transaction_index
from quire.storage.checkpoints import read_offsets
from quire.storage.file_names import (
    LEADER_EPOCHS,
    LOG,
    OFFSET_INDEX,
    PRODUCER_SNAPSHOT,
    TIME_INDEX,
    TRANSACTION_INDEX,
)
from quire.storage.leader_epochs import LeaderEpochs
from quire.storage.producer_snapshot import decode_snapshot
from quire.storage.small_files import read_file
from quire.tools.log.decoders import Decoder
from quire.tools.log.facts import Fact, fault

INDEX_CHUNK_ENTRIES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How deep a dump looks."""

    records: bool = False
    payloads: bool = False
    decoder: Decoder | None = None


def base_name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def reader_of(path: str) -> Callable[[Disk, str, Wanted], Iterator[Fact]] | None:
    """How to read a file, by its name; suffixes of the cleaner and of deletion do not matter."""
    name = base_name(path)
    for stage in (".deleted", ".cleaned", ".swap", ".part"):
        name = name.removesuffix(stage)
    for suffix, reader in BY_SUFFIX.items():
        if name.endswith(suffix):
            return reader
    return BY_NAME.get(name)


def batches(disk: Disk, path: str, wanted: Wanted) -> Iterator[Fact]:
    """A segment, or a snapshot of the metadata log: its batches, and the records in them."""
    file = disk.open(path, writable=False)
    try:
        for view in scan.whole_batches(file, 0, file.size()):
            sound = check_crc(view.buffer, view.at, view.header)
            yield batch_fact(view.position, view.header, is_valid=sound)
            if not sound:
                yield fault(path, view.position, "the batch's checksum does not match its bytes")
            elif wanted.records or wanted.payloads:
                yield from _records(path, view, wanted)
    except CorruptBatchError as error:
        yield fault(path, error.position, error.message)
    finally:
        file.close()


def batch_fact(position: int, header: BatchHeader, *, is_valid: bool) -> Fact:
    """The header of a batch."""
    return {
        "kind": "batch",
        "baseOffset": header.base_offset,
        "lastOffset": header.last_offset,
        "count": header.record_count,
        "baseSequence": header.base_sequence,
        "lastSequence": header.last_sequence,
        "producerId": header.producer_id,
        "producerEpoch": header.producer_epoch,
        "partitionLeaderEpoch": header.partition_leader_epoch,
        "isTransactional": header.is_transactional,
        "isControl": header.is_control,
        "deleteHorizonMs": header.delete_horizon_ms,
        "position": position,
        "timestampType": "LogAppendTime" if header.is_log_append_time else "CreateTime",
        "maxTimestamp": header.max_timestamp,
        "size": header.size,
        "magic": header.magic,
        "compression": Compression(header.compression).name.lower(),
        "crc": header.crc,
        "isValid": is_valid,
    }


def _records(path: str, view: scan.BatchView, wanted: Wanted) -> Iterator[Fact]:
    header = view.header
    try:
        records = decode_batch(view.buffer, view.at)
    except QuireError as error:
        yield fault(path, view.position, str(error))
        return
    for record in records:
        shown: Fact = {
            "kind": "record",
            "offset": record.offset,
            "timestamp": record.timestamp,
            "keySize": -1 if record.key is None else len(record.key),
            "valueSize": -1 if record.value is None else len(record.value),
            "sequence": _sequence(header, record.offset),
            "headerKeys": [name for name, _ in record.headers],
        }
        if wanted.payloads and wanted.decoder is not None:
            try:
                shown |= wanted.decoder(header, record)
            except QuireError as error:
                shown |= {"undecodable": str(error)}
                yield shown
                yield fault(path, view.position, f"offset {record.offset}: {error}")
                continue
        yield shown


def _sequence(header: BatchHeader, offset: int) -> int:
    if header.base_sequence < 0:
        return -1
    return (header.base_sequence + offset - header.base_offset) % (1 << 31)


def _entries(disk: Disk, path: str, entry: Struct) -> Iterator[tuple[int, ...]]:
    file = disk.open(path, writable=False)
    try:
        size, position = file.size(), 0
        while position + entry.size <= size:
            chunk = file.read(position, min(size - position, INDEX_CHUNK_ENTRIES * entry.size))
            whole = len(chunk) - len(chunk) % entry.size
            yield from entry.iter_unpack(chunk[:whole])
            position += whole
    finally:
        file.close()


def _ragged(disk: Disk, path: str, entry: Struct) -> Iterator[Fact]:
    size = disk.stat(path).size
    if size % entry.size:
        yield fault(
            path, size - size % entry.size, f"the last entry has not all {entry.size} bytes"
        )


def _base_offset(path: str) -> int:
    digits = base_name(path)[:20]
    return int(digits) if digits.isdigit() else 0


def offset_entries(disk: Disk, path: str, wanted: Wanted) -> Iterator[Fact]:  # noqa: ARG001
    """An offset index. The zeros behind the last entry of a preallocated one are no entries."""
    base_offset = _base_offset(path)
    for number, (relative_offset, position) in enumerate(_entries(disk, path, offset_index.ENTRY)):
        if not relative_offset and not position:
            break
        yield {
            "kind": "offsetIndexEntry",
            "number": number,
            "offset": base_offset + relative_offset,
            "position": position,
        }
    yield from _ragged(disk, path, offset_index.ENTRY)


def time_entries(disk: Disk, path: str, wanted: Wanted) -> Iterator[Fact]:  # noqa: ARG001
    """A time index."""
    base_offset = _base_offset(path)
    for number, (timestamp, relative_offset) in enumerate(_entries(disk, path, time_index.ENTRY)):
        if number and not timestamp and not relative_offset:
            break
        yield {
            "kind": "timeIndexEntry",
            "number": number,
            "timestamp": timestamp,
            "offset": base_offset + relative_offset,
        }
    yield from _ragged(disk, path, time_index.ENTRY)


def aborted_transactions(disk: Disk, path: str, wanted: Wanted) -> Iterator[Fact]:  # noqa: ARG001
    """A transaction index."""
    for entry in _entries(disk, path, transaction_index.ENTRY):
        version, producer_id, first_offset, last_offset, last_stable_offset = entry
        yield {
            "kind": "abortedTransaction",
            "version": version,
            "producerId": producer_id,
            "firstOffset": first_offset,
            "lastOffset": last_offset,
            "lastStableOffset": last_stable_offset,
        }
    yield from _ragged(disk, path, transaction_index.ENTRY)


def producers(disk: Disk, path: str, wanted: Wanted) -> Iterator[Fact]:  # noqa: ARG001
    """A snapshot of producer state."""
    try:
        entries = decode_snapshot(read_file(disk, path), path)
    except CorruptFileError as error:
        yield fault(path, None, str(error))
        return
    for entry in entries:
        yield {
            "kind": "producer",
            "producerId": entry.producer_id,
            "producerEpoch": entry.producer_epoch,
            "coordinatorEpoch": entry.coordinator_epoch,
            "currentTxnFirstOffset": entry.transaction_first_offset,
            "lastSequence": entry.last_sequence,
            "lastOffset": entry.last_offset,
            "offsetDelta": entry.offset_delta,
            "timestamp": entry.timestamp,
        }


def leader_epochs(disk: Disk, path: str, wanted: Wanted) -> Iterator[Fact]:  # noqa: ARG001
    """A leader epoch checkpoint."""
    try:
        for epoch, start_offset in LeaderEpochs.load(disk, path).entries:
            yield {"kind": "leaderEpoch", "epoch": epoch, "startOffset": start_offset}
    except CorruptFileError as error:
        yield fault(path, None, str(error))


def checkpoint(disk: Disk, path: str, wanted: Wanted) -> Iterator[Fact]:  # noqa: ARG001
    """An offset checkpoint of a log directory."""
    try:
        for (topic, partition), offset in read_offsets(disk, path).items():
            yield {"kind": "checkpoint", "topic": topic, "partition": partition, "offset": offset}
    except CorruptFileError as error:
        yield fault(path, None, str(error))


def properties(disk: Disk, path: str, wanted: Wanted) -> Iterator[Fact]:  # noqa: ARG001
    """meta.properties, or partition.metadata: small files of names and values."""
    for line in _text(disk, path).splitlines():
        name, separator, value = line.partition("=" if "=" in line else ":")
        if separator and not line.startswith("#"):
            yield {"kind": "property", "name": name.strip(), "value": value.strip()}


def one_json(disk: Disk, path: str, wanted: Wanted) -> Iterator[Fact]:  # noqa: ARG001
    """quorum-state or the mark of a clean shutdown: one JSON object."""
    try:
        content = json.loads(_text(disk, path))
    except json.JSONDecodeError as error:
        yield fault(path, error.pos, f"this is no JSON: {error.msg}")
        return
    yield {"kind": "json", "content": content}


def _text(disk: Disk, path: str) -> str:
    file = disk.open(path, writable=False)
    try:
        return file.read(0, min(file.size(), 1 << 20)).decode("utf-8", "replace")
    finally:
        file.close()


BY_SUFFIX: dict[str, Callable[[Disk, str, Wanted], Iterator[Fact]]] = {
    LOG: batches,
    ".checkpoint": batches,
    OFFSET_INDEX: offset_entries,
    TIME_INDEX: time_entries,
    TRANSACTION_INDEX: aborted_transactions,
    PRODUCER_SNAPSHOT: producers,
    "-offset-checkpoint": checkpoint,
}
BY_NAME: dict[str, Callable[[Disk, str, Wanted], Iterator[Fact]]] = {
    LEADER_EPOCHS: leader_epochs,
    "meta.properties": properties,
    "partition.metadata": properties,
    "quorum-state": one_json,
    ".kafka_cleanshutdown": one_json,
}

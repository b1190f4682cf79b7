"""Snapshots of the producers' state beside a log: what they hold, and which of them are there.

A snapshot named for an offset holds the state that all records below that offset lead to.

Invariants
  I1  A file whose version, checksum, size or entries are wrong is a CorruptFileError; nothing of it
      is used. The state can be had from an older snapshot and the log.
Not here   what the state means (storage.producer_state), which segments there are (storage.log).
See        docs/formats/producer-snapshot.md
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from quire.errors import CorruptFileError
from quire.ports.disk import Disk
from quire.records.checksum import crc32c
from quire.storage.file_names import PRODUCER_SNAPSHOT, base_offsets, file_path
from quire.storage.small_files import read_file

_VERSION = 1
_HEADER = Struct(">hIi")
_COUNT = Struct(">i")
_ENTRY = Struct(">qhiqiqiq")
_CHECKSUMMED_FROM = 6


class ProducerEntry(NamedTuple):
    """One producer, in the order of the bytes. -1 where there is none."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    transaction_first_offset: int


def encode_snapshot(entries: Iterable[ProducerEntry]) -> bytes:
    """The bytes of a snapshot."""
    packed = [_ENTRY.pack(*entry) for entry in entries]
    body = b"".join([_COUNT.pack(len(packed)), *packed])
    return _HEADER.pack(_VERSION, crc32c(body), len(packed)) + body[_COUNT.size :]


def decode_snapshot(data: bytes, path: str) -> list[ProducerEntry]:
    """The entries of a snapshot; CorruptFileError naming `path`."""
    if len(data) < _HEADER.size:
        raise CorruptFileError(path, f"{len(data)} bytes are too few for a snapshot")
    version, checksum, count = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise CorruptFileError(path, f"unknown version {version}")
    if crc32c(data[_CHECKSUMMED_FROM:]) != checksum:
        raise CorruptFileError(path, "the checksum is wrong")
    if count < 0 or len(data) != _HEADER.size + count * _ENTRY.size:
        raise CorruptFileError(path, f"{count} entries announced in {len(data)} bytes")
    entries = [ProducerEntry(*fields) for fields in _ENTRY.iter_unpack(data[_HEADER.size :])]
    for entry in entries:
        if entry.producer_id < 0 or entry.offset_delta < 0 or entry.last_sequence < -1:
            raise CorruptFileError(path, f"impossible entry {entry}")
    return entries


def read_snapshot(disk: Disk, directory: str, offset: int) -> list[ProducerEntry]:
    """The entries of one snapshot of a partition directory."""
    path = file_path(directory, offset, PRODUCER_SNAPSHOT)
    return decode_snapshot(read_file(disk, path), path)


def write_snapshot(
    disk: Disk, directory: str, offset: int, entries: Iterable[ProducerEntry], *, flush: bool
) -> None:
    """Write one snapshot. Not flushed, it may be lost or torn by a crash, and is then not used."""
    file = disk.open(file_path(directory, offset, PRODUCER_SNAPSHOT), create=True)
    try:
        file.truncate(0)
        file.write(0, [encode_snapshot(entries)])
        if flush:
            file.flush()
    finally:
        file.close()
    if flush:
        disk.flush_directory(directory)


def snapshot_offsets(disk: Disk, directory: str) -> list[int]:
    """The offsets for which there is a snapshot, ascending."""
    return base_offsets(disk.list(directory), PRODUCER_SNAPSHOT)


def remove_snapshot(disk: Disk, directory: str, offset: int) -> None:
    """Remove one snapshot, if it is there."""
    path = file_path(directory, offset, PRODUCER_SNAPSHOT)
    if disk.exists(path):
        disk.remove(path)


def remove_snapshots_before(disk: Disk, directory: str, offset: int) -> None:
    """Remove the snapshots below `offset`: the log begins there."""
    for found in snapshot_offsets(disk, directory):
        if found < offset:
            disk.remove(file_path(directory, found, PRODUCER_SNAPSHOT))


def remove_snapshots_after(disk: Disk, directory: str, offset: int) -> None:
    """Remove the snapshots above `offset`: the log ends there."""
    for found in snapshot_offsets(disk, directory):
        if found > offset:
            disk.remove(file_path(directory, found, PRODUCER_SNAPSHOT))


def remove_stray_snapshots(disk: Disk, directory: str, segment_base_offsets: Iterable[int]) -> None:
    """Remove every snapshot that belongs to no segment, but for the newest one."""
    kept = set(segment_base_offsets)
    for found in snapshot_offsets(disk, directory)[:-1]:
        if found not in kept:
            disk.remove(file_path(directory, found, PRODUCER_SNAPSHOT))

"""What the log cleaner needs of batches: the latest offset of every key, and batches without the rest.

The cleaner decides per batch (aborted data, markers, active producers) and hands the decision in as `FilterRules`;
which single records survive follows from the offset map.

Invariants
  I1  A rewritten batch keeps base offset, last offset, producer fields and leader epoch.
  I2  A batch of which nothing changes is not rewritten: its own bytes are copied.
  I3  A tombstone goes only after a delete horizon was written into its batch and has passed.
Not here   which batches are aborted, which segments are dirty, files (storage.cleaner).
See        docs/formats/record-batch.md, KIP-534
"""

from __future__ import annotations

from typing import NamedTuple

from quire.errors import CorruptBatchError
from quire.records import implementation
from quire.records.batch import (
    HEADER_SIZE,
    BatchHeader,
    encode_empty_batch,
    read_section,
    seal,
)
from quire.records.compression import compress
from quire.records.record import Buffer, Selection

_DELETE_HORIZON = 0x40


class OffsetMap:
    """The latest offset of each key, in memory of a fixed size; keys are known by a keyed digest.

    With `hash_key` (16 bytes) drawn at random nobody can craft keys that collide. When it is full the log is cleaned
    up to `end_offset` only, and the rest waits for the next round. One thread at a time may use it; the loops over a
    batch run without the GIL where the kernel was built.
    """

    def __init__(self, memory_bytes: int, hash_key: bytes, load_factor: float = 0.9) -> None:
        self._table = implementation.OffsetTable(memory_bytes, hash_key, load_factor)
        self.end_offset = 0
        """Up to here (exclusive) every record was put."""

    @property
    def size(self) -> int:
        """How many keys are in it."""
        return self._table.size

    @property
    def capacity(self) -> int:
        """How many keys fit."""
        return self._table.capacity

    @property
    def is_full(self) -> bool:
        return self._table.size >= self._table.capacity

    @property
    def fullness(self) -> float:
        """The share of the capacity that is used, 0 to 1."""
        return self._table.size / self._table.capacity

    def put(self, key: bytes, offset: int) -> bool:
        """Remember `offset` unless a later one is known; False when there is no room for the key."""
        if not self._table.put(key, offset):
            return False
        self.end_offset = max(self.end_offset, offset + 1)
        return True

    def get(self, key: bytes) -> int:
        """The latest offset of `key`, -1 when it has none."""
        return self._table.get(key)

    def skip_to(self, end_offset: int) -> None:
        """Count everything below `end_offset` as looked at: a batch that has no keys to put."""
        self.end_offset = max(self.end_offset, end_offset)

    def put_batch(
        self, buffer: Buffer, position: int, header: BatchHeader, *, from_offset: int = 0
    ) -> int:
        """Put all keyed records of a data batch from `from_offset` on.

        Gives -1, or the offset of the first record for which there was no room. A batch is then partly in the map,
        which does no harm: `end_offset` stands at that record.
        """
        section = read_section(buffer, position, header)
        try:
            stopped_at = self._table.put_records(
                section, header.record_count, header.base_offset, from_offset
            )
        except CorruptBatchError as fault:
            raise CorruptBatchError(fault.message, position=position) from fault
        self.skip_to(header.next_offset if stopped_at < 0 else stopped_at)
        return stopped_at

    def select(self, section: Buffer, header: BatchHeader, *, keep_tombstones: bool) -> Selection:
        """Which records of a batch survive."""
        return self._table.select_records(
            section,
            header.record_count,
            header.base_offset,
            self.end_offset,
            keep_tombstones=keep_tombstones,
        )


class FilterRules(NamedTuple):
    """The cleaner's decision about one batch."""

    now_ms: int
    new_delete_horizon_ms: int
    """Clean time + `delete.retention.ms`, for tombstones (or a marker) met for the first time."""
    keep_empty: bool = False
    """Keep the header when no record survives: the batch has the last sequence of a producer."""
    discard_records: bool = False
    """None survives: aborted data, or a marker whose time is over."""
    keep_records: bool = False
    """All survive: a control batch, which has no keys."""
    start_delete_horizon: bool = False
    """Write the horizon although there is no tombstone: a marker of an emptied transaction."""


class FilteredBatch(NamedTuple):
    """What is left of a batch, and what that took."""

    batch: Buffer | None
    """The bytes to write; a view of the input when nothing changed; None when nothing is left."""
    changed: bool
    records_read: int
    records_kept: int
    keyless: int
    """Records dropped because they have no key, which a compacted log cannot hold."""
    max_timestamp: int
    """Of what is left; -1 when nothing is."""


def filter_batch(
    buffer: Buffer,
    position: int,
    header: BatchHeader,
    *,
    offset_map: OffsetMap,
    rules: FilterRules,
) -> FilteredBatch:
    """The batch without superseded records and expired tombstones."""
    if rules.discard_records or not header.record_count:
        selection = Selection(bytearray(header.record_count), 0, 0, 0, 0, 0)
        return _keep_header(buffer, position, header, selection, keep=rules.keep_empty)
    section = read_section(buffer, position, header)
    horizon = header.delete_horizon_ms
    try:
        selection = _select(section, header, offset_map, rules)
        if not selection.kept:
            return _keep_header(buffer, position, header, selection, keep=rules.keep_empty)
        if horizon is None and (selection.kept_tombstones or rules.start_delete_horizon):
            return _rewrite(section, header, selection, rules.new_delete_horizon_ms)
        if selection.kept == header.record_count:
            return _unchanged(buffer, position, header, selection)
        return _rewrite(section, header, selection, horizon)
    except CorruptBatchError as fault:
        raise CorruptBatchError(fault.message, position=position) from fault


def _select(
    section: Buffer, header: BatchHeader, offset_map: OffsetMap, rules: FilterRules
) -> Selection:
    if rules.keep_records:
        count = header.record_count
        scan = implementation.scan_records(section, count)
        return Selection(bytearray(b"\x01") * count, count, 0, 0, 0, scan.max_timestamp_delta)
    horizon = header.delete_horizon_ms
    keep_tombstones = horizon is None or rules.now_ms < horizon
    return offset_map.select(section, header, keep_tombstones=keep_tombstones)


def _unchanged(
    buffer: Buffer, position: int, header: BatchHeader, selection: Selection
) -> FilteredBatch:
    return FilteredBatch(
        memoryview(buffer)[position : position + header.size],
        changed=False,
        records_read=header.record_count,
        records_kept=selection.kept,
        keyless=0,
        max_timestamp=header.max_timestamp,
    )


def _keep_header(
    buffer: Buffer, position: int, header: BatchHeader, selection: Selection, *, keep: bool
) -> FilteredBatch:
    """What remains when no record does: the header alone, or nothing."""
    if keep and not header.record_count:
        return _unchanged(buffer, position, header, selection)
    return FilteredBatch(
        encode_empty_batch(header) if keep else None,
        changed=True,
        records_read=header.record_count,
        records_kept=0,
        keyless=selection.keyless,
        max_timestamp=header.max_timestamp if keep else -1,
    )


def _rewrite(
    section: Buffer, header: BatchHeader, selection: Selection, horizon: int | None
) -> FilteredBatch:
    """The kept records as a batch; the base timestamp is the horizon, else the first record's."""
    old_base = header.base_timestamp
    new_base = old_base + selection.first_timestamp_delta if horizon is None else horizon
    max_timestamp = header.max_timestamp
    if not header.is_log_append_time:
        max_timestamp = old_base + selection.max_timestamp_delta
    out = implementation.rewrite_records(
        section, header.record_count, selection.flags, old_base - new_base
    )
    if header.compression:
        with memoryview(out) as view, view[HEADER_SIZE:] as kept:
            packed = compress(header.compression, kept)
        out[HEADER_SIZE:] = packed
    new_header = header._replace(
        attributes=header.attributes | (_DELETE_HORIZON if horizon is not None else 0),
        base_timestamp=new_base,
        max_timestamp=max_timestamp,
        record_count=selection.kept,
    )
    return FilteredBatch(
        seal(out, new_header),
        changed=True,
        records_read=header.record_count,
        records_kept=selection.kept,
        keyless=selection.keyless,
        max_timestamp=max_timestamp,
    )

"""The body of a producer snapshot file."""

from __future__ import annotations

from quire.protocol.schema import NEVER, Int16, Int32, Int64, UInt32, message, structure


@structure
class ProducerEntry:
    producer_id: Int64
    epoch: Int16
    last_sequence: Int32
    last_offset: Int64
    offset_delta: Int32
    timestamp: Int64
    coordinator_epoch: Int32
    current_txn_first_offset: Int64


@message(kind="data", versions=(1, 1), flexible=NEVER)
class ProducerSnapshot:
    """The producer state beside a segment."""

    crc: UInt32
    producer_entries: list[ProducerEntry]

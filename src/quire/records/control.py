"""Control records: what brokers and controllers write between the data, and clients never see.

A control record's key is its version and type. The markers that end a transaction are whole here; the values of the
quorum's control records are messages of the protocol and pass through as bytes.

See   KIP-98 (markers), KIP-595 and KIP-853 (the quorum's)
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple, Unpack

from quire.errors import CorruptBatchError
from quire.records.batch import BatchFields, encode_batch
from quire.records.record import Record

_KEY: Final = Struct(">hh")
_END_TRANSACTION: Final = Struct(">hi")


class ControlType(IntEnum):
    """The type in a control record's key."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class EndTransactionMarker(NamedTuple):
    """How a transaction ended, and the epoch of the coordinator that says so."""

    control_type: ControlType
    coordinator_epoch: int

    @property
    def committed(self) -> bool:
        return self.control_type is ControlType.COMMIT


def control_key(control_type: ControlType) -> bytes:
    """The key of a control record: version 0, then the type."""
    return _KEY.pack(0, control_type)


def encode_control_batch(
    values: list[tuple[ControlType, bytes]], timestamp: int, **fields: Unpack[BatchFields]
) -> bytearray:
    """A control batch of the given types and values, with offsets from the base offset on."""
    base_offset = fields.get("base_offset", 0)
    records = [
        Record(base_offset + delta, timestamp, control_key(control_type), value)
        for delta, (control_type, value) in enumerate(values)
    ]
    fields["is_control"] = True
    return encode_batch(records, **fields)


def encode_end_transaction_marker(
    control_type: ControlType,
    *,
    coordinator_epoch: int,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    base_offset: int = 0,
) -> bytearray:
    """The 78 bytes that end a transaction of this producer in one partition."""
    if control_type not in (ControlType.ABORT, ControlType.COMMIT):
        message = f"{control_type.name} does not end a transaction"
        raise ValueError(message)
    return encode_control_batch(
        [(control_type, _END_TRANSACTION.pack(0, coordinator_epoch))],
        timestamp,
        base_offset=base_offset,
        is_transactional=True,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )


def read_control_type(record: Record) -> ControlType | None:
    """The type of a control record; None for one that a newer Kafka may have invented."""
    if record.key is None or len(record.key) < _KEY.size:
        raise CorruptBatchError(f"the control record at offset {record.offset} has no type")
    version, number = _KEY.unpack_from(record.key)
    if version < 0:
        raise CorruptBatchError(
            f"the control record at offset {record.offset} has version {version}"
        )
    try:
        return ControlType(number)
    except ValueError:
        return None


def read_end_transaction_marker(record: Record) -> EndTransactionMarker:
    """The marker in a control record of type ABORT or COMMIT."""
    control_type = read_control_type(record)
    if control_type not in (ControlType.ABORT, ControlType.COMMIT):
        raise CorruptBatchError(
            f"the control record at offset {record.offset} does not end a transaction"
        )
    if record.value is None or len(record.value) < _END_TRANSACTION.size:
        raise CorruptBatchError(f"the marker at offset {record.offset} is cut short")
    version, coordinator_epoch = _END_TRANSACTION.unpack_from(record.value)
    if version < 0:
        raise CorruptBatchError(f"the marker at offset {record.offset} has version {version}")
    return EndTransactionMarker(control_type, coordinator_epoch)

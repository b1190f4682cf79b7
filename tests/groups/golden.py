"""The records of the golden `__consumer_offsets` partitions, as a coordinator is fed with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from quire.coordination import KeyValue, Producer
from quire.records.batch import BatchHeader, decode_records, iterate_headers
from quire.records.control import ControlType, read_control_type

DIRECTORY = Path(__file__).parents[1] / "golden" / "data-clean"
PARTITIONS = (0, 1, 2)

Entry = tuple[int, KeyValue, Producer | None, bool | None]
"""Offset, record, whose transaction, and for a marker whether it commits."""


def entries(partition: int) -> Iterator[Entry]:
    content = (DIRECTORY / f"__consumer_offsets-{partition}/00000000000000000000.log").read_bytes()
    for position, header in iterate_headers(content):
        yield from _of_batch(content, position, header)


def _of_batch(content: bytes, position: int, header: BatchHeader) -> Iterator[Entry]:
    owner = Producer(header.producer_id, header.producer_epoch)
    for record in decode_records(content, position, header):
        assert record.key is not None
        pair = KeyValue(record.key, record.value)
        if header.is_control:
            yield record.offset, pair, owner, read_control_type(record) is ControlType.COMMIT
        else:
            yield record.offset, pair, owner if header.is_transactional else None, None

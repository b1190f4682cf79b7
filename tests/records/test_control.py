from pathlib import Path

import pytest

from quire.errors import CorruptBatchError
from quire.records.batch import (
    Record,
    check_crc,
    decode_batch,
    iterate_headers,
    read_header,
)
from quire.records.control import (
    ControlType,
    EndTransactionMarker,
    control_key,
    encode_control_batch,
    encode_end_transaction_marker,
    read_control_type,
    read_end_transaction_marker,
)

GOLDEN = Path(__file__).parent.parent / "golden" / "data-clean"


def test_markers_are_the_bytes_that_kafka_writes() -> None:
    data = (GOLDEN / "g-txn-0" / "00000000000000000000.log").read_bytes()
    seen = []
    for position, header in iterate_headers(data):
        if not header.is_control:
            continue
        (record,) = decode_batch(data, position)
        marker = read_end_transaction_marker(record)
        seen.append(marker.committed)
        written = encode_end_transaction_marker(
            marker.control_type,
            coordinator_epoch=marker.coordinator_epoch,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            timestamp=record.timestamp,
            base_offset=header.base_offset,
        )
        assert len(written) == 78
        assert written[16:] == data[position + 16 : position + 78]
    assert True in seen
    assert False in seen


def test_only_abort_and_commit_end_a_transaction() -> None:
    with pytest.raises(ValueError, match="LEADER_CHANGE does not end"):
        encode_end_transaction_marker(
            ControlType.LEADER_CHANGE,
            coordinator_epoch=0,
            producer_id=1,
            producer_epoch=0,
            timestamp=0,
        )
    leader_change = Record(3, 0, control_key(ControlType.LEADER_CHANGE), b"")
    with pytest.raises(CorruptBatchError, match="offset 3 does not end"):
        read_end_transaction_marker(leader_change)


def test_the_quorums_control_records_are_recognised() -> None:
    data = (GOLDEN / "__cluster_metadata-0" / "00000000000000000000.log").read_bytes()
    position, header = next(iterate_headers(data))
    assert header.is_control
    assert not header.is_transactional
    types = [read_control_type(record) for record in decode_batch(data, position)]
    assert types[0] is ControlType.LEADER_CHANGE


def test_a_control_batch_counts_its_offsets_from_the_base_offset() -> None:
    values = [(ControlType.SNAPSHOT_HEADER, b"a"), (ControlType.KRAFT_VERSION, b"b")]
    batch = encode_control_batch(values, 5, base_offset=7)
    header = read_header(batch)
    assert check_crc(batch, 0, header)
    assert header.is_control
    records = decode_batch(batch)
    assert [(record.offset, read_control_type(record), record.value) for record in records] == [
        (7, ControlType.SNAPSHOT_HEADER, b"a"),
        (8, ControlType.KRAFT_VERSION, b"b"),
    ]


def test_a_type_of_a_newer_kafka_is_unknown_not_broken() -> None:
    assert read_control_type(Record(0, 0, b"\0\0\0\x63", b"")) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"\0\0\0\0\0\0"),
        (b"\0\0\0", b"\0\0\0\0\0\0"),
        (b"\xff\xff\0\0", b"\0\0\0\0\0\0"),
        (b"\0\0\0\0", None),
        (b"\0\0\0\0", b"\0\0\0\0\0"),
        (b"\0\0\0\0", b"\xff\xff\0\0\0\0"),
    ],
)
def test_broken_markers_are_typed_errors(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(CorruptBatchError, match="offset 9"):
        read_end_transaction_marker(Record(9, 0, key, value))


def test_a_marker_of_a_newer_version_may_be_longer() -> None:
    record = Record(0, 0, b"\0\x01\0\x01", b"\0\x01\0\0\0\x07\x2a")
    assert read_end_transaction_marker(record) == EndTransactionMarker(ControlType.COMMIT, 7)

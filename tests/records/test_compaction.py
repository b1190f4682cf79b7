from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import CorruptBatchError
from quire.records.batch import (
    HEADER_SIZE,
    BatchHeader,
    Compression,
    Record,
    check_crc,
    decode_batch,
    encode_batch,
    iterate_headers,
    read_header,
)
from quire.records.compaction import FilteredBatch, FilterRules, OffsetMap, filter_batch
from quire.records.control import ControlType, encode_end_transaction_marker

GOLDEN = Path(__file__).parent.parent / "golden"
HASH_KEY = b"sixteen bytes ok"
RULES = FilterRules(now_ms=1000, new_delete_horizon_ms=5000)


def map_of(latest: dict[bytes, int], end_offset: int) -> OffsetMap:
    offset_map = OffsetMap(24 * 1000, HASH_KEY)
    for key, offset in latest.items():
        assert offset_map.put(key, offset)
    offset_map.skip_to(end_offset)
    return offset_map


def filtered(
    batch: bytes | bytearray, offset_map: OffsetMap, rules: FilterRules = RULES
) -> FilteredBatch:
    padded = b"\xee" * 3 + batch
    return filter_batch(padded, 3, read_header(batch), offset_map=offset_map, rules=rules)


def golden_batch(name: str, base_offset: int) -> bytes:
    data = (GOLDEN / name).read_bytes()
    for position, header in iterate_headers(data):
        if header.base_offset == base_offset:
            return data[position : position + header.size]
    raise AssertionError(name)


def header_of(result: FilteredBatch) -> BatchHeader:
    assert result.batch is not None
    header = read_header(result.batch)
    assert header.size == len(result.batch)
    assert check_crc(result.batch, 0, header)
    return header


# --- the bytes that Kafka's own cleaner wrote --------------------------------------------------

COMPACT = "data-clean/g-compact-0/"
TOMBSTONE = "g-compact-tombstone/00000000000000000000.log"


def test_a_kept_tombstone_gets_the_horizon_exactly_as_kafka_wrote_it() -> None:
    original = golden_batch(COMPACT + "00000000000000000005.log.deleted", 5)
    expected = golden_batch(COMPACT + "00000000000000000000.log.deleted", 5)
    horizon = read_header(expected).delete_horizon_ms
    assert horizon is not None
    offset_map = map_of({b"k4": 10}, 11)
    rules = FilterRules(now_ms=horizon - 100, new_delete_horizon_ms=horizon)
    result = filtered(original, offset_map, rules)
    assert result.batch == expected
    assert (result.records_read, result.records_kept) == (6, 5)


def test_an_emptied_batch_is_the_header_that_kafka_wrote() -> None:
    original = golden_batch(COMPACT + "00000000000000000000.log.deleted", 5)
    expected = golden_batch(COMPACT + "00000000000000000000.log", 5)
    later = map_of({b"k%d" % number: 11 + number for number in range(5)}, 16)
    result = filtered(original, later, RULES._replace(keep_empty=True))
    assert result.batch == expected
    assert result.records_kept == 0
    assert filtered(original, later).batch is None
    again = filtered(expected, later, RULES._replace(keep_empty=True))
    assert (again.batch, again.changed) == (expected, False)
    assert filtered(expected, later).batch is None


def test_a_superseded_record_goes_exactly_as_it_went_in_kafka() -> None:
    original = golden_batch(COMPACT + "00000000000000000000.log", 11)
    expected = golden_batch(TOMBSTONE, 11)
    assert filtered(original, map_of({b"k0": 17}, 18)).batch == expected


# --- the rules ---------------------------------------------------------------------------------


def test_a_batch_of_which_nothing_changes_is_its_own_bytes() -> None:
    batch = encode_batch([Record(0, 5, b"a", b"1"), Record(1, 6, b"b", b"2")])
    result = filtered(batch, map_of({b"a": 0, b"b": 1}, 2))
    assert isinstance(result.batch, memoryview)
    assert result.batch == batch
    assert (result.changed, result.records_kept, result.max_timestamp) == (False, 2, 6)


def test_what_is_left_keeps_its_offsets_times_and_producer() -> None:
    records = [
        Record(10, 500, b"a", b"1", (("h", b"x"),)),
        Record(11, 400, b"b", b"2", (("h", None),)),
        Record(12, 300, b"a", b"3"),
        Record(13, 900, b"b", b"4"),
    ]
    for codec in Compression:
        batch = encode_batch(
            records,
            base_offset=10,
            compression=codec,
            producer_id=4,
            producer_epoch=1,
            base_sequence=7,
            partition_leader_epoch=3,
            is_transactional=True,
        )
        result = filtered(batch, map_of({b"a": 12, b"b": 20}, 14))
        assert result.batch is not None
        assert decode_batch(result.batch) == [records[2]]
        before, after = read_header(batch), header_of(result)
        assert after == before._replace(
            batch_length=after.batch_length,
            crc=after.crc,
            base_timestamp=300,
            max_timestamp=300,
            record_count=1,
        )
        assert after.last_offset == 13
        assert result.max_timestamp == 300


def test_records_without_a_key_cannot_stay_in_a_compacted_log() -> None:
    batch = encode_batch([Record(0, 5, None, b"1"), Record(1, 6, b"b", b"2")])
    result = filtered(batch, map_of({b"b": 1}, 2))
    assert result.keyless == 1
    assert result.batch is not None
    assert [record.key for record in decode_batch(result.batch)] == [b"b"]


def test_records_that_the_map_has_not_seen_stay() -> None:
    batch = encode_batch([Record(0, 5, b"a", b"1"), Record(1, 6, None, b"2")])
    offset_map = map_of({b"a": 9}, 0)
    offset_map.end_offset = 0
    assert not filtered(batch, offset_map).changed


def test_a_tombstone_stays_until_its_horizon_has_passed() -> None:
    batch = encode_batch([Record(0, 5, b"a", None), Record(1, 6, b"b", b"2")])
    offset_map = map_of({b"a": 0, b"b": 1}, 2)
    first = filtered(batch, offset_map)
    assert header_of(first).delete_horizon_ms == 5000
    assert first.batch is not None
    assert decode_batch(first.batch) == decode_batch(batch)
    early = filtered(bytes(first.batch), offset_map, RULES._replace(now_ms=4999))
    assert not early.changed
    late = filtered(bytes(first.batch), offset_map, RULES._replace(now_ms=5000))
    assert late.batch is not None
    assert decode_batch(late.batch) == [Record(1, 6, b"b", b"2")]
    assert header_of(late).delete_horizon_ms == 5000


def test_log_append_time_stays_the_time_of_all_that_is_left() -> None:
    records = [Record(0, 5, b"a", b"1"), Record(1, 6, b"b", b"2")]
    batch = encode_batch(records, log_append_time_ms=777)
    result = filtered(batch, map_of({b"a": 5, b"b": 1}, 6))
    assert result.batch is not None
    assert decode_batch(result.batch) == [Record(1, 777, b"b", b"2")]
    assert header_of(result).max_timestamp == 777


def test_aborted_data_goes_whatever_the_map_says() -> None:
    batch = encode_batch([Record(0, 5, b"a", b"1")], producer_id=1, is_transactional=True)
    offset_map = map_of({b"a": 0}, 1)
    gone = filtered(batch, offset_map, RULES._replace(discard_records=True))
    assert (gone.batch, gone.records_kept, gone.max_timestamp) == (None, 0, -1)
    kept = filtered(batch, offset_map, RULES._replace(discard_records=True, keep_empty=True))
    header = header_of(kept)
    assert (header.record_count, header.size, header.base_timestamp) == (0, HEADER_SIZE, -1)
    assert header.is_transactional


def test_a_marker_stays_and_can_be_given_a_horizon() -> None:
    marker = encode_end_transaction_marker(
        ControlType.COMMIT,
        coordinator_epoch=2,
        producer_id=1,
        producer_epoch=0,
        timestamp=50,
        base_offset=4,
    )
    offset_map = map_of({}, 10)
    keep = RULES._replace(keep_records=True)
    assert not filtered(marker, offset_map, keep).changed
    dated = filtered(marker, offset_map, keep._replace(start_delete_horizon=True))
    assert header_of(dated).delete_horizon_ms == 5000
    assert dated.batch is not None
    assert decode_batch(dated.batch) == decode_batch(marker)


def test_a_broken_batch_is_named_by_its_position() -> None:
    batch = bytearray(encode_batch([Record(0, 5, b"a", b"1")]))
    batch[HEADER_SIZE] = 0x7F
    offset_map = map_of({}, 10)
    with pytest.raises(CorruptBatchError) as caught:
        filtered(batch, offset_map)
    assert caught.value.position == 3
    with pytest.raises(CorruptBatchError) as caught:
        offset_map.put_batch(b"\xee" * 3 + batch, 3, read_header(batch))
    assert caught.value.position == 3


# --- the map -----------------------------------------------------------------------------------


def test_a_map_is_filled_from_an_offset_on_and_stops_when_it_is_full() -> None:
    records = [Record(offset, 0, b"%d" % (offset // 2), b"") for offset in range(20)]
    batch = encode_batch(records, compression=Compression.LZ4)
    offset_map = OffsetMap(24 * 6, HASH_KEY)
    assert offset_map.capacity == 5
    assert offset_map.put_batch(batch, 0, read_header(batch), from_offset=3) == 12
    assert offset_map.is_full
    assert offset_map.fullness == 1.0
    assert offset_map.end_offset == 12
    assert [offset_map.get(b"%d" % number) for number in range(7)] == [-1, 3, 5, 7, 9, 11, -1]


def test_a_map_that_took_a_whole_batch_stands_behind_it() -> None:
    batch = encode_batch([Record(3, 0, b"k", b"")], base_offset=3, last_offset_delta=9)
    offset_map = OffsetMap(24 * 100, HASH_KEY)
    assert offset_map.put_batch(batch, 0, read_header(batch)) == -1
    assert (offset_map.end_offset, offset_map.size) == (13, 1)
    assert offset_map.put(b"other", 40)
    assert offset_map.end_offset == 41
    assert OffsetMap(48, HASH_KEY).put(b"a", 0)


def test_a_full_map_still_takes_later_offsets_of_its_keys() -> None:
    offset_map = OffsetMap(48, HASH_KEY)
    assert offset_map.put(b"a", 3)
    assert not offset_map.put(b"b", 4)
    assert offset_map.put(b"a", 9)
    assert offset_map.put(b"a", 5)
    assert offset_map.get(b"a") == 9


@given(
    st.lists(st.tuples(st.sampled_from(b"abcd"), st.booleans()), min_size=1, max_size=40),
    st.integers(1, 7),
)
def test_compaction_keeps_exactly_the_latest_of_every_key(
    writes: list[tuple[int, bool]], batch_size: int
) -> None:
    records = [
        Record(offset, 1000 - offset, bytes([key]), b"%d" % offset if valued else None)
        for offset, (key, valued) in enumerate(writes)
    ]
    batches = [
        encode_batch(records[start : start + batch_size], base_offset=start)
        for start in range(0, len(records), batch_size)
    ]
    offset_map = OffsetMap(24 * 100, HASH_KEY)
    for batch in batches:
        assert offset_map.put_batch(batch, 0, read_header(batch)) == -1
    left: list[Record] = []
    for batch in batches:
        result = filtered(batch, offset_map)
        if result.batch is not None:
            left += decode_batch(result.batch)
    latest = {record.key: record for record in records}
    assert left == sorted(latest.values())

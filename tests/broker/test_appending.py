"""What one batch must be before it is appended, and what its producer is told; the bytes in the log say the rest."""

from __future__ import annotations

from typing import Any

import pytest
from tests.broker.desk import Desk, code_of, values_of
from tests.broker.storehouse import Storehouse, batch_of, tell

from quire.broker.appending import HEAVY_BYTES, check_form, is_heavy, is_transactional
from quire.errors import ErrorCode
from quire.records.batch import Record, encode_batch, read_header, seal
from quire.records.compression import Compression

NOW_MS = 1_000_000


def changed(batch: bytearray, **fields: Any) -> bytearray:
    """The same batch with other fields in its header, and the checksum that fits."""
    return seal(bytearray(batch), read_header(batch)._replace(**fields))


def with_byte(batch: bytes | bytearray, position: int, value: int) -> bytes:
    found = bytearray(batch)
    found[position] = value
    return bytes(found)


WHOLE = bytes(batch_of(2))


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (WHOLE[:11], ErrorCode.INVALID_RECORD),
        (WHOLE[:-1], ErrorCode.INVALID_RECORD),
        (WHOLE, ErrorCode.NONE),
        (WHOLE + WHOLE, ErrorCode.INVALID_RECORD),
        (WHOLE + WHOLE[:20], ErrorCode.NONE),
        (WHOLE + b"\0\0\0", ErrorCode.NONE),
        (with_byte(WHOLE, 16, 1), ErrorCode.INVALID_RECORD),
        (with_byte(WHOLE, 16, 3), ErrorCode.CORRUPT_MESSAGE),
        (WHOLE[:8] + bytes(4) + WHOLE[12:], ErrorCode.CORRUPT_MESSAGE),
        (WHOLE[:8] + b"\xff\xff\xff\xff" + WHOLE[12:], ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_a_request_holds_one_whole_batch_of_the_newest_format_and_perhaps_a_rest(
    records: bytes | None, code: ErrorCode
) -> None:
    found, end = check_form(records, 9)
    assert found is code
    assert end == (len(WHOLE) if code is ErrorCode.NONE else 0)


def test_zstd_is_refused_by_requests_that_are_older_than_it() -> None:
    batch = encode_batch([Record(0, NOW_MS, None, b"v")], compression=Compression.ZSTD)
    assert check_form(batch, 6)[0] is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert check_form(batch, 7)[0] is ErrorCode.NONE


def test_only_what_has_to_be_unpacked_or_packed_for_long_is_heavy() -> None:
    small = encode_batch([Record(0, NOW_MS, None, b"v")], compression=Compression.GZIP)
    large = bytes(small) + bytes(HEAVY_BYTES)
    plain = bytes(batch_of(1)) + bytes(HEAVY_BYTES)
    assert [is_heavy(one, None) for one in (small, large, plain)] == [False, True, False]
    assert is_heavy(small, Compression.ZSTD), "every compression anew is work"
    assert is_heavy(plain, Compression.ZSTD)
    assert not is_heavy(small, Compression.GZIP)


def test_a_batch_says_itself_whether_it_belongs_to_a_transaction() -> None:
    assert not is_transactional(None)
    assert not is_transactional(WHOLE[:30])
    assert not is_transactional(WHOLE)
    assert not is_transactional(bytes(range(256)))  # noise, with the bit set
    of_a_producer = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    assert not is_transactional(batch_of(1, **of_a_producer))
    assert is_transactional(batch_of(1, **of_a_producer, is_transactional=True))


def test_a_half_batch_behind_the_whole_one_is_left_out_of_the_log() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        desk = await Desk.open(house)
        for rest in (b"\0\0\0", WHOLE[:40]):
            told = await desk.produce("orders", WHOLE + rest)
            assert code_of(told) is ErrorCode.NONE
        log = house.replica("orders").log
        assert log.log_end_offset == 4
        assert log.segments.active.size == 2 * len(WHOLE)
        assert [offset for offset, _ in values_of(await desk.fetch("orders", 0))] == [0, 1, 2, 3]

    tell(story)


def test_a_heavy_batch_with_a_rest_behind_it_is_cut_as_well() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", compression_type="gzip")
        desk = await Desk.open(house)
        told = await desk.produce("orders", WHOLE + b"\0\0\0")
        assert code_of(told) is ErrorCode.NONE
        assert values_of(await desk.fetch("orders", 0)) == [(0, b"v"), (1, b"v")]

    tell(story)


def test_a_refused_batch_leaves_the_log_as_it_was_and_says_why() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", max_message_bytes="1000")
        desk = await Desk.open(house)
        good = batch_of(2)
        cases = [
            (with_byte(good, len(good) - 1, 0xEE), ErrorCode.CORRUPT_MESSAGE, -1),
            (batch_of(1, value=b"x" * 2000), ErrorCode.MESSAGE_TOO_LARGE, -1),
            (changed(good, record_count=3), ErrorCode.INVALID_RECORD, 0),
            (changed(good, base_offset=5), ErrorCode.INVALID_RECORD, 0),
            (changed(good, attributes=0x20), ErrorCode.INVALID_RECORD, 0),
            (
                batch_of(1, timestamp=house.clock.wall_ms() + 7_200_000),
                ErrorCode.INVALID_TIMESTAMP,
                0,
            ),
        ]
        for batch, code, start in cases:
            told = await desk.produce("orders", batch)
            assert (code_of(told), told.base_offset, told.log_start_offset) == (code, -1, start)
        assert house.replica("orders").log.log_end_offset == 0
        figures = house.replica("orders").figures
        assert (figures.failed_produces, figures.messages_in) == (len(cases), 0)
        assert figures.bytes_rejected == sum(len(batch) for batch, _, _ in cases)
        assert figures.invalid_checksums == 1

    tell(story)


def test_every_record_without_a_key_is_named_where_the_topic_is_compacted() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("table", cleanup_policy="compact")
        desk = await Desk.open(house)
        now_ms = house.clock.wall_ms()
        keys = [b"a", None, b"b", None]
        batch = encode_batch([Record(n, now_ms, key, b"v") for n, key in enumerate(keys)])
        told = await desk.produce("table", batch)
        assert code_of(told) is ErrorCode.INVALID_RECORD
        assert [one.batch_index for one in told.record_errors] == [1, 3]
        assert told.error_message
        assert house.replica("table").figures.no_key_in_compacted == 1
        assert house.replica("table").log.log_end_offset == 0
        old = await desk.produce("table", batch, version=7)
        assert (code_of(old), old.record_errors) == (ErrorCode.INVALID_RECORD, [])

    tell(story)


def test_append_time_is_stamped_on_the_batch_and_told_and_create_time_is_not() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("stamped", message_timestamp_type="LogAppendTime")
        await house.topic("plain")
        desk = await Desk.open(house)
        told = await desk.produce("stamped", batch_of(2, timestamp=5))
        assert abs(told.log_append_time_ms - house.clock.wall_ms()) < 1000
        found = read_header(bytes((await desk.fetch("stamped", 0)).records))
        assert found.max_timestamp == told.log_append_time_ms
        assert found.attributes & 0x08
        told = await desk.produce("plain", batch_of(2, timestamp=house.clock.wall_ms() - 5))
        assert told.log_append_time_ms == -1

    tell(story)


def test_a_topic_of_one_codec_stores_all_batches_in_it() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", compression_type="lz4")
        desk = await Desk.open(house)
        now_ms = house.clock.wall_ms()
        for codec in (Compression.NONE, Compression.LZ4, Compression.GZIP):
            records = [Record(0, now_ms, b"k", b"v" * 50, (("h", b"1"),))]
            told = await desk.produce("orders", encode_batch(records, compression=codec))
            assert code_of(told) is ErrorCode.NONE
        for offset in range(3):
            found = await desk.fetch("orders", offset, partition_max_bytes=1)
            assert read_header(bytes(found.records)).attributes & 7 == Compression.LZ4
            assert values_of(found) == [(offset, b"v" * 50)]
        assert house.replica("orders").figures.recompressions == 2

    tell(story)


def test_a_batch_that_no_segment_can_hold_is_refused() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", segment_bytes="1048576", max_message_bytes="10000000")
        desk = await Desk.open(house)
        told = await desk.produce("orders", batch_of(1, value=b"x" * 1_100_000))
        assert code_of(told) is ErrorCode.RECORD_LIST_TOO_LARGE
        assert house.replica("orders").log.log_end_offset == 0

    tell(story)


def test_a_batch_sent_again_is_told_where_it_is_and_a_gap_in_the_sequence_is_refused() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", message_timestamp_type="LogAppendTime")
        desk = await Desk.open(house)

        def numbered(sequence: int, epoch: int = 0) -> bytearray:
            return batch_of(2, producer_id=9, producer_epoch=epoch, base_sequence=sequence)

        first = await desk.produce("orders", numbered(0), acks=-1)
        await desk.produce("orders", numbered(2), acks=-1)
        again = await desk.produce("orders", numbered(0), acks=-1)
        assert code_of(again) is ErrorCode.NONE
        assert (again.base_offset, again.log_append_time_ms) == (0, first.log_append_time_ms)
        gap = await desk.produce("orders", numbered(8), acks=-1)
        assert code_of(gap) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert (gap.base_offset, gap.log_start_offset) == (-1, 0)
        await desk.produce("orders", numbered(0, epoch=1), acks=-1)
        fenced = await desk.produce("orders", numbered(4), acks=-1)
        assert code_of(fenced) is ErrorCode.INVALID_PRODUCER_EPOCH
        assert house.replica("orders").log.log_end_offset == 6
        assert house.replica("orders").figures.invalid_offsets_or_sequences == 2

    tell(story)


def test_a_broken_disk_is_told_as_such_and_takes_the_partition_away() -> None:
    async def story(house: Storehouse) -> None:
        house.replicas.on_directory_lost = lambda _log_dir, _none_left: None
        await house.topic("orders")
        desk = await Desk.open(house)
        house.disk.faults.break_path("/a")
        assert code_of(await desk.produce("orders", batch_of(1))) is ErrorCode.KAFKA_STORAGE_ERROR
        assert house.replicas.get("orders", 0) is None
        assert code_of(await desk.produce("orders", batch_of(1))) is ErrorCode.KAFKA_STORAGE_ERROR

    tell(story)

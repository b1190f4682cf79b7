import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.errors import ErrorCode, InvalidBatchError
from quire.records import implementation
from quire.records.batch import (
    BatchHeader,
    Compression,
    Record,
    check_crc,
    decode_batch,
    encode_batch,
    encode_empty_batch,
    encode_pairs,
    read_header,
    reseal,
    seal,
)
from quire.records.validate import (
    Admission,
    InvalidRecordsError,
    Origin,
    RecordError,
    TimestampType,
    admit_batch,
    conform_batch,
    needs_recompression,
    validate_batch,
)

NOW_MS = 1_000_000
RECORDS = [
    Record(0, NOW_MS, b"a", b"1"),
    Record(1, NOW_MS + 50, b"b", b"2"),
    Record(2, NOW_MS - 50, None, b"3"),
]


def changed(batch: bytearray, **fields: int) -> bytearray:
    return seal(bytearray(batch), read_header(batch)._replace(**fields))


def refusal(batch: bytes | bytearray, **rules: object) -> InvalidBatchError:
    with pytest.raises(InvalidBatchError) as caught:
        validate_batch(batch, now_ms=NOW_MS, **rules)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize("codec", Compression)
def test_a_good_batch_passes_and_tells_its_largest_timestamp(codec: Compression) -> None:
    batch = encode_batch(RECORDS, compression=codec)
    validated = validate_batch(batch, now_ms=NOW_MS, before_max_ms=100, after_max_ms=100)
    assert validated.header == read_header(batch)
    assert (validated.max_timestamp, validated.max_timestamp_delta) == (NOW_MS + 50, 1)


def test_a_wrong_checksum_is_a_corrupt_message() -> None:
    batch = encode_batch(RECORDS)
    batch[-1] ^= 1
    assert refusal(batch).code is ErrorCode.CORRUPT_MESSAGE


def test_a_batch_cut_short_is_a_corrupt_message() -> None:
    batch = encode_batch(RECORDS)
    for cut in (0, 10, 60, len(batch) - 1):
        assert refusal(batch[:cut]).code is ErrorCode.CORRUPT_MESSAGE


def test_an_old_message_format_is_not_supported() -> None:
    batch = encode_batch(RECORDS)
    batch[16] = 1
    failure = refusal(batch)
    assert failure.code is ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    assert "magic 1" in failure.message


def test_exactly_one_batch_is_allowed() -> None:
    failure = refusal(encode_batch(RECORDS) + encode_batch(RECORDS))
    assert failure.code is ErrorCode.INVALID_RECORD
    assert "follow the one batch" in failure.message


def test_a_batch_above_the_bound_is_too_large() -> None:
    batch = encode_batch(RECORDS)
    validate_batch(batch, now_ms=NOW_MS, max_bytes=len(batch))
    assert refusal(batch, max_bytes=len(batch) - 1).code is ErrorCode.MESSAGE_TOO_LARGE


def test_a_bomb_is_too_large() -> None:
    batch = encode_batch([Record(0, NOW_MS, None, bytes(100_000))], compression=Compression.ZSTD)
    failure = refusal(batch, decompressed_max_bytes=50_000)
    assert failure.code is ErrorCode.MESSAGE_TOO_LARGE


def test_compressed_bytes_that_cannot_be_read_are_a_corrupt_message() -> None:
    batch = changed(encode_batch(RECORDS), attributes=Compression.GZIP)
    assert refusal(batch).code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_codec_that_nobody_has_is_refused_as_such() -> None:
    batch = changed(encode_batch(RECORDS), attributes=7)
    assert refusal(batch).code is ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("fields", [{"record_count": -1}, {"last_offset_delta": -1}])
def test_a_number_below_zero_under_a_right_checksum_was_written_so(fields: dict[str, int]) -> None:
    assert refusal(changed(encode_batch(RECORDS), **fields)).code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"attributes": 0x20}, "control batches"),
        ({"attributes": 0x10}, "needs a producer id"),
        ({"producer_id": 5, "producer_epoch": 0}, "producer id 5 has sequence -1"),
        ({"last_offset_delta": 3}, "3 records cannot have the last offset delta 3"),
        ({"record_count": 2}, "2 records cannot have the last offset delta 2"),
        ({"record_count": 4, "last_offset_delta": 3}, "too small for the number"),
        ({"record_count": 2, "last_offset_delta": 1}, "bytes are left over"),
    ],
)
def test_a_header_that_breaks_a_rule_is_an_invalid_record(
    fields: dict[str, int], sentence: str
) -> None:
    failure = refusal(changed(encode_batch(RECORDS), **fields))
    assert failure.code is ErrorCode.INVALID_RECORD
    assert sentence in failure.message


def test_an_empty_batch_is_not_for_appending() -> None:
    batch = encode_empty_batch(read_header(encode_batch(RECORDS)))
    assert "without records" in refusal(batch).message


def test_a_coordinator_may_write_control_batches() -> None:
    batch = encode_batch(RECORDS[:1], is_control=True, is_transactional=True, producer_id=1)
    validated = validate_batch(batch, now_ms=NOW_MS, origin=Origin.COORDINATOR)
    assert validated.header.is_control


def test_an_epoch_below_zero_is_below_every_epoch() -> None:
    batch = changed(encode_batch(RECORDS), producer_id=5, base_sequence=0)
    assert refusal(batch).code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_client_cannot_say_that_the_timestamps_are_the_logs() -> None:
    batch = encode_batch(RECORDS, log_append_time_ms=NOW_MS + 5)
    out, header = conformed(batch)
    assert not header.is_log_append_time
    assert header.max_timestamp == max(record.timestamp for record in RECORDS)
    assert decode_batch(bytearray(out)) == decode_batch(encode_batch(RECORDS))


def test_misplaced_offsets_are_named() -> None:
    records = [RECORDS[0], RECORDS[1]._replace(offset=2), RECORDS[2]._replace(offset=1)]
    batch = encode_batch(records, last_offset_delta=2)
    with pytest.raises(InvalidRecordsError) as caught:
        validate_batch(batch, now_ms=NOW_MS)
    assert caught.value.code is ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in caught.value.record_errors] == [1]


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.LZ4])
def test_records_without_key_are_listed_for_a_compacted_topic(codec: Compression) -> None:
    pairs = [(b"k", b""), (None, b""), (b"k", None), (None, None)]
    batch = encode_pairs(pairs, NOW_MS, compression=codec)
    validate_batch(batch, now_ms=NOW_MS, compacted=False)
    with pytest.raises(InvalidRecordsError) as caught:
        validate_batch(batch, now_ms=NOW_MS, compacted=True)
    assert caught.value.code is ErrorCode.INVALID_RECORD
    sentence = "a compacted topic needs a key in every record"
    assert caught.value.record_errors == (RecordError(1, sentence), RecordError(3, sentence))


@pytest.mark.parametrize(
    ("bounds", "indexes"),
    [
        ({"before_max_ms": 49}, [2]),
        ({"after_max_ms": 49}, [1]),
        ({"before_max_ms": 10, "after_max_ms": 10}, [1, 2]),
    ],
)
def test_records_outside_the_window_of_time_are_listed(
    bounds: dict[str, int], indexes: list[int]
) -> None:
    batch = encode_batch(RECORDS)
    validate_batch(batch, now_ms=NOW_MS, before_max_ms=50, after_max_ms=50)
    with pytest.raises(InvalidRecordsError) as caught:
        validate_batch(batch, now_ms=NOW_MS, **bounds)  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.INVALID_TIMESTAMP
    assert [error.batch_index for error in caught.value.record_errors] == indexes


def test_a_record_without_a_timestamp_is_in_every_window() -> None:
    batch = encode_batch([Record(0, -1, b"k", b"v"), Record(1, -1, b"k", b"v")])
    assert validate_batch(batch, now_ms=NOW_MS, before_max_ms=5).max_timestamp == -1
    with pytest.raises(InvalidRecordsError) as caught:
        validate_batch(
            encode_batch([Record(0, -1, b"k", b"v"), Record(1, 0, b"k", b"v")]),
            now_ms=NOW_MS,
            before_max_ms=5,
        )
    assert [error.batch_index for error in caught.value.record_errors] == [1]


def test_the_window_of_time_does_not_matter_to_log_append_time() -> None:
    validated = validate_batch(
        encode_batch(RECORDS),
        now_ms=0,
        timestamp_type=TimestampType.LOG_APPEND_TIME,
        before_max_ms=0,
        after_max_ms=0,
    )
    assert validated.header.record_count == 3


def test_a_timestamp_beyond_64_bits_is_refused() -> None:
    batch = changed(encode_batch(RECORDS), base_timestamp=2**63 - 10)
    assert refusal(batch).code is ErrorCode.INVALID_TIMESTAMP


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(Compression))
def test_a_damaged_batch_with_a_right_checksum_passes_or_is_refused_with_a_code(
    data: st.DataObject, codec: Compression
) -> None:
    batch = encode_batch(RECORDS, compression=codec)
    for _ in range(data.draw(st.integers(1, 3))):
        batch[data.draw(st.integers(21, len(batch) - 1))] = data.draw(st.integers(0, 255))
    batch[17:21] = bytes(4)
    reseal(batch, 0, read_header(encode_batch(RECORDS, compression=codec)))
    try:
        validated = validate_batch(batch, now_ms=NOW_MS)
    except InvalidBatchError as failure:
        refused_with = failure.code
    else:
        records = decode_batch(batch)
        assert [record.offset for record in records] == list(range(len(records)))
        assert validated.max_timestamp == max(record.timestamp for record in records)
        return
    assert refused_with in {
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_RECORD,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    }


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_what_is_admitted_in_one_call_passes_every_step_and_fits_as_it_is(
    data: st.DataObject,
) -> None:
    producer_id = data.draw(st.sampled_from([-1, 3]))
    batch = encode_batch(
        RECORDS,
        producer_id=producer_id,
        producer_epoch=data.draw(st.sampled_from([-1, 0, 5])),
        base_sequence=data.draw(st.sampled_from([-1, 0, 7])),
        is_transactional=data.draw(st.booleans()),
        is_control=data.draw(st.booleans()),
        compression=data.draw(st.sampled_from([Compression.NONE, Compression.GZIP])),
        max_timestamp=data.draw(st.sampled_from([NOW_MS, NOW_MS + 50])),
    )
    for _ in range(data.draw(st.integers(0, 2))):
        batch[data.draw(st.integers(0, len(batch) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        reseal(batch, 0, read_header(encode_batch(RECORDS)))
    admission = Admission(
        data.draw(st.sampled_from([len(batch) - 1, len(batch)])),
        data.draw(st.sampled_from([49, 50, 2**63 - 1])),
        data.draw(st.sampled_from([49, 50, 2**63 - 1])),
        data.draw(st.booleans()),
    )
    admitted = admit_batch(batch, admission, NOW_MS)
    if admitted is None:
        return
    validated = validate_batch(
        batch,
        now_ms=NOW_MS,
        max_bytes=admission.max_bytes,
        before_max_ms=admission.before_max_ms,
        after_max_ms=admission.after_max_ms,
        compacted=admission.needs_keys,
    )
    assert admitted == validated.header
    assert conform_batch(batch, validated, now_ms=NOW_MS) == (batch, admitted)
    assert admitted.base_offset == 0


@pytest.mark.parametrize(
    "producer", [{}, {"producer_id": 3, "producer_epoch": 0, "base_sequence": 0}]
)
def test_a_plain_batch_is_admitted_in_one_call_of_the_kernel(producer: dict[str, int]) -> None:
    batch = encode_batch(RECORDS, **producer)  # type: ignore[arg-type]
    rules = Admission(len(batch), 50, 50, needs_keys=False)
    if implementation.NAME == "pure Python":
        assert admit_batch(batch, rules, NOW_MS) is None, "plain Python has the careful way only"
        return
    assert admit_batch(batch, rules, NOW_MS) == read_header(batch)
    for other in (
        rules._replace(max_bytes=len(batch) - 1),
        rules._replace(before_max_ms=49),
        rules._replace(after_max_ms=49),
        rules._replace(needs_keys=True),
    ):
        assert admit_batch(batch, other, NOW_MS) is None


# --- making a batch fit its topic --------------------------------------------------------------


def conformed(batch: bytearray, **wanted: object) -> tuple[bytearray | memoryview, BatchHeader]:
    validated = validate_batch(batch, now_ms=NOW_MS)
    out, header = conform_batch(batch, validated, now_ms=NOW_MS, **wanted)  # type: ignore[arg-type]
    assert header == read_header(out)
    assert check_crc(out, 0, header)
    return out, header


def test_a_batch_that_fits_is_left_alone() -> None:
    batch = encode_batch(RECORDS, compression=Compression.LZ4)
    before = bytes(batch)
    out, _ = conformed(batch)
    assert out is batch
    assert batch == before
    assert conformed(batch, compression=Compression.LZ4)[0] is batch


@pytest.mark.parametrize("codec", Compression)
@pytest.mark.parametrize("wanted", Compression)
def test_the_topics_codec_wins(codec: Compression, wanted: Compression) -> None:
    batch = encode_batch(
        RECORDS, compression=codec, producer_id=7, producer_epoch=0, base_sequence=1
    )
    out, header = conformed(batch, compression=wanted)
    assert header.compression is wanted
    assert (header.producer_id, header.base_sequence) == (7, 1)
    assert decode_batch(out) == RECORDS
    assert needs_recompression(read_header(batch), wanted) == (codec is not wanted)
    assert not needs_recompression(read_header(batch), None)


def test_log_append_time_is_written_into_the_batch() -> None:
    batch = encode_batch(RECORDS)
    out, header = conformed(batch, timestamp_type=TimestampType.LOG_APPEND_TIME)
    assert out is batch
    assert (header.max_timestamp, header.is_log_append_time) == (NOW_MS, True)
    assert {record.timestamp for record in decode_batch(out)} == {NOW_MS}


def test_a_wrong_max_timestamp_is_put_right() -> None:
    batch = encode_batch(RECORDS, max_timestamp=5)
    before = bytes(batch)
    out, header = conformed(batch)
    assert header.max_timestamp == NOW_MS + 50
    assert batch == before
    assert decode_batch(out) == RECORDS

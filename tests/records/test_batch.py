import re
from pathlib import Path

import pytest
from hypothesis import given, settings
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
    encode_empty_batch,
    encode_pairs,
    iterate_headers,
    read_header,
    reseal,
    seal,
    stamp,
    stamp_log_append_time,
)

GOLDEN = Path(__file__).parent.parent / "golden"
DATA = GOLDEN / "data-clean"

INT64 = st.integers(-(2**63), 2**63 - 1)
CONTENT = st.none() | st.binary(max_size=200)
HEADERS = st.lists(st.tuples(st.text(max_size=8), CONTENT), max_size=3).map(tuple)


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    """One to eight records with rising offsets and any timestamps that fit."""
    base = draw(st.integers(0, 2**62))
    middle = draw(st.integers(-(2**62), 2**62))
    offset = base
    records = []
    for _ in range(draw(st.integers(1, 8))):
        timestamp = middle + draw(st.integers(-(2**40), 2**40))
        records.append(Record(offset, timestamp, draw(CONTENT), draw(CONTENT), draw(HEADERS)))
        offset += draw(st.integers(1, 1000))
    return records


def golden_batches() -> list[tuple[Path, bytes, int, BatchHeader]]:
    files = [
        path
        for pattern in ("*.log", "*.log.deleted", "*.checkpoint")
        for path in sorted(GOLDEN.rglob(pattern))
    ]
    contents = [(path, path.read_bytes()) for path in files]
    return [(path, data, *found) for path, data in contents for found in iterate_headers(data)]


def encode_again(header: BatchHeader, records: list[Record]) -> bytearray:
    if not records:
        return encode_empty_batch(header)
    return encode_batch(
        records,
        base_offset=header.base_offset,
        compression=header.compression,
        partition_leader_epoch=header.partition_leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        delete_horizon_ms=header.delete_horizon_ms,
        last_offset_delta=header.last_offset_delta,
        max_timestamp=header.max_timestamp,
    )


def test_every_golden_batch_has_a_right_checksum_decodes_and_encodes_to_the_same_bytes() -> None:
    batches = golden_batches()
    assert len(batches) >= 1854
    for path, data, position, header in batches:
        assert check_crc(data, position, header), path
        records = decode_batch(data, position)
        assert len(records) == header.record_count
        again = encode_again(header, records)
        if header.compression is Compression.NONE:
            assert again == data[position : position + header.size], path
        else:
            assert decode_batch(again) == records, path


def test_no_golden_log_ends_in_bytes_that_are_no_batch() -> None:
    for path in sorted(GOLDEN.rglob("*.log")):
        data = path.read_bytes()
        assert sum(header.size for _, header in iterate_headers(data)) == len(data), path


def dump_of(data: bytes) -> list[str]:
    """What kafka-dump-log prints about each batch and the offsets and sizes of its records."""
    lines = []
    for position, header in iterate_headers(data):
        lines.append(
            f"{header.base_offset} {header.last_offset} {header.record_count} "
            f"{header.base_sequence} {header.last_sequence} {header.producer_id} "
            f"{header.producer_epoch} {header.partition_leader_epoch} "
            f"{str(header.is_transactional).lower()} {str(header.is_control).lower()} "
            f"{header.delete_horizon_ms} {position} {header.max_timestamp} {header.size} "
            f"{header.compression.name.lower()} {header.crc}"
        )
        for record in decode_batch(data, position):
            key = -1 if record.key is None else len(record.key)
            value = -1 if record.value is None else len(record.value)
            names = ",".join(name for name, _ in record.headers)
            lines.append(f"{record.offset} {record.timestamp} {key} {value} [{names}]")
    return lines


BATCH_LINE = re.compile(
    r"baseOffset: (\d+) lastOffset: (\d+) count: (\d+) baseSequence: (-?\d+) "
    r"lastSequence: (-?\d+) producerId: (-?\d+) producerEpoch: (-?\d+) "
    r"partitionLeaderEpoch: (-?\d+) isTransactional: (\w+) isControl: (\w+) "
    r"deleteHorizonMs: OptionalLong(?:\.empty|\[(\d+)\]) position: (\d+) "
    r"CreateTime: (-?\d+) size: (\d+) magic: 2 compresscodec: (\w+) crc: (\d+) isvalid: true"
)
RECORD_LINE = re.compile(
    r"\| offset: (\d+) CreateTime: (-?\d+) keySize: (-?\d+) valueSize: (-?\d+) "
    r"sequence: -?\d+ headerKeys: (\[[^]]*\])"
)


@pytest.mark.parametrize(
    ("dump", "logs"),
    [
        ("g-plain-0.txt", ["data-clean/g-plain-0/00000000000000000000.log"]),
        ("g-txn-0.txt", ["data-clean/g-txn-0/00000000000000000000.log"]),
        (
            "g-compact-tombstone.txt",
            [
                "g-compact-tombstone/00000000000000000000.log",
                "g-compact-tombstone/00000000000000000019.log",
            ],
        ),
    ],
)
def test_we_read_what_kafkas_own_dump_tool_reads(dump: str, logs: list[str]) -> None:
    expected = []
    for line in (GOLDEN / "dumps" / dump).read_text().splitlines():
        match = BATCH_LINE.match(line) or RECORD_LINE.match(line)
        if match:
            expected.append(" ".join(str(group) for group in match.groups()))
    read = [line for log in logs for line in dump_of((GOLDEN / log).read_bytes())]
    assert read == expected
    assert expected


def documented_example() -> bytes:
    """The bytes of the example in docs/formats/record-batch.md."""
    page = Path(__file__).parents[2] / "docs" / "formats" / "record-batch.md"
    block = re.search(r"```hex\n(.*?)```", page.read_text(), re.DOTALL)
    assert block
    rows = [line.split("|")[0] for line in block[1].splitlines()]
    return bytes.fromhex(" ".join(rows))


def test_the_documented_example_is_the_batch_that_the_page_says_it_is() -> None:
    example = documented_example()
    header = read_header(example)
    assert header.size == len(example)
    assert check_crc(example, 0, header)
    records = decode_batch(example)
    assert records == [Record(5, 1_704_067_200_000, b"k", b"v1", (("h", b"xy"),))]
    assert encode_batch(records, base_offset=5, partition_leader_epoch=3) == example


@given(record_lists(), st.sampled_from(Compression))
def test_what_is_encoded_decodes_to_itself(records: list[Record], codec: Compression) -> None:
    batch = encode_batch(records, base_offset=records[0].offset, compression=codec)
    header = read_header(batch)
    assert decode_batch(batch) == records
    assert check_crc(batch, 0, header)
    assert header.size == len(batch)
    assert header.last_offset == records[-1].offset
    assert header.max_timestamp == max(record.timestamp for record in records)


@given(st.lists(st.tuples(CONTENT, CONTENT), min_size=1, max_size=20))
def test_pairs_are_records_of_one_timestamp(
    pairs: list[tuple[bytes | None, bytes | None]],
) -> None:
    records = [Record(offset, 77, key, value) for offset, (key, value) in enumerate(pairs)]
    assert encode_pairs(pairs, 77) == encode_batch(records)


def test_pairs_refuse_what_they_cannot_say() -> None:
    with pytest.raises(ValueError, match="needs pairs"):
        encode_pairs([], 0)
    with pytest.raises(ValueError, match="no delete horizon"):
        encode_pairs([(b"k", b"v")], 0, delete_horizon_ms=5)


def test_a_batch_without_records_is_not_encoded_by_accident() -> None:
    with pytest.raises(ValueError, match="encode_empty_batch"):
        encode_batch([])


def test_records_carry_what_the_header_says_of_them() -> None:
    records = [Record(10, 50, None, b"a"), Record(12, 40, b"k", None)]
    batch = encode_batch(
        records,
        base_offset=10,
        partition_leader_epoch=4,
        producer_id=9,
        producer_epoch=2,
        base_sequence=2**31 - 2,
        is_transactional=True,
        is_control=True,
    )
    header = read_header(batch)
    assert (header.last_offset, header.next_offset) == (12, 13)
    assert header.last_sequence == 0
    assert (header.is_transactional, header.is_control) == (True, True)
    assert header.has_producer_id
    assert header.delete_horizon_ms is None
    assert not header.has_delete_horizon
    assert not header.is_log_append_time


def test_log_append_time_is_the_time_of_every_record() -> None:
    batch = encode_batch([Record(0, 5, None, b"a"), Record(1, 6, None, b"b")], level=None)
    header = stamp_log_append_time(batch, 0, read_header(batch), now_ms=1000)
    assert header == read_header(batch)
    assert check_crc(batch, 0, header)
    assert [record.timestamp for record in decode_batch(batch)] == [1000, 1000]
    said = encode_batch(
        [Record(0, 5, None, b"a"), Record(1, 6, None, b"b")], log_append_time_ms=1000
    )
    assert said == batch


def test_a_delete_horizon_is_the_base_timestamp_and_times_stay_what_they_were() -> None:
    batch = encode_batch([Record(0, 5, b"k", None)], delete_horizon_ms=9000)
    header = read_header(batch)
    assert header.delete_horizon_ms == 9000
    assert header.has_delete_horizon
    assert decode_batch(batch)[0].timestamp == 5


def test_a_stamp_needs_no_new_checksum() -> None:
    batch = encode_pairs([(b"k", b"v")], 1)
    padded = bytearray(b"\xee" * 7) + batch
    stamp(padded, 7, base_offset=2**40, leader_epoch=12)
    header = read_header(padded, 7)
    assert (header.base_offset, header.partition_leader_epoch) == (2**40, 12)
    assert check_crc(padded, 7, header)
    assert decode_batch(padded, 7)[0].offset == 2**40


def test_resealing_closes_a_batch_that_was_edited() -> None:
    batch = encode_pairs([(b"k", b"v")], 1)
    batch[-3] ^= 1
    assert not check_crc(batch, 0, read_header(batch))
    reseal(batch, 0, read_header(batch))
    assert check_crc(batch, 0, read_header(batch))


def test_headers_are_walked_up_to_a_partial_batch() -> None:
    one = encode_pairs([(b"k", b"v")], 1)
    two = encode_pairs([(b"k", b"v")] * 3, 1, base_offset=1)
    for cut in range(len(two)):
        found = [position for position, _ in iterate_headers(one + two[:cut])]
        assert found == [0]
    assert [position for position, _ in iterate_headers(memoryview(one + two))] == [0, len(one)]


@pytest.mark.parametrize("magic", [0, 1])
def test_an_old_message_format_is_named(magic: int) -> None:
    batch = encode_pairs([(b"k", b"v")], 1)
    batch[16] = magic
    with pytest.raises(CorruptBatchError, match=f"magic {magic} is a message format") as caught:
        read_header(b"\0" * 3 + batch, 3)
    assert caught.value.position == 3
    with pytest.raises(CorruptBatchError, match=f"magic {magic} "):
        read_header(batch[:30])


def damaged(**fields: int) -> bytearray:
    batch = encode_pairs([(b"k", b"v")], 1)
    whole = read_header(batch)
    seal(batch, whole._replace(**fields))
    if "batch_length" in fields:
        batch[8:12] = fields["batch_length"].to_bytes(4, "big", signed=True)
    return batch


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"batch_length": 48}, "batch length 48 is below 49"),
        ({"batch_length": -1}, "batch length -1 is below 49"),
        ({"record_count": -1}, "record count -1 is negative"),
        ({"last_offset_delta": -1}, "last offset delta -1 is negative"),
        ({"base_offset": -1}, "base offset -1 is negative"),
        ({"attributes": 5}, "attributes 0x0005 name no known codec"),
    ],
)
def test_impossible_fields_are_named(fields: dict[str, int], sentence: str) -> None:
    with pytest.raises(CorruptBatchError, match=sentence):
        read_header(damaged(**fields))


def test_a_number_that_is_no_magic_is_named() -> None:
    batch = encode_pairs([(b"k", b"v")], 1)
    batch[16] = 3
    with pytest.raises(CorruptBatchError, match="magic 3 is not a record batch"):
        read_header(batch)


def test_too_few_bytes_are_no_batch() -> None:
    batch = encode_pairs([(b"k", b"v")], 1)
    with pytest.raises(CorruptBatchError, match="60 bytes are left"):
        read_header(batch[:60])
    with pytest.raises(CorruptBatchError, match="are there"):
        decode_batch(batch[:-1])
    assert not check_crc(batch[:-1], 0, read_header(batch))


def test_a_fault_in_the_records_names_the_position_of_the_batch() -> None:
    batch = encode_pairs([(b"k", b"v")], 1)
    batch[HEADER_SIZE] = 0x7F
    with pytest.raises(CorruptBatchError, match="record 0") as caught:
        decode_batch(b"\0" * 5 + batch, 5)
    assert caught.value.position == 5


def test_a_huge_record_count_takes_no_memory() -> None:
    with pytest.raises(CorruptBatchError, match="too small for the number of records"):
        decode_batch(damaged(record_count=2**31 - 1))


@settings(max_examples=300)
@given(record_lists(), st.data())
def test_a_flipped_bit_is_found_by_the_checksum_or_the_header(
    records: list[Record], data: st.DataObject
) -> None:
    batch = encode_batch(records, base_offset=records[0].offset)
    bit = data.draw(st.integers(21 * 8, len(batch) * 8 - 1))
    batch[bit // 8] ^= 1 << bit % 8
    try:
        header = read_header(batch)
    except CorruptBatchError:
        return
    assert not check_crc(batch, 0, header)


def test_a_batch_that_cannot_name_its_length_is_refused() -> None:
    class Endless(bytearray):
        def __len__(self) -> int:
            return 2**31 + 12

    with pytest.raises(OverflowError, match="cannot name its length"):
        seal(Endless(), read_header(encode_pairs([(b"k", b"v")], 1)))


def test_a_codec_on_an_empty_batch_is_no_fault() -> None:
    header = read_header(encode_pairs([(b"k", b"v")], 1))
    batch = encode_empty_batch(header)
    batch = seal(batch, read_header(batch)._replace(attributes=Compression.ZSTD))
    assert decode_batch(batch) == []

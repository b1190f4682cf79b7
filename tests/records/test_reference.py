import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import CorruptBatchError
from quire.records import implementation
from quire.records.record import HEADER_SIZE, Record
from quire.records.reference import append_varint, read_number


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_read_as_they_were_written(number: int) -> None:
    out = bytearray(b"\xaa")
    append_varint(out, number)
    assert read_number(bytes(out), 1, len(out), 0, 64) == (number, len(out))
    fits = -(2**31) <= number < 2**31
    if fits:
        assert read_number(bytes(out), 1, len(out), 0, 32) == (number, len(out))
    else:
        with pytest.raises(CorruptBatchError, match="more bits"):
            read_number(bytes(out), 1, len(out), 0, 32)


@pytest.mark.parametrize(
    ("number", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (-64, "7f"), (64, "8001"), (300, "d804")],
)
def test_numbers_have_the_bytes_of_the_protocol(number: int, encoded: str) -> None:
    out = bytearray()
    append_varint(out, number)
    assert out.hex() == encoded


RECORD = "0c 00 00 00 01 01 00"


@pytest.mark.parametrize(
    ("section", "count", "sentence"),
    [
        (RECORD, 2, "record 0: the batch is too small for the number of records"),
        (RECORD, -1, "record 0: the batch is too small"),
        (RECORD, 0, "record 0: bytes are left over after the last record .byte 0"),
        (RECORD + "00", 1, "record 1: bytes are left over after the last record .byte 7"),
        ("0e 00 00 00 01 01 00", 1, "record 0: the record's length does not fit"),
        ("0a 00 00 00 01 01 00", 1, "record 0: the record's length does not fit"),
        ("0c 00 80 80 80 80 80", 1, "record 0: a number runs past the end .byte 2"),
        ("0c 00 00 00 03 01 00", 1, "record 0: the key's length does not fit .*byte 4"),
        ("0c 00 00 00 06 01 00", 1, "record 0: the key's length does not fit .*byte 4"),
        ("0c 00 00 00 01 03 00", 1, "record 0: the value's length does not fit .*byte 5"),
        ("0c 00 00 00 01 01 02", 1, "record 0: the number of headers .*byte 6"),
        ("0e 00 00 00 01 01 00 00", 1, "record 0: the fields end before the record does .byte 7"),
        ("10 00 00 00 01 01 02 01 01", 1, "record 0: a header's key length .*byte 7"),
        ("10 00 00 00 01 01 02 00 03", 1, "record 0: a header's value length .*byte 8"),
        ("14 00 00 80 80 80 80 80 01 01 01 00", 1, "record 0: a number has more bits .*byte 3"),
    ],
)
def test_every_fault_is_named_with_its_record_and_byte(
    section: str, count: int, sentence: str
) -> None:
    data = bytes.fromhex(section)
    with pytest.raises(CorruptBatchError, match=sentence):
        implementation.decode_records(data, count, 0, 0)
    with pytest.raises(CorruptBatchError, match=sentence):
        implementation.scan_records(data, count)


def test_offsets_and_timestamps_that_do_not_fit_are_faults() -> None:
    section = bytes(implementation.encode_records([Record(1, 1, None, None)], 0, 0)[0][61:])
    with pytest.raises(CorruptBatchError, match="offset does not fit"):
        implementation.decode_records(section, 1, 2**63 - 1, 0)
    with pytest.raises(CorruptBatchError, match="timestamp does not fit"):
        implementation.decode_records(section, 1, 0, 2**63 - 1)
    assert implementation.decode_records(section, 1, 0, 2**63 - 1, 5)[0].timestamp == 5


def test_a_header_key_that_is_no_text_is_shown_with_replacements() -> None:
    section = bytes.fromhex("12 00 00 00 01 01 02 02 ff 01")
    (record,) = implementation.decode_records(section, 1, 0, 0)
    assert record.headers == (("\ufffd", None),)


def test_a_scan_finds_times_missing_keys_and_misplaced_offsets() -> None:
    records = [
        Record(0, 5, b"k", None),
        Record(1, 9, None, None),
        Record(7, 9, b"k", None),
        Record(3, -4, None, None),
    ]
    section = implementation.encode_records(records, 0, 0)[0][HEADER_SIZE:]
    assert implementation.scan_records(section, 4) == (-4, 9, 1, 2, 2)
    assert implementation.scan_records(b"", 0) == (0, 0, -1, 0, -1)

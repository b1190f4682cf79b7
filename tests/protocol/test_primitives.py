"""Variable-length numbers and tagged sections, against the definitions themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.protocol.primitives import (
    SHORT_UVARINTS,
    Malformed,
    read_tags,
    read_uvarint,
    read_uvarlong,
    read_varint,
    read_varlong,
    write_tags,
    write_uvarint,
    write_varint,
)


@given(st.integers(0, 2**32 - 1))
def test_unsigned_numbers_come_back(value):
    encoded = write_uvarint(value)
    assert read_uvarint(b"\xff" + encoded, 1) == (value, 1 + len(encoded))
    assert len(encoded) == max(1, -(-value.bit_length() // 7))


@given(st.integers(0, 2**64 - 1))
def test_unsigned_long_numbers_come_back(value):
    assert read_uvarlong(write_uvarint(value), 0)[0] == value


@given(st.integers(-(2**31), 2**31 - 1))
def test_signed_numbers_come_back(value):
    assert read_varint(write_varint(value), 0)[0] == value


@given(st.integers(-(2**63), 2**63 - 1))
def test_signed_long_numbers_come_back(value):
    assert read_varlong(write_varint(value), 0)[0] == value


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (-64, "7f"), (64, "8001"), (300, "d804"), (-300, "d704")],
)
def test_zigzag_puts_small_numbers_of_either_sign_first(value, encoded):
    assert write_varint(value).hex() == encoded


def test_the_one_byte_forms_are_what_the_writer_writes():
    assert list(SHORT_UVARINTS) == [write_uvarint(value) for value in range(128)]


@pytest.mark.parametrize("encoded", ["ffffffffff01", "ffffffff1f", "808080808000"])
def test_numbers_of_more_than_32_bits_are_refused(encoded):
    with pytest.raises(Malformed):
        read_uvarint(bytes.fromhex(encoded), 0)


def test_numbers_of_more_than_64_bits_are_refused():
    with pytest.raises(Malformed):
        read_uvarlong(b"\xff" * 9 + b"\x02", 0)


def test_a_number_that_ends_too_soon_is_an_index_error_for_its_codec():
    with pytest.raises(IndexError):
        read_uvarint(b"\x80", 0)


def test_a_number_below_zero_has_no_unsigned_form():
    with pytest.raises(Malformed):
        write_uvarint(-1)


def test_tags_are_written_in_order_and_what_we_know_wins():
    section = write_tags({5: b"new"}, ((2, b"a"), (5, b"old"), (200, b"")))
    assert section.hex() == "0302016105036e6577c80100"
    assert read_tags(section, 1, section[0]) == (
        ((2, b"a"), (5, b"new"), (200, b"")),
        len(section),
    )

"""The differential law: kernel and reference give the same result, or the same error, for any bytes."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from quire.errors import CorruptBatchError
from quire.records import reference
from quire.records.batch import encode_batch, read_header
from quire.records.record import HEADER_SIZE, Record

kernel = pytest.importorskip(
    "quire.records.kernel", reason="the Cython kernel was not built: nothing to compare"
)

INT64 = st.integers(-(2**63), 2**63 - 1)
EDGES = st.sampled_from([-(2**63), -(2**31), -1, 0, 63, 64, 2**31 - 1, 2**31, 2**63 - 1])
NUMBER = INT64 | EDGES | st.integers(-200, 200)
CONTENT = st.none() | st.binary(max_size=40)
HEADERS = st.lists(st.tuples(st.text(max_size=4), CONTENT), max_size=3).map(tuple)
RECORD = st.builds(Record, NUMBER, NUMBER, CONTENT, CONTENT, HEADERS)
SANE_RECORDS = st.lists(
    st.tuples(st.integers(-300, 300), st.integers(-(2**40), 2**40), CONTENT, CONTENT, HEADERS),
    max_size=8,
).map(lambda rows: [Record(*row) for row in rows])


@pytest.fixture(scope="module", autouse=True)
def chosen_implementation() -> None:
    """Here both run side by side, so the room's switch stays where it is."""


def outcome(call: Callable[..., Any], *arguments: Any, **named: Any) -> tuple[str, Any]:
    try:
        return "gives", call(*arguments, **named)
    except (ValueError, OverflowError) as failure:
        return "refuses", type(failure)
    except CorruptBatchError as failure:
        return "finds", str(failure)


@st.composite
def sections(draw: st.DrawFn) -> tuple[bytes, int]:
    """Right records, often with bytes changed, cut off or added, and a count that may be wrong."""
    records = draw(SANE_RECORDS)
    section = reference.encode_records(records, 0, 0)[0][HEADER_SIZE:]
    for _ in range(draw(st.integers(0, 3))):
        if section:
            section[draw(st.integers(0, len(section) - 1))] = draw(st.integers(0, 255))
    section = section[: draw(st.integers(0, len(section)) | st.just(len(section)))]
    section += draw(st.just(b"") | st.binary(max_size=12))
    count = draw(st.just(len(records)) | st.integers(-1, 12))
    return bytes(section), count


ANY_SECTION = sections() | st.tuples(st.binary(max_size=80), st.integers(-2, 12))


@settings(max_examples=500, deadline=None)
@given(ANY_SECTION, NUMBER, NUMBER, st.none() | INT64)
@example((b"\xff" * 9 + b"\x01", 1), 0, 0, None)
@example((b"\x0c\x00" + b"\xff" * 9 + b"\x01\x00\x01\x01\x00", 1), 0, 0, None)
def test_both_decode_the_same(
    found: tuple[bytes, int], base_offset: int, base_timestamp: int, append_time: int | None
) -> None:
    arguments = (*found, base_offset, base_timestamp, append_time)
    expected = outcome(reference.decode_records, *arguments)
    assert outcome(kernel.decode_records, *arguments) == expected
    if expected[0] == "gives":
        assert all(type(record) is Record for record in kernel.decode_records(*arguments))


@settings(max_examples=500, deadline=None)
@given(ANY_SECTION)
def test_both_scan_the_same(found: tuple[bytes, int]) -> None:
    assert outcome(kernel.scan_records, *found) == outcome(reference.scan_records, *found)


@settings(max_examples=300, deadline=None)
@given(st.lists(RECORD, max_size=6), NUMBER, NUMBER)
def test_both_encode_the_same(records: list[Record], base_offset: int, base_timestamp: int) -> None:
    arguments = (records, base_offset, base_timestamp)
    assert outcome(kernel.encode_records, *arguments) == outcome(
        reference.encode_records, *arguments
    )


@settings(max_examples=200, deadline=None)
@given(SANE_RECORDS)
def test_both_encode_sane_records_the_same(records: list[Record]) -> None:
    assert kernel.encode_records(records, 0, 0) == reference.encode_records(records, 0, 0)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(CONTENT, CONTENT), max_size=100))
def test_both_encode_pairs_the_same(pairs: list[tuple[bytes | None, bytes | None]]) -> None:
    assert kernel.encode_pairs(pairs) == reference.encode_pairs(pairs)
    assert kernel.encode_pairs(tuple(pairs)) == reference.encode_pairs(pairs)


@settings(max_examples=500, deadline=None)
@given(ANY_SECTION, st.data(), NUMBER | st.just(0))
def test_both_rewrite_the_same(found: tuple[bytes, int], data: st.DataObject, shift: int) -> None:
    size = max(found[1], 0)
    flags = data.draw(
        st.lists(st.integers(0, 1), min_size=size, max_size=size).map(bytes) | st.binary(max_size=3)
    )
    assert outcome(kernel.rewrite_records, *found, flags, shift) == outcome(
        reference.rewrite_records, *found, flags, shift
    )


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=100))
def test_both_hash_a_key_to_the_same_partition(key: bytes) -> None:
    assert kernel.murmur2(key) == reference.murmur2(key)
    assert kernel.murmur2(memoryview(key)) == reference.murmur2(bytearray(key))


HASH_KEY = bytes(range(16))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(ANY_SECTION, NUMBER, NUMBER), max_size=3),
    st.tuples(ANY_SECTION, NUMBER, NUMBER, st.booleans()),
    st.integers(2, 8),
)
def test_both_fill_and_ask_the_offset_table_the_same(
    puts: list[tuple[tuple[bytes, int], int, int]],
    asked: tuple[tuple[bytes, int], int, int, bool],
    slots: int,
) -> None:
    tables = [module.OffsetTable(24 * slots, HASH_KEY) for module in (kernel, reference)]
    for (section, count), base_offset, from_offset in puts:
        ours, theirs = (
            outcome(table.put_records, section, count, base_offset, from_offset) for table in tables
        )
        assert ours == theirs
        assert tables[0].size == tables[1].size
    (section, count), base_offset, end_offset, keep = asked
    ours, theirs = (
        outcome(table.select_records, section, count, base_offset, end_offset, keep_tombstones=keep)
        for table in tables
    )
    assert ours == theirs


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=2), st.integers(-2, 9) | NUMBER), max_size=30))
def test_both_tables_remember_the_same(puts: list[tuple[bytes, int]]) -> None:
    tables = [module.OffsetTable(24 * 9, HASH_KEY) for module in (kernel, reference)]
    for key, offset in puts:
        ours, theirs = (outcome(table.put, key, offset) for table in tables)
        assert ours == theirs
    for key, _ in puts:
        assert tables[0].get(key) == tables[1].get(key)
    assert tables[0].capacity == tables[1].capacity


@pytest.mark.parametrize(("memory", "key"), [(47, HASH_KEY), (-5, HASH_KEY), (480, b"short")])
def test_both_tables_refuse_the_same(memory: int, key: bytes) -> None:
    for module in (kernel, reference):
        with pytest.raises(ValueError, match=r"needs|hash key"):
            module.OffsetTable(memory, key)


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 0, "text", None, ())],
        [(0, 0, None, bytearray(b"x"), ())],
        [("0", 0, None, None, ())],
        [(0, 0, None, None)],
        [(0, 2**63, None, None, ())],
        [(0, 0, None, None, ((b"k", b"v"),))],
        [(0, 0, None, None, (("k",),))],
        [(0, 0, None, None, (("\ud800", None),))],
    ],
)
def test_the_kernel_refuses_rows_that_are_no_records(rows: list[Any]) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        kernel.encode_records(rows, 0, 0)


def test_the_digest_is_siphash_2_4_of_128_bits() -> None:
    assert kernel.siphash128(HASH_KEY, b"").hex() == "a3817f04ba25a8e66df67214c7550293"
    assert kernel.siphash128(HASH_KEY, b"\0").hex() == "da87c1d86b99af44347659119b22fc45"
    with pytest.raises(ValueError, match="hash key has 3 bytes"):
        kernel.siphash128(b"abc", b"")


def test_every_cut_and_every_changed_byte_of_a_section_is_survived() -> None:
    records = [
        Record(0, 0, b"key", b"value" * 30, (("h", b"x"), ("i", None))),
        Record(1, -(2**40), None, None),
    ]
    section = bytes(reference.encode_records(records, 0, 0)[0][HEADER_SIZE:])
    variants = [section[:cut] for cut in range(len(section))]
    for position in range(len(section)):
        head, tail = section[:position], section[position + 1 :]
        variants += [head + bytes([byte]) + tail for byte in (0x00, 0x01, 0x7F, 0x80, 0xFF)]
    for variant in variants:
        for count in (1, 2, 3):
            expected = outcome(reference.decode_records, variant, count, 0, 0)
            assert outcome(kernel.decode_records, variant, count, 0, 0) == expected


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 62).map(lambda bits: 1 << bits), min_size=1, max_size=6),
    st.lists(st.tuples(st.text(max_size=80), st.none() | st.binary(max_size=80)), max_size=70),
    st.data(),
)
def test_both_find_the_same_in_records_of_any_timestamps_and_headers(
    deltas: list[int], headers: list[tuple[str, bytes | None]], data: st.DataObject
) -> None:
    records = [
        Record(place, sign * delta, b"k", None, tuple(headers[: place * 12]))
        for place, (delta, sign) in enumerate((d, s) for d in deltas for s in (1, -1))
    ]
    section = reference.encode_records(records, 0, 0)[0][HEADER_SIZE:]
    assert kernel.decode_records(section, len(records), 0, 0) == records
    for _ in range(3):
        wounded = bytearray(section)
        at = data.draw(st.integers(0, len(section) - 1))
        wounded[at] = data.draw(st.sampled_from([0, 1, 2, 0x7F, 0x80, 0x81, 0xFF]))
        if data.draw(st.booleans()):
            del wounded[at + 1 :]
        arguments = (bytes(wounded), len(records))
        assert outcome(kernel.scan_records, *arguments) == outcome(
            reference.scan_records, *arguments
        )


@settings(max_examples=300, deadline=None)
@given(st.lists(st.binary(min_size=50, max_size=9000), min_size=1, max_size=4))
def test_both_walk_records_of_every_size_the_same(values: list[bytes]) -> None:
    records = [Record(n * 40, n * 70, value[:90], value) for n, value in enumerate(values)]
    section = bytes(reference.encode_records(records, 0, 0)[0][HEADER_SIZE:])
    assert kernel.decode_records(section, len(records), 0, 0) == records
    assert kernel.scan_records(section, len(records)) == reference.scan_records(
        section, len(records)
    )


needs_the_instructions = pytest.mark.skipif(
    not kernel.CRC32C_WAYS, reason="the kernel has no checksum for this processor"
)


ANYTHING = (2**31 - 1, -(2**63), 2**63 - 1, False)
"""Rules that refuse nothing."""


@needs_the_instructions
def test_what_is_admitted_is_told_as_its_header() -> None:
    batch = encode_batch(
        [Record(0, 1000, b"k", b"v"), Record(1, 990, None, None, (("h", b""),))],
        partition_leader_epoch=3, producer_id=2**40, producer_epoch=7, base_sequence=9,
        is_transactional=True,
    )  # fmt: skip
    assert kernel.admit_batch(batch, *ANYTHING) == read_header(batch)
    assert kernel.admit_batch(memoryview(bytes(batch)), *ANYTHING) is not None


@needs_the_instructions
def test_nothing_is_admitted_with_any_changed_or_missing_byte() -> None:
    batch = encode_batch([Record(0, 1000, b"key", b"value"), Record(1, 990, None, None)])
    outside_the_checksum = range(12, 16)
    for position in set(range(len(batch))) - set(outside_the_checksum):
        wounded = bytearray(batch)
        wounded[position] ^= 0x80
        assert kernel.admit_batch(wounded, *ANYTHING) is None
        assert kernel.admit_batch(batch[:position], *ANYTHING) is None
    assert kernel.admit_batch(batch + b"\0", *ANYTHING) is None


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.none() | st.integers(0, 40), min_size=17, max_size=90),
    st.integers(2, 60),
    st.integers(0, 100),
    st.none() | st.integers(0, 900),
    st.booleans(),
)
def test_both_tables_agree_on_batches_longer_than_what_is_fetched_ahead(
    numbers: list[int | None], slots: int, from_offset: int, broken_at: int | None, keep: bool
) -> None:
    records = [
        Record(
            place,
            place * 7 % 50,
            None if number is None else b"%d" % number,
            b"v" if place % 3 else None,
        )
        for place, number in enumerate(numbers)
    ]
    section = bytearray(reference.encode_records(records, 0, 0)[0][HEADER_SIZE:])
    wounded = bytearray(section)
    if broken_at is not None:
        wounded[broken_at % len(wounded)] ^= 0x85
    tables = [module.OffsetTable(24 * slots, HASH_KEY) for module in (kernel, reference)]
    count = len(records)
    puts = [outcome(table.put_records, wounded, count, 0, from_offset) for table in tables]
    assert puts[0] == puts[1]
    assert tables[0].size == tables[1].size
    for end_offset in (0, from_offset, count):
        ours, theirs = (
            outcome(table.select_records, section, count, 0, end_offset, keep_tombstones=keep)
            for table in tables
        )
        assert ours == theirs
    assert {tables[0].get(b"%d" % n) - tables[1].get(b"%d" % n) for n in range(41)} == {0}

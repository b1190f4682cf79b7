"""The record section of a batch in plain Python: the oracle of the kernel, and its stand-in.

Every function here has a twin of the same name in `kernel.pyx` that gives the same result or the same error;
`admit_batch` is a short cut, which only the kernel has.

Invariants
  I1  No length or count taken from the bytes is used before it was compared with the bytes that remain.
  I2  A walk either yields exactly `count` records that fill the section to its last byte, or raises.
Not here   the batch header, checksum and compression (batch), which implementation runs (implementation).
See        docs/formats/record-batch.md, docs/decisions/0003-kernels.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final, NoReturn, TypeAlias

from quire.records.record import (
    HEADER_SIZE,
    RECORD_HEADER_SIZE_MIN,
    RECORD_SIZE_MIN,
    Buffer,
    Fault,
    Headers,
    Record,
    RecordScan,
    Selection,
    record_fault,
)

INT32_MAX: Final = 2**31 - 1
INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)

Span: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int]
"""start, end, timestamp delta, where it ends, offset delta, key start, key length, value start, value length, header
count (the headers start where the value ends and a count was read)."""


# --- numbers ---------------------------------------------------------------------------------


def append_varint(out: bytearray, number: int) -> None:
    """Zigzag, then seven bits per byte, the low ones first. For 32- and 64-bit numbers alike."""
    raw = (number << 1) ^ (number >> 63)
    while raw > 0x7F:
        out.append((raw & 0x7F) | 0x80)
        raw >>= 7
    out.append(raw)


def read_number(data: bytes, position: int, end: int, index: int, bits: int) -> tuple[int, int]:
    """A zigzag number of at most `bits` bits at `position`, and where it ends."""
    raw = shift = 0
    start = position
    while True:
        if position >= end:
            raise record_fault(Fault.NUMBER_TRUNCATED, index, start)
        byte = data[position]
        position += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift >= bits:
            raise record_fault(Fault.NUMBER_TOO_LONG, index, start)
    if raw >> bits:
        raise record_fault(Fault.NUMBER_TOO_LONG, index, start)
    return (raw >> 1) ^ -(raw & 1), position


# --- the walk --------------------------------------------------------------------------------


def walk(section: bytes, count: int) -> Iterator[Span]:
    """Where everything is, record by record."""
    end = len(section)
    if count < 0 or count * RECORD_SIZE_MIN > end:
        raise record_fault(Fault.COUNT, 0, 0)
    position = 0
    for index in range(count):
        span = _read_span(section, position, end, index)
        yield span
        position = span[1]
    if position != end:
        raise record_fault(Fault.TRAILING_BYTES, count, position)


def _read_span(section: bytes, start: int, end: int, index: int) -> Span:
    length, position = read_number(section, start, end, index, 32)
    if not RECORD_SIZE_MIN - 1 <= length <= end - position:
        raise record_fault(Fault.RECORD_LENGTH, index, start)
    end = position + length
    timestamp_delta, after_timestamp = read_number(section, position + 1, end, index, 64)
    offset_delta, position = read_number(section, after_timestamp, end, index, 32)
    key_length, key_start = read_number(section, position, end, index, 32)
    if not -1 <= key_length <= end - key_start:
        raise record_fault(Fault.KEY_LENGTH, index, position)
    position = key_start + max(key_length, 0)
    value_length, value_start = read_number(section, position, end, index, 32)
    if not -1 <= value_length <= end - value_start:
        raise record_fault(Fault.VALUE_LENGTH, index, position)
    position = value_start + max(value_length, 0)
    header_count, after_headers = read_number(section, position, end, index, 32)
    if header_count < 0 or header_count * RECORD_HEADER_SIZE_MIN > end - after_headers:
        raise record_fault(Fault.HEADER_COUNT, index, position)
    for _ in range(header_count):
        after_headers = _skip_header(section, after_headers, end, index)
    if after_headers != end:
        raise record_fault(Fault.RECORD_NOT_FILLED, index, after_headers)
    return (
        start, end, timestamp_delta, after_timestamp, offset_delta,
        key_start, key_length, value_start, value_length, header_count,
    )  # fmt: skip


def _skip_header(section: bytes, start: int, end: int, index: int) -> int:
    length, position = read_number(section, start, end, index, 32)
    if not 0 <= length <= end - position:
        raise record_fault(Fault.HEADER_KEY_LENGTH, index, start)
    start = position + length
    length, position = read_number(section, start, end, index, 32)
    if not -1 <= length <= end - position:
        raise record_fault(Fault.HEADER_VALUE_LENGTH, index, start)
    return position + max(length, 0)


# --- read ------------------------------------------------------------------------------------


def decode_records(
    section: Buffer,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None = None,
) -> list[Record]:
    """All records; with `append_time`, that is the timestamp of each.

    Header keys that are not UTF-8 are shown with replacement characters: a log that holds them stays readable.
    """
    data = bytes(section)
    records = []
    for index, span in enumerate(walk(data, count)):
        start, end, timestamp_delta, _, offset_delta = span[:5]
        key_start, key_length, value_start, value_length, header_count = span[5:]
        offset = base_offset + offset_delta
        if not INT64_MIN <= offset <= INT64_MAX:
            raise record_fault(Fault.OFFSET_RANGE, index, start)
        timestamp = base_timestamp + timestamp_delta if append_time is None else append_time
        if not INT64_MIN <= timestamp <= INT64_MAX:
            raise record_fault(Fault.TIMESTAMP_RANGE, index, start)
        key = None if key_length < 0 else data[key_start : key_start + key_length]
        value = None if value_length < 0 else data[value_start : value_start + value_length]
        headers: Headers = ()
        if header_count:
            headers = _read_headers(data, value_start + max(value_length, 0), end)
        records.append(Record(offset, timestamp, key, value, headers))
    return records


def _read_headers(data: bytes, position: int, end: int) -> Headers:
    """The headers of a record that the walk has found sound."""
    count, position = read_number(data, position, end, 0, 32)
    headers = []
    for _ in range(count):
        length, position = read_number(data, position, end, 0, 32)
        key = data[position : position + length].decode("utf-8", "replace")
        length, position = read_number(data, position + length, end, 0, 32)
        value = None if length < 0 else data[position : position + length]
        position += max(length, 0)
        headers.append((key, value))
    return tuple(headers)


def scan_records(section: Buffer, count: int) -> RecordScan:
    """Walk all records without making any: their form, timestamps, keys and places."""
    minimum, maximum, maximum_index = INT64_MAX, INT64_MIN, -1
    keyless = 0
    first_misplaced = -1
    for index, span in enumerate(walk(bytes(section), count)):
        timestamp_delta = span[2]
        minimum = min(minimum, timestamp_delta)
        if timestamp_delta > maximum or maximum_index < 0:
            maximum, maximum_index = timestamp_delta, index
        keyless += span[6] < 0
        if span[4] != index and first_misplaced < 0:
            first_misplaced = index
    if maximum_index < 0:
        minimum = maximum = 0
    return RecordScan(minimum, maximum, maximum_index, keyless, first_misplaced)


def admit_batch(
    buffer: Buffer,  # noqa: ARG001
    max_bytes: int,  # noqa: ARG001
    oldest: int,  # noqa: ARG001
    newest: int,  # noqa: ARG001
    needs_keys: bool,  # noqa: ARG001, FBT001
) -> tuple[int, ...] | None:
    """The kernel's short cut through all that a broker demands. Plain Python has none: look step by step."""
    return None


# --- write -----------------------------------------------------------------------------------


def encode_records(
    records: Sequence[Record], base_offset: int, base_timestamp: int
) -> tuple[bytearray, int]:
    """61 zero bytes for the header of a batch, then the records; and their largest timestamp."""
    out = bytearray(HEADER_SIZE)
    max_timestamp = INT64_MIN
    for offset, timestamp, key, value, headers in records:
        _check_range(offset, timestamp)
        offset_delta = offset - base_offset
        if not -INT32_MAX - 1 <= offset_delta <= INT32_MAX:
            _refuse(f"offset {offset} is too far from base offset {base_offset}")
        timestamp_delta = timestamp - base_timestamp
        if not INT64_MIN <= timestamp_delta <= INT64_MAX:
            _refuse(f"timestamp {timestamp} is too far from base timestamp {base_timestamp}")
        _append_record(out, timestamp_delta, offset_delta, (key, value), headers)
        max_timestamp = max(max_timestamp, timestamp)
    return out, max_timestamp


def encode_pairs(pairs: Sequence[tuple[bytes | None, bytes | None]]) -> bytearray:
    """As `encode_records`, for keys and values that all have the base timestamp and no headers."""
    out = bytearray(HEADER_SIZE)
    for offset_delta, pair in enumerate(pairs):
        _append_record(out, 0, offset_delta, pair, ())
    return out


def _check_range(offset: int, timestamp: int) -> None:
    if not (INT64_MIN <= offset <= INT64_MAX and INT64_MIN <= timestamp <= INT64_MAX):
        _refuse(f"offset {offset} or timestamp {timestamp} does not fit into 64 bits")


def _refuse(message: str) -> NoReturn:
    raise OverflowError(message)


def _append_record(
    out: bytearray,
    timestamp_delta: int,
    offset_delta: int,
    pair: tuple[bytes | None, bytes | None],
    headers: Headers,
) -> None:
    body = bytearray(1)
    append_varint(body, timestamp_delta)
    append_varint(body, offset_delta)
    key, value = pair
    _append_bytes(body, key)
    _append_bytes(body, value)
    append_varint(body, len(headers))
    for name, content in headers:
        _append_bytes(body, name.encode())
        _append_bytes(body, content)
    append_varint(out, len(body))
    out += body


def _append_bytes(out: bytearray, content: object) -> None:
    if content is None:
        out.append(1)  # zigzag of -1
        return
    if not isinstance(content, bytes):
        message = f"bytes or None is needed, not {type(content).__name__}"
        raise TypeError(message)
    append_varint(out, len(content))
    out += content


def rewrite_records(section: Buffer, count: int, flags: Buffer, timestamp_shift: int) -> bytearray:
    """61 zero bytes, then the records flagged 1, each with `timestamp_shift` added to its timestamp delta."""
    if len(flags) != count:
        message = f"{len(flags)} flags for {count} records"
        raise ValueError(message)
    data = bytes(section)
    out = bytearray(HEADER_SIZE)
    for index, span in enumerate(walk(data, count)):
        if not flags[index]:
            continue
        start, end, timestamp_delta, after_timestamp = span[:4]
        if not timestamp_shift:
            out += data[start:end]
            continue
        shifted = timestamp_delta + timestamp_shift
        if not INT64_MIN <= shifted <= INT64_MAX:
            raise record_fault(Fault.TIMESTAMP_RANGE, index, start)
        _, attributes_position = read_number(data, start, end, index, 32)
        body = bytearray(data[attributes_position : attributes_position + 1])
        append_varint(body, shifted)
        body += data[after_timestamp:end]
        append_varint(out, len(body))
        out += body
    return out


# --- partitioning ----------------------------------------------------------------------------


def murmur2(data: Buffer) -> int:
    """The 32-bit hash that producers partition by, as a signed number."""
    content = bytes(data)
    mask, multiplier = 0xFFFFFFFF, 0x5BD1E995
    size = len(content)
    digest = (0x9747B28C ^ size) & mask
    whole = size & ~3
    for position in range(0, whole, 4):
        block = int.from_bytes(content[position : position + 4], "little") * multiplier & mask
        block = (block ^ (block >> 24)) * multiplier & mask
        digest = (digest * multiplier & mask) ^ block
    if size > whole:
        digest = (digest ^ int.from_bytes(content[whole:], "little")) * multiplier & mask
    digest = (digest ^ (digest >> 13)) * multiplier & mask
    digest ^= digest >> 15
    return digest - (1 << 32) if digest >> 31 else digest


# --- compaction ------------------------------------------------------------------------------

SLOT_SIZE: Final = 24
"""16 bytes of a key's digest, then 8 bytes of its offset + 1; all zero means empty."""

HASH_KEY_SIZE: Final = 16


class OffsetTable:
    """Digests of keys and their latest offsets in one preallocated buffer, open addressing, linear probes.

    Invariants
      T1  size <= capacity < the number of slots, so a probe always finds its digest or an empty slot.
      T2  The offset kept for a digest is the largest ever put.
    """

    def __init__(self, memory_bytes: int, hash_key: bytes, load_factor: float = 0.9) -> None:
        self._slots = memory_bytes // SLOT_SIZE
        self.capacity = min(int(self._slots * load_factor), self._slots - 1)
        if self.capacity < 1:
            message = f"an offset table needs {2 * SLOT_SIZE} bytes, not {memory_bytes}"
            raise ValueError(message)
        if len(hash_key) != HASH_KEY_SIZE:
            message = f"the hash key has {len(hash_key)} bytes, not {HASH_KEY_SIZE}"
            raise ValueError(message)
        self._hash_key = bytes(hash_key)
        self._memory = bytearray(self._slots * SLOT_SIZE)
        self.size = 0

    def _find(self, key: bytes) -> tuple[int, bytes, int]:
        """The position of the key's slot, its digest, and what the slot holds (offset + 1 or 0)."""
        digest = blake2b(key, digest_size=16, key=self._hash_key).digest()
        slot = int.from_bytes(digest[:8], "little") % self._slots
        while True:
            position = slot * SLOT_SIZE
            held = int.from_bytes(self._memory[position + 16 : position + SLOT_SIZE], "little")
            if not held or self._memory[position : position + 16] == digest:
                return position, digest, held
            slot = (slot + 1) % self._slots

    def put(self, key: bytes, offset: int) -> bool:
        """Remember `offset` for `key` unless a later one is known; False when there is no room for the key."""
        if not 0 <= offset < INT64_MAX:
            _refuse(f"offset {offset} is not one of a log")
        position, digest, held = self._find(key)
        if not held:
            if self.size >= self.capacity:
                return False
            self.size += 1
            self._memory[position : position + 16] = digest
        if offset >= held:
            stored = (offset + 1).to_bytes(8, "little")
            self._memory[position + 16 : position + SLOT_SIZE] = stored
        return True

    def get(self, key: bytes) -> int:
        """The latest offset of `key`, -1 when it has none."""
        return self._find(key)[2] - 1

    def put_records(self, section: Buffer, count: int, base_offset: int, from_offset: int) -> int:
        """Put every record that has a key and an offset >= `from_offset`.

        Gives -1, or the offset of the first record that found no room.
        """
        data = bytes(section)
        for index, span in enumerate(walk(data, count)):
            offset = base_offset + span[4]
            if not 0 <= offset < INT64_MAX:
                raise record_fault(Fault.OFFSET_RANGE, index, span[0])
            key_start, key_length = span[5:7]
            if offset < from_offset or key_length < 0:
                continue
            if not self.put(data[key_start : key_start + key_length], offset):
                return offset
        return -1

    def select_records(
        self,
        section: Buffer,
        count: int,
        base_offset: int,
        end_offset: int,
        *,
        keep_tombstones: bool,
    ) -> Selection:
        """Which records survive: the latest of each key, and all from `end_offset` on (not looked at yet)."""
        data = bytes(section)
        flags = bytearray()
        tombstones = keyless = kept = first_delta = max_delta = 0
        for index, span in enumerate(walk(data, count)):
            offset = base_offset + span[4]
            if not 0 <= offset < INT64_MAX:
                raise record_fault(Fault.OFFSET_RANGE, index, span[0])
            key_start, key_length, _, value_length = span[5:9]
            keep = offset >= end_offset
            if not keep and key_length < 0:
                keyless += 1
            elif not keep and (keep_tombstones or value_length >= 0):
                keep = offset >= self.get(data[key_start : key_start + key_length])
            flags.append(keep)
            if keep:
                tombstones += key_length >= 0 and value_length < 0
                first_delta = span[2] if not kept else first_delta
                max_delta = max(max_delta, span[2]) if kept else span[2]
                kept += 1
        return Selection(flags, kept, tombstones, keyless, first_delta, max_delta)

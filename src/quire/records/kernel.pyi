from collections.abc import Sequence

from quire.records.record import Buffer, Record, RecordScan, Selection

def decode_records(
    section: Buffer,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None = None,
) -> list[Record]: ...
def scan_records(section: Buffer, count: int) -> RecordScan: ...
def encode_records(
    records: Sequence[Record], base_offset: int, base_timestamp: int
) -> tuple[bytearray, int]: ...
def encode_pairs(pairs: Sequence[tuple[bytes | None, bytes | None]]) -> bytearray: ...
def rewrite_records(
    section: Buffer, count: int, flags: Buffer, timestamp_shift: int
) -> bytearray: ...
def murmur2(data: Buffer) -> int: ...
def siphash128(hash_key: bytes, data: bytes) -> bytes: ...

class OffsetTable:
    capacity: int
    size: int
    def __init__(self, memory_bytes: int, hash_key: bytes, load_factor: float = 0.9) -> None: ...
    def put(self, key: bytes, offset: int) -> bool: ...
    def get(self, key: bytes) -> int: ...
    def put_records(
        self, section: Buffer, count: int, base_offset: int, from_offset: int
    ) -> int: ...
    def select_records(
        self,
        section: Buffer,
        count: int,
        base_offset: int,
        end_offset: int,
        *,
        keep_tombstones: bool,
    ) -> Selection: ...

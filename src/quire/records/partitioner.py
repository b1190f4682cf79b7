"""Which partition a key belongs to: the same one for every client of every language."""

from __future__ import annotations

from quire.records import implementation
from quire.records.record import Buffer


def murmur2(data: Buffer) -> int:
    """The 32-bit murmur2 that producers partition by, as a signed number."""
    return implementation.murmur2(data)


def partition_for_key(key: Buffer, count: int) -> int:
    """The partition of `key` among `count` partitions."""
    return (implementation.murmur2(key) & 0x7FFFFFFF) % count

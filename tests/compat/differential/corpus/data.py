"""Batches that are sent, well and ill made, to topics of every kind; what they got is in `reading`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.compat.differential.case import Case, case, id_of
from tests.compat.differential.corpus.topics import each, topic

from quire.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from quire.records.batch import Record, encode_batch, read_header, seal
from quire.records.compression import Compression

NOW_MS = int(time.time() * 1000)
HOUR_MS = 3_600_000
STRANGE_ID = bytes(range(16))
KINDS: dict[str, tuple[int, list[tuple[str, str]]]] = {
    "data": (3, []),
    "kept": (1, [("cleanup.policy", "compact")]),
    "both": (1, [("cleanup.policy", "compact,delete")]),
    "never": (1, [("cleanup.policy", "")]),
    "small": (1, [("max.message.bytes", "1000")]),
    "appended": (1, [("message.timestamp.type", "LogAppendTime")]),
    "bounded": (1, [("message.timestamp.before.max.ms", "60000"),
                    ("message.timestamp.after.max.ms", "60000")]),
    "plain": (1, [("compression.type", "uncompressed")]),
    "gzipped": (1, [("compression.type", "gzip")]),
    "zipped": (1, [("compression.type", "zstd")]),
    "strict": (1, [("min.insync.replicas", "2")]),
}  # fmt: skip

TOPICS: list[Case] = [
    case(
        f"data topic {name}",
        each(lambda _, n=name, p=partitions, c=configs: topic(f"d-{n}", p, configs=c)),  # type: ignore[misc]
        since=7,
    )
    for name, (partitions, configs) in KINDS.items()
]


def batch(count: int = 2, *, key: bytes | None = b"k", value: bytes = b"value", at: int = NOW_MS,
          **fields: Any) -> bytearray:  # fmt: skip
    records = [Record(index, at + index, key, value) for index in range(count)]
    return encode_batch(records, **fields)


def changed(data: bytearray, *, keeps_crc: bool = False, **fields: Any) -> bytes:
    """The batch with another header; its checksum fits, unless it is kept."""
    header = read_header(data, 0)
    found = bytes(seal(bytearray(data), header._replace(**fields)))
    return found[:17] + bytes(data[17:21]) + found[21:] if keeps_crc else found


def patched(data: bytes | bytearray, position: int, *values: int) -> bytes:
    return bytes(data[:position]) + bytes(values) + bytes(data[position + len(values) :])


def produce(
    records: bytes | bytearray | None, name: str = "d-data", index: int = 0, *, acks: int = -1,
    transactional_id: str | None = None, timeout_ms: int = 5000,
) -> Callable[[int], Any]:  # fmt: skip
    return several((name, index, records), acks=acks, transactional_id=transactional_id,
                   timeout_ms=timeout_ms)  # fmt: skip


def several(
    *parts: tuple[str, int, bytes | bytearray | None], acks: int = -1,
    transactional_id: str | None = None, timeout_ms: int = 5000,
) -> Callable[[int], Any]:  # fmt: skip
    def make(version: int) -> Any:
        return ProduceRequest(
            transactional_id=transactional_id,
            acks=acks,
            timeout_ms=timeout_ms,
            topic_data=[
                TopicProduceData(
                    name=name,
                    topic_id=id_of(name) if version >= 13 else bytes(16),
                    partition_data=[
                        PartitionProduceData(
                            index=index, records=None if records is None else bytes(records)
                        )
                    ],
                )
                for name, index, records in parts
            ],
        )

    return make


def by_id(topic_id: bytes) -> Any:
    data = PartitionProduceData(index=0, records=bytes(batch()))
    return ProduceRequest(
        acks=-1, timeout_ms=1000,
        topic_data=[TopicProduceData(topic_id=topic_id, partition_data=[data])],
    )  # fmt: skip


GOOD: list[Case] = [
    case("produce", produce(batch())),
    case("produce: acks 1", produce(batch(), acks=1)),
    case("produce: acks 0", produce(batch(), acks=0)),
    case("produce: no key, no value", produce(
        encode_batch([Record(0, NOW_MS, None, None)]))),
    case("produce: headers", produce(
        encode_batch([Record(0, NOW_MS, b"k", b"v", (("a", b"1"), ("a", None)))]))),
    *(case(f"produce: {codec.name.lower()}", produce(
        batch(50, compression=codec), index=1)) for codec in Compression),
    *(case(f"produce: {codec.name.lower()} to {kind}", produce(
        batch(5, compression=codec), f"d-{kind}"))
      for codec in (Compression.NONE, Compression.GZIP, Compression.ZSTD)
      for kind in ("plain", "gzipped", "zipped", "appended")),
    case("produce: to a compacted topic", produce(batch(), "d-kept")),
    case("produce: to several", several(("d-data", 0, batch()), ("d-kept", 0, batch()))),
    case("produce: some good, some bad", several(
        ("d-data", 0, batch()), ("d-data", 77, batch()), ("d-small", 0, batch(value=b"v" * 5000)))),
    case("produce: nothing", several()),
    case("produce: a first offset that is ignored", produce(batch())),
    case("produce: an epoch that is ignored", produce(batch(partition_leader_epoch=77))),
    case("produce: timestamps of long ago", produce(batch(at=NOW_MS - 24 * HOUR_MS))),
    case("produce: without a timestamp", produce(batch(at=-1))),
]  # fmt: skip

BATCH = batch()
ZSTD = batch(10, compression=Compression.ZSTD)
GZIP = batch(10, compression=Compression.GZIP)

BAD: list[Case] = [
    case("produce bad: null records", produce(None), since=13),
    case("produce bad: no records", produce(b"")),
    case("produce bad: null records, unknown topic", produce(None, "nobody")),
    case("produce bad: two batches", produce(BATCH + BATCH)),
    case("produce bad: cut", produce(BATCH[:-3])),
    case("produce bad: cut in the header", produce(BATCH[:40])),
    case("produce bad: a few bytes", produce(b"\0" * 11)),
    case("produce bad: noise", produce(bytes(range(256)))),
    case("produce bad: bytes behind it", produce(BATCH + b"\0\0\0")),
    case("produce bad: wrong checksum", produce(patched(BATCH, 17, 1, 2, 3, 4))),
    case("produce bad: wrong byte in a record", produce(patched(BATCH, len(BATCH) - 3, 77))),
    case("produce bad: magic 0", produce(patched(BATCH, 16, 0))),
    case("produce bad: magic 1", produce(patched(BATCH, 16, 1))),
    case("produce bad: magic 3", produce(patched(BATCH, 16, 3))),
    case("produce bad: negative magic", produce(patched(BATCH, 16, 255))),
    case("produce bad: length 0", produce(patched(BATCH, 8, 0, 0, 0, 0))),
    case("produce bad: length -1", produce(patched(BATCH, 8, 255, 255, 255, 255))),
    case("produce bad: length too large", produce(patched(BATCH, 8, 127, 255, 255, 255))),
    case("produce bad: length one less", produce(patched(BATCH, 11, BATCH[11] - 1))),
    case("produce bad: more records said", produce(changed(BATCH, record_count=3))),
    case("produce bad: fewer records said", produce(changed(BATCH, record_count=1))),
    case("produce bad: no records said", produce(changed(BATCH, record_count=0))),
    case("produce bad: -1 records said", produce(changed(BATCH, record_count=-1))),
    case("produce bad: very many records said", produce(changed(BATCH, record_count=2**31 - 1))),
    case("produce bad: last delta too large", produce(changed(BATCH, last_offset_delta=5))),
    case("produce bad: last delta too small", produce(changed(BATCH, last_offset_delta=0))),
    case("produce bad: last delta and count", produce(
        changed(BATCH, last_offset_delta=2**31 - 1, record_count=2**31 - 1))),
    case("produce bad: negative last delta", produce(changed(BATCH, last_offset_delta=-1))),
    case("produce bad: base offset not 0", produce(batch(base_offset=0) and changed(BATCH, base_offset=5))),
    case("produce bad: negative base offset", produce(changed(BATCH, base_offset=-5))),
    case("produce bad: control batch", produce(batch(is_control=True))),
    case("produce bad: largest timestamp too small", produce(changed(BATCH, max_timestamp=1))),
    case("produce bad: largest timestamp too large", produce(
        changed(BATCH, max_timestamp=NOW_MS + 5))),
    case("produce bad: append time said", produce(batch(log_append_time_ms=NOW_MS + 1))),
    case("produce bad: a delete horizon", produce(batch(delete_horizon_ms=NOW_MS))),
    *(case(f"produce bad: codec {codec}", produce(changed(BATCH, attributes=codec)))
      for codec in range(1, 8)),
    case("produce bad: unknown attributes", produce(changed(BATCH, attributes=0x7F00))),
    case("produce bad: packed noise", produce(
        changed(ZSTD[:61] + bytes(len(ZSTD) - 61)))),
    case("produce bad: gzip, more records said", produce(changed(GZIP, record_count=11))),
    case("produce bad: gzip, fewer records said", produce(changed(GZIP, record_count=9))),
    case("produce bad: gzip, last delta too large", produce(changed(GZIP, last_offset_delta=12))),
    case("produce bad: gzip, wrong checksum", produce(patched(GZIP, 17, 1, 2, 3, 4))),
    case("produce bad: gzip, wrong codec", produce(changed(GZIP, attributes=4))),
    case("produce bad: too large", produce(batch(value=b"v" * 600), "d-small")),
    case("produce bad: too large before it is packed", produce(
        batch(5, value=b"v" * 900, compression=Compression.GZIP), "d-small")),
    case("produce bad: larger than a topic takes", produce(batch(1, value=bytes(1_100_000)))),
    case("produce bad: no key to a compacted topic", produce(batch(key=None), "d-kept")),
    case("produce bad: one without a key to a compacted topic", produce(encode_batch(
        [Record(0, NOW_MS, b"k", b"v"), Record(1, NOW_MS, None, b"v")]), "d-kept")),
    case("produce bad: no key to a compacted topic, packed", produce(
        batch(key=None, compression=Compression.GZIP), "d-kept")),
    case("produce bad: no key, compacted and deleted", produce(batch(key=None), "d-both")),
    case("produce bad: too old", produce(batch(at=NOW_MS - HOUR_MS * 24), "d-bounded")),
    case("produce bad: too new", produce(batch(at=NOW_MS + HOUR_MS * 24), "d-bounded")),
    case("produce bad: too new everywhere", produce(batch(at=NOW_MS + HOUR_MS * 24))),
    case("produce bad: without a timestamp, bounded", produce(batch(at=-1), "d-bounded")),
    case("produce bad: one too old", produce(encode_batch(
        [Record(0, NOW_MS, b"k", b"v"), Record(1, NOW_MS - HOUR_MS, b"k", b"v")]), "d-bounded")),
    case("produce bad: timestamps too old, packed", produce(
        batch(at=NOW_MS - HOUR_MS, compression=Compression.GZIP), "d-bounded")),
]  # fmt: skip

WHERE: list[Case] = [
    case("produce where: unknown topic", produce(batch(), "nobody")),
    case("produce where: bad name", produce(batch(), "a b")),
    case("produce where: no name", produce(batch(), "")),
    case("produce where: unknown partition", produce(batch(), index=77)),
    case("produce where: negative partition", produce(batch(), index=-1)),
    case("produce where: unknown id", by_id(STRANGE_ID), since=13),
    case("produce where: id 0", by_id(bytes(16)), since=13),
    case("produce where: the metadata topic", produce(batch(), "__cluster_metadata")),
    case("produce where: a topic twice", several(("d-data", 0, BATCH), ("d-data", 1, BATCH))),
    case("produce where: a partition twice", several(("d-data", 0, BATCH), ("d-data", 0, BATCH))),
    *(case(f"produce acks {acks}", produce(batch(), acks=acks)) for acks in (5, 2, -2, -32768)),
    case("produce acks 5, unknown topic", produce(batch(), "nobody", acks=5)),
    case("produce acks 5, bad batch", produce(b"", acks=5)),
    case("produce acks 0, unknown topic", produce(batch(), "nobody", acks=0)),
    case("produce acks 0, bad batch", produce(patched(BATCH, 17, 1, 2, 3, 4), acks=0)),
    case("produce: too few in sync", produce(batch(), "d-strict")),
    case("produce: too few in sync, acks 1", produce(batch(), "d-strict", acks=1)),
    case("produce: no time", produce(batch(), timeout_ms=0)),
    case("produce: less than no time", produce(batch(), timeout_ms=-1)),
]  # fmt: skip


def idempotent(sequence: int, count: int = 2, *, producer: int = 4_000_000, epoch: int = 0,
               name: str = "d-data", index: int = 2, **more: Any) -> Callable[[int], Any]:  # fmt: skip
    fields: dict[str, Any] = {
        "producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence, **more,
    }  # fmt: skip
    return produce(batch(count, **fields), name, index)


def per_version(make: Callable[[int], Callable[[int], Any]]) -> Callable[[int], Any]:
    return lambda version: make(version)(version)


SEQUENCES: list[Case] = [
    case("sequence: first", per_version(lambda v: idempotent(0, producer=4_000_000 + v))),
    case("sequence: next", per_version(lambda v: idempotent(2, producer=4_000_000 + v))),
    case("sequence: again", per_version(lambda v: idempotent(2, producer=4_000_000 + v))),
    case("sequence: the first again", per_version(lambda v: idempotent(0, producer=4_000_000 + v))),
    case("sequence: a part again", per_version(lambda v: idempotent(
        2, 1, producer=4_000_000 + v))),
    case("sequence: a gap", per_version(lambda v: idempotent(9, producer=4_000_000 + v))),
    case("sequence: older epoch", per_version(lambda v: idempotent(
        4, producer=4_000_000 + v, epoch=-1))),
    case("sequence: newer epoch, not from 0", per_version(lambda v: idempotent(
        4, producer=4_000_000 + v, epoch=1))),
    case("sequence: newer epoch", per_version(lambda v: idempotent(
        0, producer=4_000_000 + v, epoch=1))),
    case("sequence: the epoch before", per_version(lambda v: idempotent(
        4, producer=4_000_000 + v, epoch=0))),
    case("sequence: unknown producer in the middle", per_version(lambda v: idempotent(
        5, producer=5_000_000 + v))),
    case("sequence: negative", per_version(lambda v: idempotent(-1, producer=5_100_000 + v))),
    case("sequence: epoch without a producer", idempotent(0, producer=-1, epoch=3)),
    case("sequence: transactional, no id", idempotent(0, producer=6_000_000, is_transactional=True)),
]  # fmt: skip

CASES = [*GOOD, *BAD, *WHERE, *SEQUENCES]

"""Every value that Apache Kafka left in its own logs is read and written again to the same bytes.

The batches are taken apart by a small reader of their own here: this room does not know records.
"""

from __future__ import annotations

import json
import struct
from base64 import urlsafe_b64decode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from quire.protocol.compiler import codec
from quire.protocol.messages import (
    GROUP_RECORDS,
    MESSAGES,
    METADATA_RECORDS,
    SHARE_RECORDS,
    TRANSACTION_RECORDS,
)
from quire.protocol.messages.producer_snapshot import ProducerSnapshot
from quire.protocol.primitives import read_uvarint, read_varint, read_varlong
from quire.protocol.schema import declaration_of, fields_of, unknown_tags_of

GOLDEN = Path(__file__).parents[1] / "golden"
CONTROL = {
    0: "EndTxnMarker",
    1: "EndTxnMarker",
    2: "LeaderChangeMessage",
    3: "SnapshotHeaderRecord",
    4: "SnapshotFooterRecord",
    5: "KRaftVersionRecord",
    6: "VotersRecord",
}


class Record(NamedTuple):
    control: bool
    key: bytes | None
    value: bytes | None


def records_in(path: Path) -> Iterator[Record]:
    """The records of uncompressed batches."""
    data = path.read_bytes()
    position = 0
    while position + 61 <= len(data):
        (length,) = struct.unpack_from(">i", data, position + 8)
        if length <= 0:
            return
        (attributes,) = struct.unpack_from(">h", data, position + 21)
        (count,) = struct.unpack_from(">i", data, position + 57)
        assert attributes & 7 == 0, "compressed"
        at = position + 61
        for _ in range(count):
            _, at = read_varint(data, at)
            _, at = read_varlong(data, at + 1)
            _, at = read_varint(data, at)
            key, at = nullable_bytes(data, at)
            value, at = nullable_bytes(data, at)
            headers, at = read_varint(data, at)
            for _ in range(headers):
                _, at = nullable_bytes(data, at)
                _, at = nullable_bytes(data, at)
            yield Record(bool(attributes & 0x20), key, value)
        position += 12 + length


def nullable_bytes(data: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = read_varint(data, at)
    return (None, at) if size < 0 else (data[at : at + size], at + size)


def same_again(name: str, version: int, data: bytes, position: int) -> Any:
    """Decode all of `data` from `position` and write it again: the bytes must be the same."""
    one = codec(MESSAGES[name], version)
    message = one.decode_all(data, position)
    assert one.encode(message) == data[position:], name
    assert unknown_tags_of(message) == ()
    return message


def check_control(record: Record) -> str:
    assert record.key is not None
    assert record.value is not None
    version, kind = struct.unpack(">hh", record.key)
    assert version == 0
    same_again("ControlRecordTypeSchema", 0, record.key, 2)
    if kind < 2:
        same_again("EndTxnMarker", *struct.unpack_from(">h", record.value), record.value, 2)
    else:
        (version,) = struct.unpack_from(">h", record.value)
        same_again(CONTROL[kind], version, record.value, 0)
    return CONTROL[kind]


def check_keyed(record: Record, table: dict[int, tuple[str, str]]) -> str:
    assert record.key is not None
    (kind,) = struct.unpack_from(">h", record.key)
    key_name, value_name = table[kind]
    same_again(key_name, declaration_of(MESSAGES[key_name]).lowest, record.key, 2)
    if record.value is not None:
        (version,) = struct.unpack_from(">h", record.value)
        same_again(value_name, version, record.value, 2)
    return key_name


def metadata_files() -> list[Path]:
    folders = (
        GOLDEN / "data-clean" / "__cluster_metadata-0",
        GOLDEN / "three-node-metadata-0",
        GOLDEN / "kraft-version-0",
        GOLDEN / "data-clean",
    )
    found = [
        path
        for folder in folders
        for pattern in ("**/__cluster_metadata-0/*.log", "*.log", "*.checkpoint")
        for path in folder.glob(pattern)
    ]
    return sorted({path for path in found if path.stat().st_size})


def test_metadata_records_keep_their_bytes():
    seen: Counter[str] = Counter()
    for path in metadata_files():
        for record in records_in(path):
            if record.control:
                seen[check_control(record)] += 1
                continue
            assert record.value is not None
            frame, at = read_uvarint(record.value, 0)
            kind, at = read_uvarint(record.value, at)
            version, at = read_uvarint(record.value, at)
            assert frame == 1
            same_again(METADATA_RECORDS[kind], version, record.value, at)
            seen[METADATA_RECORDS[kind]] += 1
    assert sum(seen.values()) > 2000
    assert seen.keys() >= {
        "PartitionChangeRecord",
        "RegisterBrokerRecord",
        "RegisterControllerRecord",
        "ClientQuotaRecord",
        "UserScramCredentialRecord",
        "FeatureLevelRecord",
        "VotersRecord",
        "LeaderChangeMessage",
        "SnapshotFooterRecord",
        "NoOpRecord",
    }


@pytest.mark.parametrize(
    ("pattern", "table", "least"),
    [
        ("__consumer_offsets-*", GROUP_RECORDS, 50),
        ("__transaction_state-*", TRANSACTION_RECORDS, 15),
        ("__share_group_state-*", SHARE_RECORDS, 3),
    ],
)
def test_the_values_of_internal_topics_keep_their_bytes(pattern, table, least):
    seen: Counter[str] = Counter()
    for path in sorted((GOLDEN / "data-clean").glob(f"{pattern}/*.log")):
        for record in records_in(path):
            name = check_control(record) if record.control else check_keyed(record, table)
            seen[name] += 1
    assert sum(seen.values()) >= least
    if table is GROUP_RECORDS:
        assert seen["EndTxnMarker"] >= 1
        assert len(seen) >= 12


def test_producer_snapshots_keep_their_bytes():
    paths = sorted(GOLDEN.rglob("*.snapshot"))
    entries = 0
    for path in paths:
        data = path.read_bytes()
        one = codec(ProducerSnapshot, 1)
        assert data[:2] == b"\x00\x01"
        message = one.decode_all(data, 2)
        assert one.encode(message) == data[2:]
        entries += len(message.producer_entries)
    assert len(paths) > 5
    assert entries > 2


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("quorum-state")), ids=lambda p: p.parent.name)
def test_quorum_state_files_have_the_fields_that_are_declared(path):
    content = json.loads(path.read_text())
    version = content.pop("data_version")
    names = {
        one.wire_name for one in fields_of(MESSAGES["QuorumStateData"]) if one.in_version(version)
    }
    assert {name[:1].upper() + name[1:] for name in content} == names
    if version == 1:
        assert len(urlsafe_b64decode(content["votedDirectoryId"] + "==")) == 16

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.groups.golden import PARTITIONS, entries

from quire.coordination import KeyValue
from quire.groups.keys import (
    CLASSIC_GROUP,
    NEVER,
    OFFSET,
    group_key,
    group_of,
    group_record,
    offset_key,
    offset_value,
    read_group_value,
    read_offset_key,
    read_offset_value,
    type_of,
)
from quire.groups.stored_values import Committed, StoredGroup, StoredMember
from quire.protocol.compiler import codec
from quire.protocol.messages.consumer_offsets import (
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

NO_ID = bytes(16)
TEXT = st.text(max_size=200)
INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_what_kafka_wrote_is_read_and_written_to_the_same_bytes(partition: int) -> None:
    seen = {OFFSET: 0, CLASSIC_GROUP: 0}
    for offset, record, _, commits in entries(partition):
        kind = type_of(record.key)
        if commits is not None or kind not in seen:
            continue
        seen[kind] += 1
        assert record.value is not None
        if kind == OFFSET:
            key = read_offset_key(record.key)
            assert offset_key(*key) == record.key
            committed = read_offset_value(record.value, offset)
            assert offset_value(committed) == record.value
        else:
            group = read_group_value(record.value)
            assert group_record(group_of(record.key), group) == record
    assert all(seen.values())


def test_a_position_is_read_as_the_dump_tells_it() -> None:
    found = [
        (read_offset_key(record.key), read_offset_value(record.value, offset))
        for offset, record, _, _ in entries(0)
        if record.value is not None and type_of(record.key) == OFFSET
    ]
    assert found[0] == (
        ("g-txngroup", "g-plain", 0), Committed(15, -1, "", 1795029578940, NEVER, NO_ID, 18),
    )  # fmt: skip
    assert found[1][0] == ("g-consumer", "g-plain", 0)
    assert found[1][1].metadata == "meta\0"
    assert found[1][1].topic_id != NO_ID


@given(TEXT, INT64, INT32, INT64, st.sampled_from([NO_ID, bytes(range(16))]))
def test_the_short_way_writes_what_the_declaration_says(
    note: str, offset: int, epoch: int, timestamp: int, topic_id: bytes
) -> None:
    committed = Committed(offset, epoch, note, timestamp, NEVER, topic_id, 5)
    declared = OffsetCommitValue(
        offset=offset, leader_epoch=epoch, metadata=note, commit_timestamp=timestamp,
        topic_id=topic_id,
    )  # fmt: skip
    value = offset_value(committed)
    assert value == b"\x00\x04" + codec(OffsetCommitValue, 4).encode(declared)
    assert read_offset_value(value, 5) == committed


@given(TEXT, TEXT, INT32)
def test_keys_too(group: str, topic: str, partition: int) -> None:
    declared = OffsetCommitKey(group=group, topic=topic, partition=partition)
    key = offset_key(group, topic, partition)
    assert key == b"\x00\x01" + codec(OffsetCommitKey, 0).encode(declared)
    assert read_offset_key(key) == (group, topic, partition)
    assert group_of(key) == group_of(group_key(group)) == group


@pytest.mark.parametrize("version", range(5))
def test_positions_of_every_version_are_read(version: int) -> None:
    declared = OffsetCommitValue(offset=9, metadata="m", commit_timestamp=7)
    value = version.to_bytes(2, "big") + codec(OffsetCommitValue, version).encode(declared)
    found = read_offset_value(value, 3)
    assert found == Committed(9, -1, "m", 7, NEVER, NO_ID, 3)


def test_an_unknown_tag_does_not_disturb_a_position() -> None:
    plain = offset_value(Committed(9, -1, "m", 7, NEVER, NO_ID, 0))
    tagged = plain[:-1] + b"\x01\x09\x02ab"
    assert read_offset_value(tagged, 0) == Committed(9, -1, "m", 7, NEVER, NO_ID, 0)


def test_an_offset_with_a_time_of_expiry_is_written_in_the_version_that_has_one() -> None:
    committed = Committed(9, -1, "m", 7, 99, NO_ID, 3)
    value = offset_value(committed)
    assert value[:2] == b"\x00\x01"
    assert read_offset_value(value, 3) == committed


@pytest.mark.parametrize("version", range(5))
def test_groups_of_every_version_are_read(version: int) -> None:
    member = StoredMember("m", None, "c", "/h", 100, 100, b"s", b"a")
    timestamp = 5 if version >= 2 else -1
    group = StoredGroup("consumer", 3, "range", "m", timestamp, (member,))
    record = group_record("g", group)
    assert record.value is not None
    declared = codec(GroupMetadataValue, 3).decode_all(record.value[2:])
    value = version.to_bytes(2, "big") + codec(GroupMetadataValue, version).encode(declared)
    assert read_group_value(value) == group


def test_a_record_is_a_pair() -> None:
    record = group_record("g", StoredGroup("", 0, None, None, 1, ()))
    assert isinstance(record, KeyValue)
    assert (type_of(record.key), group_of(record.key)) == (CLASSIC_GROUP, "g")

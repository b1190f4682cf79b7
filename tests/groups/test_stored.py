from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.groups.golden import entries

from quire.coordination import KeyValue, Producer
from quire.errors import ProtocolError
from quire.groups.consumer_records import GROUP_EPOCH, epoch_record, tombstone
from quire.groups.keys import (
    NEVER,
    OffsetKey,
    group_key,
    group_record,
    offset_key,
    offset_value,
)
from quire.groups.stored import Stored
from quire.groups.stored_values import Committed, StoredGroup

GROUP = StoredGroup("consumer", 1, None, None, 5, ())


def position(offset: int, at: int = 0) -> Committed:
    return Committed(offset, -1, "", 7, NEVER, bytes(16), at)


def golden(partition: int) -> Stored:
    stored = Stored()
    for offset, record, producer, commits in entries(partition):
        if commits is None:
            stored.replay(record, offset, producer)
        else:
            assert producer is not None
            stored.replay_end(producer.producer_id, committed=commits)
        stored.check()
    return stored


def test_kafka_s_own_partitions_are_loaded() -> None:
    first, second, third = (golden(partition) for partition in (0, 1, 2))
    key = OffsetKey("g-txngroup", "g-plain", 0)
    assert first.groups["g-txngroup"].generation == 3
    assert first.committed(key) is not None
    assert first.open == {}
    assert first.offsets["g-consumer"]["g-plain"][0].offset == 10
    assert list(first.foreign) == ["g-share"]
    assert list(first.consumers) == ["g-consumer", "g-java848"]
    assert second.groups["g-classic"].members == ()
    assert second.offsets["g-classic"]["g-plain"][0].metadata == "meta\0"
    (member,) = third.groups["g-java"].members or [None]
    assert member is not None
    assert (member.instance_id, member.client_id) == ("inst-1", "console-consumer")


def test_groups_are_known_by_anything_that_speaks_of_them() -> None:
    stored = Stored()
    producer = Producer(7, 0)
    stored.replay(group_record("a", GROUP), 0, None)
    stored.replay(KeyValue(offset_key("b", "t", 0), offset_value(position(1))), 1, None)
    stored.replay(KeyValue(offset_key("c", "t", 0), offset_value(position(1))), 2, producer)
    stored.replay(KeyValue(b"\x00\x0b\x00\x01d", b"\x00\x00"), 3, None)
    assert stored.group_ids() == ["a", "b", "d", "c"]
    assert all(stored.knows(one) for one in "abcd")
    assert not stored.knows("e")


def test_a_tombstone_takes_the_pending_positions_along() -> None:
    stored = Stored()
    key = OffsetKey("g", "t", 0)
    stored.replay(KeyValue(offset_key(*key), offset_value(position(1))), 0, Producer(7, 0))
    stored.replay(KeyValue(offset_key(*key), offset_value(position(2))), 1, None)
    assert stored.has_pending(key)
    stored.replay(KeyValue(offset_key(*key), None), 2, None)
    stored.replay_end(7, committed=True)
    assert stored == Stored()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"", b""),
        (b"\0", b""),
        (b"\0\1\0\1", b""),
        (offset_key("g", "t", 0), b""),
        (offset_key("g", "t", 0), b"\0\4"),
        (offset_key("g", "t", 0), b"\0\x63" + bytes(40)),
        (b"\0\1\0\1\xff\0\1t\0\0\0\0", None),
        (b"\0\2\0\1g", b"\0"),
        (b"\0\2\0\1g", b"\0\3\0"),
    ],
)
def test_what_cannot_be_read_is_named_by_its_offset_or_field(
    key: bytes, value: bytes | None
) -> None:
    with pytest.raises(ProtocolError):
        Stored().replay(KeyValue(key, value), 7, None)


def test_tombstones_of_what_is_not_there_change_nothing() -> None:
    stored = Stored()
    for key in (group_key("g"), offset_key("g", "t", 0), b"\x00\x05\x00\x01g\x00\x01m"):
        stored.replay(KeyValue(key, None), 0, None)
        stored.check()
    assert stored == Stored()


def test_a_classic_group_takes_the_place_of_another_kind() -> None:
    stored = Stored()
    stored.replay(KeyValue(b"\x00\x0b\x00\x01g", b"\x00\x00"), 0, None)
    stored.replay(group_record("g", GROUP), 1, None)
    assert (list(stored.groups), stored.foreign) == (["g"], {})


def test_a_consumer_group_is_there_from_its_first_record_to_the_tombstone_of_its_epoch() -> None:
    stored = Stored()
    stored.replay(epoch_record("g", 4, 5), 0, None)
    assert (stored.consumers["g"].epoch, stored.group_ids()) == (4, ["g"])
    assert stored.knows("g")
    stored.replay(tombstone(GROUP_EPOCH, "g"), 1, None)
    assert stored == Stored()


COMMIT = st.tuples(
    st.just("commit"), st.sampled_from("gh"), st.integers(0, 1), st.sampled_from([None, 1, 2])
)
END = st.tuples(st.just("end"), st.integers(1, 2), st.booleans())
TOMBSTONE = st.tuples(st.just("tombstone"), st.sampled_from("gh"), st.integers(0, 1))


@given(st.lists(COMMIT | END | TOMBSTONE, max_size=40))
def test_positions_are_those_of_a_simple_model(steps: list[tuple[object, ...]]) -> None:
    stored = Stored()
    plain: dict[OffsetKey, int] = {}
    pending: dict[int, dict[OffsetKey, int]] = {}
    for at, step in enumerate(steps):
        if step[0] == "end":
            _, number, committed = step
            assert isinstance(number, int)
            stored.replay_end(number, committed=bool(committed))
            for key, offset in pending.pop(number, {}).items():
                if committed:
                    plain[key] = max(plain.get(key, -1), offset)
            continue
        key = OffsetKey(str(step[1]), "t", int(str(step[2])))
        if step[0] == "tombstone":
            stored.replay(KeyValue(offset_key(*key), None), at, None)
            plain.pop(key, None)
            for keys in pending.values():
                keys.pop(key, None)
            continue
        number = step[3]
        assert number is None or isinstance(number, int)
        record = KeyValue(offset_key(*key), offset_value(position(at)))
        stored.replay(record, at, None if number is None else Producer(number, 0))
        if number is None:
            plain[key] = at
        else:
            pending.setdefault(number, {})[key] = at
        stored.check()
    found = {
        OffsetKey(group, topic, partition): one.offset
        for group, topics in stored.offsets.items()
        for topic, partitions in topics.items()
        for partition, one in partitions.items()
    }
    assert found == plain

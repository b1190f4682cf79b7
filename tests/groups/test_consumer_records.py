from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.groups.golden import PARTITIONS, entries

from quire.groups import consumer_records as records
from quire.groups.consumer_states import MemberState
from quire.groups.consumer_values import ClassicSide, Holding, Matched, Wishes
from quire.groups.keys import group_of, type_of

texts = st.text(max_size=8)
topic_ids = st.binary(min_size=16, max_size=16)
numbers = st.integers(0, 2**31 - 1)
held = st.dictionaries(
    topic_ids, st.dictionaries(st.integers(0, 50), numbers, min_size=1, max_size=4), max_size=3
)
wishes = st.builds(
    Wishes,
    texts,
    st.none() | texts,
    st.none() | texts,
    texts,
    texts,
    st.lists(texts, unique=True, max_size=3).map(lambda names: tuple(sorted(names))),
    texts,
    numbers,
    st.none() | texts,
    st.none() | st.builds(ClassicSide, numbers, st.lists(st.tuples(texts, st.binary())).map(tuple)),
)


def body(value: bytes | None) -> bytes:
    assert value is not None
    return value


@given(texts, wishes)
def test_a_member_comes_back_as_it_was_written(group_id: str, one: Wishes) -> None:
    key, value = records.member_record(group_id, one)
    assert (type_of(key), group_of(key)) == (records.MEMBER, group_id)
    assert records.read_member(records.name_of(key), body(value)) == one


@given(texts, texts, st.builds(Holding, numbers, numbers, st.sampled_from(MemberState), held, held))
def test_what_a_member_holds_comes_back_as_it_was_written(
    group_id: str, member_id: str, holding: Holding
) -> None:
    key, value = records.current_record(group_id, member_id, holding)
    assert records.name_of(key) == member_id
    assert records.read_current(body(value)) == holding


@given(st.dictionaries(topic_ids, st.lists(st.integers(0, 50), unique=True).map(sorted).map(tuple)))
def test_targets_epochs_and_patterns_come_back_as_they_were_written(
    target: dict[bytes, tuple[int, ...]],
) -> None:
    assert records.read_target(body(records.target_record("g", "m", target).value)) == target
    assert records.read_epoch(body(records.epoch_record("g", 7, -(2**63)).value)) == (7, -(2**63))
    assert records.read_target_epoch(body(records.target_epoch_record("g", 3, 9).value)) == (3, 9)
    matched = Matched(("a", "b"), 5, 6)
    assert records.read_pattern(body(records.pattern_record("g", "a|b", matched).value)) == matched


def test_what_kafka_wrote_is_written_again_to_the_same_bytes() -> None:
    seen = []
    for partition in PARTITIONS:
        for _, (key, value), _, committed in entries(partition):
            kind = type_of(key)
            if committed is not None or kind not in records.KINDS or value is None:
                continue
            seen.append(kind)
            group_id, name = group_of(key), ""
            if kind not in (records.GROUP_EPOCH, records.TARGET_EPOCH):
                name = records.name_of(key)
            again = {
                records.GROUP_EPOCH: lambda v, g, n: records.epoch_record(
                    g, *records.read_epoch(v)
                ),
                records.MEMBER: lambda v, g, n: records.member_record(g, records.read_member(n, v)),
                records.TARGET_EPOCH: lambda v, g, n: records.target_epoch_record(
                    g, *records.read_target_epoch(v)
                ),
                records.TARGET: lambda v, g, n: records.target_record(g, n, records.read_target(v)),
                records.CURRENT: lambda v, g, n: records.current_record(
                    g, n, records.read_current(v)
                ),
            }[kind](value, group_id, name)
            assert again == (key, value)
    assert set(seen) == {3, 5, 6, 7, 8}

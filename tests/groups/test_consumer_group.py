from __future__ import annotations

from tests.groups.consumer_world import ConsumerWorld, topic_id

from quire.coordination import Producer
from quire.errors import ErrorCode
from quire.groups.describing import DeleteGroups, DescribeGroup, ListGroups
from quire.groups.offsets import FetchOffsets
from quire.protocol.messages import offset_delete as deleting
from quire.protocol.messages import offset_fetch as fetching

ORDERS = topic_id("orders")
OURS = {"topic_id": ORDERS}


def fetch(world: ConsumerWorld, member_id: str | None, epoch: int) -> ErrorCode:
    asked = fetching.OffsetFetchRequestGroup(
        group_id="g", member_id=member_id, member_epoch=epoch, topics=None
    )
    return ErrorCode(world.answer(FetchOffsets(asked)).error_code)


def test_members_commit_in_their_epoch_and_nobody_else_does() -> None:
    world = ConsumerWorld(orders=4)
    world.consumer("a", "orders")
    commit = world.commit
    assert commit(1, member_id="a", generation=2, topic_id=ORDERS) is ErrorCode.NONE
    assert commit(1, member_id="a", generation=3) is ErrorCode.STALE_MEMBER_EPOCH
    assert commit(1, member_id="a", generation=1) is ErrorCode.STALE_MEMBER_EPOCH
    assert commit(1, member_id="a", generation=-1) is ErrorCode.STALE_MEMBER_EPOCH
    assert commit(1, member_id="z", generation=2) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(1, member_id="a", generation=2, version=8) is ErrorCode.UNSUPPORTED_VERSION
    assert world.fetched(0) == [1]


def test_in_an_earlier_epoch_a_member_commits_what_it_was_given_by_then() -> None:
    world = ConsumerWorld(orders=4)
    a = world.consumer("a", "orders")
    b = world.consumer("b", "orders")
    world.settle(a, b)
    assert (a.epoch, a.owned, b.owned) == (3, {ORDERS: (0, 1)}, {ORDERS: (2, 3)})
    assert world.commit(5, partition=0, member_id="a", generation=2) is ErrorCode.NONE
    stale = ErrorCode.STALE_MEMBER_EPOCH
    assert world.commit(5, partition=3, member_id="a", generation=2) is stale
    assert world.commit(5, partition=2, member_id="b", generation=2) is stale
    assert world.commit(5, partition=0, member_id="a", generation=1) is stale
    assert world.commit(5, topic="missing", member_id="a", generation=2) is stale


def test_transactions_commit_without_a_member_or_in_its_epoch() -> None:
    world = ConsumerWorld(orders=1)
    world.consumer("a", "orders")
    producer = Producer(7, 0)
    assert world.commit_in(producer, 3) is ErrorCode.NONE
    assert world.commit_in(producer, 3, member_id="a", generation=2) is ErrorCode.NONE
    assert world.commit_in(producer, 3, member_id="a", generation=9) is (
        ErrorCode.STALE_MEMBER_EPOCH
    )
    assert world.commit_in(producer, 3, member_id="z", generation=2) is ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_are_told_to_administrators_and_to_members_in_their_epoch() -> None:
    world = ConsumerWorld(orders=1)
    world.consumer("a", "orders")
    assert fetch(world, None, -1) is ErrorCode.NONE
    assert fetch(world, "a", 2) is ErrorCode.NONE
    assert fetch(world, "a", 1) is ErrorCode.STALE_MEMBER_EPOCH
    assert fetch(world, "z", 2) is ErrorCode.UNKNOWN_MEMBER_ID
    assert fetch(world, "", -1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_with_members_is_not_deleted_and_one_without_goes_whole() -> None:
    world = ConsumerWorld(orders=1)
    a = world.consumer("a", topics=None, pattern="ord.*")
    world.commit(1, member_id="a", generation=2)
    (result,) = world.answer(DeleteGroups(("g",)))
    assert result.error_code == ErrorCode.NON_EMPTY_GROUP
    a.leave()
    assert world.commit(2) is ErrorCode.NONE
    (result,) = world.answer(DeleteGroups(("g",)))
    assert result.error_code == ErrorCode.NONE
    assert not world.machine.stored.knows("g")
    assert world.replayed().stored == world.machine.stored


def test_offsets_of_topics_that_are_read_are_not_taken_away() -> None:
    world = ConsumerWorld(orders=1)
    world.consumer("a", "orders")
    request = deleting.OffsetDeleteRequest(
        group_id="g",
        topics=[
            deleting.OffsetDeleteRequestTopic(
                name=name, partitions=[deleting.OffsetDeleteRequestPartition(partition_index=0)]
            )
            for name in ("orders", "returns")
        ],
    )
    answer = world.answer(request)
    codes = [one.partitions[0].error_code for one in answer.topics]
    assert codes == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, ErrorCode.NONE]


def test_offsets_expire_by_their_commit_when_nobody_reads_their_topic() -> None:
    world = ConsumerWorld(
        {"offsets_retention_ms": 60_000, "offsets_check_interval_ms": 30_000}, orders=1, returns=1
    )
    a = world.consumer("a", "orders")
    world.commit(1, member_id="a", generation=2)
    world.commit(1, topic="returns", member_id="a", generation=2)
    for _ in range(20):
        world.pass_ms(5_000)
        a.beat()
    assert world.all_offsets() == {("orders", 0): 1}
    a.leave()
    world.pass_ms(120_000)
    assert not world.machine.stored.knows("g")


def test_it_is_listed_with_its_kind_and_described_as_no_classic_group() -> None:
    world = ConsumerWorld(orders=1)
    world.consumer("a", "orders")
    (listed,) = world.answer(ListGroups())
    assert (listed.group_state, listed.group_type, listed.protocol_type) == (
        "Stable", "consumer", "consumer",
    )  # fmt: skip
    assert world.answer(ListGroups(states=frozenset({"empty"}))) == []
    assert len(world.answer(ListGroups(types=frozenset({"consumer"})))) == 1
    described = world.answer(DescribeGroup("g"), 6)
    assert described.error_message == "Group g is not a classic group."

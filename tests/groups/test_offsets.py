from __future__ import annotations

from tests.groups.world import World

from quire.coordination import Producer
from quire.errors import ErrorCode
from quire.groups.offsets import tombstones
from quire.protocol.messages import offset_delete as deleting

PRODUCER = Producer(7, 0)
TOPIC_ID = bytes(range(16))


def deleted(
    world: World, *partitions: int, topic: str = "orders", group_id: str = "g"
) -> list[int]:
    request = deleting.OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            deleting.OffsetDeleteRequestTopic(
                name=topic,
                partitions=[
                    deleting.OffsetDeleteRequestPartition(partition_index=one) for one in partitions
                ],
            )
        ],
    )
    answer = world.answer(request, 0)
    if answer.error_code:
        return [answer.error_code]
    return [one.error_code for one in answer.topics[0].partitions]


def test_what_was_committed_is_told_and_nothing_where_nothing_was() -> None:
    world = World()
    assert world.commit(42) is ErrorCode.NONE
    assert world.fetched(0, 1) == [42, -1]
    assert world.fetched(0, group_id="other") == [-1]
    assert world.all_offsets() == {("orders", 0): 42}
    assert world.all_offsets("other") == {}
    world.commit(43)
    world.commit(5, topic="sales", partition=3)
    assert world.all_offsets() == {("orders", 0): 43, ("sales", 3): 5}


def test_members_commit_for_their_generation_only() -> None:
    world = World()
    (leader,) = world.stable()
    codes = [
        world.commit(1, member_id=leader, generation=1),
        world.commit(1, member_id=leader, generation=0),
        world.commit(1, member_id="other", generation=1),
        world.commit(1),
        world.commit(1, member_id=leader, generation=1, group_instance_id="i-9"),
    ]
    assert codes == [
        ErrorCode.NONE,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]


def test_who_prepares_may_still_commit_and_who_waits_for_its_share_may_not() -> None:
    world = World()
    leader, follower = world.stable(2)
    world.join("g", leader)
    assert world.commit(1, member_id=follower, generation=1) is ErrorCode.NONE
    world.join("g", follower)
    code = world.commit(2, member_id=follower, generation=2)
    assert code is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_generation_of_a_group_that_is_not_there_is_refused_by_version() -> None:
    world = World()
    assert world.commit(1, member_id="m", generation=3, version=8) is ErrorCode.ILLEGAL_GENERATION
    assert world.commit(1, member_id="m", generation=3, version=9) is ErrorCode.GROUP_ID_NOT_FOUND
    world.commit(1)
    assert world.commit(1, member_id="m", generation=3) is ErrorCode.UNKNOWN_MEMBER_ID


def test_texts_that_are_too_long_are_refused_and_leave_no_record() -> None:
    world = World(metadata_bytes_max=10)
    assert world.commit(1, metadata="x" * 11) is ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert world.log == []
    assert world.commit(1, metadata="x" * 10) is ErrorCode.NONE
    assert world.commit(2, partition=1, metadata=None) is ErrorCode.NONE
    assert world.fetched(0, 1) == [1, 2]


def test_what_a_transaction_commits_is_seen_after_its_end() -> None:
    world = World()
    world.commit(1)
    assert world.commit_in(PRODUCER, 10) is ErrorCode.NONE
    assert world.fetched() == [1]
    assert world.fetched(stable=True) == [ErrorCode.UNSTABLE_OFFSET_COMMIT]
    assert world.fetched(1, stable=True) == [-1]
    world.end(Producer(7, 1), committed=True)  # a marker may be of a newer epoch
    assert world.fetched(stable=True) == [10]


def test_what_an_aborted_transaction_commits_is_never_seen() -> None:
    world = World()
    world.commit_in(PRODUCER, 10)
    world.end(PRODUCER, committed=False)
    assert world.fetched(stable=True) == [-1]
    world.end(PRODUCER, committed=True)
    assert world.fetched() == [-1]


def test_a_later_plain_commit_counts_whenever_the_transaction_ends() -> None:
    world = World()
    world.commit_in(PRODUCER, 10)
    world.commit(20)
    world.end(PRODUCER, committed=True)
    assert world.fetched() == [20]


def test_transactions_commit_for_members_or_as_nobody() -> None:
    world = World()
    (leader,) = world.stable()
    assert world.commit_in(PRODUCER, 1) is ErrorCode.NONE
    assert world.commit_in(PRODUCER, 1, member_id=leader, generation=1) is ErrorCode.NONE
    code = world.commit_in(PRODUCER, 1, member_id=leader, generation=0)
    assert code is ErrorCode.ILLEGAL_GENERATION
    code = world.commit_in(PRODUCER, 1, member_id=leader, generation=3, group_id="new")
    assert code is ErrorCode.ILLEGAL_GENERATION
    code = world.commit_in(PRODUCER, 1, metadata="x" * 5000)
    assert code is ErrorCode.OFFSET_METADATA_TOO_LARGE


def test_offsets_of_a_topic_that_was_made_anew_are_not_told_by_id() -> None:
    world = World()
    world.commit(42, topic_id=TOPIC_ID)
    assert world.fetched(topic_id=TOPIC_ID) == [42]
    assert world.fetched(topic_id=bytes(15) + b"\x01") == [-1]
    assert world.fetched() == [42]


def test_offsets_that_nobody_reads_can_be_deleted() -> None:
    world = World()
    assert deleted(world, 0) == [ErrorCode.GROUP_ID_NOT_FOUND]
    world.commit(1)
    world.commit(2, partition=1)
    assert deleted(world, 0, 7) == [0, 0]
    assert world.all_offsets() == {("orders", 1): 2}


def test_offsets_that_a_member_reads_cannot() -> None:
    world = World()
    world.commit(1)
    world.commit(1, topic="sales")
    world.stable()
    assert deleted(world, 0) == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]
    assert deleted(world, 0, topic="sales") == [0]
    assert world.all_offsets() == {("orders", 0): 1}


def test_groups_whose_members_do_not_say_what_they_read_keep_all() -> None:
    world = World()
    world.commit(1)
    world.join(version=3, protocol_type="connect")
    assert deleted(world, 0) == [ErrorCode.NON_EMPTY_GROUP]


def test_deleted_topics_take_the_offsets_of_all_groups_along() -> None:
    world = World()
    for group_id in ("g", "h"):
        world.commit(1, group_id=group_id)
        world.commit(2, topic="sales", group_id=group_id)
    world.commit_in(PRODUCER, 3, group_id="i")
    world.take(world.machine.on_image(world.moment(), ("orders",)))
    world.end(PRODUCER, committed=True)
    assert [world.all_offsets(one) for one in ("g", "h", "i")] == [
        {("sales", 0): 2}, {("sales", 0): 2}, {},
    ]  # fmt: skip


def test_tombstones_of_a_group_name_each_position_once_pending_ones_too() -> None:
    world = World()
    world.commit(1)
    world.commit_in(PRODUCER, 2)
    world.commit_in(PRODUCER, 2, partition=1)
    assert len({one.key for one in tombstones(world.machine.stored, "g")}) == 2

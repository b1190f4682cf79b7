"""The textbook's log of eleven offsets, and what readers of committed data see of it.

0  TX1    3  TX1    6  TX2 aborted     9  no transaction
1  TX1    4  TX2    7  TX3            10  TX3
2  TX2    5  TX1 committed    8  TX3
"""

from __future__ import annotations

from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk

from quire.errors import ErrorCode
from quire.protocol.messages import fetch as fetching
from quire.protocol.messages import list_offsets as listing
from quire.records.batch import decode_records, iterate_headers
from quire.transactions.transaction import ProducerId

COMMITTED = 1
UNCOMMITTED = 0


async def textbook(house: Storehouse) -> tuple[Desk, ProducerId]:
    desk = await Desk.open(house)
    one, two, three = [await desk.begin(name) for name in ("TX1", "TX2", "TX3")]
    plain = ProducerId(9, 0)
    for name, producer, sequence, count in (
        ("TX1", one, 0, 2),
        ("TX2", two, 0, 1),
        ("TX1", one, 2, 1),
        ("TX2", two, 1, 1),
    ):
        code = await desk.produce(name, producer, sequence=sequence, count=count)
        assert code is ErrorCode.NONE
    assert (await desk.end("TX1", one, committed=True))[0] is ErrorCode.NONE
    await desk.settle()
    assert (await desk.end("TX2", two, committed=False))[0] is ErrorCode.NONE
    await desk.settle()
    assert await desk.produce("TX3", three, count=2) is ErrorCode.NONE
    assert await desk.produce(None, plain, transactional=False) is ErrorCode.NONE
    assert await desk.produce("TX3", three, sequence=2) is ErrorCode.NONE
    assert desk.end_offset() == 11
    return desk, three


async def fetch(desk: Desk, isolation: int, offset: int = 0) -> fetching.PartitionData:
    topic_id = desk.house.image.topics["orders"].topic_id
    answer = await desk.ask(
        fetching.FetchRequest(
            max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, isolation_level=isolation,
            session_id=0, session_epoch=-1, forgotten_topics_data=[],
            topics=[
                fetching.FetchTopic(
                    topic="orders", topic_id=topic_id,
                    partitions=[
                        fetching.FetchPartition(
                            partition=0, fetch_offset=offset, partition_max_bytes=1 << 20
                        )
                    ],
                )
            ],
        ),
        13,
    )  # fmt: skip
    found: fetching.PartitionData = answer.responses[0].partitions[0]
    assert found.error_code == ErrorCode.NONE
    return found


def seen(answer: fetching.PartitionData) -> list[int]:
    """The offsets that a consumer hands out: no markers, nothing of what was aborted."""
    aborted = {one.producer_id: one.first_offset for one in answer.aborted_transactions or ()}
    content = bytes(answer.records or b"")
    offsets = []
    for at, header in iterate_headers(content):
        if header.is_control:
            aborted.pop(header.producer_id, None)
            continue
        since = aborted.get(header.producer_id)
        if header.is_transactional and since is not None and header.base_offset >= since:
            continue
        offsets += [record.offset for record in decode_records(content, at, header)]
    return offsets


async def latest(desk: Desk, isolation: int) -> int:
    answer = await desk.ask(
        listing.ListOffsetsRequest(
            replica_id=-1,
            isolation_level=isolation,
            topics=[
                listing.ListOffsetsTopic(
                    name="orders",
                    partitions=[listing.ListOffsetsPartition(partition_index=0, timestamp=-1)],
                )
            ],
        ),
        7,
    )
    offset: int = answer.topics[0].partitions[0].offset
    return offset


def test_readers_of_committed_data_see_0_1_3_and_stop_at_the_open_transaction() -> None:
    async def story(house: Storehouse) -> None:
        desk, _ = await textbook(house)
        answer = await fetch(desk, COMMITTED)
        assert seen(answer) == [0, 1, 3]
        assert (answer.last_stable_offset, answer.high_watermark) == (7, 11)
        assert [(one.first_offset) for one in answer.aborted_transactions] == [2]
        assert await latest(desk, COMMITTED) == 7

    tell(story)


def test_other_readers_see_everything_up_to_the_high_watermark() -> None:
    async def story(house: Storehouse) -> None:
        desk, _ = await textbook(house)
        answer = await fetch(desk, UNCOMMITTED)
        assert answer.aborted_transactions is None
        assert seen(answer) == [0, 1, 2, 3, 4, 7, 8, 9, 10]
        assert await latest(desk, UNCOMMITTED) == 11

    tell(story)


def test_what_was_held_back_is_seen_once_its_transaction_has_ended() -> None:
    async def story(house: Storehouse) -> None:
        desk, three = await textbook(house)
        assert seen(await fetch(desk, COMMITTED, 7)) == []
        await desk.end("TX3", three, committed=True)
        await desk.settle()
        assert seen(await fetch(desk, COMMITTED)) == [0, 1, 3, 7, 8, 9, 10]
        assert seen(await fetch(desk, COMMITTED, 7)) == [7, 8, 9, 10]
        assert await latest(desk, COMMITTED) == desk.end_offset() == 12

    tell(story)


def test_what_was_aborted_stays_hidden_and_what_it_held_back_is_seen() -> None:
    async def story(house: Storehouse) -> None:
        desk, three = await textbook(house)
        await desk.end("TX3", three, committed=False)
        await desk.settle()
        answer = await fetch(desk, COMMITTED)
        assert seen(answer) == [0, 1, 3, 9]
        assert sorted(one.first_offset for one in answer.aborted_transactions) == [2, 7]

    tell(story)


def test_the_same_is_seen_after_a_crash() -> None:
    async def story(house: Storehouse) -> None:
        desk, _ = await textbook(house)
        replica = house.replica("orders")
        await house.replicas.flushes.quiet(replica)
        replica.log.flush(now_ms=house.clock.wall_ms())
        again = Storehouse(house.crash())
        await again.start(house.image)
        desk = Desk(again, desk.broker.peers)
        answer = await fetch(desk, COMMITTED)
        assert answer.last_stable_offset <= 7
        log = again.replica("orders").log
        log.update_high_watermark(log.log_end_offset)
        assert seen(await fetch(desk, COMMITTED)) == [0, 1, 3]

    tell(story)

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.broker.caller import Door
from tests.broker.storehouse import Storehouse, tell

from quire.errors import ErrorCode
from quire.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from quire.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from quire.types import TopicPartition


async def ask(house: Storehouse, *wanted: tuple[str, str, int], version: int = 2) -> list[Any]:
    request = AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path, topics=[AlterReplicaLogDirTopic(name=name, partitions=[index])]
            )
            for path, name, index in wanted
        ]
    )
    answer = await (await Door(house).call()).ask(request, version)
    return [
        (topic.topic_name, one.partition_index, ErrorCode(one.error_code))
        for topic in answer.results
        for one in topic.partitions
    ]


@pytest.mark.parametrize("version", [1, 2])
def test_a_move_begins_and_is_seen_in_both_directories(version: int) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 3)
        here = house.replica("orders").hosted.log_dir.path
        to = "/b" if here == "/a" else "/a"
        assert await ask(house, (to, "orders", 0), version=version) == [
            ("orders", 0, ErrorCode.NONE)
        ]
        await asyncio.sleep(0.5)
        answer = await (await Door(house).call()).ask(DescribeLogDirsRequest(topics=None), 5)
        size = house.replica("orders").log.segments.total_bytes()
        assert {
            result.log_dir: [
                (one.partition_size, one.offset_lag, one.is_future_key)
                for topic in result.topics
                for one in topic.partitions
            ]
            for result in answer.results
        } == {here: [(size, 0, False)], to: [(size, 0, True)]}
        await ask(house, (here, "orders", 0))
        assert len(house.replicas.moves) == 0

    tell(story, "/a", "/b")


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (("/nowhere", "orders", 0), ErrorCode.LOG_DIR_NOT_FOUND),
        (("", "orders", 0), ErrorCode.LOG_DIR_NOT_FOUND),
        (("/c", "orders", 0), ErrorCode.KAFKA_STORAGE_ERROR),
        (("/a", "nobody", 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (("/a", "elsewhere", 0), ErrorCode.REPLICA_NOT_AVAILABLE),
        (("/a", "n" * 249, 0), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (("/a", "n" * 200, 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_what_cannot_move_is_told_why(wanted: tuple[str, str, int], code: ErrorCode) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        await house.topic("elsewhere", replicas=(2,), leader=2)
        house.replicas.failed(house.log_dirs.log_dirs[2], OSError(5, "broken"))
        assert await ask(house, wanted) == [(wanted[1], wanted[2], code)]
        preferred = house.replicas.moves.preferred(TopicPartition("elsewhere", 0))
        assert (preferred is not None) == (code is ErrorCode.REPLICA_NOT_AVAILABLE)

    tell(story, "/a", "/b", "/c")


def test_a_cordoned_directory_takes_no_replica() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        assert [each.hosted.log_dir.path for each in house.replicas] == ["/a", "/a"]
        answer = await ask(house, ("/b", "orders", 0))
        assert answer == [("orders", 0, ErrorCode.INVALID_REPLICA_ASSIGNMENT)]

    tell(story, "/a", "/b", log_dirs="/a,/b", cordoned_log_dirs="/b")


def test_the_last_of_several_destinations_counts() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        here = house.replica("orders").hosted.log_dir.path
        assert await ask(house, ("/nowhere", "orders", 0), (here, "orders", 0)) == [
            ("orders", 0, ErrorCode.NONE)
        ]
        assert len(house.replicas.moves) == 0

    tell(story, "/a", "/b")

from __future__ import annotations

from typing import Any

import pytest
from tests.broker.caller import Door
from tests.broker.storehouse import NODE, Storehouse, tell

from quire.errors import ErrorCode
from quire.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest


async def ask(house: Storehouse, version: int = 5, *wanted: tuple[str, list[int]]) -> list[Any]:
    topics = [DescribableLogDirTopic(topic=name, partitions=found) for name, found in wanted]
    request = DescribeLogDirsRequest(topics=topics or None)
    answer = await (await Door(house).call()).ask(request, version)
    assert answer.error_code == ErrorCode.NONE
    return list(answer.results)


def seen(results: list[Any]) -> list[tuple[str, str, int]]:
    return sorted(
        (result.log_dir, topic.name, one.partition_index)
        for result in results
        for topic in result.topics
        for one in topic.partitions
    )


@pytest.mark.parametrize("version", range(1, 6))
def test_every_directory_tells_what_lies_in_it(version: int) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=4)
        house.append("orders", 3)
        results = await ask(house, version)
        assert [(one.log_dir, one.error_code) for one in results] == [("/a", 0), ("/b", 0)]
        assert len(seen(results)) == 4
        sizes = {
            one.partition_index: (one.partition_size, one.offset_lag, one.is_future_key)
            for result in results
            for topic in result.topics
            for one in topic.partitions
        }
        size = house.replica("orders").log.segments.total_bytes()
        assert sizes == {0: (size, 0, False), **dict.fromkeys((1, 2, 3), (0, 0, False))}
        room = 2**62 if version >= 4 else -1
        assert {(one.total_bytes, one.usable_bytes) for one in results} == {(room, room)}

    tell(story, "/a", "/b")


def test_only_what_was_asked_for_is_told() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        await house.topic("bills")
        results = await ask(house, 5, ("orders", [1, 77]), ("nobody", [0]))
        assert seen(results) == [("/a", "orders", 1)]

    tell(story)


def test_a_follower_lags_behind_its_high_watermark_never() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2))
        house.append("orders", 3)
        assert [one.offset_lag for one in (await ask(house))[0].topics[0].partitions] == [0]

    tell(story)


def test_cordoned_directories_are_marked() -> None:
    async def story(house: Storehouse) -> None:
        assert [one.is_cordoned for one in await ask(house)] == [False, True]

    tell(story, "/a", "/b", log_dirs="/a,/b", cordoned_log_dirs="/b")


def test_a_directory_that_is_offline_is_an_error_of_its_own() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        house.replicas.failed(house.log_dirs.log_dirs[0], OSError(5, "broken"))
        results = await ask(house)
        assert [(one.log_dir, one.error_code, one.total_bytes) for one in results] == [
            ("/a", ErrorCode.KAFKA_STORAGE_ERROR, -1), ("/b", ErrorCode.NONE, 2**62),
        ]  # fmt: skip
        assert [key[0] for key in seen(results)] == ["/b"]

    tell(story, "/a", "/b")


def test_a_directory_that_breaks_while_it_is_looked_at_goes_offline() -> None:
    async def story(house: Storehouse) -> None:
        house.disk.faults.break_path("/b")
        assert [one.error_code for one in await ask(house)] == [0, ErrorCode.KAFKA_STORAGE_ERROR]
        assert [each.path for each in house.log_dirs.online] == ["/a"]

    tell(story, "/a", "/b")

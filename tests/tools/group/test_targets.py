from __future__ import annotations

import pytest
from tests.tools.group.scripts import TOPICS, A, B, group, logs
from tests.tools.scene import asked

from quire.clients.offsets import EARLIEST, LATEST
from quire.tools.asking import SettingError
from quire.tools.group.positions import Position, topics_named
from quire.tools.group.targets import Target, Way, offsets_for, read_offsets, target_of
from quire.types import TopicPartition

NOW = 10_000_000
ONE, OTHER = TopicPartition(*A), TopicPartition(*B)
HERE = [Position(ONE, 40, 10, 100, None, None), Position(OTHER, None, 0, 20, None, None)]


def options(**given: object) -> dict[str, object]:
    names = ("to_offset", "to_earliest", "to_latest", "by", "to_time", "by_duration", "from_file")
    flags = ("to_earliest", "to_latest")
    return {name: given.get(name, False if name in flags else None) for name in names}


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ({"to_offset": 0}, Target(Way.OFFSET, 0)),
        ({"to_earliest": True}, Target(Way.TIME, EARLIEST)),
        ({"to_latest": True}, Target(Way.TIME, LATEST)),
        ({"by": -5}, Target(Way.FORWARD, -5)),
        ({"to_time": "1234"}, Target(Way.TIME, 1234)),
        ({"by_duration": "1h"}, Target(Way.TIME, NOW - 3_600_000)),
        ({"from_file": ["orders,0,7\n"]}, Target(Way.LISTED, listed={ONE: 7})),
    ],
)
def test_each_option_says_where_to(given: dict[str, object], target: Target) -> None:
    assert target_of(options(**given), now_ms=NOW) == target


def test_one_way_is_needed_and_only_one() -> None:
    with pytest.raises(SettingError, match=r"one of --to-offset, .* --from-file is needed$"):
        target_of(options(), now_ms=NOW)
    with pytest.raises(SettingError, match="and only one"):
        target_of(options(to_offset=0, by=0), now_ms=NOW)


def test_a_file_has_a_line_for_each_partition_and_a_bad_one_is_named() -> None:
    text = ["topic,partition,offset\n", "orders,0,7\n", "\n", "orders,1,0\n"]
    assert read_offsets(text) == {ONE: 7, OTHER: 0}
    for bad in ("orders,0", "orders,x,1", "orders,0,-1", "orders,0,1,2"):
        with pytest.raises(SettingError, match=f"line 2 is not topic,partition,offset: {bad}"):
            read_offsets(["orders,0,7\n", bad + "\n"])
    with pytest.raises(SettingError, match="no offsets"):
        read_offsets(["\n"])


def reached(target: Target, here: list[Position] = HERE) -> dict[TopicPartition, int]:
    scripts = group(LIST_OFFSETS=logs({A: (10, 100), B: (0, 20)}, times={A: 70}))

    async def question(cluster):
        return await offsets_for(cluster, await topics_named(cluster, ["orders"]), here, target)

    return asked(question, scripts, TOPICS)[0]


@pytest.mark.parametrize(
    ("target", "offsets"),
    [
        (Target(Way.OFFSET, 15), (15, 15)),
        (Target(Way.OFFSET, 5), (10, 5)),
        (Target(Way.OFFSET, 50), (50, 20)),
        (Target(Way.TIME, EARLIEST), (10, 0)),
        (Target(Way.TIME, LATEST), (100, 20)),
        (Target(Way.TIME, 5000), (70, 20)),
        (Target(Way.LISTED, listed={ONE: 11, OTHER: 99}), (11, 20)),
    ],
)
def test_an_offset_stays_within_its_log(target: Target, offsets: tuple[int, int]) -> None:
    assert reached(target) == dict(zip((ONE, OTHER), offsets, strict=True))


def test_steps_are_from_what_was_committed() -> None:
    assert reached(Target(Way.FORWARD, -20), HERE[:1]) == {ONE: 20}
    assert reached(Target(Way.FORWARD, 1000), HERE[:1]) == {ONE: 100}
    with pytest.raises(SettingError, match="orders-1 has no committed offset"):
        reached(Target(Way.FORWARD, 1))


def test_a_partition_without_a_leader_cannot_be_moved_in() -> None:
    with pytest.raises(SettingError, match="orders-0 is not there, or has no leader"):
        reached(Target(Way.OFFSET, 1), [Position(ONE, 40, None, None, None, None)])
